"""All classes in one program: against clarabel, LIBLINEAR and the machine of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mercer import SVC, CrammerSingerSVC, _engine
from mercer.gram import make_gram
from mercer.kernels import RBF, Linear, Polynomial
from mercer.solvers import Options, crammer_singer, solve_crammer_singer

clarabel = pytest.importorskip("clarabel")


def exact(P: Any, q: np.ndarray, sums: Any, upper: np.ndarray) -> np.ndarray:
    """Minimise x'Px/2 + q'x with given sums of zero and upper bounds."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A = sp.csc_matrix(sp.vstack([sums, sp.eye(q.size)]))
    right = np.concatenate([np.zeros(sums.shape[0]), upper])
    cones = [clarabel.ZeroConeT(sums.shape[0]), clarabel.NonnegativeConeT(q.size)]
    solver = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), q, A, right, cones, settings)
    return np.array(solver.solve().x)


@pytest.fixture(scope="module", name="iris")
def iris_data() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X)[::3], y[::3]


def test_a_row_is_solved_exactly() -> None:
    random = np.random.default_rng(0)
    for _ in range(40):
        k, curvature = int(random.integers(2, 7)), float(random.choice([0.1, 1.0, 10.0]))
        linear, upper = random.normal(size=k), np.zeros(k)
        upper[random.integers(k)] = random.choice([0.0, 0.01, 1.0, 5.0])
        expected = exact(curvature * np.eye(k), linear, sp.csr_matrix(np.ones((1, k))), upper)
        found, gradient = np.zeros((1, k)), linear[None].copy()
        matrix, diagonal = np.full((1, 1), curvature), np.array([curvature])
        _engine.solve_class_rows(matrix, diagonal, upper[None], found, gradient, 0.0, 1)
        np.testing.assert_allclose(found[0], expected, atol=1e-7)
        np.testing.assert_allclose(gradient[0], linear + curvature * found[0], atol=1e-12)
        assert abs(found.sum()) < 1e-12


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("C", [0.1, 30.0])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(2, 0.5, 1.0)], ids=str)
def test_objective_and_values_are_those_of_clarabel(
    kernel: Any, C: float, constant: float, iris: Any
) -> None:
    X, y = iris
    n, k = len(y), 3
    prices = C * np.random.default_rng(0).uniform(0.5, 2.0, n)
    found = solve_crammer_singer(
        make_gram(kernel, X), y, prices, Options(tol=1e-7), constant=constant
    )
    K = kernel(X) + constant
    own = np.eye(k)[y]
    sums = sp.kron(sp.eye(n), np.ones((1, k)), format="csr")
    point = exact(
        np.kron(K, np.eye(k)), (1.0 - own).ravel(), sums, (prices[:, None] * own).ravel()
    ).reshape(n, k)
    objective = 0.5 * np.vdot(point, K @ point) + np.vdot(1.0 - own, point)
    assert found.converged
    assert found.gap <= 1e-7
    assert found.objective == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(K @ found.alpha, K @ point, atol=2e-4)
    # Feasible, and no better than the value of the primal problem.
    assert np.abs(found.alpha.sum(axis=1)).max() < 1e-9
    assert (found.alpha <= prices[:, None] * own + 1e-12).all()
    values = K @ found.alpha
    right = values[np.arange(n), y]
    slack = np.maximum(0.0, (values + 1.0 - own - right[:, None]).max(axis=1))
    primal = 0.5 * np.vdot(found.alpha, values) + prices @ slack
    assert primal == pytest.approx(-found.objective, rel=1e-5)


@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize("data", [load_iris, load_wine])
def test_linear_machine_is_that_of_liblinear(data: Any, C: float) -> None:
    X, y = data(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = CrammerSingerSVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    peer = LinearSVC(
        multi_class="crammer_singer", C=C, tol=1e-8, max_iter=1_000_000, random_state=0
    )
    peer.fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), atol=2e-3 * np.abs(peer.coef_).max()
    )
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-3)

    def value(coef: Any, intercept: Any) -> float:
        values = X @ coef.T + intercept
        margins = values + 1.0 - np.eye(3)[y] - values[np.arange(len(y)), y][:, None]
        return 0.5 * float((coef**2).sum() + (intercept**2).sum()) + C * margins.max(axis=1).sum()

    assert value(ours.coef_, ours.intercept_) <= value(peer.coef_, peer.intercept_) * (1 + 1e-5)
    assert value(ours.coef_, ours.intercept_) == pytest.approx(-ours.objective_, rel=1e-4)


