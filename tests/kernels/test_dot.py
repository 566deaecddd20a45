"""Linear, polynomial and sigmoid kernels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import polynomial_kernel, sigmoid_kernel

from mercer.kernels import Linear, Normalized, Polynomial, Sigmoid
from mercer.kernels.dot import dot_products_without_features, integer_power


def test_agrees_with_scikit_learn(X, Y):
    assert_allclose(
        Polynomial(4, 0.3, 0.9)(X, Y), polynomial_kernel(X, Y, degree=4, gamma=0.3, coef0=0.9)
    )
    assert_allclose(Sigmoid(0.3, 0.9)(X, Y), sigmoid_kernel(X, Y, gamma=0.3, coef0=0.9))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 0.2, 0.7), Sigmoid(0.3, 0.2)])
def test_sparse_is_dense(kernel, wide):
    wide[np.abs(wide) < 1] = 0.0
    sparse, W = sp.csr_array(wide), np.random.default_rng(0).normal(size=(30, 30))
    for other in (None, sparse[:9], wide[:9]):
        dense = other.toarray() if sp.issparse(other) else other
        assert_allclose(kernel(sparse, other), kernel(wide, dense), rtol=1e-12)
    assert_allclose(kernel.diag(sparse), kernel.diag(wide), rtol=1e-12)
    assert_allclose(kernel.contract_gradient(sparse, W), kernel.contract_gradient(wide, W))
    assert_allclose(kernel.leave_feature_out(sparse, W), kernel.leave_feature_out(wide, W))
    assert_allclose(
        kernel.contract_scale_gradient(sparse, W, sparse),
        kernel.contract_scale_gradient(wide, W),
        rtol=1e-9,
    )


def test_values_from_dot_products(X, Y):
    for kernel in (Linear(), Polynomial(3, 0.2, 0.7), Sigmoid(0.3, 0.2)):
        assert_allclose(kernel.from_dot_products(X @ Y.T), kernel(X, Y), rtol=1e-13)


def test_constant_is_free_only_above_zero():
    assert Polynomial(2, 1.0, 0.0).theta_names == ["gamma"]
    assert Polynomial(2, 1.0, 0.5).theta_names == ["gamma", "coef0"]
    assert Sigmoid(1.0, -0.5).theta_names == ["gamma"]
    assert Sigmoid(1.0, -0.5).with_theta([0.7]).coef0 == -0.5


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 12])
def test_integer_power(exponent):
    values = np.linspace(-2.0, 2.0, 9)
    assert_allclose(integer_power(values, exponent), values**exponent, rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_dot_products_without_a_feature_even_where_one_dominates(scale, wide):
    wide[::3, 7] *= scale
    for k, G in enumerate(dot_products_without_features(wide)):
        rest = np.delete(wide, k, axis=1)
        lengths = np.linalg.norm(rest, axis=1)
        # To the accuracy of the product itself: relative to the lengths of the two rows.
        assert np.max(np.abs(G - rest @ rest.T) / np.outer(lengths, lengths)) < 1e-9


def test_linear_leaves_out_a_dominant_feature(wide):
    wide[:, 7] *= 1e7
    W = np.random.default_rng(0).normal(size=(30, 30))
    rest = np.delete(wide, 7, axis=1)
    left_out = Linear().leave_feature_out(wide, W)
    assert_allclose(left_out[7], np.vdot(W, rest @ rest.T), rtol=1e-9)


def test_a_row_left_without_features_cannot_be_normalized():
    X = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.1]])
    with pytest.raises(ValueError, match="row 0 has 0"):
        Normalized(Linear()).leave_feature_out(X, np.ones((2, 2)))


def test_leaving_out_features_of_tiny_points() -> None:
    """The width of such points is a number whose powers overflow."""
    X = np.random.default_rng(0).normal(size=(12, 20))
    W = np.linspace(-1.0, 1.0, 12)
    plain = Polynomial(3, 0.5, 1.0).leave_feature_out(X, W)
    tiny = Polynomial(3, 0.5e240, 1.0).leave_feature_out(1e-120 * X, W)
    assert_allclose(tiny, plain, rtol=1e-9)
