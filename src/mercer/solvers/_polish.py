"""The last digits, once a solver has come close to the optimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.problems.quadratic_program import QuadraticProgram, Vector
from mercer.solvers.solution import Solution

_MOST_ROUNDS = 5
_MOST_PAIRS = 2000

# Added to curvatures, so that a variable whose kernel row is zero can be divided by its own.
_NO_CURVATURE = 1e-100


def polish(
    problem: QuadraticProgram,
    solution: Solution,
    block: Callable[[NDArray[np.intp]], Vector],
    judge: Callable[[Vector], Solution],
    most_free: int,
) -> Solution:
    r"""Improve a solution whose free rows F are right, as long as its gap falls.

    .. math::

        \begin{pmatrix} K_{FF} + R_F & 1 \\ 1^\top & 0 \end{pmatrix}
        \begin{pmatrix} d\beta_F \\ db \end{pmatrix}
        = \begin{pmatrix} -(G_F + b) \\ \Delta - \sum\beta \end{pmatrix}

    is solved in the least-squares sense, since the matrix may be singular.

    Parameters
    ----------
    problem : QuadraticProgram
    solution : Solution
    block : callable
        Returns the matrix K among given rows.
    judge : callable
        Returns a feasible point as a solution, its gradient computed afresh.
    most_free : int
        With more free rows than this, nothing is done.

    Returns
    -------
    Solution
        The given one, or one with a smaller gap.
    """
    for _ in range(_MOST_ROUNDS):
        beta = solution.beta
        free = np.flatnonzero((beta > problem.lower) & (beta < problem.upper))
        k = free.shape[0]
        if not 0 < k <= most_free or solution.gap == 0.0:
            break
        system = np.zeros((k + 1, k + 1))
        system[:k, :k] = block(free)
        system[np.arange(k), np.arange(k)] += problem.ridge[free]
        unit = float(system.diagonal().max()) or 1.0  # so that the last row weighs as much
        system[k, :k] = system[:k, k] = unit
        rhs = np.append(
            -(solution.gradient[free] + solution.offset), unit * (problem.delta - beta.sum())
        )
        trial = beta.copy()
        trial[free] += scipy.linalg.lstsq(system, rhs, check_finite=False)[0][:k]
        if not np.isfinite(trial).all():  # a system of numbers too unequal to be solved
            break
        better = judge(problem.repair(trial))
        if not better.gap < solution.gap:
            break
        solution = better
    return solution


def pair_steps(
    problem: QuadraticProgram, matrix: Vector, solution: Solution, goal: float
) -> Vector:
    """Move pairs of variables against each other, which finds bounds that are named wrongly.

    The most violating variable that may rise is paired with the one that may fall and lowers the
    objective most, as in :func:`solve_smo`. Among nearly equal rows, where an interior-point method
    cannot tell which is at its bound, a few such steps can.

    Parameters
    ----------
    problem : QuadraticProgram
    matrix : ndarray of shape (n, n)
    solution : Solution
    goal : float
        Gap at which to stop.

    Returns
    -------
    ndarray of shape (n,)
    """
    beta, level = solution.beta.copy(), -solution.gradient
    diagonal = matrix.diagonal() + problem.ridge
    for _ in range(_MOST_PAIRS):
        i = int(np.argmax(np.where(beta < problem.upper, level, -np.inf)))
        above = np.where(beta > problem.lower, level[i] - level, 0.0)
        if above.max() <= goal:
            break
        curvature = np.maximum(diagonal[i] + diagonal - 2.0 * matrix[i], 1e-15 * diagonal[i])
        curvature += _NO_CURVATURE
        np.maximum(above, 0.0, out=above)
        j = int(np.argmax(above * above / curvature))
        step = min(above[j] / curvature[j], problem.upper[i] - beta[i], beta[j] - problem.lower[j])
        beta[i] += step
        beta[j] -= step
        level -= step * (matrix[i] - matrix[j])
        level[i] -= step * problem.ridge[i]
        level[j] += step * problem.ridge[j]
    return beta