def test_two_classes_are_the_ordinary_machine_at_twice_the_price(iris: Any) -> None:
    """The larger the constant feature, the freer are the offsets, as those of SVC."""
    X, y = iris[0][iris[1] > 0], iris[1][iris[1] > 0]
    ours = CrammerSingerSVC(C=1.0, gamma=0.5, intercept_scaling=30.0, tol=1e-6).fit(X, y)
    plain = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), plain.decision_function(X), atol=0.01, rtol=0.01
    )
    np.testing.assert_array_equal(ours.predict(X), np.where(ours.decision_function(X) > 0, 2, 1))
    bound = CrammerSingerSVC(C=1.0, gamma=0.5, intercept_scaling=0.01).fit(X, y)
    assert np.abs(bound.intercept_).max() < 0.1 * np.abs(ours.intercept_).max()


def test_precomputed_sparse_and_dense_agree(iris: Any) -> None:
    X, y = iris
    dense = CrammerSingerSVC(gamma=0.5, tol=1e-6).fit(X, y)
    sparse = CrammerSingerSVC(gamma=0.5, tol=1e-6).fit(sp.csr_array(X), y)
    matrix = RBF(0.5)(X)
    known = CrammerSingerSVC(kernel="precomputed", tol=1e-6, cache_size=1e-3).fit(matrix, y)
    for other, rows in ((sparse, X), (known, matrix)):
        np.testing.assert_allclose(
            other.decision_function(rows), dense.decision_function(X), atol=1e-5
        )
    own = dense.decision_function(X)
    margin = own[np.arange(len(y)), y][:, None] - own - 1.0 + np.eye(3)[y]
    np.testing.assert_allclose(dense.slack_, np.maximum(0.0, -margin.min(axis=1)), atol=1e-5)


def test_weights_of_classes_and_of_rows_are_factors_of_the_price(iris: Any) -> None:
    X, y = iris
    factors, weights = np.array([2.0, 1.0, 0.25]), np.linspace(0.5, 3.0, len(y))
    model = CrammerSingerSVC(gamma=0.5, C=3.0, tol=1e-6, class_weight=dict(enumerate(factors)))
    model.fit(X, y, sample_weight=weights)
    found = solve_crammer_singer(
        make_gram(RBF(0.5), X), y, 3.0 * factors[y] * weights, Options(tol=1e-6), constant=1.0
    )
    np.testing.assert_allclose(model.objective_, found.objective, rtol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, found.alpha.T[:, model.support_], atol=1e-9)


def test_limits_and_warm_start(iris: Any) -> None:
    X, y = iris
    model = CrammerSingerSVC(C=100.0, gamma=0.5, max_iter=40, warm_start=True)
    with pytest.warns(ConvergenceWarning, match=r"^The solver stopped at a gap of .* max_iter"):
        model.fit(X, y)
    assert model.n_iter_ == 40
    assert not model.converged_
    first = model.gap_
    model.set_params(max_iter=-1).fit(X, y)
    assert model.converged_
    assert model.gap_ <= 1e-3 < first
    used = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < used
    with pytest.warns(ConvergenceWarning, match="time"):
        CrammerSingerSVC(C=100.0, gamma=0.5, time_limit=0.0).fit(X, y)


@pytest.mark.parametrize("max_iter", [30, 50, 70])
def test_all_blocks_together_take_no_more_steps(max_iter: int, monkeypatch: Any, iris: Any) -> None:
    X, y = iris
    monkeypatch.setattr(crammer_singer, "BLOCK", 4)
    options = Options(tol=1e-9, max_iter=max_iter)
    found = solve_crammer_singer(make_gram(RBF(0.5), X), y, np.full(len(y), 30.0), options)
    assert (found.status, found.n_iter) == ("max_iter", max_iter)


def test_a_gap_of_nothing_has_converged() -> None:
    found = solve_crammer_singer(
        make_gram(Linear(), np.zeros((3, 1))), np.arange(3), np.ones(3), Options(tol=0.0)
    )
    assert (found.gap, found.converged) == (0.0, True)


def test_some_values_beyond_numbers_are_refused_too() -> None:
    gram = make_gram(Linear(), np.array([[1e120], [-1e120], [0.0]]))
    codes, prices = np.array([0, 1, 0]), np.full(3, 1e80)
    start = np.array([[1e80, -1e80], [-1e80, 1e80], [0.0, 0.0]])
    with pytest.raises(ValueError, match="beyond the range of numbers"):
        solve_crammer_singer(gram, codes, prices, Options(max_iter=0), warm_start=start)


def test_rows_of_little_weight_sum_to_nothing(iris: Any) -> None:
    """Rounding of the gradient, which is near 1, may not be what is left of a tiny price."""
    X, y = iris
    weights = 10.0 ** np.random.default_rng(0).uniform(-12, 0, len(y))
    model = CrammerSingerSVC(C=0.01, tol=1e-6, gamma=0.5).fit(X, y, sample_weight=weights)
    sums = np.abs(model.dual_coef_.sum(axis=0))
    assert (sums <= 1e-15 * np.abs(model.dual_coef_).sum(axis=0)).all()


