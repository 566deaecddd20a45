"""Gaussian and Laplacian kernels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from mercer.kernels import RBF, Laplacian, Weighted, is_mercer, squared_distances


def test_agrees_with_scikit_learn(X, Y):
    assert_allclose(RBF(0.3)(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12)
    assert_allclose(Laplacian(0.3)(X, Y), laplacian_kernel(X, Y, gamma=0.3), rtol=1e-12)


def test_diagonal_is_one_to_the_last_bit_and_matrix_symmetric(wide):
    kernels = (RBF(50.0), RBF(np.full(25, 3.0)), Laplacian(5.0), Laplacian(5.0, metric="euclidean"))
    for kernel in kernels:
        K = kernel(1e3 * wide + 1e6)
        assert_array_equal(np.diag(K), 1.0)
        assert_array_equal(np.diag(kernel(wide, wide.copy())), 1.0)
        assert_array_equal(K, K.T)


@pytest.mark.parametrize("metric", ["l1", "euclidean"])
@pytest.mark.parametrize("n_columns", [2, 20])
def test_offset_data_keep_their_accuracy(metric, n_columns):
    X = np.round(np.random.default_rng(0).normal(size=(25, n_columns)) * 2**20) / 2**20
    for kernel in (RBF(0.5), RBF(np.linspace(0.1, 1, n_columns)), Laplacian(0.5, metric=metric)):
        assert_allclose(kernel(X + 1e6), kernel(X), rtol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.02),
        RBF(np.linspace(0.01, 0.05, 25)),
        Laplacian(0.1),
        Laplacian(0.1, metric="euclidean"),
        Weighted(RBF(0.02), np.linspace(0.0, 1.0, 25)),
    ],
)
def test_sparse_is_dense(kernel, wide):
    wide[np.abs(wide) < 1] = 0.0
    sparse, W = sp.csr_matrix(wide), np.random.default_rng(0).normal(size=(30, 30))
    for other in (None, sparse[:9], wide[:9]):
        dense = other.toarray() if sp.issparse(other) else other
        assert_allclose(kernel(sparse, other), kernel(wide, dense), rtol=1e-11)
    assert_array_equal(kernel(sparse), kernel(sparse).T)
    assert_array_equal(kernel.diag(sparse), 1.0)
    gradient = kernel.contract_gradient(wide, W)
    assert_allclose(kernel.contract_gradient(sparse, W), gradient, rtol=1e-9)
    assert_allclose(kernel.leave_feature_out(sparse, W), kernel.leave_feature_out(wide, W))


def test_widths_for_each_feature_scale_the_features(X, Y):
    widths = np.array([0.1, 2.0, 0.5, 1.0])
    assert_allclose(RBF(widths)(X, Y), Weighted(RBF(1.0), np.sqrt(widths))(X, Y), rtol=1e-13)
    assert_allclose(RBF(np.full(4, 0.3))(X, Y), RBF(0.3)(X, Y), rtol=1e-13)


def test_gradient_in_equal_widths_adds_up_to_that_of_one(X, W):
    each = RBF(np.full(4, 0.3)).contract_gradient(X, W)
    assert_allclose(each.sum(), RBF(0.3).contract_gradient(X, W)[0], rtol=1e-10)


def test_gradient_in_widths_keeps_its_accuracy_for_offset_data_and_narrow_kernels(wide):
    W = np.random.default_rng(0).normal(size=(60, 60))
    near = np.round(np.vstack([wide, wide + 1e-2]) * 2**20) / 2**20
    shifted = near + 2.0**20
    kernel = RBF(np.full(25, 30.0))
    T = W * kernel(near)
    expected = [-30.0 * (T * (near[:, k, None] - near[:, k]) ** 2).sum() for k in range(25)]
    assert_allclose(kernel.contract_gradient(near, W), expected, rtol=1e-9)
    assert_allclose(kernel.contract_gradient(shifted, W), expected, rtol=1e-9)


def test_euclidean_laplacian_of_rows_that_differ_in_one_feature(wide):
    wide[1] = wide[0]
    wide[1, 3] += 1.0
    W = np.zeros((30, 30))
    W[0, 1] = 1.0
    left_out = Laplacian(0.5, metric="euclidean").leave_feature_out(wide, W)
    assert left_out[3] == 1.0
    assert_allclose(np.delete(left_out, 3), np.exp(-0.5), rtol=1e-12)


def test_values_from_squared_distances(X, Y):
    D2 = squared_distances(X, Y)
    before = D2.copy()
    assert_allclose(RBF(0.3).from_squared_distances(D2), RBF(0.3)(X, Y), rtol=1e-13)
    kernel = Laplacian(0.3, metric="euclidean")
    assert_allclose(kernel.from_squared_distances(D2), kernel(X, Y), rtol=1e-13)
    assert_array_equal(D2, before)
    with pytest.raises(ValueError, match=r"metric must be 'euclidean'; got 'l1'"):
        Laplacian(0.3).from_squared_distances(D2)
    with pytest.raises(ValueError, match="gamma must be a number above 0"):
        RBF([0.3, 0.3]).from_squared_distances(D2)


def test_from_sigma():
    assert RBF.from_sigma(0.5).gamma == 2.0
    assert_allclose(RBF.from_sigma([0.5, 1.0]).gamma, [2.0, 0.5])
    with pytest.raises(ValueError, match=r"RBF: sigma must be a number above 0; got 0"):
        RBF.from_sigma(0)


@given(
    arrays(np.float64, (8, 3), elements=st.floats(-10, 10, width=32)),
    st.floats(1e-3, 10),
    st.sampled_from(["rbf", "l1", "euclidean"]),
)
def test_values_lie_in_the_unit_interval_and_are_positive_semidefinite(X, gamma, kind):
    kernel = RBF(gamma) if kind == "rbf" else Laplacian(gamma, metric=kind)
    K = kernel(X)
    assert ((K >= 0) & (K <= 1)).all()
    assert is_mercer(K, tolerance=1e-12)
    scaled = kernel.with_theta(kernel.theta - (2 if kind == "rbf" else 1) * np.log(2.0))
    assert_allclose(scaled(2.0 * X), K, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("size", [1.0, 1e60, 1e-60])
@pytest.mark.parametrize("outer", [True, False])
def test_small_terms_in_single_precision_leave_features_out_exactly(size, outer):
    rng = np.random.default_rng(0)
    X, beta = size * rng.normal(size=(60, 200)), size * rng.normal(size=60)
    gamma = 1.0 / (200 * size**2)
    whole = np.outer(beta, beta)
    naive = [np.vdot(whole, RBF(gamma)(np.delete(X, k, axis=1))) for k in range(200)]
    found = RBF(gamma).leave_feature_out(X, beta if outer else whole)
    assert_allclose(found, naive, rtol=0, atol=1e-11 * np.abs(whole).sum())


@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(1.0), Laplacian(1.0, metric="euclidean")])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_no_rows_have_a_matrix_too(kernel, container):
    """A machine may have no support vectors."""
    X = container(np.eye(3))
    assert kernel(X, X[:0]).shape == (3, 0)
    assert kernel(X[:0], X).shape == (0, 3)
    assert_array_equal(kernel.contract_gradient(X, np.zeros((3, 0)), X[:0]), [0.0])
