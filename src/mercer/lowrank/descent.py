r"""The machine of one class or target on few features, from answers to its requests.

Each search is a generator: it yields a request, whoever drives it sends the answer back. So it
knows neither where the rows are nor how many others are searched for at the same time.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import make_gram
from mercer.kernels import Linear
from mercer.lowrank.statistics import LENGTHS, Check, Checked, Gather, Look, Near, Request, Seen
from mercer.problems import QuadraticProgram
from mercer.solvers import solve
from mercer.solvers.linear import solve_linear

Floats = NDArray[np.float64]
Search = Generator[Request, Any, Any]

SHRINK = 0.4
"""The rounding of the hinge shrinks by this factor from step to step."""

ENOUGH = 0.1
"""Share of the decrease that the slope promises with which a whole step is taken."""

ROUGH = 0.01
"""A sample is solved until a step promises less than this share of the objective."""

SETTLED = 1e-6
"""The same of all rows, before those near the margin are solved for exactly."""

SMALLEST = 1e-15
"""The same where losses are squared, which Newton's method solves for exactly."""

MOST_STEPS = 100
MOST_ROUNDS = 20

RIDGES = (0.0, 1e-14, 1e-11, 1e-8, 1e-5)
"""Relative to the diagonal of the second derivatives: what makes up for their rounding."""

MOST_IN_PAIRS = 10_000
"""Kinks up to which a program is solved by SMO that rounding has kept from its optimum."""

WIDER = 1.5
"""The rows solved for exactly reach so many times as far as the rounding did."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is searched for.

    Parameters
    ----------
    machine : int
        Its number.
    basis : ndarray of shape (m, rank) or None
        From the rows' columns to features; None where they are features already.
    size : int
        Number of features.
    squared : bool
    tol : float
        Largest violation of the optimality conditions.
    price : float
        Sum of the prices of all rows.
    longest : float
        Largest norm of a row's features.
    few : int
        So many kinks are solved for exactly.
    is_sample : bool
        Whether the rows are a sample of others, so that a rough answer will do.
    """

    machine: int
    basis: Floats | None
    size: int
    squared: bool
    tol: float
    price: float
    longest: float
    few: int
    is_sample: bool = False

    def plane(self, w: Floats) -> Floats:
        """Return a hyperplane in the terms of the rows' columns."""
        return w if self.basis is None else np.append(self.basis @ w[:-1], w[-1])

    def image(self, sums: Floats) -> Floats:
        """Return sums over rows in the terms of features."""
        return sums if self.basis is None else np.append(self.basis.T @ sums[:-1], sums[-1])

    def curvature(self, sums: Floats) -> Floats:
        """Return second derivatives in the terms of features, from their lower triangle."""
        whole = sums + np.tril(sums, -1).T
        if self.basis is None:
            return whole
        found = np.empty((self.size + 1, self.size + 1))
        found[:-1, :-1] = self.basis.T @ (whole[:-1, :-1] @ self.basis)
        found[-1, :-1] = found[:-1, -1] = self.basis.T @ whole[:-1, -1]
        found[-1, -1] = whole[-1, -1]
        return found


@dataclass(eq=False)
class Found:
    """A machine on few features.

    Parameters
    ----------
    w : ndarray of shape (rank + 1,)
        Weights and offset.
    width : float
        The last rounding of the hinge.
    gap : float
        Largest violation of the optimality conditions.
    objective : float
        Of the dual program, which is minimised.
    loss : float
        Half the squared norm of w and the losses.
    n_steps : int
    converged : bool
    """

    w: Floats
    width: float
    gap: float = np.inf
    objective: float = np.nan
    loss: float = np.inf
    n_steps: int = 0
    converged: bool = False


@dataclass
class Limits:
    """Steps that are left, and whether time is."""

    most: int = -1
    is_late: Any = field(default=lambda: False)

    def reached(self, n_steps: int) -> bool:
        """Tell whether it is time to stop."""
        return 0 <= self.most <= n_steps or self.is_late()


