"""Decision values of rows left out, from a fitted machine at a fraction of the cost of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.gram.base import Precision
from mercer.machines.training import Training
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers import Options, Solution, StartingPoint, solve_all

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

FOLD_TOL = 30.0
"""Gap of the machines without a fold, as a multiple of ``tol``: what their decision values are off
by then is far less than what the choice of the folds makes of them."""


NEAR = 0.5
"""Rows that are no support vectors and whose decision value is further beyond the margin than this
are left out of the machines without a fold, unless such rows turn out to come inside. Multipliers
above a half move decision values more, though less than in proportion, and beyond ``LARGE``
halves too much for any row to be far."""

LARGE = 10.0

FEW_INSIDE = 100
"""One far row in so many may come inside: what it would change is as little as the gap allows."""

FEW_ROWS = 1000
MOST_ROWS = 7000
"""Between these numbers of rows the kernel matrix of the rows that matter is computed once for all
folds; fewer rows are solved as they are, and more would take too much memory."""


def out_of_fold_values(
    training: Training,
    fold: Rows,
    options: Options,
    repriced: Callable[[int], Vector] | None = None,
) -> Vector:
    """Return f(x) of each machine for each row, by the machine trained without the row's fold.

    A fold is left out by closing the bounds of its rows to zero, so that all folds use one kernel
    matrix, the solver's gradient holds the decision values of the rows left out, and each start is
    the full solution, of which only the rows left out and a few others move. Rows far beyond the
    margin take no part; those among them that are left out bear witness whether that was right. A
    fold without support vectors changes nothing and is not solved at all.

    Parameters
    ----------
    training : Training
    fold : ndarray of int, one for each row of the training
        Negative for rows that are never left out.
    options : Options
        Those of the full machines.
    repriced : callable or None, default=None
        Gives for a fold the factor by which slack of each row costs more without it; None means 1.

    Returns
    -------
    ndarray of shape (n, n_machines)
        NaN for rows that take no part in a machine, or are never left out. Where the remaining rows
        are all of one class, the value is the sign of that class.
    """
    values = np.full((fold.size, len(training.tasks)), np.nan)
    options = replace(options, tol=FOLD_TOL * options.tol)
    machines = zip(training.tasks, training.programs, training.solutions)
    for machine, (task, problem, solution) in enumerate(machines):
        own = fold[task.rows]
        full = _FullMachine(training.part(task), problem, solution, options.tol)
        pending: list[_Retraining] = []
        for number in np.unique(own[own >= 0]):
            left_out = np.flatnonzero(own == number)
            signs = np.unique(task.signs[own != number])
            if signs.size < 2:
                values[task.rows[left_out], machine] = signs.sum()
            elif repriced is not None:
                pending.append(_Retraining(full, left_out, repriced(number)[task.rows]))
            elif solution.beta[left_out].any():
                pending.append(_Retraining(full, left_out, np.ones(own.size)))
            else:
                values[task.rows[left_out], machine] = full.decision[left_out]
        while pending:
            for retraining, found in zip(pending, _solve(pending, options)):
                rows = task.rows[retraining.left_out]
                values[rows, machine] = retraining.decide(found)
            pending = [retraining for retraining in pending if not retraining.witnessed]
            if pending:
                full.take_more()
    return values


def balanced_anew(codes: Rows, weights: Vector, fold: Rows) -> Callable[[int], Vector]:
    """Return what ``class_weight="balanced"`` makes of each row without a fold, beside with all.

    Without it, small machines whose multipliers are all at their bounds would have more of one
    class than of the other, and an offset that speaks of nothing else.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Classes, all of which occur.
    weights : ndarray of shape (n,)
    fold : ndarray of int of shape (n,)

    Returns
    -------
    callable
        For `out_of_fold_values`.

    Examples
    --------
    >>> import numpy as np
    >>> codes, fold = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    >>> balanced_anew(codes, np.ones(4), fold)(0)  # two and one are left of three and one
    array([1.125, 1.125, 1.125, 0.75 ])
    """
    whole = _balance(codes, weights)

    def factors(number: int) -> Vector:
        rest = fold != number
        return (_balance(codes[rest], weights[rest], whole.size) / whole)[codes]

    return factors


def _balance(codes: Rows, weights: Vector, n_classes: int = 0) -> Vector:
    """Return the balanced factor of each class, 1 for those that do not occur."""
    counts = np.bincount(codes, weights, minlength=n_classes)
    there = counts > 0
    factors = np.ones(counts.size)
    factors[there] = counts.sum() / (np.count_nonzero(there) * counts[there])
    return factors


def _solve(retrainings: Sequence[_Retraining], options: Options) -> Sequence[Solution]:
    """Train one machine without each of some folds."""
    full = retrainings[0].full
    programs = Programs.of([retraining.program() for retraining in retrainings])
    starts = [retraining.start() for retraining in retrainings]
    joined = StartingPoint(
        np.concatenate([start.beta for start in starts]),
        np.concatenate([start.image for start in starts]),
        np.concatenate([start.start for start in starts]),
    )
    rows = np.tile(np.arange(full.near.size), len(retrainings))
    return list(solve_all(programs, full.held, options, rows=rows, warm_start=joined))


class _FullMachine:
    """A machine fitted to all rows, and the kernel matrix of those that matter."""

    def __init__(
        self, gram: Gram, problem: QuadraticProgram, solution: Solution, tol: float
    ) -> None:
        self.gram, self.problem, self.beta = gram, problem, solution.beta
        self.precision: Precision = "single" if gram.allows_single(tol) else "double"
        self.image = StartingPoint.of(problem, solution).image
        self.decision = self.image + solution.offset
        self.level = solution.gradient + solution.offset
        size = np.abs(solution.beta)
        free = size[(size > 0) & (solution.beta > problem.lower) & (solution.beta < problem.upper)]
        typical = 2.0 * float(np.median(free)) if free.size else 0.0
        self.reach = NEAR * max(1.0, typical) ** 0.3 if typical <= LARGE else np.inf
        self.take_near()

    def take_near(self) -> None:
        """Let the rows within reach take part in the machines without a fold."""
        n = self.problem.n
        near = np.flatnonzero((self.beta != 0) | (np.abs(self.level) <= self.reach))
        self.near, self.held = np.arange(n), self.gram
        if FEW_ROWS <= n and near.size <= MOST_ROWS:
            self.near, self.held = near, self.gram.stored(near, self.precision)

    def take_more(self) -> None:
        """Let rows further away take part too."""
        self.reach *= 2.0
        self.take_near()


@dataclass(eq=False)
class _Retraining:
    """One machine without the rows of one fold."""

    full: _FullMachine
    left_out: Rows
    factors: Vector
    witnessed: bool = True
    found: Vector | None = None

    def program(self) -> QuadraticProgram:
        """Return the problem without the fold."""
        full = self.full
        self.near = full.near
        self.closed = self._is_left_out()[self.near]
        problem, factors = full.problem.subset(self.near), self.factors[self.near]
        self.problem = replace(
            problem,
            lower=np.where(self.closed, 0.0, factors * problem.lower),
            upper=np.where(self.closed, 0.0, factors * problem.upper),
            ridge=problem.ridge / factors,
        )
        return self.problem

    def _is_left_out(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.full.problem.n, dtype=bool)
        mask[self.left_out] = True
        return mask

    def start(self) -> StartingPoint:
        """Return where to begin: near the full solution."""
        beta = self.full.beta[self.near]
        if self.found is None:
            moved = few_moves(self.problem, np.where(self.closed, 0.0, beta))
        else:
            moved = self.found[self.near]
        return StartingPoint(beta, self.full.image[self.near], moved)

    def decide(self, solution: Solution) -> Vector:
        """Return the decision values of the rows left out; see whether the far ones stay far."""
        full = self.full
        decision = np.empty_like(full.decision)
        decision[self.near] = StartingPoint.of(self.problem, solution).image + solution.offset
        is_far = self._is_left_out()
        is_far[self.near] = False
        far = np.flatnonzero(is_far)
        if far.size:
            self.found = np.zeros_like(full.beta)
            self.found[self.near] = solution.beta
            change = full.gram.times(self.found - full.beta, far, full.precision)
            decision[far] = full.image[far] + change + solution.offset
            level = full.level[far] + decision[far] - full.decision[far]
            inside = np.count_nonzero(level * np.sign(full.level[far]) <= 0.0)
            self.witnessed = bool(inside <= far.size // FEW_INSIDE)
        else:
            self.witnessed = True
        return decision[self.left_out]


def few_moves(problem: QuadraticProgram, beta: Vector) -> Vector:
    """Bring the sum of the variables to what it must be by moving as few of them as possible.

    Rows between their bounds go first, those with most room before the others: there the loss is
    flat, so that they may move either way.
    """
    missing = problem.delta - beta.sum()
    limit = problem.upper if missing > 0 else problem.lower
    room = np.minimum(np.abs(limit - beta), np.abs(beta).max(initial=0.0))
    free = (beta > problem.lower) & (beta < problem.upper)
    moved = beta.copy()
    for rows in (np.flatnonzero(free), np.flatnonzero(~free)):
        order = rows[np.argsort(-room[rows])]
        reached = np.cumsum(room[order])
        part = np.clip(abs(missing) - reached + room[order], 0.0, room[order])
        moved[order] += np.sign(missing) * part
        missing -= np.sign(missing) * part.sum()
        if not abs(missing) > 0.0:
            break
    return problem.repair(moved)
