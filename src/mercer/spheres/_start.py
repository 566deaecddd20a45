"""Where to start a large one-class problem: from the solution of a small part of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.gram import Gram
from mercer.problems import QuadraticProgram
from mercer.solvers import StartingPoint, solve

COARSE_ROWS = 1000
"""Rows of the small problem; with more the start is better, but costs more."""

WORTHWHILE = 4 * COARSE_ROWS
"""From so many rows on the small problem takes less time than it saves."""


def coarse_start(problem: QuadraticProgram, gram: Gram, tol: float) -> StartingPoint | None:
    r"""Return a starting point near the solution, or None where the cold start is as good.

    Multipliers bounded by 1/(νn) fill at least νn rows, so that any feasible point costs νn rows of
    kernel values. A thousand rows, evenly spaced, tell by their own solution which rows those
    should be: the ones furthest out. Most steps of the large problem are spared that way.

    Parameters
    ----------
    problem : QuadraticProgram
        With bounds [0, u] for all rows that take up the sum.
    gram : Gram
    tol : float
        Gap of the small problem.
    """
    room = problem.upper
    if problem.n < WORTHWHILE or not room.max() < problem.delta:
        return None
    rows = np.unique(np.linspace(0, problem.n - 1, COARSE_ROWS).astype(np.int64))
    part = room[rows].sum() / room.sum()
    if not part > 0:
        return None
    # With a share of the rows and of the sum, kernel sums shrink by that share; so must p.
    small = problem.subset(rows, delta=part * problem.delta)
    solution = solve(replace(small, p=part * small.p), gram.subset(rows), tol=tol)
    beta = np.zeros(problem.n)
    beta[rows] = solution.beta / part
    gradient = problem.p + gram.times(beta, precision="single")
    nothing = np.zeros(problem.n)
    return StartingPoint(nothing, nothing, _fill(problem, np.argsort(gradient, kind="stable")))


def _fill(problem: QuadraticProgram, order: np.ndarray) -> np.ndarray:
    """Fill the rows up to their bounds in the given order until the sum is reached."""
    room = problem.upper[order]
    used_before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
    beta = np.zeros(problem.n)
    beta[order] = np.clip(problem.delta - used_before, 0.0, room)
    return beta
