"""Sensitivities of features: against differences of decision values, and as a ranking."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as gp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVDD,
    KernelPerceptron,
    NearestHypersphereClassifier,
    OneClassSVM,
    feature_sensitivity,
)
from mercer.inspection.expansion import kernel_expansion
from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Sigmoid,
    Weighted,
    squared_distances,
)


def inverse_quadratic(X, Y):
    return 1.0 / (1.0 + squared_distances(X, Y))


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.3, 1.0),
    "rbf": RBF(0.3),
    "rbf_widths": RBF([0.1, 0.3, 0.9, 0.2]),
    "laplacian": Laplacian(0.3),
    "euclidean_laplacian": Laplacian(0.3, metric="euclidean"),
    "sigmoid": Sigmoid(0.05, 0.1),
    "constant": Linear() + Constant(2.0),
    "normalized": Normalized(Polynomial(2, 1.0, 1.0)),
    "weighted": Weighted(RBF(0.3), [1.0, 0.5, 2.0, 0.0]),
    "sum": RBF(0.3) + 0.5 * Linear(),
    "product": RBF(0.3) * Polynomial(2, 0.3, 1.0),
    "power": (Linear() + 1.0) ** 2,
    "multiple": 3.0 * RBF(0.3),
    "gaussian_process": gp.Matern(length_scale=1.5, nu=1.5) + gp.DotProduct(),
    "function": inverse_quadratic,
}


def numerical_sensitivity(model, X):
    """The definition, with central differences of the decision values of all machines."""
    squares = np.zeros(X.shape[1])
    for k, step in enumerate(1e-5 * np.eye(X.shape[1])):
        difference = model.decision_function(X + step) - model.decision_function(X - step)
        squares[k] = np.mean((difference / 2e-5) ** 2)
    return X.std(axis=0) * np.sqrt(squares)


@pytest.fixture(name="problem", scope="module")
def nonlinear_problem():
    X = np.random.default_rng(0).normal(size=(120, 4)) * [1.0, 2.0, 0.5, 1.0]
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


@pytest.mark.filterwarnings("ignore:The kernel is")
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_definition_for_every_kernel(kernel, problem):
    """At new rows, since a Laplacian has kinks at the support vectors."""
    X, y = problem
    model = SVC(kernel=kernel, C=5.0).fit(X, y)
    rows = np.random.default_rng(1).normal(size=(40, 4))
    expected = numerical_sensitivity(model, rows)
    assert_allclose(feature_sensitivity(model, rows), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Polynomial(2, 0.3, 1.0)], ids=str)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_many_classes(kernel, multi_class):
    """The mean is over all machines; pairs of classes are taken apart."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * X[:, 2], [-0.5, 0.0, 0.5])
    model = SVC(kernel=kernel, multi_class=multi_class, decision_function_shape="ovo").fit(X, y)
    assert model.decision_function(X).shape == (150, 6 if multi_class == "ovo" else 4)
    expected = numerical_sensitivity(model, X)
    assert_allclose(feature_sensitivity(model, X), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("variant", ["last", "averaged"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_perceptrons(variant, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = KernelPerceptron(variant=variant, max_iter=10, random_state=0).fit(X, y)
    assert_allclose(feature_sensitivity(model, X), numerical_sensitivity(model, X), rtol=1e-5)


@pytest.mark.parametrize("machine", [SVDD, OneClassSVM])
@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(2, 0.3, 1.0)], ids=str)
def test_one_class_machines(machine, kernel, problem):
    """The ball counts k(x, x), which is not constant for a polynomial kernel."""
    X, _ = problem
    model = machine(kernel=kernel, nu=0.2).fit(X)
    rows = 2.0 * X
    expected = numerical_sensitivity(model, rows)
    assert_allclose(feature_sensitivity(model, rows), expected, rtol=1e-5)


def test_balls_of_several_classes():
    """What counts are the squared distances to their centres."""
    X, y = load_iris(return_X_y=True)
    model = NearestHypersphereClassifier(kernel=Polynomial(2, 0.1, 1.0)).fit(X, y)

    class Distances:
        def decision_function(self, X):
            return -(model.distance(X) ** 2)

    expected = numerical_sensitivity(Distances(), X)
    assert_allclose(feature_sensitivity(model, X), expected, rtol=1e-5)


def test_machines_of_another_make(problem):
    """f(x) = |phi(x) - a|^2 holds k(x, x); such a machine says so itself."""
    X, _ = problem
    kernel = Polynomial(2, 0.3, 1.0)

    class Ball(SVC):
        def __init__(self):
            super().__init__()

        def fit(self, X, y=None):
            self.n_features_in_ = X.shape[1]
            self.kernel_, self.support_vectors_ = kernel, X[:5]
            self.dual_coef_ = np.full((1, 5), 0.2)
            return self

        def _kernel_expansion(self):
            return {"coefficients": -2.0 * self.dual_coef_, "diagonal_factor": 1.0}

        def decision_function(self, X):
            centre = self.support_vectors_
            return kernel.diag(X) - 0.4 * kernel(X, centre).sum(axis=1)

    model = Ball().fit(X)
    assert_allclose(feature_sensitivity(model, X), numerical_sensitivity(model, X), rtol=1e-6)


def test_linear_machine_gives_the_weights_of_standardised_data(problem):
    X, y = problem
    model = SVC(kernel="linear").fit(X, y)
    expected = np.abs(model.coef_[0]) * X.std(axis=0)
    assert_allclose(feature_sensitivity(model, X), expected, rtol=1e-12)


def test_the_unit_of_a_feature_does_not_matter(problem):
    X, y = problem
    units = np.array([1e3, 1.0, 1e-6, 7.0])
    widths = np.array([0.1, 0.3, 0.9, 0.2])
    here = feature_sensitivity(SVC(kernel=RBF(widths), tol=1e-8).fit(X, y), X)
    there = SVC(kernel=RBF(widths / units**2), tol=1e-8).fit(X * units, y)
    assert_allclose(feature_sensitivity(there, X * units), here, rtol=1e-6)


def test_features_that_play_no_part(problem):
    X, y = problem
    X = X.copy()
    X[:, 2] = 4.0
    model = SVC(kernel=Weighted(RBF(0.3), [1.0, 0.0, 1.0, 1.0])).fit(X, y)
    assert_array_equal(feature_sensitivity(model, X) == 0, [False, True, True, False])


def test_upper_bound_of_the_total_variance():
    """For independent normal features s^2 is at least the variance in which a feature has part."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0
    model = SVC(kernel=RBF(0.2), C=2.0).fit(X, y)
    rows, others = rng.normal(size=(2, 20000, 4))
    bounds = feature_sensitivity(model, rows) ** 2
    for k in range(4):
        changed = rows.copy()
        changed[:, k] = others[:, k]
        difference = model.decision_function(rows) - model.decision_function(changed)
        total = 0.5 * np.mean(difference**2)
        assert 0.3 * bounds[k] < total <= 1.02 * bounds[k]


def test_rows_in_several_blocks(problem):
    X, y = problem
    model = SVC(kernel=RBF(0.3)).fit(X, y)
    many = np.random.default_rng(4).normal(size=(20000, 4))
    assert model.support_.size * len(many) > 2**20
    parts = [feature_sensitivity(model, part) / part.std(axis=0) for part in np.split(many, 20)]
    expected = many.std(axis=0) * np.sqrt(np.mean(np.square(parts), axis=0))
    assert_allclose(feature_sensitivity(model, many), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
def test_sparse_data(kernel, problem):
    X, y = problem
    X = np.where(X > 0, X, 0.0)
    model = SVC(kernel=kernel).fit(sp.csr_array(X), y)
    dense = SVC(kernel=kernel).fit(X, y)
    sparse = feature_sensitivity(model, sp.csr_array(X))
    assert_allclose(sparse, feature_sensitivity(dense, X), rtol=1e-4, atol=1e-9)


def test_data_frames(problem):
    pandas = pytest.importorskip("pandas")
    X, y = problem
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = SVC().fit(frame, y)
    assert_array_equal(feature_sensitivity(model, frame), feature_sensitivity(SVC().fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        feature_sensitivity(model, frame[list("abdc")])


def xor(rng):
    X = rng.normal(size=(400, 20))
    return X, X[:, 0] * X[:, 1] > 0, 2


def ring(rng):
    X = rng.normal(size=(200, 20))
    return X, (X[:, :3] ** 2).sum(axis=1) > 2.4, 3


def friedman(rng):
    X, target = make_friedman1(600, 20, noise=1.0, random_state=int(rng.integers(1 << 30)))
    return X, np.abs(target - np.median(target)) > 3.0, 5


PROBLEMS = {"xor": (xor, 8.0), "ring": (ring, 7.0), "friedman": (friedman, 2.0)}


@pytest.mark.parametrize(("make", "lead"), PROBLEMS.values(), ids=PROBLEMS)
def test_ranking_beats_the_linear_weights(make, lead):
    """Mean rank of the relevant features over six draws; noise would have 10.5."""
    ranks: dict[str, list[float]] = {"sensitivity": [], "weights": []}
    for seed in range(6):
        X, y, n_relevant = make(np.random.default_rng(seed))
        X = StandardScaler().fit_transform(X)
        sensitivity = feature_sensitivity(SVC(C=10.0).fit(X, y), X)
        weights = np.abs(SVC(kernel="linear").fit(X, y).coef_[0])
        ranks["sensitivity"].append(rankdata(-sensitivity)[:n_relevant].mean())
        ranks["weights"].append(rankdata(-weights)[:n_relevant].mean())
    assert np.mean(ranks["sensitivity"]) < np.mean(ranks["weights"]) - lead
    assert np.mean(ranks["sensitivity"]) < (n_relevant + 1) / 2 + (0.1 if lead > 5 else 4.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_has_no_expansion_is_refused(problem):
    X, y = problem
    others = [
        LogisticRegression().fit(X, y),
        make_pipeline(StandardScaler(), SVC()).fit(X, y),
        KernelPerceptron(variant="voted", max_iter=3).fit(X, y),
    ]
    for model in others:
        with pytest.raises(TypeError, match="kernel machine of mercer"):
            feature_sensitivity(model, X)
    with pytest.raises(ValueError, match="precomputed kernel has no features"):
        feature_sensitivity(SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T)
    with pytest.raises(NotFittedError):
        feature_sensitivity(SVC(), X)
    with pytest.raises(ValueError, match="4 features"):
        feature_sensitivity(SVC().fit(X, y), X[:, :2])


def test_pairs_of_classes_are_taken_apart():
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel=RBF(0.3), decision_function_shape="ovo").fit(X, y)
    expansion = kernel_expansion(model)
    values = RBF(0.3)(X, model.support_vectors_) @ expansion.coefficients.T + model.intercept_
    assert_allclose(values, model.decision_function(X), atol=1e-9)
