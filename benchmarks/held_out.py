"""How often a table is cut, and what its rows held out say: errors, gaps and standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

HELD_OUT = 0.3
"""The share of the rows of each cut."""

ROWS_HELD_OUT = 150
"""A table is cut until so many have been held out: one cut of 19 rows would measure chance."""


def cuts_of(n_rows: int) -> int:
    """Return how often a table is cut; only its number of rows decides.

    >>> [cuts_of(n_rows) for n_rows in (62, 178, 442, 499, 20_000)]
    [8, 3, 2, 1, 1]
    """
    return math.ceil(ROWS_HELD_OUT / math.ceil(HELD_OUT * n_rows))


def losses(truth: Any, said: Any, measure: str) -> Any:
    """Return what each row held out adds to the error, so that their mean is the error.

    For the balanced error, rows count by the share of their class; for numbers it is the squared
    difference in units of the target's variance.
    """
    if measure == "rmse":
        truth = np.asarray(truth, dtype=np.float64)
        return (np.asarray(said, dtype=np.float64) - truth) ** 2 / truth.var()
    wrong = (np.asarray(said).astype(str) != np.asarray(truth).astype(str)).astype(np.float64)
    if measure == "error":
        return wrong
    names, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
    return wrong * len(truth) / (len(names) * counts[codes])


def standard_error(values: Sequence[Any], rows: Sequence[Any]) -> float:
    r"""Return the standard error of the mean of what rows add, where a row may come in many cuts.

    Of losses it is that of an error; of the differences between the losses of two models on the
    same rows, that of the difference, in which what is hard for both cancels.

    A hard row is hard in each cut that holds it out, so that 150 rows of 62 are not 150; and the
    models of a cut share what they learned from. With :math:`e_{ci}` the deviation of row i in cut
    c from the mean of all N values,

    .. math::
        V = \frac1{N^2}\Big(\sum_i \big(\sum_c e_{ci}\big)^2 +
            \max\big(0, \sum_c \big(\sum_i e_{ci}\big)^2 - \sum_{ci} e_{ci}^2\big)\Big),

    each sum over k parts times k / (k - 1): errors clustered by row and by cut [1]_, never less
    than by row alone. For one cut it is the variance of the values over their number. That the
    rows to learn from overlap between cuts is not in it.

    Parameters
    ----------
    values, rows : sequences of arrays
        For each cut what the rows held out add, and which rows they are.

    References
    ----------
    .. [1] A. C. Cameron, J. B. Gelbach, D. L. Miller, "Robust inference with multiway clustering",
       Journal of Business & Economic Statistics 29 (2011).

    Examples
    --------
    >>> standard_error([[0.0, 1.0, 1.0, 0.0]], [[3, 5, 6, 9]])  # sd .577 over the root of 4
    0.2886...
    >>> standard_error([[0.0, 1.0], [0.0, 1.0]], [[3, 5], [3, 5]])  # still only two rows
    0.5
    """
    flat = np.concatenate([np.asarray(each, dtype=np.float64) for each in values])
    deviations = flat - flat.mean()
    cuts = np.repeat(np.arange(len(values)), [len(each) for each in values])
    of_rows = _spread(deviations, np.concatenate([np.asarray(each) for each in rows]))
    of_cuts = _spread(deviations, cuts) if len(values) > 1 else 0.0
    of_single = _spread(deviations, np.arange(flat.size))
    return math.sqrt(of_rows + max(0.0, of_cuts - of_single)) / flat.size


def _spread(deviations: Any, parts: Any) -> float:
    """Return the sum of the squared sums over parts, corrected for their number."""
    codes = np.unique(parts, return_inverse=True)[1]
    sums = np.bincount(codes, deviations)
    return float(sums @ sums) * sums.size / (sums.size - 1)
