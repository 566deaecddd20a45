"""Products with a tall feature matrix and its column of ones, dense or sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.intp]

# Rows scaled at a time for Z' diag(weight) Z, so that the scaled copy stays in the cache.
_BLOCK = 1024
_NARROW = 32
# Means this many times the spread of their column cost too many digits: such columns are centred.
_OFF_CENTRE = 100.0
_SAMPLE = 1000


class Features:
    """The matrix Z with one row for each variable and K = ZZ', seen only through products.

    Parameters
    ----------
    values : ndarray or sparse array of shape (n, d)
        Float64; C-ordered if dense, CSR if sparse.
    """

    def __init__(self, values: Any) -> None:
        self.values = values
        self.n, self.d = values.shape
        self.sparse = sp.issparse(values)

    @classmethod
    def checked(cls, values: Any, n: int) -> Features:
        """Accept what a user gives: any real matrix of ``n`` rows with finite entries."""
        if isinstance(values, Features):
            return values
        if sp.issparse(values):
            matrix: Any = sp.csr_array(values, dtype=np.float64)
        else:
            matrix = np.ascontiguousarray(values, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != n:
            raise ValueError(
                f"features must have one row for each of the {n} variables, got {matrix.shape}."
            )
        if not np.isfinite(matrix.sum()):
            raise ValueError("features must be finite (and so must their sum).")
        return cls(matrix)

    def take(self, rows: Rows) -> Features:
        """Return some of the rows."""
        return Features(self.values[rows])

    def times(self, w: Vector) -> Vector:
        """Return Z w."""
        return np.asarray(self.values @ w)

    def transposed_times(self, beta: Vector) -> Vector:
        """Return Z' beta."""
        return np.asarray(self.values.T @ beta)

    def weighted_gram(self, weight: Vector, rows: Rows | None = None) -> Matrix:
        """Return A' diag(weight) A for A = [Z, 1], over all rows or over some.

        Parameters
        ----------
        weight : ndarray
            Non-negative, one for each row taken.
        rows : ndarray of int or None, default=None

        Returns
        -------
        ndarray of shape (d + 1, d + 1)
        """
        d = self.d
        gram = np.zeros((d + 1, d + 1))
        # A product of a matrix with its own transpose takes half the operations, but for few
        # columns BLAS is faster at a product of two matrices.
        twice = d > _NARROW
        factor = np.sqrt(weight) if twice else weight
        scaled = np.empty((min(_BLOCK, weight.shape[0]), d))
        for start in range(0, weight.shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            block = self.values[part] if rows is None else self.values[rows[part]]
            if self.sparse:
                block = block.toarray()
            product = scaled[: block.shape[0]]
            np.multiply(block, factor[part, None], out=product)
            other = product if twice else block
            gram[:d, :d] += product.T @ other
            gram[d, :d] += factor[part] @ other
        gram[:d, d] = gram[d, :d]
        gram[d, d] = weight.sum()
        return gram

    def mean(self) -> Vector:
        """Return the mean row."""
        return np.asarray(self.values.sum(axis=0) / self.n)

    def column_spread(self) -> Vector:
        """Return the standard deviation of each column, 1 where it is zero."""
        if self.sparse:
            second = np.asarray((self.values * self.values).sum(axis=0)) / self.n
            spread = np.sqrt(np.maximum(second - self.mean() ** 2, 0.0))
        else:
            spread = self.values.std(axis=0)
        return np.where(spread > 0, spread, 1.0)

    @cached_property
    def sample(self) -> Matrix:
        """Some of the rows, evenly spread, dense."""
        rows = self.values[:: max(1, self.n // _SAMPLE)]
        return np.asarray(rows.toarray() if self.sparse else rows)

    def far_from_centre(self) -> bool:
        """Say whether some column has a mean far larger than its spread, judged by the sample."""
        if self.sparse:
            return False
        mean = np.abs(self.sample.mean(axis=0))
        return bool((mean > _OFF_CENTRE * self.sample.std(axis=0)).any())

    @cached_property
    def size(self) -> float:
        """The mean squared distance of a row from the mean row, judged by the sample."""
        return float(self.sample.var(axis=0).sum())


class ScaledCholesky:
    """Cholesky factor of a positive definite matrix, scaled first to a unit diagonal.

    The scaling takes out what features of very different sizes do to the condition number. If
    rounding has cost the matrix its definiteness, a small multiple of the unit matrix restores it.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
    """

    def __init__(self, matrix: Matrix) -> None:
        diagonal = matrix.diagonal()
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = matrix * self.scale
        scaled *= self.scale[:, None]
        shift = np.finfo(float).eps * matrix.shape[0]
        while shift < 1.0:
            np.fill_diagonal(scaled, 1.0 + shift)
            self.factor, info = dpotrf(scaled, lower=1)
            if info == 0:
                return
            shift *= 100.0
        raise np.linalg.LinAlgError("The matrix is not positive definite.")

    def solve(self, rhs: Vector) -> Vector:
        """Return the solution of matrix @ x = rhs."""
        solution, _ = dpotrs(self.factor, rhs * self.scale, lower=1)
        return np.asarray(solution * self.scale)
