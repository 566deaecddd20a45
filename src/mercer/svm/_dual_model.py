"""From the solutions of the machines to support vectors, coefficients and decision values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.problems import QuadraticProgram
from mercer.solvers import Solution
from mercer.svm._decomposition import TwoClassTask

Floats = NDArray[np.float64]

KINDS = np.array(["", "margin", "bound"])
"""Kinds of support vector: none, strictly between the bounds, at the upper one."""


@dataclass(frozen=True, eq=False)
class DualModel:
    """Support vectors sorted by class, and their coefficients in scikit-learn's layout.

    One against one with more than two classes has k - 1 rows of coefficients: for a support vector
    of class i the machine against class j stands in row j - 1 if j > i, else in row j. Otherwise
    each machine has a row of its own.
    """

    support: NDArray[np.int64]
    n_support: NDArray[np.int32]
    dual_coef: Floats
    kind: NDArray[np.str_]


def build_dual_model(
    tasks: Sequence[TwoClassTask],
    problems: Sequence[QuadraticProgram],
    solutions: Sequence[Solution],
    codes: NDArray[np.int64],
    n_classes: int,
    one_vs_one: bool,
) -> DualModel:
    """Collect the solutions of all machines."""
    used = np.zeros(codes.size, dtype=bool)
    own = [np.flatnonzero(solution.beta != 0) for solution in solutions]
    for task, mine in zip(tasks, own):
        used[task.rows[mine]] = True
    support = np.flatnonzero(used)
    # Sorting short integers is a radix sort, five times as fast.
    keys = codes[support].astype(np.int16 if n_classes < 2**15 else codes.dtype)
    support = support[np.argsort(keys, kind="stable")]
    position = np.full(codes.size, -1)
    position[support] = np.arange(support.size)
    n_rows = n_classes - 1 if one_vs_one else len(tasks)
    dual_coef = np.zeros((n_rows, support.size))
    kind = np.zeros(dual_coef.shape, dtype=np.int8)
    pairs = list(combinations(range(n_classes), 2))
    for m, (task, problem, solution, mine) in enumerate(zip(tasks, problems, solutions, own)):
        columns = position[task.rows[mine]]
        if one_vs_one:
            first, second = pairs[m]
            rows = np.where(codes[task.rows[mine]] == first, second - 1, first)
        else:
            rows = np.full(mine.size, m)
        beta = solution.beta[mine]
        free = (beta > problem.lower[mine]) & (beta < problem.upper[mine])
        dual_coef[rows, columns] = beta
        kind[rows, columns] = np.where(free, 1, 2)
    counts = np.bincount(codes[support], minlength=n_classes).astype(np.int32)
    return DualModel(support, counts, dual_coef, KINDS[kind])


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
    first, second = np.array(list(combinations(range(sums.shape[1]), 2))).T
    return sums[:, first, second - 1] + sums[:, second, first]


def slacks(
    tasks: Sequence[TwoClassTask],
    problems: Sequence[QuadraticProgram],
    solutions: Sequence[Solution],
    n_samples: int,
) -> Any:
    """Return max(0, 1 - y f(x)) of each training row: a vector, or a sparse column a machine."""
    columns = []
    for task, problem, solution in zip(tasks, problems, solutions):
        # G = Kb + rb + p with p = -y, so that f(x) = G - rb - p + offset.
        decision = solution.gradient - problem.ridge * solution.beta - problem.p + solution.offset
        slack = np.maximum(0.0, 1.0 - task.signs * decision)
        columns.append((task.rows, slack))
    if len(columns) == 1:
        values = np.zeros(n_samples)
        values[columns[0][0]] = columns[0][1]
        return values
    positive = [np.flatnonzero(slack) for _, slack in columns]
    data = np.concatenate([slack[where] for (_, slack), where in zip(columns, positive)])
    rows = np.concatenate([rows[where] for (rows, _), where in zip(columns, positive)])
    ends = np.concatenate([[0], np.cumsum([where.size for where in positive])])
    return sp.csc_array((data, rows, ends), shape=(n_samples, len(columns)))
