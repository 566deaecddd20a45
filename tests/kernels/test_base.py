"""What holds for every kernel."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from mercer.kernels import RBF, Kernel, Linear, Polynomial, is_mercer

from .zoo import RationalQuadratic


def slow_matrix(formula, X, Y):
    return np.array([[formula(x, y) for y in Y] for x in X])


def assert_derivative(gradient, function, tolerance):
    """Compare with central differences of fourth order at 0."""
    expected = []
    for step in 1e-3 * np.eye(len(gradient)):
        near = function(step) - function(-step)
        far = function(2 * step) - function(-2 * step)
        expected.append((8 * near - far) / 12e-3)
    size = np.abs(expected).max(initial=1e-3)
    assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance * size)


def test_values_follow_the_formula(entry, X, Y):
    assert_allclose(entry.kernel(X, Y), slow_matrix(entry.formula, X, Y), rtol=1e-12, atol=1e-13)
    assert_allclose(entry.kernel(X), slow_matrix(entry.formula, X, X), rtol=1e-12, atol=1e-13)


def test_matrix_is_symmetric_to_the_last_bit(entry, X):
    K = entry.kernel(X)
    assert_array_equal(K, K.T)


def test_diagonal_is_that_of_the_matrix(entry, X):
    assert_allclose(entry.kernel.diag(X), np.diag(entry.kernel(X)), rtol=1e-13)


def test_exchanging_the_points_transposes(entry, X, Y):
    assert_allclose(entry.kernel(X, Y), entry.kernel(Y, X).T, rtol=1e-12, atol=1e-14)


def test_rows_of_the_matrix_can_be_had_alone(entry, X):
    assert_allclose(entry.kernel(X[3:6], X), entry.kernel(X)[3:6], rtol=1e-12, atol=1e-14)


def test_mercer_kernels_give_positive_semidefinite_matrices(entry, X):
    if entry.mercer:
        report = is_mercer(entry.kernel(X))
        assert report, report


def test_result_is_float64_and_the_points_are_not_changed(entry, X):
    before = X.copy()
    assert entry.kernel(X).dtype == np.float64
    assert_array_equal(X, before)


def test_stationary_kernels_do_not_see_a_shift(entry, X):
    if entry.kernel.is_stationary:
        assert_allclose(entry.kernel(X + 5.0), entry.kernel(X), rtol=1e-11)
        assert_allclose(np.ptp(entry.kernel.diag(X)), 0.0, atol=1e-15)


def test_theta_goes_round(entry, X):
    kernel = entry.kernel
    theta = kernel.theta
    assert len(kernel.theta_names) == len(set(kernel.theta_names)) == theta.size
    assert kernel.bounds.shape == (theta.size, 2)
    assert (kernel.bounds[:, 0] <= theta).all()
    assert (theta <= kernel.bounds[:, 1]).all()
    moved = kernel.with_theta(theta + 0.3)
    assert_allclose(moved.theta, theta + 0.3, rtol=1e-13, atol=1e-13)
    assert_allclose(moved.with_theta(theta)(X), kernel(X), rtol=1e-12)


def test_theta_names_are_parameters(entry):
    parameters = entry.kernel.get_params()
    for name, value in zip(entry.kernel.theta_names, np.exp(entry.kernel.theta), strict=True):
        path, _, index = name.partition("[")
        parameter = parameters[path]
        assert_allclose(parameter[int(index[:-1])] if index else parameter, value, rtol=1e-13)


def test_contracted_gradient_is_the_derivative(entry, X, Y, W):
    kernel = entry.kernel
    theta = kernel.theta

    def check(weights, other):
        def value(change):
            return (kernel.with_theta(theta + change)(X, other) * weights).sum()

        gradient = kernel.contract_gradient(X, weights, other)
        assert gradient.shape == theta.shape
        assert_derivative(gradient, value, 1e-9 if entry.exact else 1e-6)

    check(W, None)
    check(W[:, :7], Y)


def test_contracted_scale_gradient_is_the_derivative(entry, X, Y, W):
    def check(weights, other):
        def value(change):
            scales = np.exp(change)
            scaled = None if other is None else other * scales
            return (entry.kernel(X * scales, scaled) * weights).sum()

        gradient = entry.kernel.contract_scale_gradient(X, weights, other)
        assert gradient.shape == (4,)
        assert_derivative(gradient, value, 1e-6)

    check(W, None)
    check(W[:, :7], Y)


def test_leaving_features_out_is_deleting_columns(entry, X, W):
    expected = []
    for k in range(4):
        zeroed = X.copy()
        zeroed[:, k] = 0.0
        # For all kernels of the zoo a column of zeros is one that is not there.
        expected.append((slow_matrix(entry.formula, zeroed, zeroed) * W).sum())
    assert_allclose(entry.kernel.leave_feature_out(X, W), expected, rtol=1e-9, atol=1e-10)
    sums = [np.vdot(W, K) for K in entry.kernel.without_features(X)]
    assert_allclose(sums, expected, rtol=1e-9, atol=1e-10)


def test_clones_pickles_and_equality(entry, X):
    for copy in (clone(entry.kernel), pickle.loads(pickle.dumps(entry.kernel))):
        assert copy is not entry.kernel
        assert copy == entry.kernel
        assert hash(copy) == hash(entry.kernel)
        assert_array_equal(copy(X), entry.kernel(X))


def test_resolving_a_resolved_kernel_changes_nothing(entry, X):
    resolved = entry.kernel.resolve(X)
    assert resolved is not entry.kernel
    assert_array_equal(resolved(X), entry.kernel(X))


def test_pairwise_form_is_the_kernel(entry, X, Y):
    form = entry.kernel.pairwise_form()
    if form is not None:
        scales = np.ones(4) if form.scales is None else form.scales
        assert_allclose(
            form.factor * slow_matrix(_form_formula(form), X * scales, Y * scales),
            entry.kernel(X, Y),
            rtol=1e-12,
            atol=1e-13,
        )


def _form_formula(form):
    g, c = form.gamma, form.coef0
    return {
        "linear": lambda x, y: x @ y,
        "polynomial": lambda x, y: (g * (x @ y) + c) ** form.degree,
        "rbf": lambda x, y: np.exp(-g * ((x - y) ** 2).sum()),
        "laplacian": lambda x, y: np.exp(-g * np.abs(x - y).sum()),
        "euclidean_laplacian": lambda x, y: np.exp(-g * np.linalg.norm(x - y)),
        "sigmoid": lambda x, y: np.tanh(g * (x @ y) + c),
    }[form.family]


def test_repr_shows_what_differs_from_the_default():
    assert repr(2.0 * RBF(0.5) + Linear()) == (
        "Sum(k1=Scaled(factor=2.0, kernel=RBF(gamma=0.5)), k2=Linear())"
    )


def test_nested_parameters_can_be_set():
    kernel = RBF(0.5) + 2.0 * Polynomial(2, 1.0)
    kernel = clone(kernel).set_params(k1__gamma=3.0, k2__kernel__degree=4, k2__factor=5.0)
    assert kernel == RBF(3.0) + 5.0 * Polynomial(4, 1.0)


def test_kernels_with_other_parameters_are_not_equal():
    assert RBF(0.5) != RBF(0.6)
    assert RBF(0.5) != Linear()
    assert RBF([1.0, 2.0]) == RBF(np.array([1.0, 2.0]))
    assert RBF("scale") != RBF([1.0, 2.0])
    assert RBF(0.5) != "rbf"


def test_scikit_learn_searches_over_kernel_parameters():
    X, y = make_classification(n_samples=80, n_features=4, random_state=0)
    search = GridSearchCV(
        SVC(kernel=RBF(0.3)), {"kernel__gamma": [0.01, 0.3, 3.0], "C": [1.0]}, cv=3
    ).fit(X, y)
    reference = GridSearchCV(SVC(), {"gamma": [0.01, 0.3, 3.0], "C": [1.0]}, cv=3).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"])
    assert search.best_params_["kernel__gamma"] == reference.best_params_["gamma"]
    other = GridSearchCV(SVC(kernel=RBF(0.3)), {"kernel": [RBF(0.1), Linear() + 1]}, cv=3)
    assert isinstance(other.fit(X, y).best_params_["kernel"], Kernel)


def test_a_custom_kernel_needs_two_methods(X, W):
    class Minimum(Kernel):
        def __call__(self, X, Y=None):
            Y = X if Y is None else Y
            return np.minimum(np.abs(X)[:, None], np.abs(Y)[None]).sum(axis=2)

        def diag(self, X):
            return np.abs(X).sum(axis=1)

    kernel = Minimum()
    naive = [(kernel(np.delete(X, k, axis=1)) * W).sum() for k in range(4)]
    assert_allclose(kernel.leave_feature_out(X, W), naive, rtol=1e-12)
    assert kernel.theta.size == kernel.contract_gradient(X, W).size == 0
    assert kernel.pairwise_form() is None
    assert not kernel.is_stationary
    assert_allclose(kernel.contract_scale_gradient(X, np.ones((12, 12))).sum(), kernel(X).sum())


def test_a_custom_kernel_is_asked_for_blocks_of_rows(monkeypatch):
    asked = []

    class Recording(RationalQuadratic):
        def __call__(self, X, Y=None):
            asked.append((len(X), len(X if Y is None else Y)))
            return super().__call__(X, Y)

    monkeypatch.setattr("mercer.kernels.base.IN_CACHE", 200)
    X = np.random.default_rng(0).normal(size=(50, 2))
    W = np.ones((50, 50))
    blockwise = Recording(1.0, 2.0).contract_gradient(X, W)
    assert max(rows for rows, _ in asked) == 4
    monkeypatch.undo()
    assert_allclose(blockwise, RationalQuadratic(1.0, 2.0).contract_gradient(X, W), rtol=1e-8)


def test_bounds_hold_the_value_a_kernel_has():
    assert_allclose(RBF(1e-12).bounds, [[np.log(1e-12), np.log(1e8)]])


def test_theta_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match=r"RBF has 1 free parameters; theta has shape \(2,\)"):
        RBF(1.0).with_theta([0.0, 1.0])


def test_a_contraction_of_the_wrong_shape_is_refused(X):
    with pytest.raises(ValueError, match=r"W must have the shape .* \(12, 12\); got \(3, 3\)"):
        RBF(1.0).contract_gradient(X, np.ones((3, 3)))
