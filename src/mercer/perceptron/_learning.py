"""The loop over the examples, for decision values from kernel rows or from weights."""

from __future__ import annotations

from itertools import islice
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import Gram, StoredGram

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LEAST_AHEAD, MOST_AHEAD = 16, 1024
"""Examples whose decision values are looked at together; up to the first mistake they hold. Few
after a mistake, more and more while there is none."""

BATCH = 64
"""Kernel rows computed together, which takes a fraction of the time of as many single ones."""


class Learner(Protocol):
    """What the loop needs: decision values of some rows, and a step for one of them."""

    def values(self, rows: Indices) -> Floats:
        """Return f(x) of some rows."""

    def learn(self, row: int, signs: Floats, rest: Indices) -> None:
        """Add a row with its sign to w; the rest of the epoch tells what may be needed soon."""


class KernelRows:
    """Rows of a kernel matrix, computed some at a time and kept while there is room.

    Parameters
    ----------
    gram : Gram
    memory : float
        Bytes for rows; one is kept in any case.
    """

    def __init__(self, gram: Gram, memory: float) -> None:
        self.gram = gram
        self.room = max(1, int(memory / (8 * gram.n)))
        self.kept: dict[int, Floats] = {}

    def get(self, row: int) -> Floats | None:
        """Return a row, or None where it must be fetched first."""
        if isinstance(self.gram, StoredGram) and self.gram.view is None:
            return self.gram.values[row]
        return self.kept.get(row)

    def fetch(self, row: int, likely: Indices) -> Floats:
        """Compute a row, together with some that are likely to be needed soon, and return it."""
        others = (other for other in likely.tolist() if other not in self.kept)
        wanted = [row, *islice(others, min(BATCH, self.room) - 1)]
        while len(self.kept) + len(wanted) > self.room:
            del self.kept[next(iter(self.kept))]  # the oldest
        self.kept.update(zip(wanted, self.gram.rows(np.array(wanted))))
        return self.kept[row]


class DualLearner:
    """Decision values of all rows, moved by a kernel row at every mistake (algorithm 4).

    Parameters
    ----------
    kernel_rows : KernelRows
        The kernel matrix; several machines may share it.
    start : ndarray of shape (n,)
        f(x) of all rows; changed in place.
    constant : float
        What is added to the kernel: 1 for a bias, else 0.
    """

    def __init__(self, kernel_rows: KernelRows, start: Floats, constant: float) -> None:
        self.kernel_rows = kernel_rows
        self.decision = start
        self.constant = constant

    def values(self, rows: Indices) -> Floats:
        """Return f(x) of some rows."""
        return self.decision[rows]

    def learn(self, row: int, signs: Floats, rest: Indices) -> None:
        """Add y k(x_row, .) to f."""
        values = self.kernel_rows.get(row)
        if values is None:
            wrong = signs[rest] * self.decision[rest] <= 0
            values = self.kernel_rows.fetch(row, rest[wrong])
        move = np.add if signs[row] > 0 else np.subtract
        move(self.decision, values, out=self.decision)
        if self.constant:
            self.decision += signs[row] * self.constant


class PrimalLearner:
    """Weights of the features (algorithm 1), for the linear kernel only.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    weights : ndarray of shape (d,)
        w; changed in place.
    bias : float
    constant : float
        The component that every x is extended by: 1 for a bias, else 0.
    """

    def __init__(self, X: Any, weights: Floats, bias: float, constant: float) -> None:
        self.X = X
        self.weights = weights
        self.bias = bias
        self.constant = constant

    def values(self, rows: Indices) -> Floats:
        """Return f(x) of some rows."""
        return self.X[rows] @ self.weights + self.bias

    def learn(self, row: int, signs: Floats, rest: Indices) -> None:
        """Add y x_row to w."""
        if sp.issparse(self.X):
            part = slice(*self.X.indptr[row : row + 2])
            np.add.at(self.weights, self.X.indices[part], signs[row] * self.X.data[part])
        else:
            self.weights += signs[row] * self.X[row]
        self.bias += signs[row] * self.constant


def run_epoch(learner: Learner, signs: Floats, order: Indices) -> Indices:
    """Visit the rows in some order, learn from every mistake, and return the steps of mistakes.

    A row on the boundary counts as a mistake, as in the algorithm: y f(x) <= 0.
    """
    mistakes = []
    step, ahead = 0, LEAST_AHEAD
    while step < order.size:
        rows = order[step : step + ahead]
        wrong = signs[rows] * learner.values(rows) <= 0
        first = int(wrong.argmax())
        if not wrong[first]:
            step, ahead = step + rows.size, min(2 * ahead, MOST_AHEAD)
            continue
        mistakes.append(step + first)
        step, ahead = step + first + 1, LEAST_AHEAD
        learner.learn(int(rows[first]), signs, order[step:])
    return np.array(mistakes, dtype=np.int64)
