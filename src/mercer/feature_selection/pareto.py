"""Choices of which none is better in every respect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pareto_set(accuracy: Any, sizes: Any) -> NDArray[np.intp]:
    """Return which pairs of accuracy and size no other one beats.

    A pair is beaten by one that is at least as accurate and no larger, and better in one of both.

    Parameters
    ----------
    accuracy, sizes : array-like of shape (n,)

    Returns
    -------
    ndarray of int
        Positions, from the smallest size on.

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    section 4.4.3.

    Examples
    --------
    >>> from mercer.feature_selection import pareto_set
    >>> pareto_set([0.7, 0.9, 0.8, 0.9], [1, 10, 20, 30])
    array([0, 1])
    """
    accuracy, sizes = np.asarray(accuracy, dtype=np.float64), np.asarray(sizes)
    order = np.lexsort((-accuracy, sizes))
    best_before = np.maximum.accumulate(np.concatenate([[-np.inf], accuracy[order][:-1]]))
    return order[accuracy[order] > best_before]
