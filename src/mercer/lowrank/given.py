"""The rows of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.lowrank.rows import Part
from mercer.lowrank.targets import Targets

SMALL = 1 << 22
"""Numbers of a sparse sample up to which equal rows are looked for."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the rows, in random order.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, n_features)
        In float64.
    targets : Targets
    share : float
        How many of all rows they are.
    """

    X: Any
    targets: Targets
    share: float

    def different(self) -> tuple[Any, NDArray[np.float64]]:
        """Return one of each kind of equal rows, and what they weigh together."""
        weights = self.targets.weights
        weights = np.ones(self.X.shape[0]) if weights is None else weights
        if sp.issparse(self.X) and np.prod(self.X.shape) > SMALL:
            return self.X, weights
        X = np.ascontiguousarray(self.X.toarray() if sp.issparse(self.X) else self.X) + 0.0
        if X.shape[1] == 0:
            return self.X[:1], weights[:1]
        names = X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
        _, first, same = np.unique(names, return_index=True, return_inverse=True)
        order = np.argsort(first)
        sums: Any = np.bincount(same.ravel(), weights=weights)
        return self.X[first[order]], sums[order]


@dataclass(frozen=True, eq=False)
class Given:
    """Rows in memory, or in a file that is mapped into it.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, n_features)
    targets : Targets
    """

    X: Any
    targets: Targets

    @property
    def n_rows(self) -> int:
        """Return their number."""
        return int(self.X.shape[0])

    def parts(self) -> Iterator[Part]:
        """Yield all of them."""
        yield self.X, self.targets

    def sample(self, n_rows: int, random: np.random.RandomState) -> Sample:
        """Draw some of those that have weight."""
        weights = self.targets.weights
        usable = np.arange(self.n_rows) if weights is None else np.flatnonzero(weights)
        drawn = random.permutation(usable.size)[:n_rows]
        rows = usable[drawn]
        # In the order of a file, which is read once through.
        order = np.argsort(rows)
        X = self.X[rows[order]]
        X = X.astype(np.float64, copy=False)[np.argsort(order)]
        return Sample(X, self.targets.part(rows), rows.size / usable.size)
