"""How many features to keep, judged by importances alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def estimated_accuracy(importances: Any, lowest: float = 0.5, highest: float = 1.0) -> Floats:
    r"""Estimate the accuracy with 0, 1, ..., m features from the importances of those left out.

    Leaving out the features after the i-th costs an error in proportion to the sum of their
    importances, :math:`e_i = \sum_{k>i} q_k`:

    .. math:: a_i = (1 - e_i / e_0)(\text{highest} - \text{lowest}) + \text{lowest}

    Parameters
    ----------
    importances : array-like of shape (m,)
        q, the best feature first; negative ones count as 0.
    lowest : float, default=0.5
        Accuracy without features.
    highest : float, default=1.0
        Accuracy with all.

    Returns
    -------
    ndarray of shape (m + 1,)

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    algorithm 5.

    Examples
    --------
    >>> from mercer.feature_selection import estimated_accuracy
    >>> estimated_accuracy([3.0, 1.0], 0.5, 0.9)
    array([0.5, 0.8, 0.9])
    """
    gains = np.concatenate([[0.0], np.maximum(np.asarray(importances, dtype=np.float64), 0.0)])
    kept = np.cumsum(gains)
    shares = kept / kept[-1] if kept[-1] > 0 else np.linspace(0.0, 1.0, kept.size)
    return lowest + shares * (highest - lowest)


def optimal_size(
    importances: Any,
    *,
    lowest: float = 0.5,
    highest: float = 1.0,
    trade_off: tuple[float, float] = (0.8, 0.2),
    n_total: int | None = None,
) -> int:
    r"""Estimate the best number of features from their importances, without any validation.

    .. math:: \arg\min_i \; w_1 (1 - a_i) + w_2 \, i / m

    with the accuracies of `estimated_accuracy`.

    Parameters
    ----------
    importances : array-like of shape (m,)
        The best feature first.
    lowest, highest : float, default=0.5 and 1.0
        Accuracies without and with all of them.
    trade_off : tuple of two floats, default=(0.8, 0.2)
        :math:`w_1` and :math:`w_2`.
    n_total : int or None, default=None
        What the size is measured by; the number of importances if None.

    Returns
    -------
    int
        At least 1.

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    algorithm 5, with the correction named in `estimated_accuracy`.

    Examples
    --------
    >>> from mercer.feature_selection import optimal_size
    >>> optimal_size([5.0, 4.0, 0.1, 0.1, 0.1])
    2
    """
    accuracy = estimated_accuracy(importances, lowest, highest)
    return best_size(np.arange(accuracy.size), accuracy, trade_off, n_total or accuracy.size - 1)


def best_size(sizes: Any, accuracy: Any, trade_off: tuple[float, float], n_total: int) -> int:
    """Return the size above 0 with the least cost; the smaller of two equals."""
    sizes, accuracy = np.asarray(sizes), np.asarray(accuracy)
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    cost = trade_off[0] * (1.0 - accuracy[order]) + trade_off[1] * sizes[order] / n_total
    return int(sizes[order[np.argmin(cost)]])
