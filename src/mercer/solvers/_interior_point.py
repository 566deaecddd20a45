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
# What the predictor foresees is checked when it promises success, and now and then.
_CHECK_EVERY = 4
_STEP_SHARE = 0.995
# Below this share of the complementarity at the start, or with shorter steps, nothing is gained.
_EXHAUSTED = 1e-17
_SHORTEST = 1e-10
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
        # Beside a huge bound a small slack is rounded away; the least that there can be is left.
        least = np.spacing(np.abs(self.bound))
        self.slack = np.maximum(sign * (beta[self.rows] - self.bound), least)
        self.dual = mu / self.slack
        self.ratio = self.dual / self.slack
        self.slack_change = self.dual_change = self.pull = np.zeros_like(self.slack)

    def predict(self, change: Vector) -> None:
        """Follow a change of beta towards complementarity zero."""
        self.slack_change = self.sign * change[self.rows]
        self.dual_change = -self.dual - self.ratio * self.slack_change

    def aim(self, mu: float) -> Vector:
        """Turn to complementarity mu, with the predictor's second-order term; return the pull."""
        self.pull = (mu - self.slack_change * self.dual_change) / self.slack
        return self.sign * self.pull

    def correct(self, change: Vector) -> None:
        """Follow a change of beta towards the complementarity aimed at."""
        self.slack_change = self.sign * change[self.rows]
        self.dual_change = self.pull - self.dual - self.ratio * self.slack_change

    def shortest(self) -> float:
        """Return the inverse of the step that brings the first slack or multiplier to zero."""
        slack = float((self.slack_change / self.slack).min(initial=0.0))
        dual = float((self.dual_change / self.dual).min(initial=0.0))
        return -min(slack, dual)

    def complementarity(self, length: float = 0.0) -> float:
        """Return the sum of slack times multiplier after a step."""
        slack, dual = self.slack, self.dual
        if length > 0.0:
            slack, dual = slack + length * self.slack_change, dual + length * self.dual_change
        return float(slack @ dual)

    def move(self, length: float) -> None:
        """Take a step."""
        self.slack += length * self.slack_change
        self.dual += length * self.dual_change
        self.ratio = self.dual / self.slack

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
        with np.errstate(over="ignore", invalid="ignore"):  # see minimise
            self.beta = central_variables(problem, plane.values + plane.b + problem.p, mu)
            self.sides = (
                _Side(1.0, problem.lower, self.beta, mu),
                _Side(-1.0, problem.upper, self.beta, mu),
            )
        self.n_bounds = max(1, sum(side.slack.shape[0] for side in self.sides))
        self.start_mu = mu
        self.length = 1.0

    def mu(self, length: float = 0.0) -> float:
        """Return the mean complementarity, now or after a step."""
        below, above = (side.complementarity(length) for side in self.sides)
        return float(below + above) / self.n_bounds

    def step(self) -> tuple[Vector, Vector]:
        """Take one step.

        Returns
        -------
        beta, gradient : ndarray of shape (n,)
            The optimum that the predictor foresaw, put on its bounds, and the gradient there.
        """
        problem, plane = self.problem, self.plane
        gradient = plane.values + problem.p + problem.ridge * self.beta
        level = gradient + plane.b
        self._factorise()
        moved, _, change = self._direction(-level)
        foreseen = gradient + change + problem.ridge * moved
        candidate = self.beta + moved
        for side in self.sides:
            side.predict(moved)
            side.snap(candidate)
        np.clip(candidate, problem.lower, problem.upper, out=candidate)

        now = self.mu()
        target = now * (self.mu(self._longest()) / now) ** 3 if now > 0 else 0.0
        pull = -level
        for side in self.sides:
            pull[side.rows] += side.aim(target)
        moved, move, change = self._direction(pull)
        for side in self.sides:
            side.correct(moved)
        self.length = length = self._longest(_STEP_SHARE)
        self.beta += length * moved
        for side in self.sides:
            side.move(length)
        plane.w = plane.w + length * move[:-1]
        plane.b += length * float(move[-1])
        plane.values += length * change
        return candidate, foreseen

    def _longest(self, share: float = 1.0) -> float:
        """Return the longest step up to one, or a share of the way to where a slack vanishes."""
        return min(1.0, share / max(1e-300, *(side.shortest() for side in self.sides)))

    def _factorise(self) -> None:
        weight = self.problem.ridge.copy()
        for side in self.sides:
            weight[side.rows] += side.ratio
        # A row without bounds and ridge has no weight of its own; give it a very small one.
        np.maximum(weight, 1e-14 * weight.max() or 1.0, out=weight)
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


