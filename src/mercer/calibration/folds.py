"""Dealing rows into folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with well mixed bits."""


def split_folds(X: Any, y: Any, cv: Any) -> NDArray[np.int64]:
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
    X: Any, codes: NDArray[np.int64], n_folds: int, random_state: Any = None
) -> NDArray[np.int64]:
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
        order = rows[np.argsort(keys[rows], kind="stable")]
        fold[order] = np.arange(dealt, dealt + rows.size) % n_folds
        dealt += rows.size
    return fold


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
