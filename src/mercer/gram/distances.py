"""Squared distances that serve every width of a radial kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram.base import StoredGram, padded
from mercer.kernels import squared_distances
from mercer.kernels.blocks import row_blocks


class SquaredDistances:
    """Squared Euclidean distances of all pairs, computed once and used for many widths.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    dtype : dtype, default=numpy.float64
        float32 halves the memory; distances are computed in float64 either way.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> distances = SquaredDistances(np.array([[0.0], [1.0]]))
    >>> [round(float(distances.gram(RBF(g)).values[0, 1]), 3) for g in (0.5, 1.0)]
    [0.607, 0.368]
    """

    def __init__(self, X: Any, dtype: Any = np.float64) -> None:
        n = X.shape[0]
        self.values = np.empty((n, n), dtype=dtype)
        for rows in row_blocks(n, n):
            self.values[rows] = squared_distances(X[rows], X)
        np.fill_diagonal(self.values, 0)

    def gram(self, kernel: Any) -> StoredGram:
        """Return the kernel matrix for a kernel of the distance, such as ``RBF(gamma)``.

        Parameters
        ----------
        kernel : Kernel
            A kernel with ``from_squared_distances``.

        Returns
        -------
        StoredGram
            In the precision of the distances.
        """
        if not hasattr(kernel, "from_squared_distances"):
            raise TypeError(f"{kernel!r} is not a kernel of the Euclidean distance.")
        n = len(self.values)
        values = padded(n, self.values.dtype)
        for rows in row_blocks(n, n):
            values[rows, :n] = kernel.from_squared_distances(self.values[rows])
        return StoredGram(values)
