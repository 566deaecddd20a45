"""A solver for K = ZZ' that never forms K, for many more rows than columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from mercer.problems.quadratic_program import QuadraticProgram, Vector
from mercer.solvers._features import Features
from mercer.solvers._interior_point import InteriorPoint, minimise
from mercer.solvers._limits import Callback, Limits
from mercer.solvers._newton import Hyperplane, RidgedNewton
from mercer.solvers._polish import polish
from mercer.solvers._presolve import only_point, without_far_bounds
from mercer.solvers.solution import Solution, Status, starting_point

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

# The band of the smoothing shrinks by this factor from stage to stage.
_SHRINK = 0.2
_MOST_STAGES = 12
_MOST_STEPS_A_STAGE = 12
# The Newton decrement with which a stage is solved, relative to the largest in it.
_STAGE_ACCURACY = 0.1
_MOST_NEWTON_STEPS = 60
_MOST_IDLE_STEPS = 12
_MOST_ROUNDS = 6
# The first hyperplane is found on one row in this many.
_COARSENESS = 16
# Smoothing ends when the band holds no more than one row in this many.
_FEW = 16
# By how much the objective must fall along a direction of entries up to 1, relative to p.
_ENDLESS = 1e-6
_MANY = 2_000
_EPS = float(np.finfo(np.float64).eps)


def linear_is_worthwhile(n: int, d: int) -> bool:
    """Say whether :func:`solve_linear` is the better choice for n rows of d features.

    A step costs n d² operations, about as many as n / 2 kernel rows. Measured against block SMO on
    noisy data with C of 0.1 and 10, one thread: half as fast with 1,000 rows of 10 features, where
    the fixed cost of some 30 steps decides; 2 to 3 times as fast with 3,000 rows of 10; 0.7 to 3.6
    times with 3,000 of 300, 0.7 to more than 1.2 times with 10,000 of 1,000 (slower with the small
    C, faster with the large); and several times slower with fewer than five rows to a feature.

    Parameters
    ----------
    n, d : int
        Shape of the features.

    Returns
    -------
    bool

    Examples
    --------
    >>> linear_is_worthwhile(20_000, 50), linear_is_worthwhile(60, 7_000)
    (True, False)
    """
    return n >= _MANY and n >= 10 * d and d <= 1_500


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
    r"""Solve a quadratic program whose matrix is K = ZZ', in :math:`O(nd^2)` a step at most.

    The work is done on the hyperplane (w, b), with :math:`w = Z^\top\beta`:

    1. With a ridge in every row (squared losses) the problem in (w, b) is smooth, and Newton's
       method solves it in finitely many steps [1]_.
    2. Otherwise a ridge is added that draws each variable to the middle of its bounds. That
       replaces the kink of the loss by a parabola over a band, symmetric about the kink so that
       errors cancel; Newton's method follows as the band shrinks (first on a sample of the rows).
    3. That decides most rows: far from the margin they are at a bound. For the others Mehrotra's
       interior-point method [2]_ solves the problem as it is, in steps of the same kind, where
       :math:`(ZZ^\top + D)^{-1}` is applied through a d by d Cholesky factor [3]_. Rows that turn
       out to be on the wrong side join, until none is left.

    Features of very different sizes are scaled inside the factorisation, and columns far from zero
    are centred, neither of which changes the problem. The gap is computed afresh in float64 from
    :math:`\beta`; it cannot fall below about :math:`10^{-16}\max_i K_{ii}\sum_i|\beta_i|`, which is
    much where features of size 10⁶ meet a large C.

    Parameters
    ----------
    problem : QuadraticProgram
    features : ndarray or sparse matrix of shape (n, d)
        The matrix Z.
    tol : float, default=1e-3
        Gap at which to stop. The answer is usually far more accurate.
    max_iter : int, default=-1
        Limit of Newton steps of all kinds; -1 means none.
    time_limit : float or None, default=None
        Seconds.
    warm_start : Solution, StartingPoint, array-like or None, default=None
        Where to start; made feasible first, and returned at once if its gap is at most ``tol``.
    callback : callable or None, default=None
        ``callback(n_iter, gap)`` after every step, with an estimate of the gap; True stops.

    Returns
    -------
    Solution
        With status "unbounded" if the program has no minimum, "stalled" if rounding keeps the gap
        above ``tol``.

    References
    ----------
    .. [1] O. L. Mangasarian, "A finite Newton method for classification", Optimization Methods and
       Software 17 (2002).
    .. [2] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J.
       Optimization 2 (1992).
    .. [3] M. C. Ferris, T. S. Munson, "Interior-point methods for massive support vector machines",
       SIAM J. Optimization 13 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems import hinge_svc
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> solution = solve_linear(hinge_svc([-1, -1, 1, 1], C=10.0), X)
    >>> solution.beta.round(3), solution.converged
    (array([ 0. , -0.5,  0.5,  0. ]), True)
    """
    limits = Limits(max_iter, time_limit, callback)
    given = Features.checked(features, problem.n)
    start = starting_point(problem, warm_start)
    if not given.far_from_centre():
        return _told_apart(_solve(problem, given, start, tol, limits), problem, given)
    # With z = c + m the gradient is CC'b + Cm delta + p + rb + (C'b + m delta).m, where the last
    # term is the same in every row: it only shifts the offset.
    mean = given.mean()
    centred = Features(given.values - mean)
    shifted = replace(problem, p=problem.p + problem.delta * centred.times(mean))
    found = _told_apart(_solve(shifted, centred, start, tol, limits), shifted, centred)
    found = replace(found, beta=_with_exact_sum(problem, found.beta))
    constant = float(mean @ (centred.transposed_times(found.beta) + problem.delta * mean))
    gradient = found.gradient + constant
    objective = problem.objective(found.beta, gradient)
    return replace(found, gradient=gradient, objective=objective, offset=found.offset - constant)


def _with_exact_sum(problem: QuadraticProgram, beta: Vector) -> Vector:
    """Put what rounding took from the sum, which the mean of the data magnifies, where room is."""
    missing = problem.delta - fsum(beta)
    room = np.minimum(problem.upper - beta, beta - problem.lower)
    most = int(np.argmax(room))
    if abs(missing) > room[most]:
        return beta
    beta = beta.copy()
    beta[most] += missing
    return beta


def _told_apart(found: Solution, problem: QuadraticProgram, features: Features) -> Solution:
    """Say of a solution that rounding seems to keep from the optimum whether there is one."""
    if found.status != "stalled" or not problem.may_diverge():
        return found
    endless = _endless_direction(problem, features)
    return replace(found, status="unbounded") if endless else found


def _endless_direction(problem: QuadraticProgram, features: Features) -> bool:
    r"""Tell whether the objective falls for ever along some direction v.

    That is so exactly if :math:`Z^\top v = 0`, :math:`\sum v = 0` and :math:`p^\top v < 0` for some
    v that no bound and no ridge stops: a linear program, whose v may as well be at most 1.
    """
    rises = (problem.ridge == 0) & np.isposinf(problem.upper)
    falls = (problem.ridge == 0) & np.isneginf(problem.lower)
    values = features.values
    dense = values.toarray() if features.sparse else values
    scale = np.abs(dense).max(axis=0)
    rows = np.column_stack([dense / np.where(scale > 0, scale, 1.0), np.ones(problem.n)])
    bounds = np.column_stack([np.where(falls, -1.0, 0.0), np.where(rises, 1.0, 0.0)])
    span = float(np.abs(problem.p).max()) or 1.0
    program = linprog(problem.p / span, A_eq=rows.T, b_eq=np.zeros(rows.shape[1]), bounds=bounds)
    return bool(program.status == 0 and program.fun < -_ENDLESS)


def _solve(
    problem: QuadraticProgram, features: Features, start: Vector | None, tol: float, limits: Limits
) -> Solution:
    search = _Search(problem, features, tol, limits)
    corner = only_point(problem)
    if corner is not None:
        return search.judge(corner)
    relaxed = without_far_bounds(problem, features.size)
    if relaxed is not None:
        found = _Search(relaxed, features, tol, limits).run(start)
        if found.converged and problem.contains(found.beta):
            return found
    return search.run(start)


@dataclass
class _Search:
    """The search for the solution of one problem."""

    problem: QuadraticProgram
    features: Features
    tol: float
    limits: Limits

    def judge(self, beta: Vector, status: Status = "stalled") -> Solution:
        """Return a feasible point as a solution, with its gradient computed afresh."""
        problem, n_iter = self.problem, self.limits.n_iter
        gradient = self.features.times(self.features.transposed_times(beta))
        gradient += problem.ridge * beta + problem.p
        return Solution.at(problem, beta, gradient, tol=self.tol, n_iter=n_iter, status=status)

    def near(self, beta: Vector, status: Status = "stalled") -> Solution:
        """Return a feasible point nearby as a solution, or any where there is none nearby."""
        if not np.isfinite(beta).all():
            return self.judge(self.problem.feasible_point(), status)
        return self.judge(self.problem.repair(beta), status)

    def run(self, start: Vector | None) -> Solution:
        """Search from a feasible point, or from nothing."""
        known = None if start is None else self.judge(start)
        if known is not None and known.converged:
            return known
        found = self._search(known)
        if found.converged or found.status == "unbounded":
            return found
        if not self.limits.reason:
            few = 3 * (self.features.d + 1) + 50
            found = polish(self.problem, found, self._block, self.judge, few)
        known = self.judge(self.problem.feasible_point() if start is None else start, found.status)
        return found if found.objective <= known.objective else known  # NaN is no better

    def _block(self, rows: Rows) -> Vector:
        values = self.features.take(rows).values
        product = values @ values.T
        return np.asarray(product.toarray() if self.features.sparse else product)

    def _search(self, known: Solution | None) -> Solution:
        if known is None:
            plane, width = self._coarse_start()
        else:
            w = self.features.transposed_times(known.beta)
            plane = Hyperplane.at(self.features, w, known.offset)
            # The gap of a warm start tells little about its hyperplane, which may be nearly right.
            width = min(known.gap, _SHRINK**2 * self._flat_start()[1])
        by_newton = None
        if (self.problem.ridge > 0).all():
            by_newton = self._newton(plane)
            if by_newton.converged or self.limits.reason:
                return by_newton
        beta, width = self._smooth(plane, width)
        if self.limits.reason:
            return self.near(beta, self.limits.reason)
        # Only rows in the band violate their conditions, by half its width: enough for many rows.
        # Few are solved further, because that costs nothing.
        if width <= self.tol and self.problem.n >= _MANY:
            found = self.near(beta)
            if found.converged:
                return found
        found = self._sift(plane, width)
        return found if by_newton is None or found.gap < by_newton.gap else by_newton

    def _flat_start(self) -> tuple[Hyperplane, float]:
        """Return w = 0, an offset, and the width of a band that holds every row there."""
        p = self.problem.p
        b = -0.5 * float(p.min() + p.max())
        width = 1.1 * float(np.ptp(p))
        if width <= 1e-6 * abs(b):
            width = float(np.ptp(self.features.times(self.features.mean()))) or 1.0
        return Hyperplane(np.zeros(self.features.d), b, np.zeros(self.features.n)), width

    def _coarse_start(self) -> tuple[Hyperplane, float]:
        """Return a hyperplane found on a sample of the rows, each of which stands for many."""
        problem, features = self.problem, self.features
        m = max(problem.n // _COARSENESS, 20 * (features.d + 1))
        if problem.n < 4 * m:
            return self._flat_start()
        share = m / problem.n
        rows = np.sort(np.random.default_rng(0).choice(problem.n, m, replace=False))
        lower, upper = problem.lower[rows] / share, problem.upper[rows] / share
        if not lower.sum() < problem.delta < upper.sum():
            return self._flat_start()
        sample = QuadraticProgram(
            problem.p[rows], lower, upper, problem.delta, problem.ridge[rows] * share
        )
        search = _Search(sample, features.take(rows), self.tol, self.limits)
        plane, width = search._flat_start()
        if (sample.ridge > 0).all():
            search._solve_stage(RidgedNewton(sample, search.features), plane, width)
        else:  # no band narrower than the error of sampling
            _, width = search._smooth(plane, width, least=width * np.sqrt(features.d / m))
        return Hyperplane.at(features, plane.w, plane.b), width

    def _newton(self, plane: Hyperplane) -> Solution:
        """Newton's method to the end, where every row has a ridge, or as far as it gets."""
        newton = RidgedNewton(self.problem, self.features)
        least, idle = np.inf, 0
        for _ in range(_MOST_NEWTON_STEPS):
            view = newton.view(plane)
            error = float(np.abs(self.features.sample @ view.residual[:-1]).max(initial=0.0))
            if error <= 0.5 * self.tol:
                found = self.near(view.beta)
                if found.converged:
                    return found
            idle = 0 if error < 0.5 * least else idle + 1
            least = min(least, error)
            if self.limits.stop(2.0 * error) or idle > _MOST_IDLE_STEPS:
                break
            try:
                newton.step(plane, view)
            except np.linalg.LinAlgError:
                break
            self.limits.n_iter += 1
        return self.near(view.beta, self.limits.reason or "stalled")

    def _smooth(self, plane: Hyperplane, width: float, least: float = 0.0) -> tuple[Vector, float]:
        """Bring the hyperplane close to the optimum, until few rows are left in the band.

        Where a variable has an endless bound, the smoothing is a ridge about the other bound.
        """
        problem, features = self.problem, self.features
        room = problem.upper - problem.lower
        endless = np.isinf(room)
        centre = np.clip(0.0, problem.lower, problem.upper)
        np.add(problem.lower, 0.5 * room, out=centre, where=~endless)
        room[room == 0.0] = 1.0  # such rows are fixed anyway
        size, first = features.size or 1.0, width
        few = max(10 * (features.d + 1) + 200, problem.n // _FEW)
        for _ in range(_MOST_STAGES):
            ridge = np.where(endless, size * (width / first) ** 2, width / room)
            newton = RidgedNewton(problem, features, ridge, centre)
            self._solve_stage(newton, plane, width)
            level = plane.values + plane.b
            near = np.count_nonzero(np.abs(level + problem.p) <= width)
            narrow = width <= self.tol or _SHRINK * width < least
            if self.limits.reason or near <= few or narrow:
                break
            width *= _SHRINK
        return newton.variables(level), width

    def _solve_stage(self, newton: RidgedNewton, plane: Hyperplane, width: float) -> None:
        largest = 0.0
        for _ in range(_MOST_STEPS_A_STAGE):
            if self.limits.stop(width):
                break
            try:
                decrease, whole = newton.step(plane, newton.view(plane))
            except np.linalg.LinAlgError:
                break
            self.limits.n_iter += 1
            largest = max(largest, decrease)
            if whole and decrease <= _STAGE_ACCURACY * largest:
                break

    def _sift(self, plane: Hyperplane, width: float) -> Solution:
        """Solve for the rows near the margin, the others on the bounds that their side names."""
        problem = self.problem
        movable = problem.lower < problem.upper
        level = plane.values + plane.b + problem.p
        beta = np.where(level > 0, problem.lower, problem.upper)
        undecided = self._undecided(movable, level, beta, width)
        for attempt in range(_MOST_ROUNDS):
            rows = np.flatnonzero(undecided)
            beta[rows], status = self._solve_rows(rows, beta, plane, np.abs(level[rows]))
            found = self.near(beta, status)
            if found.converged or found.status == "unbounded" or self.limits.reason:
                break
            beta, level = found.beta.copy(), found.gradient + found.offset
            wrong = (level < -0.25 * self.tol) & (beta < problem.upper)
            wrong |= (level > 0.25 * self.tol) & (beta > problem.lower)
            if not (wrong & ~undecided).any():
                break
            undecided |= wrong if attempt < _MOST_ROUNDS - 2 else movable
            plane = Hyperplane(self.features.transposed_times(beta), found.offset, plane.values)
        return found

    def _undecided(self, movable: Mask, level: Vector, beta: Vector, width: float) -> Mask:
        """Return the rows to solve for: near the margin, endless, or needed to meet the sum."""
        problem = self.problem
        for _ in range(60):
            undecided = movable & ((np.abs(level) <= width) | np.isinf(beta))
            rest = problem.delta - beta[~undecided].sum()
            if problem.lower[undecided].sum() < rest < problem.upper[undecided].sum():
                return undecided
            width *= 2.0
        return movable

    def _solve_rows(
        self, rows: Rows, beta: Vector, plane: Hyperplane, distance: Vector
    ) -> tuple[Vector, Status]:
        """Solve for some rows by the interior-point method, with the others fixed."""
        problem, part = self.problem, self.features.take(rows)
        fixed = beta.copy()
        fixed[rows] = 0.0
        w_fixed = self.features.transposed_times(fixed)
        rest, rounding = problem.delta - fixed.sum(), _EPS * np.abs(fixed).sum()
        for bound, side in ((problem.lower[rows], 1.0), (problem.upper[rows], -1.0)):
            if side * (rest - bound.sum()) <= rounding:  # no point lies inside the bounds
                return bound, "stalled"
        restricted = replace(
            problem.subset(rows, rest),
            p=problem.p[rows] + part.times(w_fixed),
        )
        room = restricted.upper - restricted.lower
        # Without bounds a variable moves by about the range of p over the size of K.
        room[np.isinf(room)] = float(np.ptp(problem.p)) / (self.features.size or 1.0) or 1.0
        mu = 0.1 * float(np.mean(np.maximum(distance, self.tol) * room))
        start = Hyperplane.at(part, plane.w - w_fixed, plane.b)
        return minimise(InteriorPoint(restricted, part, start, mu), 0.5 * self.tol, self.limits)
