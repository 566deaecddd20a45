"""Sums, products, powers and multiples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    Weighted,
    is_mercer,
)

LEAVES = st.sampled_from(
    [Linear(), RBF(0.3), RBF([0.1, 0.7, 1.0]), Laplacian(0.2), Polynomial(2, 0.5, 1.0), Constant()]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Sum, inner, inner),
        st.builds(Product, inner, inner),
        st.builds(Scaled, inner, st.floats(0.1, 5.0)),
        st.builds(Power, inner, st.integers(1, 2)),
        st.builds(Weighted, inner, st.just([0.5, 1.0, 2.0])),
    ),
    max_leaves=4,
)
POINTS = np.random.default_rng(0).normal(size=(8, 3))
WEIGHTS = np.random.default_rng(1).normal(size=(8, 8))


@given(TREES)
def test_kernels_made_of_mercer_kernels_are_mercer_kernels(kernel):
    assert is_mercer(kernel(POINTS))


@given(TREES)
def test_contractions_of_any_tree_follow_the_matrix(kernel):
    gradient = kernel.contract_gradient(POINTS, WEIGHTS)
    h = 1e-4
    expected = [
        np.vdot(
            kernel.with_theta(kernel.theta + step)(POINTS)
            - kernel.with_theta(kernel.theta - step)(POINTS),
            WEIGHTS,
        )
        / (2 * h)
        for step in h * np.eye(kernel.theta.size)
    ]
    size = np.abs(kernel(POINTS)).max()
    assert_allclose(gradient, np.array(expected).reshape(-1), rtol=1e-5, atol=1e-5 * size)
    left_out = [np.vdot(K, WEIGHTS) for K in kernel.without_features(POINTS)]
    assert_allclose(kernel.leave_feature_out(POINTS, WEIGHTS), left_out, rtol=1e-9, atol=1e-9)


def test_operators_build_the_classes():
    a, b = RBF(1.0), Linear()
    assert a + b == Sum(a, b)
    assert a * b == Product(a, b)
    assert a**3 == Power(a, 3)
    assert 2 * a == a * 2.0 == Scaled(a, 2.0)
    assert a + 2 == Sum(a, Constant(2.0))
    assert 2 + a == Sum(Constant(2.0), a)


@pytest.mark.parametrize("two", [np.float64(2), np.float32(2), np.int64(2)])
def test_numpy_numbers_are_numbers(two):
    assert two * RBF(1.0) == RBF(1.0) * two == Scaled(RBF(1.0), 2.0)
    assert two + RBF(1.0) == Sum(Constant(2.0), RBF(1.0))


def test_names_and_functions_stand_for_kernels(X):
    assert (RBF(1.0) + "linear")(X).shape == (12, 12)
    assert_allclose(Sum("linear", "constant")(X), X @ X.T + 1.0)
    assert_allclose((Linear() * (lambda X, Y: X @ Y.T))(X), (X @ X.T) ** 2)
    with pytest.raises(TypeError, match="kernel must be a kernel, a function of X and Y"):
        RBF(1.0) + {"gamma": 2.0}


def test_resolving_reaches_every_part(X):
    resolved = (2.0 * RBF() + Polynomial()).resolve(X)
    gamma = 1.0 / (4 * X.var())
    assert_allclose(resolved.k1.kernel.gamma, gamma)
    assert_allclose(resolved.k2.gamma, gamma)


def test_weighted_kernels_are_resolved_on_the_weighted_data(X):
    scales = np.array([1.0, 2.0, 0.0, 3.0])
    resolved = Weighted(RBF(), scales).resolve(X)
    assert_allclose(resolved.kernel.gamma, 1.0 / (4 * (X * scales).var()))


def test_powers_of_forms():
    assert (Linear() ** 3).pairwise_form().degree == 3
    assert (Polynomial(2, 0.5, 1.0) ** 3).pairwise_form().degree == 6
    assert ((3.0 * RBF(0.5)) ** 2).pairwise_form().gamma == 1.0
    assert ((3.0 * RBF(0.5)) ** 2).pairwise_form().factor == 9.0
    assert (Sigmoid(0.5) ** 2).pairwise_form() is None
    assert (Linear() + RBF(1.0)).pairwise_form() is None
    assert (Linear() * RBF(1.0)).pairwise_form() is None


@pytest.mark.parametrize("factor", [0, -1.0])
def test_a_multiple_must_be_positive(factor, X):
    with pytest.raises(ValueError, match=rf"Scaled: factor must be a number above 0; got {factor}"):
        (factor * RBF(1.0))(X)


@pytest.mark.parametrize("exponent", [0, -1, 1.5])
def test_a_power_must_be_a_positive_integer(exponent, X):
    with pytest.raises(ValueError, match=f"must be an integer of at least 1; got {exponent}"):
        (RBF(1.0) ** exponent)(X)


def test_matrices_and_points_do_not_mix(X):
    kernel = Precomputed() + RBF(1.0)
    with pytest.raises(ValueError, match="Sum joins a precomputed kernel"):
        kernel(X @ X.T)
