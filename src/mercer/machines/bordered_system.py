r"""Linear systems with a kernel matrix bordered by ones: machines with an offset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

Floats = NDArray[np.float64]

JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
"""Additions to the diagonal, relative to its mean, tried in turn where rows coincide."""

NOT_POSITIVE = (
    "The kernel matrix with 1/C on its diagonal is not positive definite; use another kernel or a "
    "smaller C."
)


class NoSolutionError(ValueError):
    """A machine has no solution at some parameters, though it may have one at others."""


class BorderedSystem:
    r"""The system of a machine whose rows F lie strictly between their bounds.

    .. math::

        M = \begin{pmatrix} \tilde K & 1 \\ 1^\top & 0 \end{pmatrix}, \qquad
        M \begin{pmatrix} x \\ t \end{pmatrix} = \begin{pmatrix} a \\ s \end{pmatrix}

    Adding c to every entry of :math:`\tilde K` changes t by cs and nothing else. With c of the
    size of the diagonal the matrix is positive definite wherever M can be inverted (a linear
    kernel has one row more between its bounds than the rank of :math:`\tilde K`), so that a
    Cholesky factor serves.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        The kernel matrix with its ridge; overwritten.
    """

    def __init__(self, matrix: Floats) -> None:
        self.size = len(matrix)
        diagonal = matrix.diagonal().copy()
        # The only free row of a linear kernel may be the origin.
        self.shift = (float(diagonal.mean()) if self.size else 1.0) or 1.0
        matrix += self.shift
        self.factor = _cholesky(matrix, self.shift)
        self.ones = self._divide(np.ones(self.size))
        self.total = float(self.ones.sum())

    def solve(self, a: Floats, s: float = 0.0) -> tuple[Floats, float]:
        """Return x and t."""
        if self.size == 0:
            return np.zeros(0), 0.0
        x = self._divide(a)
        t = (float(x.sum()) - s) / self.total
        return x - t * self.ones, t + self.shift * s

    def solve_many(self, a: Floats, s: Floats) -> tuple[Floats, Floats]:
        """Return x and t for several right-hand sides, one a column."""
        x = self._divide(a)
        t = (x.sum(axis=0) - s) / self.total
        return x - np.outer(self.ones, t), t + self.shift * s

    @cached_property
    def lower_inverse(self) -> Floats:
        """Lower triangle (with its diagonal) of the block P of the inverse of M; zeros above.

        In Fortran's order.
        """
        inverse, info = lapack.dpotri(self.factor, lower=1)
        if info:
            raise NoSolutionError(NOT_POSITIVE)
        return blas.dsyr(-1.0 / self.total, self.ones, lower=1, a=inverse, overwrite_a=1)

    @cached_property
    def inverse(self) -> Floats:
        """The block P of the inverse of M that belongs to the rows."""
        return self.lower_inverse + np.tril(self.lower_inverse, -1).T

    def log_determinant(self) -> float:
        r"""Return :math:`\ln|\det M| = \ln|\tilde K| + \ln 1^\top\tilde K^{-1}1`."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum()) + float(np.log(self.total))

    def _divide(self, a: Floats) -> Floats:
        if self.size == 0:
            return np.zeros_like(a)
        return scipy.linalg.cho_solve((self.factor, True), a, check_finite=False)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    r"""Solution of the least-squares machine on the kernel matrix of a classifier.

    With equalities in place of inequalities, :math:`y_i = f(x_i) + \xi_i` and the penalty
    :math:`\tfrac{C}{2}\sum\xi_i^2`, the solution is that of one linear system, on all rows:

    .. math::

        \begin{pmatrix} \tilde K & 1 \\ 1^\top & 0 \end{pmatrix}
        \begin{pmatrix} \beta \\ b \end{pmatrix} = \begin{pmatrix} y \\ 0 \end{pmatrix}, \qquad
        \tilde K = K + \operatorname{diag}(1/C_i)

    A row of weight w counts as w rows. Merged into one it has the ridge :math:`1/(C w)`.

    Parameters
    ----------
    system : BorderedSystem
    ridge : ndarray of shape (n,)
        Addition to the diagonal.
    beta : ndarray of shape (n,)
    """

    system: BorderedSystem
    ridge: Floats
    beta: Floats

    @classmethod
    def of(cls, machine: Any) -> LeastSquares:
        """Solve on all rows of a classifier's or a regression's machine, whatever its loss."""
        ridge = 1.0 / (machine.penalties * machine.weights)
        matrix = machine.matrix.copy()
        matrix[np.diag_indices_from(matrix)] += ridge
        system = BorderedSystem(matrix)
        return cls(system, ridge, system.solve(machine.targets)[0])


def _cholesky(matrix: Floats, unit: float) -> Floats:
    """Return the lower factor in Fortran's order, zeros above it."""
    if len(matrix) == 0:
        return np.zeros((0, 0))
    before = 0.0
    for jitter in JITTERS:
        np.fill_diagonal(matrix, matrix.diagonal() + (jitter - before) * unit)
        before = jitter
        # The transpose of a symmetric array in C's order is itself in Fortran's.
        factor, info = lapack.dpotrf(matrix.T, lower=1, clean=1)
        if info == 0:
            return factor
    raise NoSolutionError(NOT_POSITIVE)