@pytest.mark.parametrize("scale", [1e-5, 1e-20, 0.0])
def test_tiny_kernel_values_are_not_lost_in_a_step(scale: float, iris: Any) -> None:
    """Where the kernel is next to nothing, multipliers are at their bounds, and sum to nothing."""
    X, y = iris
    model = CrammerSingerSVC(kernel="linear", fit_intercept=False).fit(scale * X, y)
    assert model.dual_coef_.max() == 1.0
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-15)


def test_rows_of_next_to_nothing_reach_their_bounds_beside_large_ones(iris: Any) -> None:
    X, y = 1e4 * iris[0], iris[1]
    X[::5] *= 1e-16
    found = solve_crammer_singer(
        make_gram(Linear(), X), y, np.full(len(y), 1e4), Options(max_iter=5000)
    )
    own = found.alpha[np.arange(len(y)), y]
    assert own[::5].max() == 1e4
    assert own[::5].min() >= 0.0


@pytest.mark.parametrize("missing", [0, 1])
def test_the_matrix_is_held_where_it_fits_the_cache(missing: int, iris: Any) -> None:
    X, y = iris
    gram, n_whole = make_gram(RBF(0.5), X), []
    whole = gram.matrix
    gram.matrix = lambda: n_whole.append(1) or whole()
    options = Options(cache_bytes=8 * len(y) ** 2 - missing)
    solve_crammer_singer(gram, y, np.ones(len(y)), options)
    assert len(n_whole) == 1 - missing


def test_rows_beyond_arithmetic_are_refused(iris: Any) -> None:
    X, y = iris
    with pytest.raises(ValueError, match="scale the features"):
        CrammerSingerSVC(kernel="linear").fit(1e247 * X, y)
    with pytest.raises(ValueError, match="scale the features"):
        CrammerSingerSVC(kernel="sigmoid", gamma=1.0).fit(1e202 * X, y)


def test_kernel_that_is_none_ends(iris: Any) -> None:
    """Where the matrix is not positive semi-definite there may be no minimum to go to."""
    X, y = iris
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = CrammerSingerSVC(kernel="sigmoid", gamma=1.0, coef0=-1.0, max_iter=5000).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_warm_start_is_made_feasible(iris: Any) -> None:
    """From any point, also with other prices or classes."""
    X, y = iris
    gram, prices = make_gram(RBF(0.5), X), np.full(len(y), 2.0)
    start = 5.0 * np.random.default_rng(0).normal(size=(len(y), 3))
    cold = solve_crammer_singer(gram, y, prices, Options(tol=1e-6))
    warm = solve_crammer_singer(gram, y, prices, Options(tol=1e-6), warm_start=start)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    none = solve_crammer_singer(gram, y, prices, Options(max_iter=0), warm_start=start)
    assert np.abs(none.alpha.sum(axis=1)).max() < 1e-9
    assert (none.alpha <= prices[:, None] * np.eye(3)[y] + 1e-12).all()
    again = solve_crammer_singer(gram, y, prices, Options(tol=1e-6), warm_start=cold.alpha)
    assert again.n_iter == 0


def test_patience_ends_where_the_gap_is_not_halved(monkeypatch: Any, iris: Any) -> None:
    """It begins anew with each halving, so that only the longest wait counts."""
    X, y = iris
    gram, prices = make_gram(RBF(0.5), X), np.full(len(y), 30.0)
    monkeypatch.setattr(crammer_singer, "BLOCK", 4)
    gaps = [1.0]  # of zero, before which nobody is asked
    patient = Options(tol=1e-6, callback=lambda _, gap: gaps.append(gap))
    assert solve_crammer_singer(gram, y, prices, patient).converged
    best, waited, longest = gaps[0], 0, 0
    for gap in gaps[1:]:
        waited = 0 if gap <= 0.5 * best else waited + 1
        best, longest = best if waited else gap, max(longest, waited)
    for patience, status in ((longest, "converged"), (longest - 1, "stalled")):
        monkeypatch.setattr(crammer_singer, "PATIENCE", patience)
        assert solve_crammer_singer(gram, y, prices, Options(tol=1e-6)).status == status


def test_engine_refuses_arrays_that_do_not_fit() -> None:
    one = np.ones((2, 3))
    with pytest.raises(ValueError, match="same length"):
        _engine.solve_class_rows(np.eye(3), np.ones(2), one, one.copy(), one.copy(), 0.0, 1)
