"""Many classes as several two-class machines, and their solutions as one model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

if TYPE_CHECKING:  # the other way round at run time
    from mercer.machines.training import Training


Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

AT_BOUND = 1.0 - 1e-9
"""Share of its bound from which on a multiplier counts as being there, as for the offset."""

KINDS = np.array(["", "margin", "bound"])
"""Kinds of support vector: none, strictly between the bounds, at the upper one."""


@dataclass(frozen=True, eq=False)
class TwoClassTask:
    """One machine: which rows take part, and on which side each stands.

    Parameters
    ----------
    rows : ndarray of int
        Training rows.
    signs : ndarray of float
        +1 or -1 for each of them.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoClassTasks:
    """The machines of one classifier, laid end to end.

    Parameters
    ----------
    rows, signs : ndarray
        Of one machine after the other.
    ends : ndarray of int of shape (m + 1,)
        Machine k has the entries from ``ends[k]`` to ``ends[k + 1]``.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return self.ends.size - 1

    def __getitem__(self, k: int) -> TwoClassTask:
        part = slice(self.ends[k], self.ends[k + 1])
        return TwoClassTask(self.rows[part], self.signs[part])

    def __iter__(self) -> Iterator[TwoClassTask]:
        return (self[k] for k in range(len(self)))

    @property
    def machine(self) -> NDArray[np.int64]:
        """The machine of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.ends))


