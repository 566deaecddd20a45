"""What can be said about a problem before it is solved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.problems.quadratic_program import QuadraticProgram, Vector

# Bounds this many times further away than the variables would move by themselves.
_FAR = 1e8


def only_point(problem: QuadraticProgram) -> Vector | None:
    """Return the one feasible point if there is only one, else None.

    The bounds may leave no room in any row, or the sum may force every variable to the same side
    (nu = 1 in the one-class machine, or a classifier with a single class).

    Parameters
    ----------
    problem : QuadraticProgram

    Returns
    -------
    ndarray of shape (n,) or None
    """
    for bound in (problem.lower, problem.upper):
        rounding = 1e-14 * np.abs(bound).sum()
        if np.isfinite(rounding) and abs(problem.delta - bound.sum()) <= rounding:
            return bound.copy()
    return None


def without_far_bounds(problem: QuadraticProgram, size: float) -> QuadraticProgram | None:
    """Return the problem without bounds that lie absurdly far away, or None if none do.

    With a matrix whose (centred) diagonal is of the given size, a variable of its own would move by
    the range of p over that size. Bounds many orders of magnitude further away cost the digits
    that tell the optimum; they matter only if the relaxed problem is unbounded or its solution
    violates them.

    Parameters
    ----------
    problem : QuadraticProgram
    size : float

    Returns
    -------
    QuadraticProgram or None
    """
    span = float(np.ptp(problem.p))
    far = _FAR * span / size if size > 0 and span > 0 else np.inf
    room = problem.upper - problem.lower
    distant = np.isfinite(room) & (room > far)
    if not distant.any():
        return None
    rises = np.abs(problem.upper) >= np.abs(problem.lower)
    return replace(
        problem,
        lower=np.where(distant & ~rises, -np.inf, problem.lower),
        upper=np.where(distant & rises, np.inf, problem.upper),
    )
