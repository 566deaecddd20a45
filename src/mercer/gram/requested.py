"""A kernel matrix whose rows come from a kernel in Python, some at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _engine
from mercer.gram.base import Floats, Gram, Indices, RowSource
from mercer.kernels import Kernel


class RequestedGram(Gram):
    """Rows from any kernel, asked for in blocks; the whole matrix is never formed.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    X : array-like or sparse matrix of shape (n, d)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF, Linear
    >>> gram = RequestedGram(RBF(1.0) + Linear(), np.array([[0.0], [1.0]]))
    >>> gram.diag()
    array([1., 2.])
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.X = X.tocsr() if sp.issparse(X) else X
        self.n = self.X.shape[0]

    def diag(self) -> Floats:
        """Return the n diagonal entries."""
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""
        return np.asarray(self.kernel(self.X[rows], self.X[columns]), dtype=np.float64)

    def subset(self, indices: Indices) -> RequestedGram:
        """Return the matrix of some of the points."""
        return RequestedGram(self.kernel, self.X[indices])

    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""

        def request(indices: Indices, out: Floats) -> None:
            out[...] = self.kernel(self.X[indices], self.X)

        return RowSource(_engine.requested_rows(request, self.n), None)