def search(task: Task, start: Found, limits: Limits) -> Search:
    """Search for a machine, and return it as `Found`."""
    found = yield from descend(task, start, limits)
    if task.is_sample or limits.reached(found.n_steps):
        return found
    if task.squared:
        return (yield from judge(task, found))
    return (yield from settle(task, found, limits))


def descend(task: Task, start: Found, limits: Limits) -> Search:
    """Follow Newton's method with ever less rounding, until few kinks are rounded."""
    w, width, n_steps = start.w, start.width, start.n_steps
    seen: Seen = yield _look(task, w, np.zeros_like(w), width, width)
    value = _objectives(w, np.zeros_like(w), seen)[-1]
    for _ in range(MOST_STEPS):
        slope = task.image(seen.gradient)
        slope[:-1] += w[:-1]
        move = _newton_move(task, seen, slope, width)
        promised = -float(slope @ move)
        if _is_there(task, slope, promised / value) or limits.reached(n_steps):
            break
        n_steps += 1
        is_narrow = task.squared or width <= 0.5 * task.tol or seen.near <= task.few
        narrower = width if is_narrow else max(SHRINK * width, 0.5 * task.tol)
        ahead: Seen = yield _look(task, w, move, width, narrower)
        values = _objectives(w, move, ahead)
        if values[0] <= values[-1] - ENOUGH * promised:
            w, seen = w + move, ahead
            if is_narrow and not task.squared and ahead.reach <= width:
                break
            width = narrower
        else:
            length = LENGTHS[values.argmin()]
            if length == 0.0:  # rounding decides
                break
            w = w + length * move
            seen = yield _look(task, w, np.zeros_like(w), width, width)
        value = values.min()
    return Found(w, width, n_steps=n_steps)


def _look(task: Task, w: Floats, move: Floats, width: float, narrower: float) -> Look:
    return Look(
        task.machine, task.plane(w), task.plane(move), width, narrower, squared=task.squared
    )


def _objectives(w: Floats, move: Floats, seen: Seen) -> Floats:
    """Return half the squared norm and the losses along a move."""
    w, move = w[:-1], move[:-1]
    squares = w @ w + 2.0 * LENGTHS * (w @ move) + LENGTHS**2 * (move @ move)
    return np.asarray(0.5 * squares + seen.losses)


def _newton_move(task: Task, seen: Seen, slope: Floats, width: float) -> Floats:
    matrix = task.curvature(seen.curvature)
    matrix[np.diag_indices(task.size)] += 1.0
    # Without any kink nearby the losses are straight in the offset: bounded by those of all rows.
    steepest = task.price * (1.0 if task.squared else 0.5 / width)
    matrix[-1, -1] = max(matrix[-1, -1] * (1.0 + 1e-12), 1e-12 * steepest)
    if seen.near == 0:
        matrix[-1, -1] = steepest
    scale = 1.0 / np.sqrt(np.diag(matrix))
    matrix *= scale[:, None] * scale
    for ridge in RIDGES:  # the first will do, but at prices beyond the digits of a number
        matrix[np.diag_indices(slope.size)] = 1.0 + ridge
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True)
        except np.linalg.LinAlgError:
            continue
        break
    return np.asarray(-scale * scipy.linalg.cho_solve(factor, scale * slope))


def _is_there(task: Task, slope: Floats, promised: float) -> bool:
    """Tell whether no further step is needed, from the slope and the share that a step promises."""
    if task.is_sample and promised <= ROUGH:
        return True
    error = task.longest * float(np.linalg.norm(slope[:-1]))
    exact = task.squared and error <= 0.1 * task.tol and abs(slope[-1]) <= 1e-9 * task.price
    return exact or promised <= (SMALLEST if task.squared else SETTLED)


