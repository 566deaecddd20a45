r"""Primal-dual interior-point method for the quadratic program with K = ZZ', without K.

The optimality conditions with slacks :math:`t^l = \beta - l`, :math:`t^u = u - \beta` and their
multipliers q are relaxed to :math:`t q = \mu`; Newton's method follows :math:`\mu\to 0` (Mehrotra's
predictor and corrector). With :math:`S = r + q^l/t^l + q^u/t^u` each linear system is

.. math::

    S\,d\beta + Z\,dw + 1\,db = \rho, \quad
    Z^\top(\beta + d\beta) = w + dw, \quad 1^\top(\beta + d\beta) = \Delta,

which with A = [Z, 1] and after elimination of :math:`d\beta` has size d + 1 only:

.. math::

    \left(\operatorname{diag}(1,\ldots,1,0) + A^\top S^{-1}A\right)(dw, db)
    = A^\top(\beta + S^{-1}\rho) - (w, \Delta).

References
----------
S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2
(1992). S. Fine, K. Scheinberg, "Efficient SVM training using low-rank kernel representations",
JMLR 2 (2001). M. C. Ferris, T. S. Munson, "Interior-point methods for massive support vector
machines", SIAM J. Optimization 13 (2002). A. S. El-Bakry, R. A. Tapia, Y. Zhang, "A study of
indicators for identifying zero variables in interior-point methods", SIAM Review 36 (1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.problems.quadratic_program import QuadraticProgram
from mercer.solvers._features import Features, ScaledCholesky
from mercer.solvers._limits import Limits
from mercer.solvers._newton import Hyperplane
from mercer.solvers.solution import Status

Vector = NDArray[np.float64]

_MOST_STEPS = 100
_STEP_SHARE = 0.995
# A ray that moves Z'beta by less than this, for a sum of |beta| of one, proves unboundedness.
_RAY_TOLERANCE = 1e-9


class _Side:
    """The lower or the upper bounds that exist: slacks, multipliers and their changes."""

    def __init__(self, sign: float, bound: Vector, beta: Vector, mu: float) -> None:
        finite = np.isfinite(bound)
        self.rows: slice | NDArray[np.intp] = (
            slice(None) if finite.all() else np.flatnonzero(finite)
        )
        self.sign = sign
        self.bound = bound[self.rows]
        self.slack = sign * (beta[self.rows] - self.bound)
        self.dual = mu / self.slack

    def weigh(self) -> Vector:
        self.ratio = self.dual / self.slack
        return self.ratio

    def predict(self, change: Vector) -> None:
        """Follow a change of beta towards complementarity zero."""
        self.slack_change = self.sign * change[self.rows]
        self.dual_change = -self.dual - self.ratio * self.slack_change

    def aim(self, mu: float) -> Vector:
        """Turn to complementarity mu, with the predictor's second-order term; return the pull."""
        self.pull = (mu - self.slack_change * self.dual_change) / self.slack
        return self.sign * self.pull

    def correct(self, change: Vector) -> None:
        self.slack_change = self.sign * change[self.rows]
        self.dual_change = self.pull - self.dual - self.ratio * self.slack_change

    def longest(self) -> float:
        """Return the inverse of the longest step that keeps both positive."""
        slack = float((self.slack_change / self.slack).min(initial=0.0))
        dual = float((self.dual_change / self.dual).min(initial=0.0))
        return -min(slack, dual)

    def complementarity(self, length: float = 0.0) -> float:
        if length == 0.0:
            return float(self.slack @ self.dual)
        return float(
            (self.slack + length * self.slack_change) @ (self.dual + length * self.dual_change)
        )

    def move(self, length: float) -> None:
        self.slack += length * self.slack_change
        self.dual += length * self.dual_change

    def snap(self, beta: Vector) -> None:
        """Put rows on the bound whose slack the predictor more than halves (Tapia's indicator)."""
        active = self.slack_change < -0.5 * self.slack
        if isinstance(self.rows, slice):
            np.copyto(beta, self.bound, where=active)
        else:
            beta[self.rows[active]] = self.bound[active]


