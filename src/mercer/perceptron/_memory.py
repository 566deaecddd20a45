"""What a perceptron remembers: its mistakes, and the examples on which it made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.kernels import Kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def _no_rows() -> Indices:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class History:
    """The mistakes of one machine, in the order in which it made them.

    All variants of the perceptron read their model from it: w after t mistakes is the sum of the
    first t rows, each with its sign.

    Parameters
    ----------
    rows : ndarray of int
        Row of each mistake, counted over all rows seen.
    signs : ndarray of float
        Label of that row, +1 or -1.
    times : ndarray of int
        Number of visits to examples before that one.
    visits : int
        Number of visits to examples in all.

    Examples
    --------
    >>> history = History().after(np.array([4, 2, 3]), np.array([0, 2]), np.ones(5))
    >>> history.rows, history.coefficients("last"), history.coefficients("averaged").round(2)
    (array([4, 3]), array([1., 1.]), array([1.  , 0.33]))
    """

    rows: Indices = field(default_factory=_no_rows)
    signs: Floats = field(default_factory=lambda: np.empty(0))
    times: Indices = field(default_factory=_no_rows)
    visits: int = 0

    def after(
        self, order: Indices, mistakes: Indices, signs: Floats, first_row: int = 0
    ) -> History:
        """Return the history after a pass over the rows in some order, with mistakes at some steps.

        `signs` belongs to the rows of this pass; their first is row `first_row` of all rows seen.
        """
        rows = order[mistakes]
        return History(
            np.concatenate([self.rows, first_row + rows]),
            np.concatenate([self.signs, signs[rows]]),
            np.concatenate([self.times, self.visits + mistakes]),
            self.visits + order.size,
        )

    def coefficients(self, variant: str) -> Floats:
        r"""Return the factor of each mistake in the last or in the averaged w.

        The mistake at visit t is part of w from that visit on, so that its share in the mean over
        all T visits is :math:`(T - t) / T`.
        """
        if variant == "last" or self.visits == 0:
            return self.signs
        return self.signs * ((self.visits - self.times) / self.visits)

    def lifetimes(self) -> Indices:
        """Return the number of visits that w after each mistake has lived through."""
        return np.diff(self.times, append=self.visits)

    def difficulty(self, first_row: int, n_rows: int) -> Indices:
        """Return the number of mistakes on each row of a range."""
        rows = self.rows[self.rows >= first_row] - first_row
        return np.bincount(rows, minlength=n_rows)


@dataclass(frozen=True, eq=False)
class MistakeMemory:
    """Everything that all machines of a classifier have learned.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    constant : float
        What is added to the kernel: 1 for a bias, else 0.
    histories : sequence of History
        One for each machine.
    support_vectors : ndarray or CSR matrix of shape (n_SV, n_features)
        Rows with mistakes; none is kept for a precomputed kernel.
    support : ndarray of int
        Their numbers among all rows seen, growing.
    n_seen : int
        Number of rows seen.
    """

    kernel: Kernel
    constant: float
    histories: Sequence[History]
    support_vectors: Any
    support: Indices = field(default_factory=_no_rows)
    n_seen: int = 0

    def extended(self, X: Any, histories: Sequence[History]) -> MistakeMemory:
        """Return the memory after learning from the rows of `X`."""
        rows = np.unique(np.concatenate([history.rows for history in histories]))
        new = rows[rows >= self.n_seen]
        vectors = self.support_vectors
        if not self.kernel.is_pairwise:
            vectors = _stacked(vectors, X[new - self.n_seen])
        return replace(
            self,
            histories=histories,
            support_vectors=vectors,
            support=np.concatenate([self.support, new]),
            n_seen=self.n_seen + X.shape[0],
        )

    def places(self, history: History) -> Indices:
        """Return the position of every mistake among the support vectors."""
        return np.searchsorted(self.support, history.rows)

    def expansion(self, variant: str) -> Floats:
        """Return the coefficients of the support vectors in w, one row a machine."""
        size = self.support.size
        rows = [
            np.bincount(self.places(history), history.coefficients(variant), minlength=size)
            for history in self.histories
        ]
        return np.array(rows)

    def difficulty(self, n_rows: int) -> Indices:
        """Return the number of mistakes on each of the rows seen last, one column a machine."""
        counts = [history.difficulty(self.n_seen - n_rows, n_rows) for history in self.histories]
        return counts[0] if len(counts) == 1 else np.column_stack(counts)


def _stacked(first: Any, second: Any) -> Any:
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([first, second], format="csr")
    return np.vstack([first, second])