@lru_cache(maxsize=64)
def pairs_of(n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the second class of all pairs: (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.array(list(combinations(range(n_classes), 2)), dtype=np.int64).T
    return first, second


def decompose(codes: NDArray[np.int64], n_classes: int, multi_class: str) -> TwoClassTasks:
    """Return the machines for class codes 0 ... n_classes - 1.

    Two classes make one machine in which class 1 is positive. One against one has the smaller
    class positive, in the order (0, 1), (0, 2), ..., (1, 2), ... as LIBSVM; one against the rest
    has one machine for each class. The rows of a machine rise.

    Examples
    --------
    >>> import numpy as np
    >>> [task.rows.tolist() for task in decompose(np.array([0, 1, 2, 1]), 3, "ovo")]
    [[0, 1, 3], [0, 2], [1, 2, 3]]
    """
    n = codes.size
    if n_classes == 2:
        return TwoClassTasks(np.arange(n), np.where(codes == 1, 1.0, -1.0), np.array([0, n]))
    if multi_class == "ovr":
        signs = np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0).ravel()
        return TwoClassTasks(np.tile(np.arange(n), n_classes), signs, np.arange(n_classes + 1) * n)
    first, second = pairs_of(n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    classes = np.stack([first, second], axis=1).ravel()  # the two of each machine
    sizes = counts[classes]
    behind = np.cumsum(sizes)
    ends = np.concatenate([[0], behind[1::2]])
    # The rows of a class stand together in this order, from which each machine takes two runs.
    order, begins = np.argsort(codes, kind="stable"), np.cumsum(counts) - counts
    rows = order[np.arange(behind[-1]) + np.repeat(begins[classes] - behind + sizes, sizes)]
    # Sorted within each machine, all at once.
    places = np.repeat(np.arange(first.size), np.diff(ends)) * n
    rows = np.sort(rows + places) - places
    own = codes[rows] == np.repeat(first, np.diff(ends))
    return TwoClassTasks(rows, np.where(own, 1.0, -1.0), ends)


@dataclass(frozen=True, eq=False)
class DualModel:
    """Support vectors sorted by class, and their coefficients in scikit-learn's layout.

    One against one with more than two classes has k - 1 rows of coefficients: for a support vector
    of class i the machine against class j stands in row j - 1 if j > i, else in row j. Otherwise
    each machine has a row of its own.
    """

    support: Indices
    n_support: NDArray[np.int32]
    dual_coef: Floats
    kind: NDArray[np.str_]


def build_dual_model(
    training: Training, codes: Indices, n_classes: int, one_vs_one: bool
) -> DualModel:
    """Collect the solutions of all machines."""
    tasks, programs, solutions = training.tasks, training.programs, training.solutions
    mine = np.flatnonzero(solutions.beta)
    rows, machine = tasks.rows[mine], tasks.machine[mine]
    used = np.zeros(codes.size, dtype=bool)
    used[rows] = True
    support = np.flatnonzero(used)
    # Sorting short integers is a radix sort, five times as fast.
    keys = codes[support].astype(np.int16 if n_classes < 2**15 else codes.dtype)
    support = support[np.argsort(keys, kind="stable")]
    position = np.full(codes.size, -1)
    position[support] = np.arange(support.size)
    if one_vs_one:
        first, second = pairs_of(n_classes)
        lines = np.where(codes[rows] == first[machine], second[machine] - 1, first[machine])
    else:
        lines = machine
    dual_coef = np.zeros((n_classes - 1 if one_vs_one else len(tasks), support.size))
    kind = np.zeros(dual_coef.shape, dtype=np.int8)
    beta = solutions.beta[mine]
    bound = np.where(beta > 0, programs.upper[mine], -programs.lower[mine])
    dual_coef[lines, position[rows]] = beta
    kind[lines, position[rows]] = np.where(np.abs(beta) < AT_BOUND * bound, 1, 2)
    counts = np.bincount(codes[support], minlength=n_classes).astype(np.int32)
    return DualModel(support, counts, dual_coef, KINDS.take(kind))


def combine_pairs(sums: Floats, one_vs_one: bool) -> Floats:
    """Add up the two halves of each one-against-one machine.

    Parameters
    ----------
    sums : ndarray of shape (m, n_segments, n_rows)
        Sums over the support vectors of each class with each row of ``dual_coef_``; a single
        segment where every machine has a row of its own.
    one_vs_one : bool
        Whether ``dual_coef_`` has the layout of one against one with many classes.

    Returns
    -------
    ndarray of shape (m, n_machines)
    """
    if not one_vs_one:
        return sums[:, 0, :]
    first, second = pairs_of(sums.shape[1])
    return sums[:, first, second - 1] + sums[:, second, first]


def machine_coefficients(dual_coef: Floats, n_support: Any, one_vs_one: bool) -> tuple[Floats, ...]:
    """Return the coefficients of each machine at all support vectors, from the layout above."""
    if not one_vs_one:
        return tuple(dual_coef)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    found = []
    for first, second in zip(*pairs_of(len(n_support))):
        beta = np.zeros(dual_coef.shape[1])
        for own, other in ((first, second - 1), (second, first)):
            part = slice(ends[own], ends[own + 1])
            beta[part] = dual_coef[other, part]
        found.append(beta)
    return tuple(found)


def slacks(training: Training, kept: Indices, n_samples: int) -> Any:
    """Return max(0, 1 - y f(x)) of each row: a vector, or a sparse column for each machine.

    Parameters
    ----------
    training : Training
    kept : ndarray of int
        The place of each row of the training among all.
    n_samples : int
        The number of all rows; those that took no part have none.
    """
    tasks, slack = training.tasks, training.slack
    rows = kept[tasks.rows]
    if len(tasks) == 1:
        values = np.zeros(n_samples)
        values[rows] = slack
        return values
    positive = np.flatnonzero(slack)
    ends = np.searchsorted(positive, tasks.ends)
    shape = (n_samples, len(tasks))
    return sp.csc_array((slack[positive], rows[positive], ends), shape=shape)


def class_votes(values: Floats, n_classes: int) -> tuple[Indices, Floats]:
    """Return the duels that each class wins, and the sum of its decision values in all of them.

    Parameters
    ----------
    values : ndarray of shape (m, n_pairs)
        Positive for the first class of the pair, which wins at 0 too.
    n_classes : int

    Returns
    -------
    votes : ndarray of int of shape (m, n_classes)
    sums : ndarray of shape (m, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> class_votes(np.array([[0.5, -1.0, 2.0]]), 3)
    (array([[1, 1, 1]]), array([[-0.5,  1.5, -1. ]]))
    """
    column, is_first = _duels(n_classes)
    own = values[:, column]
    won = np.where(is_first, own >= 0, own < 0)
    return won.sum(axis=2), np.where(is_first, own, -own).sum(axis=2)


@lru_cache(maxsize=64)
def _duels(n_classes: int) -> tuple[Indices, NDArray[np.bool_]]:
    """Return for each class the columns of its duels, and in which of them it is the first."""
    column = np.zeros((n_classes, n_classes), dtype=np.int64)
    first, second = pairs_of(n_classes)
    column[first, second] = column[second, first] = np.arange(first.size)
    is_first = np.arange(n_classes)[:, None] < np.arange(n_classes)
    others = ~np.eye(n_classes, dtype=bool)
    return column[others].reshape(n_classes, -1), is_first[others].reshape(n_classes, -1)
