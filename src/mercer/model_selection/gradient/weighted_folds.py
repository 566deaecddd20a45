"""Folds in which a row of weight two is two rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_SLOTS = 1_000_000
"""Places on the line of one class; larger weights are measured in larger units."""


def weighted_folds(points: Any, codes: NDArray[np.int64], weights: Floats, n_folds: int) -> Floats:
    """Return how much of the weight of each row lies in each fold.

    The distinct rows of one class are laid end to end on a line, each as long as it weighs. The
    line is cut into places of length one, which are dealt out to the folds at random, but always in
    the same way. So a weight of two gives the folds of the row written twice, and rows without
    weights ordinary folds with the classes in proportion.

    Parameters
    ----------
    points : ndarray or sparse matrix of shape (n, d)
    codes : ndarray of int of shape (n,)
        Classes.
    weights : ndarray of shape (n,)
        Above 0. Where they sum to less than the number of distinct rows, or to very much, they are
        first brought to another unit.
    n_folds : int

    Returns
    -------
    ndarray of shape (n, n_folds)
        Rows sum to the weights.

    Examples
    --------
    >>> import numpy as np
    >>> points, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.zeros(4, dtype=int)
    >>> weighted_folds(points, codes, np.ones(4), 2)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    dense = points.toarray() if sp.issparse(points) else points
    shares = np.zeros((codes.size, n_folds))
    random = np.random.RandomState(0)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        distinct, identity = np.unique(dense[rows], axis=0, return_inverse=True)
        identity = identity.ravel()
        lengths = np.bincount(identity, weights[rows])
        total = float(lengths.sum())
        unit = total / np.clip(total, len(distinct), MOST_SLOTS)
        ends = np.concatenate([[0.0], np.cumsum(lengths)]) / unit
        pieces = unit * np.diff(_measure(ends, n_folds, random), axis=0)
        shares[rows] = pieces[identity] * (weights[rows] / lengths[identity])[:, None]
    return shares


def _measure(ends: Floats, n_folds: int, random: np.random.RandomState) -> Floats:
    """Return how much of the line up to each point belongs to each fold."""
    n_slots = int(np.ceil(ends[-1])) + 1
    fold = random.permutation(np.arange(n_slots) % n_folds)
    before = np.zeros((n_slots + 1, n_folds))
    np.cumsum(fold[:, None] == np.arange(n_folds), axis=0, out=before[1:])
    slot = ends.astype(np.int64)
    return before[slot] + (ends - slot)[:, None] * (fold[slot, None] == np.arange(n_folds))
