"""Dealing rows into folds: as a splitter says, by class, or by weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with well mixed bits."""

MOST_SLOTS = 1_000_000
"""Places on the line of one class; larger weights are measured in larger units."""


def fold_splits(cv: Any, y: Any) -> list[tuple[Rows, Rows]]:
    """Return the rows to train on and to test on for each fold.

    A number stands for so many stratified folds, shuffled always in the same way.
    """
    if isinstance(cv, int | np.integer):
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=0)
    return list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))


def regression_splits(cv: Any, targets: Any) -> list[tuple[Rows, Rows]]:
    """Return the same for targets that are numbers, or for rows without any.

    A number stands for so many folds, shuffled always in the same way.
    """
    if isinstance(cv, int | np.integer):
        cv = KFold(int(cv), shuffle=True, random_state=0)
    return list(check_cv(cv, targets, classifier=False).split(np.zeros(len(targets)), targets))


def split_folds(X: Any, y: Any, cv: Any) -> Rows:
    """Return the number of the split that leaves each row out, -1 where none does.

    Parameters
    ----------
    X, y : array-like
    cv : splitter or iterable
        Anything that scikit-learn takes.

    Returns
    -------
    ndarray of int of shape (n,)
    """
    fold = np.full(len(y), -1)
    splits = check_cv(cv, y, classifier=True).split(X, y)
    for number, (_, left_out) in enumerate(splits):
        fold[left_out] = number
    return fold


def deal_folds(
    X: Any, codes: Rows, n_folds: int, random_state: Any = None, *, copies_together: bool = False
) -> Rows:
    """Return the number of the fold of each row.

    Each class is spread evenly over the folds, and so are the copies of a row that occurs several
    times. The order in which the rows are given does not matter. No class is too small.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
    codes : ndarray of int of shape (n,)
        Classes, 0, 1, ...
    n_folds : int
    random_state : int, RandomState or None, default=None
        None deals always alike.
    copies_together : bool, default=False
        Whether all copies of a row go into one fold, as one row with their weight would.

    Returns
    -------
    ndarray of int of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> deal_folds(np.array([[1.0], [2.0], [1.0], [4.0]]), np.array([0, 0, 0, 1]), 2)
    array([1, 0, 0, 1])
    """
    keys = _row_keys(X, check_random_state(0 if random_state is None else random_state))
    fold = np.empty(codes.size, dtype=np.int64)
    dealt = 0
    for code in range(int(codes.max(initial=-1)) + 1):
        rows = np.flatnonzero(codes == code)
        if copies_together:
            place = np.unique(keys[rows], return_inverse=True)[1]
        else:
            place = np.argsort(np.argsort(keys[rows], kind="stable"), kind="stable")
        fold[rows] = (dealt + place) % n_folds
        dealt += int(place.max(initial=-1)) + 1
    return fold


def weighted_folds(points: Any, codes: Rows, weights: Floats, n_folds: int) -> Floats:
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


def _row_keys(X: Any, random: np.random.RandomState) -> NDArray[np.uint64]:
    """Return a number for each row, equal for equal rows and otherwise as good as random."""
    if not sp.issparse(X):
        try:
            X = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError):  # texts: each row counts as different
            X = np.arange(len(X), dtype=np.float64)[:, None]
    factors = random.randint(0, 2**63 - 1, X.shape[1], dtype=np.int64).astype(np.uint64)
    factors |= np.uint64(1)
    keys: NDArray[np.uint64]
    if sp.issparse(X):
        matrix = sp.csr_array(X, dtype=np.float64)
        matrix.sum_duplicates()
        terms = _mixed_bits(matrix.data) * factors[matrix.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        keys = sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
    else:
        keys = (_mixed_bits(X) * factors).sum(axis=1, dtype=np.uint64)
    return (keys ^ (keys >> np.uint64(31))) * MIXER


def _mixed_bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    bits = (values + 0.0).view(np.uint64)  # adding zero makes one of the two zeros
    return bits ^ (bits >> np.uint64(32))


def _measure(ends: Floats, n_folds: int, random: np.random.RandomState) -> Floats:
    """Return how much of the line up to each point belongs to each fold."""
    n_slots = int(np.ceil(ends[-1])) + 1
    fold = random.permutation(np.arange(n_slots) % n_folds)
    before = np.zeros((n_slots + 1, n_folds))
    np.cumsum(fold[:, None] == np.arange(n_folds), axis=0, out=before[1:])
    slot = ends.astype(np.int64)
    return before[slot] + (ends - slot)[:, None] * (fold[slot, None] == np.arange(n_folds))
