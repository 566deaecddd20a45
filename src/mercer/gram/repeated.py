"""The kernel matrix of points that count several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.base import Floats, Gram, Indices, Precision, RowSource


class RepeatedGram(Gram):
    """Rows and columns of another matrix, some of them several times, held and computed once.

    Parameters
    ----------
    gram : Gram
        The matrix of the points.
    points : ndarray of int
        The point of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import StoredGram
    >>> gram = StoredGram(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> RepeatedGram(gram, np.array([0, 1, 0])).matrix()
    array([[2., 1., 2.],
           [1., 3., 1.],
           [2., 1., 2.]])
    """

    def __init__(self, gram: Gram, points: Indices) -> None:
        self.gram = gram
        self.points = np.ascontiguousarray(points, dtype=np.int64)
        self.n = len(points)

    def diag(self) -> Floats:
        """Return the n diagonal entries."""
        return self.gram.diag()[self.points]

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""
        return self.gram.block(self.points[rows], self.points[columns])

    def subset(self, indices: Indices) -> RepeatedGram:
        """Return the matrix of some of the rows."""
        return RepeatedGram(self.gram, self.points[indices])

    def allows_single(self, tol: float) -> bool:
        """Say whether kernel rows computed in float32 may do for a gap of ``tol``."""
        return self.gram.allows_single(tol)

    def features(self) -> Any | None:
        """Return Z with K = ZZ' where it is known, else None."""
        features = self.gram.features()
        return None if features is None else features[self.points]

    def times(
        self, vector: Floats, rows: Indices | None = None, precision: Precision = "double"
    ) -> Floats:
        """Return K v, or some of its rows; what belongs to the same point is added up first."""
        sums = np.zeros(self.gram.n)
        np.add.at(sums, self.points, vector)
        if rows is None:
            return self.gram.times(sums, None, precision)[self.points]
        wanted, place = np.unique(self.points[rows], return_inverse=True)
        return self.gram.times(sums, wanted, precision)[place]

    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""
        rows, view = self.gram.source()
        return RowSource(rows, self.points if view is None else view[self.points])
