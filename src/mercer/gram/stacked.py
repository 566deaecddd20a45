"""Several kernel matrices of equally many points, for programs that are solved in one call."""

from __future__ import annotations

import numpy as np

from mercer import _engine
from mercer.gram.base import Floats, Gram, Indices, RowSource, StoredGram, padded
from mercer.kernels.blocks import submatrix


class StackedGram(Gram):
    """Kernel matrices of n points each, one below the other.

    Point i of matrix k has the number k n + i, and kernel values with points of its own matrix
    only: a program may use the points of one of them.

    Parameters
    ----------
    count : int
        Number of matrices.
    n_each : int
        Points of each.

    Attributes
    ----------
    matrices : ndarray of shape (count, n_each, n_each)
        Their values, to be filled.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems import Programs, hinge_svc
    >>> from mercer.solvers import solve_all
    >>> gram = StackedGram(2, 2)
    >>> gram.matrices[:] = np.eye(2), 2.0 * np.eye(2)
    >>> programs = Programs.of([hinge_svc([1, -1], C=9.0), hinge_svc([1, -1], C=9.0)])
    >>> solve_all(programs, gram, rows=np.arange(4)).beta
    array([ 1. , -1. ,  0.5, -0.5])
    """

    def __init__(self, count: int, n_each: int) -> None:
        self.n_each = n_each
        self.n = count * n_each
        self._rows = padded(n_each, np.float64, count)
        self.matrices = self._rows.reshape(count, n_each, -1)[:, :, :n_each]

    def diag(self) -> Floats:
        """Return the diagonal entries of one matrix after the other."""
        return np.ascontiguousarray(np.diagonal(self.matrices, axis1=1, axis2=2)).ravel()

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns, all of one matrix."""
        matrix = self.matrices[self._matrix_of(np.concatenate([rows, columns]))]
        return submatrix(matrix, np.asarray(rows) % self.n_each, np.asarray(columns) % self.n_each)

    def subset(self, indices: Indices) -> StoredGram:
        """Return the matrix of some of the points, all of one matrix."""
        matrix = self.matrices[self._matrix_of(indices)]
        return StoredGram(matrix, np.asarray(indices) % self.n_each)

    def _matrix_of(self, indices: Indices) -> int:
        which = np.unique(np.asarray(indices) // self.n_each)
        if which.size != 1:
            raise ValueError("Points of different matrices have no kernel value.")
        return int(which[0])

    def source(self) -> RowSource:
        """Return where the engine gets the rows from."""
        return RowSource(_engine.stacked_rows(self._rows, self.n_each), None)
