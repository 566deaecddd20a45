"""Tests of kernel parameters, run when a kernel is used; each failure is one sentence."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._points import Floats


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
