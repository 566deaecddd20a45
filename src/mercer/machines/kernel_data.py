"""A kernel on the points of a machine, with what neighbouring kernels have in common."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import make_gram
from mercer.kernels import RBF, Kernel, contract_squared_differences, squared_distances

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class KernelData:
    """A kernel on fixed points; other parameters of the same kernel share what they can.

    Parameters
    ----------
    kernel : Kernel
        Without "scale" and the like.
    points : ndarray or sparse matrix of shape (n, d)
        For a precomputed kernel the matrix of kernel values.
    """

    def __init__(self, kernel: Kernel, points: Any, shared: _Shared | None = None) -> None:
        self.kernel = kernel
        self.points = points
        self._shared = _Shared(points) if shared is None else shared

    def with_kernel(self, kernel: Kernel) -> KernelData:
        """Return another kernel on the same points."""
        return KernelData(kernel, self.points, self._shared)

    @cached_property
    def matrix(self) -> Floats:
        """The whole kernel matrix."""
        return make_gram(self.kernel, self.points).matrix()

    def block(self, rows: Rows, columns: Rows) -> Floats:
        """Return some rows and columns of the matrix."""
        return self.matrix[np.ix_(rows, columns)]

    def contract(self, weights: Floats, rows: Rows, columns: Rows) -> Floats:
        r"""Return :math:`\sum_{ij} W_{ij}\,\partial K_{ij}/\partial\theta_p` over a block."""
        kernel = self.kernel
        if isinstance(kernel, RBF) and not (np.ndim(kernel.gamma) and sp.issparse(self.points)):
            return self._contract_widths(weights, rows, columns)
        if kernel.theta.size == 0:
            return np.empty(0)
        if kernel.is_pairwise:
            return kernel.contract_gradient(self.points[np.ix_(rows, columns)], weights)
        right = None if columns is rows else self.points[columns]
        return kernel.contract_gradient(self.points[rows], weights, right)

    def _contract_widths(self, weights: Floats, rows: Rows, columns: Rows) -> Floats:
        r"""Use the matrix at hand: :math:`dK / d\ln\gamma_k = -\gamma_k D_k K`."""
        gamma, where = self.kernel.gamma, _where(rows, columns, self.points.shape[0])
        terms = weights * self.matrix[where]
        if not np.ndim(gamma):  # the distances do not depend on the width
            return np.array([-gamma * np.vdot(terms, self._shared.distances[where])])
        left = self.points[rows]
        right = left if columns is rows else self.points[columns]
        return -np.asarray(gamma) * contract_squared_differences(left, right, terms)


class _Shared:
    """What all widths of a radial kernel have in common."""

    def __init__(self, points: Any) -> None:
        self._points = points

    @cached_property
    def distances(self) -> Floats:
        return squared_distances(self._points)


def _where(rows: Rows, columns: Rows, n: int) -> Any:
    """Return an index of the block; of the whole matrix without a copy."""
    return ... if rows.size == n == columns.size else np.ix_(rows, columns)
