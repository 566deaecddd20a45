"""Proximities as a product of two sparse matrices, of which only a part need ever exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.trees._comparison import Codes, small_codes, sparse_counts
from mercer.trees._forest import (
    Floats,
    check_forest,
    in_bag_counts,
    leaf_indicator,
    leaf_numbers,
)

KINDS = ("all", "oob", "gap")

CROWDED = 1 / 80
"""Beyond this share of pairs that meet in a leaf, comparing all pairs is faster than a sparse
product, which goes from one pair that meets to the next."""

BLOCK = 2**25
"""Entries of a block of rows at most: some hundred megabytes."""


@dataclass(frozen=True, eq=False)
class Similarity:
    """Proximities L Rᵀ / T, for "oob" divided by the number of trees that may compare a pair.

    Parameters
    ----------
    left, right : CSR of shape (n, n_leaves) and (m, n_leaves)
    left_out, right_out : ndarray of shape (n, n_trees) and (m, n_trees), or None
        Whether a row is out of the bag of a tree; only for "oob".
    n_trees : int
        What "all" is divided by; 1 for the others.
    same_rows : bool
        Whether both sides are the same rows, which have a diagonal.
    codes : pair of ndarray of shape (n_trees, n) and (n_trees, m), or None
        Leaves as small numbers; only for "all".
    is_crowded : bool
        Whether many pairs meet in a leaf.
    """

    left: sp.csr_array
    right: sp.csr_array
    left_out: NDArray[np.float32] | None = None
    right_out: NDArray[np.float32] | None = None
    n_trees: int = 1
    same_rows: bool = True
    codes: tuple[Codes, Codes] | None = None
    is_crowded: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.left.shape[0], self.right.shape[0]

    def rows(self, some: Any, transposed: Any = None) -> sp.csr_array:
        """Return some rows of the matrix."""
        if self.codes is not None and self.is_crowded:
            block = sparse_counts(self.codes[0][:, some], self.codes[1])
        else:
            columns = self.right.T.tocsr() if transposed is None else transposed
            block = sp.csr_array(self.left[some] @ columns)
        if self.left_out is not None and self.right_out is not None:
            trees = self.left_out[some] @ self.right_out.T
            where = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
            block.data /= trees[where, block.indices]
        elif self.n_trees > 1:
            block.data /= np.float32(self.n_trees)
        return block

    def blocks(self) -> Iterator[tuple[slice, sp.csr_array]]:
        """Go through the rows in blocks of bounded size."""
        transposed = self.right.T.tocsr()
        step = max(1, min(BLOCK // max(1, self.shape[1]), self.shape[0]))
        for start in range(0, self.shape[0], step):
            some = slice(start, min(start + step, self.shape[0]))
            yield some, self.rows(some, transposed)

    def dot(self, values: Floats) -> Floats:
        """Return the product with some columns; the matrix itself is needed for "oob" only."""
        if self.left_out is None:
            return np.asarray(self.left @ (self.right.T @ values)) / self.n_trees
        return np.concatenate([block @ values for _, block in self.blocks()])

    def diagonal(self) -> Floats:
        """Return the proximity of every row to itself, where both sides are the same rows."""
        if self.left_out is not None:
            return (self.left_out.sum(axis=1) > 0).astype(np.float64)
        own = self.left.multiply(self.right).sum(axis=1)
        return np.asarray(own, dtype=np.float64) / self.n_trees


def similarity(forest: Any, X: Any, Y: Any = None, kind: str = "all") -> Similarity:
    """Return the proximities of the rows of `X` to themselves or to the rows of `Y`.

    For "oob" and "gap", `X` (or `Y`, where it is given) are the training rows; rows compared with
    them are new, and out of the bag of every tree.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")
    check_forest(forest)
    leaves, first = leaf_numbers(forest, X)
    n_leaves = int(first[-1])
    others = leaves if Y is None else leaf_numbers(forest, Y)[0]
    if kind == "all":
        left, right = leaf_indicator(leaves, n_leaves), leaf_indicator(others, n_leaves)
        sizes = [np.bincount(part.ravel(), minlength=n_leaves) for part in (leaves, others)]
        pairs = leaves.size * others.shape[0]
        return Similarity(
            left,
            right,
            n_trees=leaves.shape[1],
            same_rows=Y is None,
            codes=(small_codes(leaves - first[:-1]), small_codes(others - first[:-1])),
            is_crowded=bool(sizes[0] @ sizes[1] > CROWDED * pairs),
        )
    counts = in_bag_counts(forest, X if Y is None else Y)
    others_out = (counts == 0).astype(np.float32)
    out = others_out if Y is None else np.ones(leaves.shape, dtype=np.float32)
    if kind == "oob":
        left = leaf_indicator(leaves, n_leaves, out)
        right = leaf_indicator(others, n_leaves, others_out)
        return Similarity(left, right, out, others_out, same_rows=Y is None)
    share = out / np.maximum(out.sum(axis=1, keepdims=True), 1.0)
    in_leaf = np.bincount(others.ravel(), counts.ravel(), minlength=n_leaves)
    weight = counts / np.maximum(in_leaf, 1.0)[others]
    left = leaf_indicator(leaves, n_leaves, share)
    return Similarity(left, leaf_indicator(others, n_leaves, weight), same_rows=Y is None)
