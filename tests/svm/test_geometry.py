"""The geometry of document 001: width of the margin, distances, functional margins, the bias."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs

from mercer import SVC
from mercer.kernels import RBF, explicit_map


@pytest.fixture(name="blobs")
def overlapping_blobs():
    return make_blobs(120, 3, centers=[[0, 0, 0], [2, 1, 0]], cluster_std=1.5, random_state=3)


@pytest.fixture(name="separable")
def separable_blobs():
    return make_blobs(40, 2, centers=[[-3, 0], [3, 1]], cluster_std=0.6, random_state=0)


def test_margin_of_two_points():
    """The widest margin between two points is their distance; its boundary halves it."""
    X = np.array([[1.0, 1.0, 0.0], [4.0, 5.0, 0.0]])
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, [0, 1])
    assert_allclose(model.margin_width_, [5.0], rtol=1e-8)
    assert_allclose(model.distance(X), [-2.5, 2.5], rtol=1e-8)
    assert_allclose(model.distance([[2.5, 3.0, 7.0]]), [0.0], atol=1e-8)


def test_distance_is_euclidean_in_input_space_for_a_linear_kernel(blobs):
    """Moving a point by its distance along the normal puts it on the boundary."""
    X, y = blobs
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)
    normal = model.coef_[0] / np.linalg.norm(model.coef_)
    foot = X - model.distance(X)[:, None] * normal
    assert_allclose(model.decision_function(foot), 0.0, atol=1e-8)


def test_distance_is_euclidean_in_feature_space(blobs):
    """A polynomial kernel has an explicit map, in which the boundary is a plane."""
    X, y = blobs
    model = SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.1, tol=1e-8).fit(X / 5, y)
    phi = explicit_map(model.kernel_, X / 5)
    assert_allclose(phi @ phi.T, model.kernel_(X / 5), rtol=1e-10)
    w = model.dual_coef_[0] @ phi[model.support_]
    expected = (phi @ w + model.intercept_[0]) / np.linalg.norm(w)
    assert_allclose(model.distance(X / 5), expected, rtol=1e-7, atol=1e-9)
    assert_allclose(model.margin_width_, [2 / np.linalg.norm(w)], rtol=1e-7)


def test_support_vectors_of_a_hard_margin_lie_on_its_edge(separable):
    X, y = separable
    for kernel in ("linear", RBF(0.2)):
        model = SVC(kernel=kernel, C=np.inf, tol=1e-9).fit(X, y)
        distances = np.abs(model.distance(X))
        assert_allclose(distances[model.support_], 0.5 * model.margin_width_[0], rtol=1e-6)
        assert distances.min() == pytest.approx(0.5 * model.margin_width_[0], rel=1e-6)
        assert model.margins(X, y).min() == pytest.approx(1.0, abs=1e-6)


def test_margins_are_one_minus_slack(blobs):
    X, y = blobs
    model = SVC(C=0.5, tol=1e-9).fit(X, y)
    margins = model.margins(X, y)
    assert_allclose(np.maximum(0.0, 1.0 - margins), model.slack_, atol=1e-8)
    assert_array_equal(margins > 0, model.predict(X) == y)
    assert_allclose(margins, np.where(y == 1, 1, -1) * model.decision_function(X))
    assert_allclose(model.margins(X, 1 - y), -margins)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.001, 0.03])
def test_margin_grows_as_C_falls(blobs, loss, C):
    wide = SVC(kernel="linear", loss=loss, C=C, tol=1e-7).fit(*blobs)
    narrow = SVC(kernel="linear", loss=loss, C=10 * C, tol=1e-7).fit(*blobs)
    assert wide.margin_width_[0] > narrow.margin_width_[0]
    assert_allclose(wide.margin_width_, 2 / np.linalg.norm(wide.coef_, axis=1), rtol=1e-9)


def test_margins_of_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = SVC(multi_class="ovr", C=0.3).fit(X, y)
    values = model.decision_function(X)
    margins = model.margins(X, y)
    expected = [row[c] - np.delete(row, c).max() for row, c in zip(values, y)]
    assert_allclose(margins, expected)
    assert_array_equal(margins > 0, model.predict(X) == y)
    assert 0 < (margins <= 0).sum() < 30


def test_one_against_the_rest_has_no_ties_to_break():
    X, y = make_blobs(150, 2, centers=4, cluster_std=3.0, random_state=1)
    model = SVC(multi_class="ovr", break_ties=True, C=0.3).fit(X, y)
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_margins_of_one_against_one(shape):
    """Each row counts in the machines of its class only, whatever shape the values have."""
    X, y = make_blobs(150, 2, centers=4, cluster_std=3.0, random_state=1)
    labels = np.array(["d", "a", "c", "b"])[y]
    model = SVC(C=0.3, decision_function_shape=shape).fit(X, labels)
    margins = model.margins(X, labels)
    duels = model.set_params(decision_function_shape="ovo").decision_function(X)
    pairs = list(combinations("abcd", 2))
    expected = []
    for row, label in zip(duels, labels):
        own = [v if label == a else -v for v, (a, b) in zip(row, pairs) if label in (a, b)]
        assert len(own) == 3
        expected.append(min(own))
    assert_allclose(margins, expected)
    predicted = model.predict(X)
    assert (predicted[margins > 0] == labels[margins > 0]).all()
    assert (predicted != labels).sum() > 10


def test_distances_of_many_machines():
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    expected = model.decision_function(X) / np.linalg.norm(model.coef_, axis=1)
    assert_allclose(model.distance(X), expected, rtol=1e-8)
    assert model.margin_width_.shape == (3,)


def test_a_precomputed_kernel_has_the_same_geometry(blobs):
    X, y = blobs
    direct = SVC(kernel=RBF(0.1), tol=1e-9).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-9).fit(RBF(0.1)(X), y)
    assert_allclose(given.margin_width_, direct.margin_width_, rtol=1e-7)
    assert_allclose(given.distance(RBF(0.1)(X)), direct.distance(X), atol=1e-7)
    assert_allclose(given.margins(RBF(0.1)(X), y), direct.margins(X, y), atol=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_precomputed_kernel_of_many_classes_has_the_same_values(multi_class):
    X, y = make_blobs(90, 2, centers=4, cluster_std=3.0, random_state=1)
    kernel, settings = RBF(0.1), {"multi_class": multi_class, "tol": 1e-9}
    direct = SVC(kernel=kernel, **settings).fit(X, y)
    given = SVC(kernel="precomputed", **settings).fit(kernel(X), y)
    assert_allclose(given.decision_function(kernel(X)), direct.decision_function(X), atol=1e-6)
    assert_allclose(given.distance(kernel(X)), direct.distance(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["smo", "exact", "linear"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_bias_is_the_mean_over_all_margin_support_vectors(blobs, solver, loss):
    """Equation (2.28) holds for each with 0 < alpha < C; the offset is the mean of all of them.

    For squared slack every support vector is such a one, with 1 - xi in place of 1.
    """
    X, y = blobs
    if solver == "exact":
        pytest.importorskip("clarabel")
    model = SVC(kernel="linear", C=0.7, loss=loss, solver=solver, tol=1e-4).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    margin = model.support_kind_[0] == "margin"
    assert margin.sum() >= 3
    assert margin.all() == (loss == "squared_hinge")
    beta, rows = model.dual_coef_[0], model.support_
    targets = signs[rows] - (beta / 0.7 if loss == "squared_hinge" else 0.0)
    biases = (targets - X[rows] @ model.coef_[0])[margin]
    assert np.ptp(biases) <= 2e-4
    assert model.intercept_[0] == pytest.approx(biases.mean(), abs=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bias_is_a_mean_where_the_margin_support_vectors_differ(blobs):
    """Before the solver has converged each gives another bias, and no single one is taken."""
    X, y = blobs
    model = SVC(kernel=RBF(0.2), max_iter=40).fit(X, y)
    assert not model.converged_
    margin = model.support_kind_[0] == "margin"
    rows = model.support_
    expansion = RBF(0.2)(X[rows]) @ model.dual_coef_[0]
    biases = (np.where(y[rows] == 1, 1.0, -1.0) - expansion)[margin]
    assert np.ptp(biases) > 1e-2
    assert model.intercept_[0] == pytest.approx(biases.mean(), abs=1e-9)


def test_bias_without_margin_support_vectors_is_the_middle_of_what_is_allowed():
    """All alphas at C: any bias from -2 to 2 is optimal."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = SVC(kernel="linear", C=0.1, tol=1e-9).fit(X, y)
    assert (model.support_kind_ == "bound").all()
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    shifted = SVC(kernel="linear", C=0.1, tol=1e-9).fit(X + 10.0, y)
    assert_allclose(shifted.decision_function(X + 10.0), model.decision_function(X), atol=1e-8)


def test_bad_input_gets_one_sentence(blobs):
    X, y = blobs
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"y holds .*7.*classes of this classifier, \[0, 1\]"):
        model.margins(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.margins(X, y[:5])
    with pytest.raises(ValueError, match="features"):
        model.distance(X[:, :2])
    assert not hasattr(SVC(), "margin_width_")
    for call in (lambda: SVC().distance(X), lambda: SVC().margins(X, y)):
        with pytest.raises(AttributeError, match="not fitted"):
            call()
