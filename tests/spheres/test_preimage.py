"""The point whose image is nearest to a centre in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels import RBF, Kernel, Linear, Polynomial
from mercer.spheres import preimage

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(30, 3)) * [1.0, 100.0, 0.01]
SHARES = RNG.dirichlet(np.ones(30))


def squared_distance(kernel: Kernel, z: np.ndarray) -> np.ndarray:
    return kernel.diag(z) - 2 * kernel(z, POINTS) @ SHARES


KERNELS = [RBF([0.3, 3e-5, 3e3]), RBF([0.01, 1e-6, 100.0]), Polynomial(2, 1e-4, 1.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_no_point_nearby_is_nearer(kernel: Any) -> None:
    z = preimage(kernel, POINTS, SHARES)
    here = squared_distance(kernel, z[None])[0]
    assert here <= squared_distance(kernel, POINTS).min()
    assert here <= squared_distance(kernel, (SHARES @ POINTS)[None])[0]
    steps = 1e-3 * RNG.normal(size=(200, 3)) * POINTS.std(axis=0)
    assert (squared_distance(kernel, z + steps) >= here - 1e-12 * abs(here)).all()


def test_linear_kernel_has_an_exact_answer() -> None:
    np.testing.assert_allclose(preimage(Linear(), POINTS, SHARES), SHARES @ POINTS, rtol=1e-5)


def test_the_image_of_one_point_is_found_again() -> None:
    z = preimage(RBF([0.3, 3e-5, 3e3]), POINTS[:1], [1.0])
    np.testing.assert_allclose(z, POINTS[0])


def test_sparse_vectors() -> None:
    kernel = RBF(0.3)
    points = RNG.normal(size=(10, 2))
    shares = np.full(10, 0.1)
    np.testing.assert_allclose(
        preimage(kernel, sp.csr_matrix(points), shares), preimage(kernel, points, shares)
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sum_of_shares", [0.0, 1.0])
def test_a_dense_group_is_found_where_the_mean_is_far_from_all(sum_of_shares: float) -> None:
    """A narrow kernel does not reach from the mean of the rows to any of them."""
    kernel, rows = RBF(5.0), np.array([[0.0], [0.1], [0.2], [30.0], [60.0]])
    shares = np.array([0.25, 0.25, 0.25, 0.15, 0.1 - (1.0 - sum_of_shares)])
    z = preimage(kernel, rows, shares)
    distances = kernel.diag(rows) - 2.0 * kernel(rows, rows) @ shares
    assert kernel.diag(z[None])[0] - 2.0 * (kernel(z[None], rows) @ shares)[0] <= distances.min()
    np.testing.assert_allclose(z, 0.1, atol=1e-6)
