"""What we share with LIBSVM, through scikit-learn and through its own Python package.

Decision values and objectives are compared, not coefficients: those need not be unique.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler
from zoo import blobs

from mercer import SVC

# LIBSVM takes the sigmoid kernel as well, and says nothing.
pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")

TOL = 1e-6
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    "poly_default": {"kernel": "poly"},
    "rbf": {"kernel": "rbf"},
    "rbf_gamma": {"kernel": "rbf", "gamma": 0.3},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.002},
}


def _pair(X: Any, y: Any, sample_weight: Any = None, **params: Any) -> tuple[SVC, svm.SVC]:
    ours = SVC(tol=TOL, **params).fit(X, y, sample_weight=sample_weight)
    theirs = svm.SVC(tol=TOL, **params).fit(X, y, sample_weight=sample_weight)
    return ours, theirs


def _objective(model: Any, K: np.ndarray, y: np.ndarray) -> float:
    """Return 1/2 b'Kb - y'b of a two-class model."""
    beta = np.zeros(len(y))
    beta[model.support_] = np.asarray(model.dual_coef_)[0]
    return float(0.5 * beta @ K @ beta - y @ beta)


@pytest.fixture(scope="module", name="iris")
def scaled_iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_two_classes(params: dict[str, Any], C: float) -> None:
    # As many features as rows keep the sigmoid kernel definite, so that there is one optimum.
    X, y = blobs(1, 60, 60 if params["kernel"] == "sigmoid" else 4, 0.2)
    new = blobs(2, 50, X.shape[1])[0]
    ours, theirs = _pair(X, y, C=C, **params)
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), rtol=1e-4, atol=1e-4
    )
    K = ours.kernel_(X)
    assert _objective(ours, K, y) == pytest.approx(_objective(theirs, K, y), rel=1e-6)
    assert ours.objective_[0] == pytest.approx(_objective(theirs, K, y), rel=1e-6)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def test_precomputed() -> None:
    X, y = blobs(3, 80, 4, 0.4)
    new = blobs(4, 30, 4)[0]
    ours, theirs = _pair(X @ X.T, y, kernel="precomputed")
    np.testing.assert_allclose(
        ours.decision_function(new @ X.T), theirs.decision_function(new @ X.T), atol=1e-4
    )
    assert ours.support_vectors_.shape == theirs.support_vectors_.shape


@pytest.mark.parametrize("class_weight", [{-1: 3.0}, {1: 0.2, -1: 2.0}, "balanced"])
def test_class_weight(class_weight: Any) -> None:
    X, y = blobs(5, 100, 3, 0.4, share=0.2)
    ours, theirs = _pair(X, y, class_weight=class_weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_sample_weight() -> None:
    """With gamma given: for "scale" they take the variance without the weights."""
    X, y = blobs(6, 100, 3, 0.4)
    weights = np.random.default_rng(6).exponential(size=100)
    ours, theirs = _pair(X, y, sample_weight=weights, gamma=0.5, class_weight={1: 2.0})
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_gamma_scale_is_theirs_without_weights() -> None:
    X, y = blobs(7, 50, 4)
    ours, theirs = _pair(X, y)
    assert ours.kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_sparse(form: Any) -> None:
    X, y = blobs(8, 80, 6, 0.4)
    X[np.abs(X) < 0.5] = 0.0
    ours, theirs = _pair(form(X), y)
    dense = SVC(tol=TOL).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(form(X)), theirs.decision_function(sp.csr_matrix(X)), atol=1e-4
    )
    np.testing.assert_allclose(ours.decision_function(X), dense.decision_function(X), atol=1e-5)
    assert sp.issparse(ours.support_vectors_)


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
def test_many_classes(params: dict[str, Any], iris: Any) -> None:
    X, y = iris
    if params["kernel"] == "sigmoid":
        y = np.arange(40) % 4
        X = np.random.default_rng(0).normal(size=(40, 80)) + 0.2 * y[:, None]
    ours, theirs = _pair(X, y, decision_function_shape="ovo", **params)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-4, atol=2e-4
    )
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if params["kernel"] == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_layout_of_the_coefficients() -> None:
    """Shapes, order by class, signs, and which row of dual_coef_ belongs to which pair.

    At this C every row is a support vector whose coefficient is unique, so that all must agree.
    """
    X, y = make_blobs(80, 3, centers=4, cluster_std=8.0, random_state=3)
    names = np.array(["d", "a", "c", "b"])[y]
    ours, theirs = _pair(X, names, gamma=0.5, C=0.5)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.support_vectors_, theirs.support_vectors_)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_layout_rebuilds_every_machine(iris: Any) -> None:
    """The decision value of each pair follows from the layout as scikit-learn documents it."""
    X, y = iris
    model = SVC(tol=TOL, decision_function_shape="ovo").fit(X, y)
    K = model.kernel_(X, model.support_vectors_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    part = [slice(a, b) for a, b in pairwise(ends)]
    rows = model.dual_coef_
    values = [
        K[:, part[i]] @ rows[j - 1, part[i]] + K[:, part[j]] @ rows[i, part[j]]
        for i, j in combinations(range(3), 2)
    ]
    np.testing.assert_allclose(
        np.column_stack(values) + model.intercept_, model.decision_function(X), atol=1e-10
    )


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_shapes_of_decision_values(shape: str, n_classes: int) -> None:
    X, y = make_blobs(100, 4, centers=n_classes, cluster_std=3.0, random_state=1)
    ours, theirs = _pair(X, y, decision_function_shape=shape)
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)


def test_ties_fall_as_theirs() -> None:
    """Three classes around a centre make every class win once; both options, as they document."""
    X, y = make_blobs(90, 2, centers=[[0, 3], [3, -2], [-3, -2]], cluster_std=0.6, random_state=0)
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 60), np.linspace(-6, 6, 60)), -1).reshape(-1, 2)
    ours, theirs = _pair(X, y, kernel="linear", break_ties=False)
    votes = np.sort(np.round(theirs.decision_function(grid)), axis=1)
    assert (votes[:, -1] == votes[:, -2]).any(), "the example has no ties"
    pairs = _pair(X, y, kernel="linear", decision_function_shape="ovo")[1].decision_function(grid)
    close = np.abs(pairs).min(axis=1) < 1e-3
    np.testing.assert_array_equal(ours.predict(grid)[~close], theirs.predict(grid)[~close])
    ours, theirs = _pair(X, y, kernel="linear", break_ties=True)
    np.testing.assert_array_equal(ours.predict(grid)[~close], theirs.predict(grid)[~close])
    np.testing.assert_array_equal(ours.predict(grid), ours.decision_function(grid).argmax(axis=1))


def test_exact_zero_is_the_first_class() -> None:
    """A point exactly on the boundary: `predict` keeps to "positive for the second class"."""
    model = SVC(kernel="linear").fit(np.array([[-1.0], [1.0]]), ["a", "b"])
    assert model.decision_function([[0.0]])[0] == 0.0
    assert model.predict([[0.0]])[0] == "a"


def test_same_defaults() -> None:
    """Changing the import is enough: arguments with the same name have the same default."""
    ours, theirs = SVC().get_params(), svm.SVC().get_params()
    shared = ours.keys() & theirs.keys() - {"probability"}  # whose default says "deprecated" there
    assert shared >= {"C", "kernel", "degree", "gamma", "coef0", "tol", "class_weight", "max_iter"}
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


@pytest.mark.parametrize("load", [load_wine, load_digits])
def test_labels_of_measured_data(load: Any) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train = np.arange(len(X)) % 2 == 0
    ours, theirs = SVC(C=5.0).fit(X[train], y[train]), svm.SVC(C=5.0).fit(X[train], y[train])
    agreement = (ours.predict(X[~train]) == theirs.predict(X[~train])).mean()
    assert agreement >= 0.999


OFFICIAL = {
    "linear": ("-t 0", {"kernel": "linear"}),
    "poly": ("-t 1 -d 3 -g 0.3 -r 1", {"kernel": "poly", "gamma": 0.3, "coef0": 1.0}),
    "rbf": ("-t 2 -g 0.3", {"gamma": 0.3}),
    "sigmoid": ("-t 3 -g 0.001", {"kernel": "sigmoid", "gamma": 0.001}),
    "weights": ("-t 2 -g 0.3 -w1 3 -w-1 0.5", {"gamma": 0.3, "class_weight": {1: 3.0, -1: 0.5}}),
}


@pytest.mark.parametrize(("options", "params"), OFFICIAL.values(), ids=OFFICIAL)
def test_official(options: str, params: dict[str, Any]) -> None:
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    X, y = blobs(9, 60, 60 if params.get("kernel") == "sigmoid" else 4, 0.2)
    theirs = svmutil.svm_train(y.tolist(), X.tolist(), f"-c 2 -e {TOL} -q {options}")
    _, _, values = svmutil.svm_predict(y.tolist(), X.tolist(), theirs, "-q")
    ours = SVC(C=2.0, tol=TOL, **params).fit(X, y)
    sign = 1.0 if theirs.get_labels()[0] == 1 else -1.0
    np.testing.assert_allclose(
        ours.decision_function(X), sign * np.ravel(values), rtol=1e-4, atol=1e-4
    )


def test_official_many_classes(iris: Any) -> None:
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    X, y = iris
    theirs = svmutil.svm_train(y.tolist(), X.tolist(), f"-c 1 -e {TOL} -q -t 2 -g 0.25")
    labels, _, values = svmutil.svm_predict(y.tolist(), X.tolist(), theirs, "-q")
    assert theirs.get_labels() == [0, 1, 2]
    ours = SVC(gamma=0.25, tol=TOL, decision_function_shape="ovo", break_ties=False).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), np.array(values), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), labels)
    assert ours.support_.size == theirs.get_nr_sv()
