"""Kernel values of any points with the same few."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.base import Floats, finite
from mercer.gram.pairwise import DENSE_LIMIT, EnginePoints, fill
from mercer.kernels import Kernel


class KernelColumns:
    """Kernel values of any points with the same few, by the engine where it knows the kernel.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    Y : ndarray or sparse matrix of shape (m, d)
        The few.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> columns = KernelColumns(RBF(1.0), np.array([[0.0], [1.0]]))
    >>> columns(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.018, 0.368]])
    """

    def __init__(self, kernel: Kernel, Y: Any) -> None:
        self.kernel, self.Y = kernel, Y
        form = None if kernel.is_pairwise else kernel.pairwise_form()
        if form is not None and sp.issparse(Y) and 8 * Y.shape[0] * Y.shape[1] <= DENSE_LIMIT:
            Y = Y.toarray()
        self._points = None if form is None or sp.issparse(Y) else EnginePoints(form, Y)

    def __call__(self, X: Any, n_threads: int | None = None) -> Floats:
        """Return the values of some points, one row each.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
        n_threads : int or None, default=None
            None uses all processors.

        Returns
        -------
        ndarray of shape (n, m)
        """
        points = self._points
        if points is None or (sp.issparse(X) and 8 * X.shape[0] * X.shape[1] > DENSE_LIMIT):
            return finite(np.asarray(self.kernel(X, self.Y), dtype=np.float64))
        X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        values = np.empty((X.shape[0], self.Y.shape[0]))
        fill(points.form, points.prepared(X), points.double, values, n_threads)
        # The sum tells of nearly all values in a tenth of the time.
        return values if isfinite(np.add.reduce(values, axis=None)) else finite(values)
