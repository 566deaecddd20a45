"""A solver for K = ZZ' that never forms K, for many more rows than columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.problems.quadratic_program import QuadraticProgram, Vector
from mercer.solvers._features import Features
from mercer.solvers._interior_point import InteriorPoint, minimise
from mercer.solvers._limits import Callback, Limits
from mercer.solvers._newton import Hyperplane, RidgedNewton
from mercer.solvers._polish import polish
from mercer.solvers._presolve import only_point, starting_point, without_far_bounds
from mercer.solvers.solution import Solution, Status

Mask = NDArray[np.bool_]

# The smoothing shrinks by this factor from stage to stage, until few rows are undecided.
_SHRINK = 0.25
_MOST_STAGES = 12
_MOST_STEPS_A_STAGE = 12
# The decrement of a stage that is solved well enough, relative to that of its first step.
_STAGE_ACCURACY = 1e-2
_MOST_NEWTON_STEPS = 60
_MOST_ROUNDS = 6


def solve_linear(
    problem: QuadraticProgram,
    features: Any,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    time_limit: float | None = None,
    warm_start: Any = None,
    callback: Callback | None = None,
) -> Solution:
    r"""Solve a quadratic program whose matrix is K = ZZ', in O(n d²) a step."""
    limits = Limits(max_iter, time_limit, callback)
    given = Features.checked(features, problem.n)
    start = starting_point(problem, warm_start)
    if given.far_from_centre():
        return _solve_centred(problem, given, start, tol, limits)
    return _solve(problem, given, start, tol, limits)


def _solve_centred(
    problem: QuadraticProgram, given: Features, start: Vector | None, tol: float, limits: Limits
) -> Solution:
    """Solve with centred features, which is the same problem but for p and the offset.

    With z = c + m the gradient is CC'b + (C m) delta + p + rb + (C'b + m delta).m, the last term
    the same in every row.
    """
    mean = given.mean()
    centred = Features(given.values - mean)
    shifted = replace(problem, p=problem.p + problem.delta * centred.times(mean))
    found = _solve(shifted, centred, start, tol, limits)
    constant = float(mean @ (centred.transposed_times(found.beta) + problem.delta * mean))
    gradient = found.gradient + constant
    return replace(
        found,
        gradient=gradient,
        objective=problem.objective(found.beta, gradient),
        offset=found.offset - constant,
    )


def _solve(
    problem: QuadraticProgram, features: Features, start: Vector | None, tol: float, limits: Limits
) -> Solution:
    corner = only_point(problem)
    if corner is not None:
        return _Search(problem, features, tol, limits).judge(corner)
    relaxed = without_far_bounds(problem, features.size())
    if relaxed is not None:
        found = _Search(relaxed, features, tol, limits).run(start)
        if found.converged and problem.contains(found.beta):
            return found
    return _Search(problem, features, tol, limits).run(start)


