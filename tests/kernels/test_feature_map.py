"""Feature spaces written out."""

from __future__ import annotations

from math import comb, factorial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Polynomial,
    Weighted,
    explicit_map,
    taylor_map,
)


@given(
    degree=st.integers(0, 4),
    n_features=st.integers(1, 5),
    gamma=st.floats(0.1, 3.0),
    coef0=st.sampled_from([0.0, 0.5, 2.0]),
    seed=st.integers(0, 1000),
)
def test_dot_products_of_the_map_are_the_kernel(degree, n_features, gamma, coef0, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(6, n_features)), rng.normal(size=(4, n_features))
    kernel = Polynomial(degree, gamma, coef0)
    mapped = explicit_map(kernel, X)
    expected = kernel(X, Y)
    size = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    assert np.abs(mapped @ explicit_map(kernel, Y).T - expected).max() <= 1e-12 * size.max()
    if coef0:
        assert mapped.shape[1] == comb(n_features + degree, degree)
    else:
        assert mapped.shape[1] == comb(n_features + degree - 1, degree)


def test_the_example_of_the_document():
    # Hopfgartner and Rupp (5.6): (1, x1^2, x2^2, sqrt2 x1, sqrt2 x2, sqrt2 x1 x2).
    (x1, x2), root = (3.0, 5.0), np.sqrt(2.0)
    mapped = explicit_map(Polynomial(2, 1.0, 1.0), [[x1, x2]])
    printed = [1.0, x1**2, x2**2, root * x1, root * x2, root * x1 * x2]
    assert_allclose(np.sort(mapped[0]), np.sort(printed))


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Constant(3.0),
        2.0 * Linear() + 1.0,
        (Linear() + 0.5) ** 3,
        Linear() * Polynomial(2, 0.5, 1.0),
        Weighted(Polynomial(2, 0.5, 1.0), [1.0, 0.0, 2.0, 0.3]),
    ],
    ids=repr,
)
def test_maps_of_kernels_made_of_polynomials(kernel, X, Y):
    assert_allclose(
        explicit_map(kernel, X) @ explicit_map(kernel, Y).T, kernel(X, Y), rtol=1e-11, atol=1e-12
    )
    assert_allclose(explicit_map(kernel, sp.csr_array(X)), explicit_map(kernel, X))


def test_too_many_columns_are_refused_before_they_are_computed():
    X = np.ones((2, 1000))
    columns = comb(1010, 10)
    with pytest.raises(ValueError, match=f"has {columns} columns for 1000 features; max_columns"):
        explicit_map(Polynomial(10, 1.0, 1.0), X)


def test_kernels_without_a_finite_map_are_refused(X):
    with pytest.raises(TypeError, match=r"needs a polynomial kernel; RBF\(gamma=1.0\) has no"):
        explicit_map(RBF(1.0), X)
    with pytest.raises(TypeError, match="needs a polynomial kernel"):
        explicit_map(Linear() + RBF(1.0), X)
    with pytest.raises(ValueError, match="needs coef0 of at least 0; with coef0=-1 the polynomial"):
        explicit_map(Polynomial(2, 1.0, -1.0), X)


@given(
    degree=st.integers(0, 6),
    n_features=st.integers(1, 4),
    gamma=st.floats(0.05, 1.0),
    seed=st.integers(0, 1000),
)
def test_series_of_the_gaussian_kernel_keeps_its_bound(degree, n_features, gamma, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(6, n_features)), rng.normal(size=(4, n_features))
    kernel = RBF(gamma)
    left, right = taylor_map(kernel, X, degree), taylor_map(kernel, Y, degree)
    assert left.shape == (6, comb(n_features + degree, degree))
    reach = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    bound = (2 * gamma * reach) ** (degree + 1) / factorial(degree + 1)
    assert (np.abs(left @ right.T - kernel(X, Y)) <= bound + 1e-12).all()


def test_series_of_the_gaussian_kernel_reaches_it():
    """Also with one width for each feature, and nearer to it with the origin amid the data."""
    X = 3.0 + 0.5 * np.random.default_rng(0).normal(size=(20, 3))
    kernel = RBF([0.5, 0.2, 1.0])
    mapped = taylor_map(kernel, X, 16, origin=X.mean(axis=0))
    assert_allclose(mapped @ mapped.T, kernel(X), atol=1e-7)
    far = taylor_map(kernel, X, 12)
    assert np.abs(far @ far.T - kernel(X)).max() > 0.1
    assert_allclose(taylor_map(kernel, sp.csr_array(X), 3), taylor_map(kernel, X, 3))


def test_series_refuses_what_has_none():
    X = np.ones((2, 30))
    with pytest.raises(TypeError, match="needs an RBF kernel with a number"):
        taylor_map(Laplacian(1.0), X, 2)
    with pytest.raises(TypeError, match="needs an RBF kernel with a number"):
        taylor_map(RBF("scale"), X, 2)
    with pytest.raises(ValueError, match="0 or more"):
        taylor_map(RBF(1.0), X, -1)
    with pytest.raises(ValueError, match="columns for 30 features"):
        taylor_map(RBF(1.0), X, 5)
