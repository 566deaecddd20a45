"""What regression shares with LIBSVM, through scikit-learn and through its own Python package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from regression_zoo import plane, waves
from sklearn import svm

from mercer import SVR

TOL = 1e-6
# Their kernel values are float32, which large C shows.
AGREEMENT = 2e-4
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    "poly_default": {"kernel": "poly"},
    "rbf": {"kernel": "rbf"},
    "rbf_gamma": {"kernel": "rbf", "gamma": 2.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.002},
}


def pair(X: Any, y: Any, sample_weight: Any = None, **params: Any) -> tuple[SVR, svm.SVR]:
    ours = SVR(tol=TOL, **params).fit(X, y, sample_weight=sample_weight)
    theirs = svm.SVR(tol=TOL, **params).fit(X, y, sample_weight=sample_weight)
    return ours, theirs


def objective(model: Any, K: np.ndarray, y: np.ndarray, epsilon: float) -> float:
    """Return the dual objective of a model, from its coefficients."""
    coef = np.zeros(len(y))
    coef[model.support_] = np.ravel(model.dual_coef_)
    return float(0.5 * coef @ K @ coef - y @ coef + epsilon * np.abs(coef).sum())


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_kernels(params: dict[str, Any], C: float, epsilon: float) -> None:
    # More features than rows keep the sigmoid kernel definite, so that there is one optimum.
    X, y = plane(1, 50, 100) if params["kernel"] == "sigmoid" else waves(1, 120, 3)
    new = np.random.default_rng(2).uniform(-2, 2, (40, X.shape[1]))
    ours, theirs = pair(X, y, C=C, epsilon=epsilon, **params)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=AGREEMENT)
    K = np.asarray(ours.kernel_(X))
    best = objective(theirs, K, y, epsilon)
    assert objective(ours, K, y, epsilon) == pytest.approx(best, rel=1e-6)
    assert ours.objective_[0] == pytest.approx(best, rel=1e-6)
    at_bound = np.abs(ours.dual_coef_[0]) == C
    np.testing.assert_array_equal(ours.support_kind_[0], np.where(at_bound, "bound", "margin"))
    outside = np.maximum(0.0, np.abs(y - ours.predict(X)) - epsilon)
    np.testing.assert_allclose(ours.slack_, outside, atol=10 * TOL)
    if params["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=AGREEMENT)


def test_large_cost() -> None:
    """Their float32 kernel values leave them above our optimum, by no more than that explains."""
    X, y = waves(3, 60)
    ours = SVR(tol=TOL, C=1e4, gamma=0.5).fit(X, y)
    theirs = svm.SVR(tol=1e-4, C=1e4, gamma=0.5).fit(X, y)
    K = np.asarray(ours.kernel_(X))
    best, reached = objective(ours, K, y, 0.1), objective(theirs, K, y, 0.1)
    assert best <= reached + 1e-9 * abs(best)
    assert best == pytest.approx(reached, rel=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=0.05)


@pytest.mark.parametrize("epsilon", [50.0, 1.0])
def test_flat_functions(epsilon: float) -> None:
    """A tube wider than all targets, and a constant target: the same intercept, no vectors."""
    X, y = waves(4, 60)
    target = y if epsilon > 1 else np.full(60, 7.0)
    ours, theirs = pair(X, target, epsilon=epsilon)
    assert ours.support_.size == theirs.support_.size == 0
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)


def test_precomputed() -> None:
    X, y = waves(5, 80, 3)
    new = waves(6, 30, 3)[0]
    ours, theirs = pair(X @ X.T, y, kernel="precomputed")
    np.testing.assert_allclose(ours.predict(new @ X.T), theirs.predict(new @ X.T), atol=AGREEMENT)
    assert ours.support_vectors_.shape == theirs.support_vectors_.shape


def test_sample_weight() -> None:
    """With gamma given: for "scale" they take the variance without the weights."""
    X, y = waves(7, 100)
    weights = np.random.default_rng(7).exponential(size=100)
    weights[::9] = 0.0
    ours, theirs = pair(X, y, sample_weight=weights, gamma=0.5, C=3.0)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=AGREEMENT)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sparse(form: Any, kernel: str) -> None:
    X, y = waves(8, 80, 6)
    X[np.abs(X) < 0.8] = 0.0
    ours, theirs = pair(form(X), y, kernel=kernel)
    np.testing.assert_allclose(
        ours.predict(form(X)), theirs.predict(sp.csr_matrix(X)), atol=AGREEMENT
    )
    dense = SVR(tol=TOL, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), dense.predict(X), atol=1e-5)
    assert sp.issparse(ours.support_vectors_)
    assert theirs.coef_.shape == ours.coef_.shape if kernel == "linear" else True


def test_layout() -> None:
    """Names, shapes, types and values of all that both have, where the dual solution is unique."""
    X, y = waves(9, 90)
    ours, theirs = pair(X, y, gamma=2.0, C=2.0)
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "support_vectors_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == other.shape, name
        assert mine.dtype == other.dtype, name
        np.testing.assert_allclose(mine, other, atol=AGREEMENT, err_msg=name)
    assert type(ours.n_iter_) is type(theirs.n_iter_)
    assert ours.shape_fit_ == theirs.shape_fit_
    assert not hasattr(ours, "coef_")
    assert not hasattr(theirs, "coef_")


def test_same_arguments_and_defaults() -> None:
    """Changing the import is enough."""
    ours, theirs = SVR().get_params(), svm.SVR().get_params()
    assert {name: ours[name] for name in theirs} == theirs


OFFICIAL = {
    "linear": ("-t 0", {"kernel": "linear"}),
    "poly": ("-t 1 -d 3 -g 0.3 -r 1", {"kernel": "poly", "gamma": 0.3, "coef0": 1.0}),
    "rbf": ("-t 2 -g 0.3", {"gamma": 0.3}),
}


@pytest.mark.parametrize(("options", "params"), OFFICIAL.values(), ids=OFFICIAL)
def test_official(options: str, params: dict[str, Any]) -> None:
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    X, y = waves(10, 60, 3)
    theirs = svmutil.svm_train(y.tolist(), X.tolist(), f"-s 3 -p 0.2 -c 2 -e {TOL} -q {options}")
    values, _, _ = svmutil.svm_predict(y.tolist(), X.tolist(), theirs, "-q")
    ours = SVR(C=2.0, epsilon=0.2, tol=TOL, **params).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), values, atol=AGREEMENT)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_tube_around_everything_needs_no_support_vector(kernel: str, container: Any) -> None:
    """The flattest function is a constant, of all that fit the one in the middle of the targets."""
    X, y = plane(1, 30, 3)
    model = SVR(kernel=kernel, epsilon=2.0 * np.ptp(y)).fit(container(X), y)
    assert model.support_.size == 0
    expected = np.full(30, (y.min() + y.max()) / 2)
    np.testing.assert_allclose(model.predict(container(X)), expected, atol=1e-9)