class InteriorPoint:
    """State of the method on one problem; every bound must leave room.

    Parameters
    ----------
    problem : QuadraticProgram
        With lower < upper in every row, and a point strictly inside.
    features : Features
    plane : Hyperplane
        Where to start; changed in place.
    mu : float
        Complementarity to start with.
    """

    def __init__(
        self, problem: QuadraticProgram, features: Features, plane: Hyperplane, mu: float
    ) -> None:
        self.problem = problem
        self.features = features
        self.plane = plane
        self.beta = central_variables(problem, plane.values + plane.b + problem.p, mu)
        self.sides = (
            _Side(1.0, problem.lower, self.beta, mu),
            _Side(-1.0, problem.upper, self.beta, mu),
        )
        self.n_bounds = sum(side.slack.shape[0] for side in self.sides)
        self.start_mu = mu
        self.length = 1.0

    @property
    def mu(self) -> float:
        """Mean complementarity."""
        return sum(side.complementarity() for side in self.sides) / self.n_bounds

    def step(self) -> tuple[Vector, Vector]:
        """Take one step; return the point that its predictor foresaw, on its bounds, and G there."""
        problem, plane = self.problem, self.plane
        gradient = plane.values + problem.p + problem.ridge * self.beta
        self._factorise()
        mu = self.mu
        moved, move, change = self._direction(-gradient - plane.b)
        for side in self.sides:
            side.predict(moved)
        candidate = self.beta + moved
        foreseen = gradient + change + problem.ridge * moved
        for side in self.sides:
            side.snap(candidate)
        np.clip(candidate, problem.lower, problem.upper, out=candidate)

        length = min(1.0, 1.0 / max(1e-300, *(side.longest() for side in self.sides)))
        reached = sum(side.complementarity(length) for side in self.sides) / self.n_bounds
        target = mu * (reached / mu) ** 3
        pull = -gradient - plane.b
        for side in self.sides:
            pull[side.rows] += side.aim(target)
        moved, move, change = self._direction(pull)
        for side in self.sides:
            side.correct(moved)
        self._move(moved, move, change)
        return candidate, foreseen

    def _factorise(self) -> None:
        weight = self.problem.ridge.copy()
        for side in self.sides:
            weight[side.rows] += side.weigh()
        # A row without bounds and ridge has no weight of its own; give it a very small one.
        np.maximum(weight, 1e-14 * weight.max(), out=weight)
        self.inverse_weight = 1.0 / weight
        matrix = self.features.weighted_gram(self.inverse_weight)
        matrix[np.diag_indices(self.features.d)] += 1.0
        self.cholesky = ScaledCholesky(matrix)

    def _direction(self, pull: Vector) -> tuple[Vector, Vector, Vector]:
        """Solve the linear system; return the changes of beta, of (w, b) and of Zw."""
        pull = self.inverse_weight * pull
        whole = self.beta + pull
        rhs = np.append(
            self.features.transposed_times(whole) - self.plane.w, whole.sum() - self.problem.delta
        )
        move = self.cholesky.solve(rhs)
        change = self.features.times(move[:-1])
        return pull - self.inverse_weight * (change + move[-1]), move, change

    def _move(self, moved: Vector, move: Vector, change: Vector) -> None:
        longest = max(1e-300, *(side.longest() for side in self.sides))
        self.length = length = min(1.0, _STEP_SHARE / longest)
        self.beta += length * moved
        for side in self.sides:
            side.move(length)
        self.plane.w = self.plane.w + length * move[:-1]
        self.plane.b += length * float(move[-1])
        self.plane.values += length * change


