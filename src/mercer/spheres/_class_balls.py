"""One ball for each class, and how far rows are from a ball that has not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.calibration import fit_sigmoid
from mercer.gram import Gram
from mercer.problems import Programs, QuadraticProgram, svdd
from mercer.solvers import Options, Solutions, solve_all
from mercer.spheres._ball import Ball, ball_of, feature_variance, in_units, price_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LEAST_SLOPE = 1e-3
"""Probabilities fall with the dissimilarity at least so fast, so that they keep its order."""


@dataclass(frozen=True, eq=False)
class ClassTask:
    """What makes the ball of one class.

    Parameters
    ----------
    rows : ndarray of int
        The class's rows.
    weights : ndarray
        Their weights.
    problem : QuadraticProgram
        With multipliers counted in units.
    unit : float
    variance : float
        Of the class in feature space; the unit of the tolerance.
    """

    rows: Indices
    weights: Floats
    problem: QuadraticProgram
    unit: float
    variance: float

    def without(self, held_out: NDArray[np.bool_]) -> QuadraticProgram:
        """Return the program in which some rows play no part, with the same nu for the others."""
        left = self.weights[~held_out].sum() / self.weights.sum()
        upper = np.where(held_out, 0.0, self.problem.upper / left)
        return replace(self.problem, upper=upper)


def class_tasks(
    gram: Gram, codes: Indices, weights: Floats, n_classes: int, nu: float
) -> list[ClassTask]:
    """Return the task of every class."""
    tasks = []
    for code in range(n_classes):
        rows = np.flatnonzero(codes == code)
        part, own = gram.subset(rows), weights[rows]
        price = price_of(nu, own.sum())
        unit = max(1.0, 1.0 / price)
        problem = in_units(svdd(part.diag(), price * own), unit)
        tasks.append(ClassTask(rows, own, problem, unit, feature_variance(part, own)))
    return tasks


def fit_balls(
    tasks: Sequence[ClassTask], gram: Gram, options: Options, starts: Sequence[Floats] | None
) -> tuple[list[Ball], Solutions]:
    """Return the ball of every class and the solutions behind them."""
    fits = starts is not None and [len(s) for s in starts] == [task.rows.size for task in tasks]
    solutions = solve_all(
        Programs.of([task.problem for task in tasks]),
        gram,
        options,
        rows=np.concatenate([task.rows for task in tasks]),
        tol=[options.tol * task.variance for task in tasks],
        warm_start=np.concatenate([task.unit * s for task, s in zip(tasks, starts)])
        if starts is not None and fits
        else None,
    )
    balls = [ball_of(task.problem, s, task.unit) for task, s in zip(tasks, solutions)]
    return balls, solutions


def out_of_fold(
    tasks: Sequence[ClassTask],
    balls: Sequence[Ball],
    fold: Indices,
    gram: Gram,
    options: Options,
) -> tuple[Floats, Floats]:
    """Return distance and radius for every row, of its class's ball without the row's fold.

    A fold without support vectors leaves the ball as it is, so that nothing is solved. NaN stands
    where a fold holds all rows of the class, and for rows in no fold (-1).
    """
    squared_distance, squared_radius = np.full(fold.size, np.nan), np.full(fold.size, np.nan)
    left_out: list[tuple[ClassTask, NDArray[np.bool_], QuadraticProgram]] = []
    starts: list[Floats] = []
    for task, ball in zip(tasks, balls):
        for number in np.unique(fold[task.rows]):
            held = fold[task.rows] == number
            if number < 0 or held.all():
                continue
            if ball.beta[held].any() or ball.at_bound.any():
                problem = task.without(held)
                starts.append(task.unit * np.where(held, 0.0, ball.beta))
                left_out.append((task, held, problem))
            else:
                squared_distance[task.rows[held]] = ball.squared_distances[held]
                squared_radius[task.rows[held]] = ball.squared_radius
    solutions = None
    if left_out:
        solutions = solve_all(
            Programs.of([problem for _, _, problem in left_out]),
            gram,
            options,
            rows=np.concatenate([task.rows for task, _, _ in left_out]),
            tol=[options.tol * task.variance for task, _, _ in left_out],
            warm_start=np.concatenate(starts),
        )
    for (task, held, problem), solution in zip(left_out, solutions or ()):
        ball = ball_of(problem, solution, task.unit)
        squared_distance[task.rows[held]] = ball.squared_distances[held]
        squared_radius[task.rows[held]] = ball.squared_radius
    return (
        np.sqrt(np.maximum(squared_distance, 0.0)),
        np.sqrt(np.maximum(squared_radius, 0.0)),
    )


def deal_by_value(X: Any, codes: Indices, n_folds: int) -> Indices:
    """Return the number of the fold of each row; equal rows of a class share theirs.

    A row given twice and a row of weight 2 are therefore dealt alike, and the order of the rows
    does not matter. Rows are dealt in turn along a fixed direction.
    """
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    # einsum adds every row in the same order, so that equal rows get equal positions.
    along = X @ direction if sp.issparse(X) else np.einsum("ij,j->i", X, direction)
    fold = np.empty(codes.size, dtype=np.int64)
    for code in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == code)
        fold[rows] = np.unique(along[rows], return_inverse=True)[1] % n_folds
    return fold


def slope_of_leads(values: Floats, codes: Indices, weights: Floats) -> float:
    """Return the slope of Platt's sigmoid for the lead of each row's class over its nearest rival.

    Seen from the rival the lead has the other sign. With both views the sigmoid has no shift, and
    the class of least dissimilarity is always the most probable one.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        Dissimilarities.
    codes : ndarray of int of shape (n,)
        The class of each row.
    weights : ndarray of shape (n,)

    Returns
    -------
    float
        Negative.
    """
    rows = np.arange(codes.size)
    rivals = values.copy()
    rivals[rows, codes] = np.inf
    lead = rivals.min(axis=1) - values[rows, codes]
    both = np.concatenate([lead, -lead])
    sigmoid = fit_sigmoid(both, np.repeat([True, False], lead.size), np.tile(weights, 2))
    return min(sigmoid.A, -LEAST_SLOPE)
