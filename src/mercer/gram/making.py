"""The kernel matrix in the form that suits kernel, data, memory and device."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._threads import blas_for
from mercer.gram.base import Gram, RequestedGram, StoredGram, finite
from mercer.gram.devices import device_for
from mercer.gram.pairwise import ComputedGram
from mercer.kernels import Kernel
from mercer.kernels.blocks import row_blocks

DENSE_LIMIT = 256 * 2**20
"""Sparse data of fewer bytes than this when dense are made dense, since the engine is faster."""

KNOWN_ONLY = (
    "needs a kernel whose formula the engine knows (linear, polynomial, RBF, Laplacian, sigmoid, "
    "their multiples and powers, with scaled features); use device='cpu' for this one."
)


def make_gram(kernel: Kernel, X: Any, *, memory: float = 200e6, device: str = "cpu") -> Gram:
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
    device : {"cpu", "cuda", "cuda:<number>", "auto"}, default="cpu"
        Where products with the matrix are computed; a kernel that the engine does not know has
        them from the processor, which "auto" accepts and any other device does not.

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
    form = None if kernel.is_pairwise else kernel.pairwise_form()
    there = device_of(kernel, device, X.shape[0])
    if there is not None and form is not None:
        from mercer.gram.device import DeviceGram

        given = X if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        return DeviceGram(form, given, there)
    if kernel.is_pairwise:
        return StoredGram(kernel(X))
    if form is not None and sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= DENSE_LIMIT:
        X = X.toarray()
    if form is not None and not sp.issparse(X):
        return ComputedGram(form, np.ascontiguousarray(X, dtype=np.float64))
    if X.shape[0] ** 2 * 8 <= memory:
        return StoredGram(_whole(kernel, X))
    return RequestedGram(kernel, X)


def device_of(kernel: Kernel, device: str, n_rows: int) -> Any | None:
    """Return the device of torch that kernel values of so many rows come from.

    Whoever computes much before the machine that has the device asks early, so that what cannot be
    had is refused then.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    device : {"cpu", "cuda", "cuda:<number>", "auto"}
    n_rows : int

    Returns
    -------
    torch.device or None
        None is the processor.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> device_of(RBF(1.0), "cpu", 1000) is None
    True
    """
    there = device_for(device, n_rows)
    if there is None or (not kernel.is_pairwise and kernel.pairwise_form() is not None):
        return there
    if device != "auto":
        raise ValueError(f"device={device!r} {KNOWN_ONLY}")
    return None


def _whole(kernel: Kernel, X: Any) -> np.ndarray:
    values = np.empty((X.shape[0], X.shape[0]))
    with blas_for(len(values)):
        for rows in row_blocks(*values.shape):
            values[rows] = finite(np.asarray(kernel(X[rows], X)))
    return values