def central_variables(problem: QuadraticProgram, level: Vector, mu: float) -> Vector:
    r"""Return the variables on the central path for given :math:`h = Zw + b + p`.

    Between two bounds with room c, :math:`\mu/t - \mu/(c - t) = h` is quadratic in the slack t; so
    is :math:`\mu/t - r t = \pm h` with one bound, where without ridge a slope of the wrong sign is
    turned into a small one of the right sign.
    """
    lower, upper, ridge = problem.lower, problem.upper, problem.ridge
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    room = np.where(has_lower & has_upper, upper - lower, 1.0)
    steep = np.abs(level) * room
    slack = 2.0 * mu * room / (steep + 2.0 * mu + np.hypot(steep, 2.0 * mu))
    beta: Vector = np.where(level > 0, lower + slack, upper - slack)

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


def minimise(method: InteriorPoint, tol: float, limits: Limits) -> tuple[Vector, Status]:
    """Iterate until a point on the bounds has gap ``tol``; return the best such point met.

    Parameters
    ----------
    method : InteriorPoint
    tol : float
    limits : Limits

    Returns
    -------
    beta : ndarray of shape (n,)
        Feasible.
    status : str
        "unbounded", the limit that was met, or "stalled"; the last also where all is well.
    """
    problem, features = method.problem, method.features
    if not np.isfinite(method.beta).all():  # no start between bounds so far apart
        return problem.repair(np.zeros_like(method.beta)), "stalled"
    best, best_gap, gap = problem.repair(method.beta), np.inf, np.inf
    ray = _Ray(problem, features)
    for step in range(1, _MOST_STEPS + 1):
        if limits.stop(gap):
            break
        try:
            with np.errstate(all="ignore"):
                candidate, foreseen = method.step()
        except np.linalg.LinAlgError:
            break
        limits.n_iter += 1
        if not np.isfinite(candidate).all():
            break
        _, gap = problem.kkt(candidate, foreseen)
        exhausted = method.mu() < _EXHAUSTED * method.start_mu or method.length < _SHORTEST
        if gap <= tol or exhausted or step % _CHECK_EVERY == 0:
            candidate = problem.repair(candidate)
            gap = gap_at(problem, features, candidate)
            if gap < best_gap:
                best, best_gap = candidate, gap
        if ray.found(method.beta):
            return method.beta, "unbounded"
        if best_gap <= tol or exhausted:
            break
    return best, limits.reason or "stalled"


def gap_at(problem: QuadraticProgram, features: Features, beta: Vector) -> float:
    """Return the gap of a feasible point, computed afresh."""
    gradient = features.times(features.transposed_times(beta)) + problem.ridge * beta + problem.p
    return problem.kkt(beta, gradient)[1]


class _Ray:
    r"""Looks for a direction in which the objective falls without end.

    Such a direction d has :math:`Z^\top d = 0`, :math:`\sum d = 0` and :math:`p^\top d < 0`, and
    lies in the rows with an endless bound and no ridge. If the data of a hard margin are not
    separable, the growing iterates turn into one. Any separating hyperplane would need
    :math:`\|w\| \ge \sum|d| / \|Z^\top d\|`, so a small quotient is a proof within rounding.
    """

    def __init__(self, problem: QuadraticProgram, features: Features) -> None:
        self.problem, self.features = problem, features
        self.possible = problem.may_diverge()
        if self.possible:
            endless = np.isinf(problem.lower) | np.isinf(problem.upper)
            self.rows = endless & (problem.ridge == 0)
            bound = np.where(np.isfinite(problem.lower), problem.lower, problem.upper)
            self.bound = np.where(np.isfinite(bound), bound, 0.0)
            self.spread = features.column_spread()

    def found(self, beta: Vector) -> bool:
        if not self.possible:
            return False
        direction = np.where(self.rows, beta - self.bound, 0.0)
        most = _RAY_TOLERANCE * float(np.abs(direction).sum())
        if abs(direction.sum()) > most or self.problem.p @ direction >= 0:
            return False
        shift = self.features.transposed_times(direction) / self.spread
        return float(np.linalg.norm(shift)) <= most