@dataclass
class _Search:
    """The search for the solution of one problem."""

    problem: QuadraticProgram
    features: Features
    tol: float
    limits: Limits

    def judge(self, beta: Vector, status: Status = "stalled") -> Solution:
        """Return a feasible point as a solution, with its gradient computed afresh."""
        gradient = self.features.times(self.features.transposed_times(beta))
        gradient += self.problem.ridge * beta
        gradient += self.problem.p
        return Solution.at(
            self.problem, beta, gradient, tol=self.tol, n_iter=self.limits.n_iter, status=status
        )

    def run(self, start: Vector | None) -> Solution:
        """Search from a feasible point, or from nothing."""
        found = self._search(start)
        if found.converged or found.status == "unbounded" or self.limits.reason:
            return found
        return polish(
            self.problem, found, self._block, self.judge, 3 * (self.features.d + 1) + 50
        )

    def _block(self, rows: NDArray[np.intp]) -> Vector:
        values = self.features.take(rows).values
        product = values @ values.T
        return product.toarray() if self.features.sparse else product

    def _search(self, start: Vector | None) -> Solution:
        if start is None:
            plane, width = self._flat_start()
        else:
            given = self.judge(start)
            if given.converged:
                return given
            plane = Hyperplane(
                self.features.transposed_times(start), given.offset, given.gradient
            )
            plane.values = self.features.times(plane.w)
            width = given.gap
        if (self.problem.ridge > 0).all():
            found = self._newton(plane)
            if found is not None:
                return found
        beta, width = self._smooth(plane, width)
        if self.limits.reason:
            return self.judge(self.problem.repair(beta), self.limits.reason)
        return self._sift(plane, width)

    def _flat_start(self) -> tuple[Hyperplane, float]:
        """Return w = 0 with the best offset, and a smoothing that leaves every row free there."""
        p = self.problem.p
        b = -0.5 * float(p.min() + p.max())
        width = 2.2 * float(np.abs(p + b).max())
        if width <= 1e-6 * abs(b):
            values = self.features.times(self.features.mean())
            width = float(np.ptp(values)) or 1.0
        return Hyperplane(np.zeros(self.features.d), b, np.zeros(self.features.n)), width

    def _newton(self, plane: Hyperplane) -> Solution | None:
        """Newton's method to the end, where every row has a ridge; None if it does not get there."""
        newton = RidgedNewton(self.problem, self.features)
        for _ in range(_MOST_NEWTON_STEPS):
            view = newton.view(plane)
            error = float(np.abs(self.features.sample @ view.residual[:-1]).max(initial=0.0))
            if self.limits.stop(error):
                return self.judge(self.problem.repair(view.beta), self.limits.reason or "stalled")
            if error <= 0.5 * self.tol:
                found = self.judge(self.problem.repair(view.beta))
                if found.converged:
                    return found
            try:
                newton.step(plane, view)
            except np.linalg.LinAlgError:
                break
            self.limits.n_iter += 1
        return None

    def _smooth(self, plane: Hyperplane, width: float) -> tuple[Vector, float]:
        """Move the hyperplane close to the optimum by Newton's method on smoothed problems."""
        problem, features = self.problem, self.features
        room = problem.upper - problem.lower
        endless = np.isinf(room)
        centre = np.clip(0.0, problem.lower, problem.upper)
        np.add(problem.lower, 0.5 * room, out=centre, where=~endless)
        size, first_width = features.size(), width
        few = 10 * (features.d + 1) + 200
        for _ in range(_MOST_STAGES):
            ridge = np.where(
                endless, size * (width / first_width) ** 2, width / np.where(room > 0, room, 1.0)
            )
            newton = RidgedNewton(problem, features, ridge, centre)
            self._solve_stage(newton, plane, width)
            level = plane.values + plane.b
            if self.limits.reason or np.count_nonzero(np.abs(level + problem.p) <= width) <= few:
                break
            width *= _SHRINK
        return newton.variables(level), width

    def _solve_stage(self, newton: RidgedNewton, plane: Hyperplane, width: float) -> None:
        first = 0.0
        for _ in range(_MOST_STEPS_A_STAGE):
            decrease, whole = newton.step(plane, newton.view(plane))
            self.limits.n_iter += 1
            first = max(first, decrease)
            if self.limits.stop(width) or (whole and decrease <= _STAGE_ACCURACY * first):
                break

    def _sift(self, plane: Hyperplane, width: float) -> Solution:
        """Solve for the rows near the margin, the others on the bounds their side names.

        Rows that turn out to be on the wrong bound join, until none is left.
        """
        problem = self.problem
        level = plane.values + plane.b + problem.p
        beta = np.where(level > 0, problem.lower, problem.upper)
        undecided = self._undecided(level, beta, 2.0 * width)
        for _ in range(_MOST_ROUNDS):
            rows = np.flatnonzero(undecided)
            beta[rows], status = self._solve_rows(rows, beta, plane, np.abs(level[rows]))
            found = self.judge(problem.repair(beta), status)
            if found.converged or status in ("unbounded",) or self.limits.reason:
                break
            beta = found.beta
            level = found.gradient + found.offset
            wrong = (level < -0.25 * self.tol) & (beta < problem.upper)
            wrong |= (level > 0.25 * self.tol) & (beta > problem.lower)
            if not (wrong & ~undecided).any():
                break
            undecided |= wrong
            plane = Hyperplane(
                self.features.transposed_times(beta), found.offset, plane.values
            )
        return found

    def _undecided(self, level: Vector, beta: Vector, width: float) -> Mask:
        """Return the rows to solve for: near the margin, endless, or needed to meet the sum."""
        problem = self.problem
        movable = problem.lower < problem.upper
        while True:
            undecided = movable & ((np.abs(level) <= width) | np.isinf(beta))
            rest = problem.delta - beta[~undecided].sum()
            least, most = problem.lower[undecided].sum(), problem.upper[undecided].sum()
            if least < rest < most or undecided.sum() == movable.sum():
                return undecided
            width = 2.0 * width or 1.0

    def _solve_rows(
        self, rows: NDArray[np.intp], beta: Vector, plane: Hyperplane, distance: Vector
    ) -> tuple[Vector, Status]:
        """Solve for some rows by the interior-point method, with the others fixed."""
        problem, part = self.problem, self.features.take(rows)
        fixed = beta.copy()
        fixed[rows] = 0.0
        w_fixed = self.features.transposed_times(fixed)
        restricted = replace(
            problem.subset(rows, problem.delta - fixed.sum()),
            p=problem.p[rows] + part.times(w_fixed),
        )
        room = restricted.upper - restricted.lower
        natural = float(np.ptp(problem.p)) / (self.features.size() or 1.0) or 1.0
        room = np.where(np.isinf(room), natural, room)
        mu = 0.1 * float(np.mean(np.maximum(distance, self.tol) * room))
        start = Hyperplane.at(part, plane.w - w_fixed, plane.b)
        return minimise(InteriorPoint(restricted, part, start, mu), 0.5 * self.tol, self.limits)
