"""Weights of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._sklearn import check_sample_weight


def checked_weights(sample_weight: Any, X: Any) -> Any:
    """Return one weight for each row: none negative, not all 0.

    Examples
    --------
    >>> checked_weights(None, np.zeros((3, 1)))
    array([1., 1., 1.])
    """
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("sample_weight must not be negative.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row.")
    return weights
