"""Derivatives of kernels in their inputs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as gp

from mercer.kernels import RBF, Kernel, Laplacian, Linear, Normalized, Precomputed, as_kernel

from .test_base import slow_matrix

STEP = 1e-3


def slow_gradient(formula, X, Z, V):
    """Fourth-order central differences of the sums of a formula for two points."""

    def sums(shift):
        return (slow_matrix(formula, X + shift, Z) * V).sum(axis=1)

    shifts = STEP * np.eye(X.shape[1])
    columns = [8 * (sums(h) - sums(-h)) - (sums(2 * h) - sums(-2 * h)) for h in shifts]
    return np.transpose(columns) / (12 * STEP)


def assert_close(gradient, expected, tolerance=1e-8):
    size = np.abs(expected).max(initial=1e-6)
    assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance * size)


def test_gradient_is_the_derivative(entry, X, Y, W):
    """For the same coefficients in all rows, and for others in each."""
    for V in (W[0, :7], W[:, :7]):
        gradient = entry.kernel.contract_input_gradient(X, Y, V)
        assert gradient.shape == X.shape
        assert_close(gradient, slow_gradient(entry.formula, X, Y, V))


def test_the_points_of_the_expansion_stand_still(entry, X, W):
    """Also where they are the rows at which the derivative is taken, except at a kink."""
    gradient = entry.kernel.contract_input_gradient(X, X, W)
    kinked = "aplacian" in repr(entry.kernel) or "Matern" in repr(entry.kernel)
    tolerance = 3e-3 if kinked else 1e-8  # differences over a kink are symmetric but coarse
    assert_close(gradient, slow_gradient(entry.formula, X, X.copy(), W), tolerance)


def test_gradient_of_the_diagonal(entry, X):
    def value(shift):
        return np.array([entry.formula(x, x) for x in X + shift])

    shifts = STEP * np.eye(4)
    columns = [8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h)) for h in shifts]
    expected = np.transpose(columns) / (12 * STEP)
    gradient = entry.kernel.diag_input_gradient(X)
    assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


def test_diagonal_in_several_blocks(entry):
    X = np.random.default_rng(0).normal(size=(150, 4))
    whole = entry.kernel.diag_input_gradient(X)
    single = np.vstack([entry.kernel.diag_input_gradient(x[None]) for x in X])
    assert_allclose(whole, single, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("format_x", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("format_z", [np.asarray, sp.csr_array])
def test_sparse_points(entry, X, Y, W, format_x, format_z):
    X, Y = np.where(X > 0, X, 0.0), np.where(Y > 0, Y, 0.0)
    X[:, 0], Y[:, 0] = 1.0, 2.0
    gradient = entry.kernel.contract_input_gradient(format_x(X), format_z(Y), W[0, :7])
    assert isinstance(gradient, np.ndarray)
    assert_close(gradient, entry.kernel.contract_input_gradient(X, Y, W[0, :7]), 1e-10)


@pytest.mark.parametrize("metric", ["l1", "euclidean"])
def test_kinks_take_the_mean_of_both_sides(metric):
    """At a kink the left and the right derivative are -gamma and +gamma times the same value."""
    kernel = Laplacian(0.7, metric=metric)
    X = np.array([[1.0, 2.0]])
    Z = np.array([[1.0, 2.0], [0.0, 0.0]])
    expected = kernel.contract_input_gradient(X, Z[1:], [1.0])
    assert_allclose(kernel.contract_input_gradient(X, Z, [5.0, 1.0]), expected)
    shifts = np.array([[1e-9, 0.0], [-1e-9, 0.0]])
    sides = [kernel.contract_input_gradient(X + h, Z, [5.0, 1.0]) for h in shifts]
    assert_allclose(np.mean(sides, axis=0), expected, atol=1e-7)
    assert abs(sides[0][0, 0] - sides[1][0, 0]) == pytest.approx(7.0, rel=1e-6)


def test_city_block_kink_in_one_feature():
    kernel = Laplacian(0.5)
    X, Z = np.array([[1.0, 0.0]]), np.array([[1.0, 3.0]])
    value = np.exp(-1.5)
    assert_allclose(kernel.contract_input_gradient(X, Z, [1.0]), [[0.0, 0.5 * value]])


@pytest.mark.parametrize("kernel", [RBF(0.5), RBF([0.5, 2.0]), Laplacian(0.3, "euclidean")])
def test_offset_data_lose_few_digits(kernel):
    rng = np.random.default_rng(0)
    X, Z, V = rng.normal(size=(20, 2)), rng.normal(size=(30, 2)), rng.normal(size=30)
    X, Z = X.round(6), Z.round(6)
    shifted = kernel.contract_input_gradient(X + 1e6, Z + 1e6, V)
    assert_close(shifted, kernel.contract_input_gradient(X, Z, V), 1e-7)


def test_differences_follow_the_spread_of_the_data():
    """The step suits features in any unit, and a kernel that was never told its derivative."""

    class Cauchy(Kernel):
        def __call__(self, X, Y=None):
            Y = X if Y is None else Y
            return 1 / (1 + ((X[:, None] - Y[None]) ** 2 / self.units).sum(axis=2))

        def diag(self, X):
            return np.ones(len(X))

    units = np.array([1e-12, 1.0, 1e12])
    Cauchy.units = units
    rng = np.random.default_rng(1)
    X, Z, V = rng.normal(size=(9, 3)), rng.normal(size=(8, 3)), rng.normal(size=8)
    scales = np.sqrt(units)
    gradient = Cauchy().contract_input_gradient(X * scales, Z * scales, V) * scales
    values = 1 / (1 + ((X[:, None] - Z) ** 2).sum(axis=2))
    expected = -2 * np.einsum("ij,j,ijk->ik", values**2, V, X[:, None] - Z)
    assert_close(gradient, expected, 1e-7)
    # A single column of equal values has no spread; the step is then a part of the value.
    one = as_kernel(gp.RBF(2.0)).contract_input_gradient(np.full((2, 1), 3.0), [[3.0]], [1.0])
    assert_allclose(one, 0.0, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.1), Linear() + RBF(0.1) * Linear()])
def test_no_cube_is_formed(kernel):
    n, m, d = 300, 200, 150
    rng = np.random.default_rng(2)
    X, Z, V = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=m)
    kernel.contract_input_gradient(X, Z, V)
    tracemalloc.start()
    kernel.contract_input_gradient(X, Z, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * 8 * n * m * d


def test_no_points_at_all(entry):
    if type(entry.kernel).__name__ == "GaussianProcessKernel":
        pytest.skip("these kernels need rows")
    gradient = entry.kernel.contract_input_gradient(np.ones((3, 4)), np.empty((0, 4)), np.empty(0))
    assert_allclose(gradient, np.zeros((3, 4)))


def test_coefficients_of_the_wrong_shape_are_refused(entry, X, Y):
    with pytest.raises(ValueError, match=r"V must have the shape \(7,\).* \(12, 7\); got \(12,\)"):
        entry.kernel.contract_input_gradient(X, Y, np.ones(12))


def test_a_precomputed_kernel_has_no_inputs():
    for kernel in (Precomputed(), 2.0 * Precomputed(), Normalized(Precomputed())):
        with pytest.raises(ValueError, match=r"precomputed|Precomputed"):
            kernel.contract_input_gradient(np.eye(2), np.eye(2), np.ones(2))
