"""Products with kernel matrices by torch, on its CPU device; on a card where there is one."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram import KernelSums, kernel_products
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid, Weighted

torch = pytest.importorskip("torch", reason="torch is not installed")

from mercer.gram.device import DeviceGram, DeviceSums  # noqa: E402
from mercer.gram.device.pairs import PairProducts  # noqa: E402
from mercer.gram.device.plain import PlainProducts  # noqa: E402
from mercer.gram.device.points import DevicePoints  # noqa: E402

CPU = torch.device("cpu")
torch.set_num_threads(1)  # small products, beside other processes of the tests
KERNELS = [
    RBF(0.3),
    2.5 * RBF(0.05),
    Weighted(RBF(0.2), np.array([1.0, 0.0, 2.0, 0.5, 1.0])),
    Linear(),
    Polynomial(degree=3, gamma=0.4, coef0=1.0),
    Polynomial(degree=0, gamma=0.4, coef0=1.0),
    Laplacian(0.3),
    Laplacian(0.3, metric="euclidean"),
    Sigmoid(gamma=0.1, coef0=-0.2),
]
DEVICES = [
    CPU,
    pytest.param(
        torch.device("cuda"),
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    ),
]


def data(n=70, d=5, far=0.0, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + far


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_products_are_those_of_the_matrix(kernel, stays, device, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.points.TILE_NUMBERS", 100)
    X, rng = data(), np.random.default_rng(1)
    K, v = kernel(X), rng.normal(size=70)
    points = DevicePoints(kernel.pairwise_form(), X, device, stays=stays)
    rows, columns = np.array([3, 69, 5, 5]), np.array([1, 0, 40, 68, 2])
    there = [torch.as_tensor(at, device=device) for at in (rows, columns)]
    products = PlainProducts(points)
    for left, right, expected in [
        (None, None, K @ v),
        (*there, K[np.ix_(rows, columns)] @ v[columns]),
    ]:
        weights = torch.as_tensor(v if right is None else v[columns], device=device)
        exact = points.exact_times(left, right, weights).cpu().numpy()
        np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12 * abs(K).max())
        fast = products.times(products.rows(left), products.columns(right), weights).cpu().numpy()
        np.testing.assert_allclose(fast, expected, rtol=1e-5, atol=1e-5 * abs(K).max())
    np.testing.assert_allclose(points.diagonal.cpu().numpy(), kernel.diag(X), rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("n", "d"), [(5, 1), (300, 5), (1000, 20), (999, 21), (700, 53), (400, 60)]
)
@pytest.mark.parametrize("width", [1e-4, 0.4, 10.0])
def test_pairs_of_halves_are_nearly_as_good_as_float32(n, d, width, device):
    X, gamma, rng = data(n, d, far=100.0), width / d, np.random.default_rng(2)
    points = DevicePoints((3.0 * RBF(gamma)).pairwise_form(), X, device)
    pairs, K = PairProducts(points), (3.0 * RBF(gamma))(X)
    at = torch.as_tensor(np.sort(rng.choice(n, n // 2 + 1, replace=False)), device=device)
    v = rng.normal(size=len(at))
    weights = torch.as_tensor(v, device=device)
    found = pairs.times(pairs.rows(), pairs.columns(at), weights)
    plain = PlainProducts(points)
    rough = plain.times(plain.rows(), plain.columns(at), weights)
    expected = K[:, at.cpu().numpy()] @ v
    scale = np.sqrt((K[:, at.cpu().numpy()] ** 2) @ v**2)
    errors, others = (np.abs((a.cpu().numpy() - expected) / scale).max() for a in (found, rough))
    assert errors < 8.0 * others + 1e-6  # 22 bits against 24
    again = pairs.times(pairs.rows(), pairs.columns(at), weights)
    assert torch.equal(found, again)
    assert pairs.times(pairs.rows(at[:0]), pairs.columns(), torch.ones(n, device=device)).shape == (
        0,
    )
    assert not pairs.times(pairs.rows(), pairs.columns(at[:0]), torch.ones(0, device=device)).any()


def test_far_points_are_folded_only_where_numbers_have_room():
    X = np.linspace(-12.0, 12.0, 50)[:, None]
    points = DevicePoints(RBF(1.0).pairwise_form(), X, CPU)
    pairs = PairProducts(points)
    assert points.allows_rounding
    assert not pairs.is_folded
    v = torch.ones(50, dtype=torch.double)
    expected = RBF(1.0)(X) @ np.ones(50)
    found = pairs.times(pairs.rows(), pairs.columns(), v).numpy()
    np.testing.assert_allclose(found, expected, rtol=3e-5)


def test_points_too_far_for_float32_are_multiplied_in_float64():
    X = np.array([[0.0], [1e-3], [1e4], [1e4 + 1e-3]])
    points = DevicePoints(RBF(1e4).pairwise_form(), X, CPU)
    assert not points.allows_rounding
    products = PlainProducts(points)
    found = products.times(products.rows(), products.columns(), torch.ones(4, dtype=torch.double))
    np.testing.assert_allclose(found.numpy(), RBF(1e4)(X) @ np.ones(4), rtol=1e-4)


@pytest.mark.parametrize("stays", [False, True])
def test_sparse_points_go_over_as_they_are_or_a_tile_at_a_time(stays, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.points.TILE_NUMBERS", 200)
    X = sp.random(60, 30, density=0.1, random_state=0, format="csr")
    points = DevicePoints(RBF(0.5).pairwise_form(), X, CPU, stays=stays)
    found = points.exact_times(None, None, torch.ones(60, dtype=torch.double)).numpy()
    np.testing.assert_allclose(found, RBF(0.5)(X.toarray()) @ np.ones(60), rtol=1e-12)


def test_the_matrix_serves_the_processor_too():
    X = data(40)
    gram = DeviceGram(RBF(0.3).pairwise_form(), X, CPU)
    K, part = RBF(0.3)(X), np.array([3, 1, 30])
    np.testing.assert_allclose(gram.matrix(), K, rtol=1e-12)
    np.testing.assert_allclose(gram.subset(part).matrix(), K[np.ix_(part, part)], rtol=1e-12)
    np.testing.assert_array_equal(gram.subset(part).diag(), np.ones(3))
    assert gram.allows_single(1e-3)
    assert not gram.allows_single(1e-9)
    far = DeviceGram(Linear().pairwise_form(), 1e200 * X, CPU)
    assert np.isnan(far.diag()).all()


@pytest.mark.parametrize("n", [20, 500])
@pytest.mark.parametrize("segments", [None, [30, 0, 40]])
@pytest.mark.parametrize("r", [1, 2, 4])
def test_sums_on_a_device_are_those_of_the_processor(n, segments, r):
    Y, X, rng = data(70), data(n, seed=3), np.random.default_rng(4)
    coefficients = rng.normal(size=(r, 70))
    ends = np.concatenate([[0], np.cumsum([70] if segments is None else segments)])
    for kernel in (RBF(0.3), Polynomial(degree=2, gamma=0.5, coef0=1.0)):
        sums = DeviceSums(kernel.pairwise_form(), Y, coefficients, ends, CPU)(X)
        expected = kernel_products(kernel, X, Y, coefficients, segments)
        np.testing.assert_allclose(sums, expected, rtol=0, atol=2e-6 * np.ptp(expected))


def test_sums_take_the_device_where_it_is_there_and_pays(monkeypatch):
    X, coefficients = data(80), np.ones((1, 80))
    sums = KernelSums(RBF(0.3), X, coefficients)
    expected = sums(X)
    monkeypatch.setattr("mercer.gram.pairwise.DEVICE_ENTRIES", 100)
    np.testing.assert_array_equal(sums(X, device="cuda:77"), expected)  # not there
    assert sums._there is None
    monkeypatch.setattr("mercer.gram.pairwise.nearest_device", lambda device, n_rows: CPU)
    np.testing.assert_allclose(sums(X, device="cuda"), expected, rtol=1e-6)
    assert sums._there is not None
    assert "_there" not in sums.__getstate__()
