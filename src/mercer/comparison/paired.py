"""Whether one model is better than another, from errors on the same folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t


def paired_difference(
    first: Any, second: Any, test_ratio: float, confidence: float = 0.95
) -> tuple[float, float]:
    r"""Return the mean difference of two rows of errors, and the half-width of its uncertainty.

    Folds share training rows, so that their errors are not independent; the variance of the mean
    of J differences is therefore taken as :math:`(1/J + n_{test}/n_{train})\, s^2` [1]_.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Errors of two models on the same folds.
    test_ratio : float
        :math:`n_{test}/n_{train}`.
    confidence : float, default=0.95

    Returns
    -------
    difference, half_width : float
        The half-width is infinite for a single fold.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003).

    Examples
    --------
    >>> difference, half = paired_difference([.2, .3, .4], [.1, .1, .1], 0.5)
    >>> round(difference, 3), round(half, 3)
    (0.2, 0.393)
    """
    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if gaps.size < 2:
        return float(gaps.mean()), float("inf")
    spread = gaps.std(ddof=1) * np.sqrt(1 / gaps.size + test_ratio)
    return float(gaps.mean()), float(t.ppf(0.5 + confidence / 2, gaps.size - 1) * spread)
