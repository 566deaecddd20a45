"""Choosing how a kernel matrix is held."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._blocks import row_blocks
from mercer._threads import blas_for
from mercer.gram.base import Gram, StoredGram
from mercer.gram.computed import ComputedGram
from mercer.gram.requested import RequestedGram
from mercer.kernels import Kernel

DENSE_LIMIT = 256 * 2**20
"""Sparse data of fewer bytes than this when dense are made dense, since the engine is faster."""


def make_gram(kernel: Kernel, X: Any, *, memory: float = 200e6) -> Gram:
    """Return the kernel matrix of ``X`` in the form that suits kernel, data and memory.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel; for "precomputed" and what is built on it, ``X`` is the matrix itself.
    X : ndarray or sparse matrix of shape (n, d)
        The points.
    memory : float, default=200e6
        Bytes that a whole matrix may take where the engine does not know the kernel. Beyond, rows
        are asked for in blocks.

    Returns
    -------
    Gram

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> type(make_gram(RBF(1.0), np.zeros((3, 2)))).__name__
    'ComputedGram'
    """
    if kernel.is_pairwise:
        return StoredGram(kernel(X))
    form = kernel.pairwise_form()
    if form is not None and sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= DENSE_LIMIT:
        X = X.toarray()
    if form is not None and not sp.issparse(X):
        return ComputedGram(form, np.ascontiguousarray(X, dtype=np.float64))
    if X.shape[0] ** 2 * 8 <= memory:
        return StoredGram(_whole(kernel, X))
    return RequestedGram(kernel, X)


def _whole(kernel: Kernel, X: Any) -> np.ndarray:
    values = np.empty((X.shape[0], X.shape[0]))
    with blas_for(len(values)):
        for rows in row_blocks(*values.shape):
            values[rows] = kernel(X[rows], X)
    return values
