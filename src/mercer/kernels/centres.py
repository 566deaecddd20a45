"""The middle of points, to which they are moved where only differences count."""

from __future__ import annotations

import numpy as np

from ._checks import Floats

FAR = 1e100
"""Means beyond this may be off by more than the root of the largest float."""


def column_means(X: Floats) -> Floats:
    """Return the mean of each column, between its least and largest number also after rounding.

    Of a column that is 3e233 throughout, some means are one unit in the last place away from it,
    and the squares of such units are infinite.

    Parameters
    ----------
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> column_means(np.full((9, 1), 3e233)).item()
    3e+233
    """
    with np.errstate(over="ignore"):
        means = np.add.reduce(X, axis=0) / len(X)
    far = np.abs(means) > FAR
    if far.any():
        means[far] = np.clip(means[far], X[:, far].min(axis=0), X[:, far].max(axis=0))
    return means
