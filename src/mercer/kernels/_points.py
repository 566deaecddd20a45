"""How rows of data reach a kernel: float64, two-dimensional, finite, dense or CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Points = Any
"""A dense float64 array or a CSR matrix, both with one row for each point."""


def as_points(X: Any, name: str = "X") -> Points:
    """Return `X` as a C-ordered float64 array or a CSR matrix, or say what is wrong with it."""
    if sp.issparse(X):
        points = sp.csr_array(X, dtype=np.float64)
        if not points.has_canonical_format:
            points = points.copy()
            points.sum_duplicates()
        values = points.data
    else:
        points = values = np.ascontiguousarray(X, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, one row for each point; got {points.ndim}."
        )
    # The sum is finite for nearly all good data, so that the full test is rarely paid for.
    with np.errstate(over="ignore"):
        total = np.sum(values)
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinity; a kernel needs finite numbers.")
    return points


def as_pair(X: Any, Y: Any = None) -> tuple[Points, Points]:
    """Return both point sets in one format; they are the same object when `Y` is None or `X`."""
    left = as_points(X)
    if Y is None or Y is X:
        return left, left
    right = as_points(Y, "Y")
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"X has {left.shape[1]} columns but Y has {right.shape[1]}; "
            "a kernel compares rows of the same length."
        )
    if sp.issparse(left) != sp.issparse(right):
        left, right = sp.csr_array(left), sp.csr_array(right)
    return left, right


def as_dense(X: Any) -> Floats:
    """Return the points as a dense array."""
    points = as_points(X)
    return points.toarray() if sp.issparse(points) else points


def as_contraction(W: Any, n_rows: int, n_columns: int) -> Floats:
    """Return `W` as a float64 array after checking that it fits the kernel matrix."""
    weights = np.asarray(W, dtype=np.float64)
    if weights.shape != (n_rows, n_columns):
        raise ValueError(
            f"W must have the shape of the kernel matrix, {(n_rows, n_columns)}; "
            f"got {weights.shape}."
        )
    return weights


def as_coefficients(V: Any, n_rows: int, n_columns: int) -> Floats:
    """Return `V` as a float64 array: one coefficient a column, or one for every entry."""
    coefficients = np.asarray(V, dtype=np.float64)
    if coefficients.shape not in ((n_columns,), (n_rows, n_columns)):
        raise ValueError(
            f"V must have the shape {(n_columns,)}, one coefficient for each row of Z, or that of "
            f"the kernel matrix, {(n_rows, n_columns)}; got {coefficients.shape}."
        )
    return coefficients


def count_rows(X: Any) -> int:
    """Return the number of rows, for arrays, sparse matrices and plain sequences."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def scale_columns(X: Points, scales: Floats) -> Points:
    """Multiply column k by ``scales[k]`` and keep the format."""
    if not sp.issparse(X):
        return X * scales
    scaled = X.copy()
    scaled.data *= scales[scaled.indices]
    return scaled


def centred_pair(X: Points, Y: Points) -> tuple[Points, Points]:
    """Subtract the column means of `Y` from both, except where that would fill sparse points.

    What depends on differences only stays the same, and offset data lose no digits.
    """
    if sp.issparse(X) or len(Y) == 0:
        return X, Y
    centre = Y.mean(axis=0)
    centred = Y - centre
    return (centred if X is Y else X - centre), centred


def squared_norms(X: Points) -> Floats:
    """Return the squared Euclidean length of each row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def dot_products(X: Points, Y: Points) -> Floats:
    """Return X Y' as a dense array, exactly symmetric when both are the same object.

    NumPy and SciPy both keep the symmetry of a matrix times its own transpose.
    """
    product = X @ Y.T
    return product.toarray() if sp.issparse(product) else product


def dense_rows(X: Points) -> Floats:
    """Return checked points as a dense array."""
    return X.toarray() if sp.issparse(X) else X