def judge(task: Task, found: Found) -> Search:
    """Return a machine of squared losses with the gap of the variables that its slopes are."""
    w = found.w
    seen: Seen = yield _look(task, w, np.zeros_like(w), found.width, found.width)
    image = -task.image(seen.gradient)
    beside = np.append(image[:-1], w[-1])
    checked: Checked = yield Check(
        task.machine, task.plane(w), 0.0, task.plane(beside), squared=True
    )
    found.w, found.gap = _between(beside, checked.up, checked.down)
    norm = 0.5 * float(beside[:-1] @ beside[:-1])
    found.loss, found.objective = norm + checked.loss, norm + checked.dual
    found.converged = found.gap <= task.tol
    return found


def _between(w: Floats, up: float, down: float) -> tuple[Floats, float]:
    """Move the offset so that it contradicts both sides alike, and return by how much they do."""
    return np.append(w[:-1], w[-1] + 0.5 * (up - down)), up + down


# ---- the kinks near the hyperplane, exactly -----------------------------------------------------


def settle(task: Task, found: Found, limits: Limits) -> Search:
    """Solve for the kinks nearby as they are, the others on the side where they are.

    The losses of the others go on as straight lines, which is never above the loss: if none of
    them turns out to be on the other side, this is the optimum, and else they join.
    """
    anchor, reach, steps = found.w, WIDER * found.width, found.n_steps
    best, least = found, np.inf
    for _ in range(MOST_ROUNDS):
        near: Near = yield Gather(task.machine, task.plane(anchor), reach)
        solved = _solve_near(task, near, anchor, found.width)
        if solved is None:
            reach *= 2.0
            continue
        w, half_gap, objective = solved
        checked: Checked = yield Check(
            task.machine, task.plane(anchor), reach, task.plane(w), squared=False
        )
        steps += 1
        loss = 0.5 * float(w[:-1] @ w[:-1]) + checked.loss
        balanced, gap = _between(w, max(checked.up, half_gap), max(checked.down, half_gap))
        if gap < best.gap:
            best = Found(balanced, found.width, gap, objective, loss, steps, gap <= task.tol)
        if best.converged or limits.reached(steps) or near.n_fixed == 0:
            break
        if loss < least:
            anchor, reach = w, WIDER * max(checked.up, checked.down, task.tol)
        else:  # too many at once were on the wrong side
            reach *= 2.0
        least = min(least, loss)
    best.n_steps = steps
    return best


def _solve_near(
    task: Task, near: Near, anchor: Floats, width: float
) -> tuple[Floats, float, float] | None:
    """Return hyperplane, half the gap and objective; None where no variables sum to zero."""
    kinks, rows = near.kinks(), near.rows()
    Z = rows if task.basis is None else rows @ task.basis
    fixed = task.image(near.image)
    lower = np.where(kinks.side > 0, 0.0, -kinks.price)
    upper = np.where(kinks.side > 0, kinks.price, 0.0)
    if not lower.sum() < -fixed[-1] < upper.sum():
        return None
    p = Z @ fixed[:-1] - kinks.place
    u = kinks.side * (kinks.place - Z @ anchor[:-1] - anchor[-1])
    start = kinks.side * kinks.price * np.clip((u + width) / (2.0 * width), 0.0, 1.0)
    problem = QuadraticProgram(p, lower, upper, delta=-fixed[-1], ridge=np.zeros(p.size))
    solution = solve_linear(problem, Z, tol=0.5 * task.tol, warm_start=start)
    if not solution.converged and p.size <= MOST_IN_PAIRS:  # prices of many orders of magnitude
        gram = make_gram(Linear(), Z)
        other = solve(problem, gram, tol=0.5 * task.tol, solver="smo", warm_start=start)
        solution = other if other.gap < solution.gap else solution
    w = np.append(fixed[:-1] + Z.T @ solution.beta, solution.offset)
    objective = solution.objective + 0.5 * float(fixed[:-1] @ fixed[:-1]) - near.linear
    return w, 0.5 * solution.gap, objective
