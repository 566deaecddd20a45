"""How much sets of features agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np


def kuncheva_index(sets: Sequence[Any], n_features: int) -> float:
    r"""Return how much sets of features of one size agree beyond chance.

    .. math:: I = \frac{r - k^2/n}{k - k^2/n}

    for two sets of k out of n features that share r; the mean over all pairs. It is 1 for equal
    sets, about 0 for sets drawn at random, and above -1.

    Parameters
    ----------
    sets : sequence of array-like of int
        At least two, all of the same size.
    n_features : int
        n.

    Returns
    -------
    float
        NaN where the sets are empty or hold all features.

    References
    ----------
    L. I. Kuncheva, "A stability index for feature selection", Artificial Intelligence and
    Applications (2007).

    Examples
    --------
    >>> from mercer.feature_selection import kuncheva_index
    >>> round(kuncheva_index([[0, 1, 2], [0, 1, 3], [0, 1, 2]], 10), 3)
    0.683
    """
    chosen = [np.unique(np.asarray(one)) for one in sets]
    if len(chosen) < 2 or len({one.size for one in chosen}) != 1:
        raise ValueError(
            "kuncheva_index needs at least two sets of the same size; got the sizes "
            f"{[one.size for one in chosen]}."
        )
    expected = chosen[0].size ** 2 / n_features
    most = chosen[0].size - expected
    if not most > 0:
        return float("nan")
    shared = [np.intersect1d(a, b, assume_unique=True).size for a, b in combinations(chosen, 2)]
    return float((np.mean(shared) - expected) / most)