def central_variables(problem: QuadraticProgram, level: Vector, mu: float) -> Vector:
    r"""Return the variables on the central path for given :math:`h = Zw + b + p`.

    Between two bounds with room c, :math:`\mu/t - \mu/(c - t) = h` is quadratic in the slack t; with
    one bound, :math:`\mu/t - r t = \pm h` is, and a slope of the wrong sign is turned into a small
    one.
    """
    lower, upper, ridge = problem.lower, problem.upper, problem.ridge
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    room = np.where(has_lower & has_upper, upper - lower, 1.0)
    steep = np.abs(level) * room
    slack = 2.0 * mu * room / (steep + 2.0 * mu + np.hypot(steep, 2.0 * mu))
    beta = np.where(level > 0, lower + slack, upper - slack)

    for rows, bound, sign in (
        (has_lower & ~has_upper, lower, 1.0),
        (has_upper & ~has_lower, upper, -1.0),
    ):
        if rows.any():
            slope = sign * (level[rows] + ridge[rows] * bound[rows])
            least = np.where(ridge[rows] > 0, -np.inf, 0.1 * np.abs(slope).mean() + 1e-300)
            slope = np.maximum(slope, least)
            root = np.sqrt(slope * slope + 4.0 * ridge[rows] * mu)
            with np.errstate(divide="ignore", invalid="ignore"):
                slack = np.where(
                    slope > 0, 2.0 * mu / (slope + root), (root - slope) / (2.0 * ridge[rows])
                )
            beta[rows] = bound[rows] + sign * slack
    beta[~has_lower & ~has_upper] = 0.0
    return beta


def minimise(
    method: InteriorPoint, tol: float, limits: Limits
) -> tuple[Vector, Status]:
    """Iterate until a point on the bounds has gap ``tol``; return the best such point met."""
    problem, features = method.problem, method.features
    best, best_gap, checks = method.beta, np.inf, 0
    ray = _Ray(problem, features)
    for _ in range(_MOST_STEPS):
        try:
            candidate, foreseen = method.step()
        except np.linalg.LinAlgError:
            break
        limits.n_iter += 1
        _, gap = problem.kkt(candidate, foreseen)
        exhausted = method.mu < 1e-17 * method.start_mu or method.length < 1e-10
        if gap <= tol or gap < 1e-3 * best_gap or exhausted:
            candidate = problem.repair(candidate)
            gap = gap_at(problem, features, candidate)
            if gap < best_gap:
                best, best_gap = candidate, gap
        if best_gap <= tol:
            return best, "converged"
        if ray.found(method.beta):
            return method.beta, "unbounded"
        if limits.stop(gap) or exhausted:
            break
    return best, limits.reason or "stalled"


def gap_at(problem: QuadraticProgram, features: Features, beta: Vector) -> float:
    """Return the gap of a feasible point, computed afresh."""
    gradient = features.times(features.transposed_times(beta)) + problem.ridge * beta + problem.p
    return problem.kkt(beta, gradient)[1]


class _Ray:
    """Looks for a direction in which the objective falls without end.

    Such a direction d has :math:`Z^\\top d = 0`, :math:`\\sum d = 0`, :math:`p^\\top d < 0`, and lies
    in the rows with an endless bound and no ridge. If the data of a hard margin are not separable,
    the growing iterates turn into one. Any separating hyperplane would need
    :math:`\\|w\\| \\ge \\sum|d| / \\|Z^\\top d\\|`, so a small quotient is a proof within rounding.
    """

    def __init__(self, problem: QuadraticProgram, features: Features) -> None:
        self.problem, self.features = problem, features
        endless = (problem.ridge == 0) & (np.isinf(problem.lower) | np.isinf(problem.upper))
        self.rows = endless
        self.bound = np.where(np.isfinite(problem.lower), problem.lower, problem.upper)
        self.bound[~np.isfinite(self.bound)] = 0.0
        rises, falls = np.isinf(problem.upper) & endless, np.isinf(problem.lower) & endless
        self.possible = bool(rises.any() and falls.any())
        self.spread = features.column_spread() if self.possible else None

    def found(self, beta: Vector) -> bool:
        if not self.possible:
            return False
        direction = np.where(self.rows, beta - self.bound, 0.0)
        size = float(np.abs(direction).sum())
        if abs(direction.sum()) > _RAY_TOLERANCE * size or self.problem.p @ direction >= 0:
            return False
        shift = self.features.transposed_times(direction) / self.spread
        return float(np.linalg.norm(shift)) <= _RAY_TOLERANCE * size
