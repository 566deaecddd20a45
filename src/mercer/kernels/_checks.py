"""Parameters and points, checked when a kernel is used; each failure is one sentence."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Points = Any
"""A dense float64 array or a CSR matrix, both with one row for each point."""


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def number(owner: Any, name: str, value: Any) -> float:
    """Return a finite number as a float."""
    if not _is_number(value):
        raise ValueError(f"{_kind(owner)}: {name} must be a finite number; got {value!r}.")
    return float(value)


def positive(owner: Any, name: str, value: Any) -> float:
    """Return a number above 0 as a float."""
    if not _is_number(value) or value <= 0:
        raise ValueError(f"{_kind(owner)}: {name} must be a number above 0; got {value!r}.")
    return float(value)


def resolved_gamma(owner: Any, gamma: Any) -> float:
    """Return a positive gamma as a float, or say that it still depends on the data."""
    if isinstance(gamma, str):
        raise ValueError(
            f"{_kind(owner)}: gamma={gamma!r} is no number yet; "
            "call kernel.resolve(X) with the training data first, or give a number above 0."
        )
    return positive(owner, "gamma", gamma)


def integer(owner: Any, name: str, value: Any, least: int) -> int:
    """Return an integer that is not below `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{_kind(owner)}: {name} must be an integer of at least {least}; got {value!r}."
        )
    return int(value)


def choice(owner: Any, name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return one of the allowed words."""
    if value not in allowed:
        words = " or ".join(repr(word) for word in allowed)
        raise ValueError(f"{_kind(owner)}: {name} must be {words}; got {value!r}.")
    return str(value)


def vector(owner: Any, name: str, value: Any, *, zero_allowed: bool = False) -> Floats:
    """Return a one-dimensional array of positive (or non-negative) finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    good = np.isfinite(array) & ((array >= 0) if zero_allowed else (array > 0))
    if array.ndim != 1 or array.size == 0 or not good.all():
        bound = "at least 0" if zero_allowed else "above 0"
        raise ValueError(
            f"{_kind(owner)}: {name} must hold one number {bound} for each feature; got {value!r}."
        )
    return array


def fits_columns(owner: Any, name: str, values: Floats, n_columns: int) -> None:
    """Refuse a parameter with one value for each feature that does not fit the data."""
    if len(values) != n_columns:
        raise ValueError(
            f"{_kind(owner)}: {name} holds {len(values)} values, but the data have "
            f"{n_columns} columns; give one value for each."
        )


def _kind(owner: Any) -> str:
    return type(owner).__name__


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
