"""Checked rows and their kernel matrix: where every fit begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer._weights import checked_weights
from mercer.gram import Gram, make_gram
from mercer.kernels import Kernel, Linear
from mercer.machines.messages import warn_if_indefinite

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that take part in a fit.

    Parameters
    ----------
    X : ndarray or sparse matrix
        All rows.
    kept : ndarray of int
        Rows with weight above zero; ``weights``, ``points`` and ``gram`` are of these only.
    weights : ndarray
    points : ndarray or sparse matrix
        Of a precomputed kernel the matrix.
    kernel : Kernel
        With numbers in place of "scale".
    gram : Gram
    """

    X: Any
    kept: NDArray[np.int64]
    weights: Floats
    points: Any
    kernel: Kernel
    gram: Gram

    @classmethod
    def of(
        cls,
        X: Any,
        sample_weight: Any,
        kernel: Kernel,
        *,
        cache_bytes: float,
        translate: bool = False,
    ) -> TrainingRows:
        """Check weights, choose the rows, resolve the kernel and make its matrix.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            Validated.
        sample_weight : array-like of shape (n,) or None
        kernel : Kernel
            As the parameters describe it.
        cache_bytes : float
            Memory for kernel values.
        translate : bool, default=False
            Whether points of a linear kernel may be moved to the origin, where that changes
            nothing but rounding errors.
        """
        if kernel.is_pairwise:
            check_square(X)
        weights = checked_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        points = rows_of(X, kept, kernel.is_pairwise)
        kernel = kernel.resolve(points, None if sample_weight is None else weights[kept])
        moved = centred(kernel, points) if translate else points
        gram = make_gram(kernel, moved, memory=cache_bytes)
        warn_if_indefinite(kernel, gram)
        return cls(X, kept, weights[kept], points, kernel, gram)


def check_square(matrix: Any) -> None:
    """Refuse a kernel matrix of training rows that is not square."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"A precomputed kernel matrix must be a square matrix; got {matrix.shape[0]} rows and "
            f"{matrix.shape[1]} columns."
        )


def rows_of(X: Any, kept: Any, is_pairwise: bool) -> Any:
    """Return the rows that take part, and of a kernel matrix only their columns."""
    if kept.size == X.shape[0]:
        return X
    return X[np.ix_(kept, kept)] if is_pairwise else X[kept]


def centred(kernel: Kernel, points: Any) -> Any:
    """Move the points to the origin where that changes no ball, only rounding errors."""
    if isinstance(kernel, Linear) and not sp.issparse(points):
        return points - points.mean(axis=0)
    return points
