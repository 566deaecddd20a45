"""Matrices, functions and Gaussian-process kernels as kernels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import chi2_kernel

from mercer.kernels import RBF, CallableKernel, GaussianProcessKernel, Normalized, Precomputed


def test_precomputed_returns_the_matrix(X):
    K = RBF(0.3)(X)
    kernel = Precomputed()
    assert_array_equal(kernel(K), K)
    assert_array_equal(kernel(K[:3]), K[:3])
    assert_array_equal(kernel.diag(K), 1.0)
    assert kernel.is_pairwise
    assert (2.0 * kernel).is_pairwise
    assert not RBF().is_pairwise
    assert kernel.pairwise_form() is None
    assert kernel.resolve(K) == kernel


def test_precomputed_can_be_part_of_others(X, W):
    K = 3.0 * RBF(0.3)(X)
    assert_allclose(Normalized(Precomputed())(K), K / 3.0)
    assert_allclose((2.0 * Precomputed()).contract_gradient(K, W), [2.0 * np.vdot(K, W)])


def test_precomputed_knows_no_points_and_no_features(X, W):
    K = X @ X.T
    with pytest.raises(ValueError, match="takes one matrix of kernel values as X, and no Y"):
        Precomputed()(K, K[:3])
    with pytest.raises(ValueError, match=r"needs a square kernel matrix; got \(3, 12\)"):
        Precomputed().diag(K[:3])
    with pytest.raises(ValueError, match="A precomputed kernel has no features"):
        Precomputed().leave_feature_out(K, W)
    with pytest.raises(ValueError, match="A precomputed kernel has no features"):
        Precomputed().contract_scale_gradient(K, W)


def test_a_function_gets_its_parameters(X, Y):
    kernel = CallableKernel(chi2_kernel, {"gamma": 0.5})
    X, Y = np.abs(X), np.abs(Y)
    assert_allclose(kernel(X, Y), chi2_kernel(X, Y, gamma=0.5))
    many = np.tile(X, (20, 1))
    assert_allclose(kernel.diag(many), 1.0)


def test_a_function_may_compare_things_that_are_no_numbers():
    def shared_letters(X, Y):
        return np.array([[len(set(x) & set(y)) for y in Y] for x in X])

    words = ["kernel", "colonel", "nut"]
    kernel = 2.0 * CallableKernel(shared_letters)
    assert_array_equal(kernel(words), [[10.0, 6.0, 2.0], [6.0, 10.0, 2.0], [2.0, 2.0, 6.0]])
    assert_array_equal(kernel.diag(words), [10.0, 10.0, 6.0])


def test_a_function_must_return_a_matrix(X):
    def total(X, Y):
        return X.sum()

    with pytest.raises(ValueError, match=r"total must return a matrix of shape \(12, 12\).*\(\)"):
        CallableKernel(total)(X)


@pytest.mark.parametrize(
    "inner",
    [
        gp.RBF(1.5) + gp.WhiteKernel(0.3),
        gp.ConstantKernel(2.0) * gp.Matern([1.0, 2.0, 0.5, 3.0], nu=1.5),
        gp.RationalQuadratic(1.0, 0.5) ** 2 + gp.RBF(0.7, "fixed"),
    ],
)
def test_gaussian_process_kernels_keep_their_meaning(inner, X, Y, W, monkeypatch):
    kernel = GaussianProcessKernel(inner)
    assert_array_equal(kernel(X), inner(X))
    assert_array_equal(kernel(X, Y), inner(X, Y))
    assert_array_equal(kernel(sp.csr_array(X)), inner(X))
    assert_array_equal(kernel.diag(X), inner.diag(X))
    assert_array_equal(kernel.theta, inner.theta)
    assert_array_equal(kernel.bounds, inner.bounds)
    assert len(kernel.theta_names) == inner.theta.size
    assert kernel.is_stationary == inner.is_stationary()
    whole = np.tensordot(W, inner(X, eval_gradient=True)[1], axes=2)
    assert_allclose(kernel.contract_gradient(X, W), whole, rtol=1e-12)
    rectangular = kernel.contract_gradient(X, W[:, :7], Y)
    # Six rows at a time, three of each side of a pair.
    monkeypatch.setattr("mercer.kernels.adapters.GRADIENT_BYTES", 8 * 36 * inner.theta.size)
    assert_allclose(kernel.contract_gradient(X, W), whole, rtol=1e-12)
    assert_allclose(kernel.contract_gradient(X, W[:, :7], Y), rectangular, rtol=1e-12)


def test_gaussian_process_parameters_are_nested():
    kernel = GaussianProcessKernel(gp.RBF(1.5) + gp.WhiteKernel(0.3))
    changed = clone(kernel).set_params(kernel__k1__length_scale=2.5)
    assert changed.kernel == gp.RBF(2.5) + gp.WhiteKernel(0.3)
    assert kernel.kernel == gp.RBF(1.5) + gp.WhiteKernel(0.3)


def test_compound_kernels_are_no_matrices(X):
    with pytest.raises(ValueError, match=r"must return a matrix of shape \(12, 12\)"):
        GaussianProcessKernel(gp.CompoundKernel([gp.RBF(1.0), gp.RBF(2.0)]))(X)
