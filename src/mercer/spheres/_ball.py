"""One ball: from a program to its solution, and from that to centre and radius."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

VARIANCE_ROWS = 128
"""Rows from which the spread of the data in feature space is estimated."""

EQUAL = 1e-13
"""Share of the largest k(x, x) below which a squared distance is a rounding error."""

DUST = 1e-14
"""Multipliers below this share of the largest are rounding errors."""


@dataclass(frozen=True, eq=False)
class Ball:
    r"""A ball in feature space around the centre :math:`a = \sum_i \beta_i \phi_i`.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        Coefficients of the centre, one for each training row; their sum is 1.
    at_bound : ndarray of bool of shape (n,)
        Whether each has reached the bound that its penalty sets.
    squared_norm : float
        :math:`\lVert a \rVert^2`.
    squared_radius : float
        May be negative where slack costs less than the smallest ball.
    squared_distances : ndarray of shape (n,)
        Of the training rows to the centre.
    value : float
        :math:`R^2` plus the price of slack, as the dual program gives it.
    """

    beta: Floats
    at_bound: Mask
    squared_norm: float
    squared_radius: float
    squared_distances: Floats
    value: float


def price_of(nu: float, total_weight: float) -> float:
    """Return the price of slack C = 1/(nu n); without any slack, or next to none, it is endless."""
    allowed = nu * total_weight
    return 1.0 / allowed if allowed > 1e-12 else np.inf


def in_units(problem: QuadraticProgram, unit: float) -> QuadraticProgram:
    """Return the program for variables that are ``unit`` times as large.

    With multipliers in units of their bound a gap means the same for any number of rows.
    """
    if unit == 1.0:
        return problem
    return QuadraticProgram.known(
        unit * problem.p,
        unit * problem.lower,
        unit * problem.upper,
        unit * problem.delta,
        problem.ridge,
    )


def ball_of(problem: QuadraticProgram, solution: Solution, unit: float = 1.0) -> Ball:
    r"""Return the ball that a solution of the program in units describes.

    :math:`R^2 = \lVert a \rVert^2 + 2b` with the offset b that belongs to the mean over all rows
    between their bounds, or to the middle of the interval that the conditions allow. Rows within
    the solver's tolerance of the surface are not counted out: :math:`R^2` is at least the distance
    of every row whose multiplier allows no slack. So the share of rows outside never exceeds nu.
    """
    beta = without_dust(solution.beta) / unit
    image = problem.image(solution.beta, solution.gradient) / unit
    squared_norm = float(np.einsum("i,i->", beta, image))  # no threads of a BLAS for so little
    squared_distances = squared_norm - 2.0 * (image + problem.p / unit)
    squared_radius = squared_norm + 2.0 * solution.offset / unit
    at_bound = _at_bound(problem, solution.beta)
    is_target = (problem.lower >= 0) & (problem.upper > 0)
    inside = ~at_bound & is_target & ((problem.ridge == 0) | (beta == 0))
    squared_radius = max(squared_radius, float(squared_distances[inside].max(initial=-np.inf)))
    value = -2.0 * solution.objective / unit**2
    return Ball(beta, at_bound, squared_norm, squared_radius, squared_distances, value)


def without_dust(beta: Floats) -> Floats:
    """Return the variables, with zero for those that are only rounding errors of zero."""
    return np.where(np.abs(beta) > DUST * np.abs(beta).max(), beta, 0.0)


def _at_bound(problem: QuadraticProgram, beta: Floats) -> Mask:
    """Tell which multipliers have reached the bound away from zero."""
    bound = np.where(problem.lower < 0, problem.lower, problem.upper)
    return (beta == bound) & (bound != 0)


def level_offset(problem: QuadraticProgram, solution: Solution) -> float:
    """Return the offset that leaves no row outside whose multiplier is below its bound."""
    level = -solution.gradient[solution.beta < problem.upper]
    return max(solution.offset, float(level.max(initial=-np.inf)))


def feature_variance(gram: Gram, weights: Floats) -> float:
    r"""Return the variance of the rows in feature space, :math:`\sum w_i K_{ii} - w^\top K w`.

    It is the unit in which the tolerance of a ball is measured: no ball around all rows has a
    smaller squared radius. Large data are judged by some of their rows; where these are all equal,
    by those that are not, of which there are few. Rows that are all equal have the variance 1, so
    that it can be divided by.
    """
    rows = _some(np.arange(gram.n))
    found = _variance(gram.block(rows, rows), weights[rows])
    if found or rows.size == gram.n:
        return found or 1.0
    diagonal, first = gram.diag(), rows[:1]
    distances = diagonal + diagonal[first] - 2.0 * gram.block(first, np.arange(gram.n))[0]
    differs = distances > EQUAL * np.abs(diagonal).max()
    if not differs.any():
        return 1.0
    rows = _some(np.flatnonzero(differs))
    share = weights[differs].sum() / weights[rows].sum()
    shares = np.append(share * weights[rows], weights[~differs].sum())
    rows = np.append(rows, first)
    return _variance(gram.block(rows, rows), shares) or 1.0


def _some(rows: Rows) -> Rows:
    """Return some of the rows, from the first to the last."""
    at = np.linspace(0, rows.size - 1, min(rows.size, VARIANCE_ROWS)).astype(np.int64)
    return rows[at]


def _variance(block: Floats, weights: Floats) -> float:
    """Return the variance of rows with these kernel values, 0 where it is rounding only."""
    share, diagonal = weights / weights.sum(), np.diagonal(block)
    variance = float(share @ diagonal - share @ block @ share)
    return variance if variance > EQUAL * float(np.abs(diagonal).max()) else 0.0
