"""Rows that stand for all when the space is cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.cells._given import Given

Floats = NDArray[np.float64]

ROWS_PER_CENTRE = 200
"""Rows of the sample for each centre."""

FEWEST_SAMPLED = 5_000
"""Rows of the sample at least, where there are as many."""

SMALL = 1 << 22
"""Numbers of a sparse sample up to which equal rows are looked for."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows in random order, and how many rows each of them stands for.

    A row given twice and a row of weight 2 make the same sample, where all rows are in it.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n_features)
    counts : ndarray of shape (m,)
    """

    X: Any
    counts: Floats

    @classmethod
    def of(cls, given: Given, order: Any, size: int, random: np.random.RandomState) -> Sample:
        """Draw as many rows as cells of some size need."""
        rows = order[: sampled_rows(size, given.count)]
        X = given.X[rows]
        weights = np.ones(rows.size) if given.weights is None else given.weights[rows]
        first = np.arange(rows.size)
        if not sp.issparse(X) or np.prod(X.shape) <= SMALL:
            first, same = _different(X.toarray() if sp.issparse(X) else X)
            weights = np.bincount(same, weights=weights)
        mixed = random.permutation(weights.size)
        return cls(X[first[mixed]], weights[mixed] * (given.count / weights.sum()))

    @property
    def n_rows(self) -> float:
        """Return the rows that all of them stand for."""
        return float(self.counts.sum())

    def projected(self, directions: Floats | None) -> Sample:
        """Return the rows times the directions."""
        return self if directions is None else Sample(np.asarray(self.X @ directions), self.counts)

    def part(self, rows: Any) -> Sample:
        """Return some of them."""
        return Sample(self.X[rows], self.counts[rows])


def sampled_rows(size: int, count: float) -> int:
    """Return how many rows are drawn for cells of some size."""
    return max(FEWEST_SAMPLED, ROWS_PER_CENTRE * math.ceil(count / size))


def _different(X: Any) -> tuple[Any, Any]:
    """Return one of each kind of equal rows, in an order of their own, and the kind of each row.

    As numpy.unique of rows, which takes ten times as long.
    """
    names = [row.tobytes() for row in np.ascontiguousarray(X)]
    kinds = {name: kind for kind, name in enumerate(sorted(set(names)))}
    same = np.array([kinds[name] for name in names])
    first = np.empty(len(kinds), dtype=np.int64)
    first[same[::-1]] = np.arange(len(names))[::-1]
    return first, same
