"""Counting the trees in which rows share a leaf, by comparing small numbers in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

ROWS = 64
"""Rows that are compared together; their counts stay in the cache while tree follows tree."""

Codes = NDArray[Any]


def small_codes(leaves: Any) -> Codes:
    """Return the leaves as the smallest whole numbers that hold them, one row a tree."""
    most = int(leaves.max(initial=0))
    return np.ascontiguousarray(leaves.T, dtype=np.min_scalar_type(most))


def shared_leaves(left: Codes, right: Codes, symmetric: bool) -> Iterator[tuple[slice, Codes]]:
    """Yield blocks of rows with the number of trees in which each pair shares a leaf.

    Parameters
    ----------
    left, right : ndarray of shape (n_trees, n) and (n_trees, m)
        Leaves.
    symmetric : bool
        Whether a block begins at the column of its first row; what lies before is known.

    Yields
    ------
    rows : slice
    counts : ndarray
        Valid until the next block is asked for.
    """
    n_trees, n = left.shape
    m = right.shape[1]
    counts = np.empty((ROWS, m), dtype=np.min_scalar_type(n_trees))
    same = np.empty((ROWS, m), dtype=bool)
    for start in range(0, n, ROWS):
        rows = slice(start, min(n, start + ROWS))
        first = start if symmetric else 0
        size = rows.stop - start
        total, equal = counts[:size, first:], same[:size, first:]
        total[:] = 0
        for ours, theirs in zip(left, right):
            np.equal(ours[rows, None], theirs[first:], out=equal)
            np.add(total, equal.view(np.uint8), out=total)
        yield rows, total


def dense_shares(left: Codes, right: Codes, symmetric: bool) -> NDArray[np.float32]:
    """Return the share of trees in which rows share a leaf, for all pairs."""
    shares = np.empty((left.shape[1], right.shape[1]), dtype=np.float32)
    for rows, counts in shared_leaves(left, right, symmetric):
        first = rows.start if symmetric else 0
        np.divide(counts, np.float32(len(left)), out=shares[rows, first:], dtype=np.float32)
        if symmetric:
            shares[first:, rows] = shares[rows, first:].T
    return shares


def sparse_counts(left: Codes, right: Codes) -> sp.csr_array:
    """Return the number of trees in which rows share a leaf, where there are any."""
    data, columns, ends = [], [], [0]
    for _, counts in shared_leaves(left, right, symmetric=False):
        found = counts > 0
        columns.append(np.nonzero(found)[1].astype(np.int32))
        data.append(counts[found].astype(np.float32))
        ends.extend(ends[-1] + np.cumsum(found.sum(axis=1)))
    shape = (left.shape[1], right.shape[1])
    parts = (np.concatenate(data), np.concatenate(columns), np.array(ends))
    return sp.csr_array(parts, shape=shape)
