"""The cascade ends at the optimum of all rows, wherever they lie."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, SVR, OneClassSVM
from mercer.distributed import Distributed, _cascade, _cascade_work
from mercer.kernels import RBF, Laplacian
from mercer.problems import epsilon_svr, hinge_svc, one_class, squared_hinge_svc

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("in_use")

X, y = make_classification(
    1500, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)
SIGNS = np.where(y > 0, 1.0, -1.0)
TARGET = np.sin(X[:, 0]) * X[:, 1]
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
UNEQUAL = ((400, 1, 799, 300), (3, 2))


def of_dask(*arrays, chunks=UNEQUAL):
    return [
        None if one is None else da.from_array(one, chunks=chunks[: one.ndim]) for one in arrays
    ]


def fitted(machine, X=X, y=None, weights=None, **how):
    """Return the machine of the cascade."""
    return Distributed(machine).fit(*of_dask(X, y, weights, **how)).model_


@pytest.fixture
def small_parts(monkeypatch):
    """Blocks have several parts, and their support vectors are merged in groups."""
    monkeypatch.setattr(_cascade_work, "ROWS_OF_PART", 150)
    monkeypatch.setattr(_cascade, "ROWS_OF_PART", 150)
    monkeypatch.setattr(_cascade, "ROWS_OF_SEED", 20)
    monkeypatch.setattr(_cascade_work, "ROWS_AT_ONCE", 128)


def full_gap(model, program, coefficients):
    """Return the gap of all rows from the whole kernel matrix."""
    beta = np.zeros(len(X))
    beta[model.support_] = coefficients
    return program.kkt(beta, model.kernel_(X) @ beta + program.ridge * beta + program.p)[1]


# ---- the optimum of all rows --------------------------------------------------------------------

MACHINES = [
    (SVC(C=3.0), y > 0),
    (SVC(C=3.0), y),
    (SVC(C=3.0, multi_class="ovr"), y),
    (SVC(loss="squared_hinge", class_weight="balanced"), y),
    (SVC(class_weight={1: 5.0}, kernel=RBF() + 0.5 * Laplacian()), y),
    (SVC(kernel="linear"), y > 0),
    (SVR(C=3.0), TARGET),
    (SVR(C=3.0, epsilon=0.0, loss="squared_epsilon_insensitive"), TARGET),
    (SVR(epsilon=0.05, loss="squared_epsilon_insensitive"), TARGET),
    (OneClassSVM(nu=0.1), None),
]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize(("machine", "labels"), MACHINES, ids=lambda one: repr(one)[:60])
def test_the_machine_is_that_of_one_computer(machine, labels, weights, small_parts):
    found, one = fitted(machine, X, labels, weights), machine.fit(X, labels, sample_weight=weights)
    np.testing.assert_allclose(found.objective_, one.objective_, rtol=1e-4)
    assert (found.gap_ <= machine.tol).all()
    assert found.converged_
    assert found.kernel_(X[:5]) == pytest.approx(one.kernel_(X[:5]), rel=1e-9)
    np.testing.assert_array_equal(found.support_vectors_, X[found.support_])
    if labels is TARGET:
        np.testing.assert_allclose(found.predict(X), one.predict(X), atol=5e-3)
    else:
        assert (found.predict(X) == one.predict(X)).mean() > 0.999


def test_the_gap_is_that_of_all_rows(small_parts):
    """Told by workers, and here from the whole kernel matrix."""
    model = fitted(SVC(C=3.0), X, y > 0)
    gap = full_gap(model, hinge_svc(SIGNS, 3.0), model.dual_coef_[0])
    assert gap == pytest.approx(model.gap_[0], abs=1e-6)
    model = fitted(SVC(loss="squared_hinge"), X, y > 0)
    gap = full_gap(model, squared_hinge_svc(SIGNS, 1.0), model.dual_coef_[0])
    assert gap == pytest.approx(model.gap_[0], abs=1e-6)
    model = fitted(OneClassSVM(nu=0.1))
    gap = full_gap(model, one_class(len(X), 0.1), model.dual_coef_[0] / (0.1 * len(X)))
    assert 0.1 * len(X) * gap == pytest.approx(model.gap_[0], abs=1e-6)


def test_the_gap_of_a_regression_is_that_of_all_rows(small_parts):
    model = fitted(SVR(C=3.0), X, TARGET)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    program = epsilon_svr(TARGET, 3.0, 0.1)
    both = np.concatenate([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])
    sums = np.tile(model.kernel_(X) @ beta, 2)
    assert program.kkt(both, sums + program.p)[1] == pytest.approx(model.gap_[0], abs=1e-6)


def test_another_solver_finds_the_same(small_parts):
    pytest.importorskip("clarabel")
    rows, labels = X[:400], y[:400] > 0
    model = fitted(SVC(C=3.0), rows, labels, chunks=((100, 300), 5))
    other = SVC(C=3.0, solver="exact").fit(rows, labels)
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=5e-3)


def test_sorted_labels_and_a_class_of_three_rows(small_parts):
    rare = np.where(np.arange(len(X)) < 3, 3, y)
    order = np.argsort(rare, kind="stable")
    names = np.array(["a", "b", "c", "rare"])[rare[order]]
    model, one = fitted(SVC(), X[order], names), SVC().fit(X[order], names)
    assert model.classes_.tolist() == ["a", "b", "c", "rare"]
    np.testing.assert_allclose(model.objective_, one.objective_, rtol=1e-4)
    counted = [(names[model.support_] == label).sum() for label in model.classes_]
    np.testing.assert_array_equal(model.n_support_, counted)


def test_a_hard_margin(small_parts):
    far = X + 3.0 * SIGNS[:, None]
    model, one = fitted(SVC(C=np.inf), far, y > 0), SVC(C=np.inf).fit(far, y > 0)
    np.testing.assert_allclose(model.objective_, one.objective_, rtol=1e-4)
    with pytest.raises(ValueError, match="cannot be separated"):
        fitted(SVC(C=np.inf, kernel="linear"), X, y > 0)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_width_is_that_of_all_rows(sparse, weights):
    points = np.where(np.abs(X) > 0.7, X, 0.0)
    rows, labels, factors = of_dask(points, y > 0, weights)
    rows = rows.map_blocks(sp.csr_array) if sparse else rows
    model = Distributed(SVC()).fit(rows, labels, factors).model_
    one = SVC().fit(sp.csr_array(points) if sparse else points, y > 0, sample_weight=weights)
    assert model.kernel_.gamma == pytest.approx(one.kernel_.gamma, rel=1e-12)
    np.testing.assert_allclose(model.objective_, one.objective_, rtol=1e-4)


def test_rows_that_all_parts_are_given_travel_as_one(small_parts, monkeypatch):
    """Not as a piece of each block, or there would be blocks times blocks of them."""
    found, seed = [], _cascade.Cascade._seed

    def noted(cascade):
        found.append(seed(cascade))
        return found[0]

    monkeypatch.setattr(_cascade.Cascade, "_seed", noted)
    fitted(SVC(C=3.0), X, y, chunks=(100, 5))
    assert len(found[0].held) == 1
    assert found[0].count == found[0].measures[0].count > 15


# ---- the model ----------------------------------------------------------------------------------


def test_the_model_is_an_ordinary_one(tmp_path):
    model = fitted(SVC(class_weight="balanced"), X, y)
    assert model.get_params() == SVC(class_weight="balanced").get_params()
    pytest.importorskip("skops")
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_the_same_blocks_give_the_same_model(small_parts):
    one, two = (fitted(SVC(C=3.0), X, y) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


# ---- what is refused, and what is said ----------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (SVC(kernel="precomputed"), "needs points, not kernel values"),
        (SVC(probability=True), "probability=True is not there"),
        (SVC(C=-1.0), "'C'"),
    ],
)
def test_refusals(machine, words):
    with pytest.raises(ValueError, match=words):
        fitted(machine, X, y)


def test_rows_that_no_worker_can_hold_are_told_beforehand(monkeypatch):
    monkeypatch.setattr(_cascade, "COPIES", 1e12)
    with pytest.raises(MemoryError, match="give workers more memory, or use machines in cells"):
        fitted(SVC(), X, y)


def test_limits_are_told():
    with pytest.warns(ConvergenceWarning, match=r"a gap of .* over all rows instead of tol"):
        model = fitted(SVC(max_iter=1), X, y)
    assert not model.converged_
