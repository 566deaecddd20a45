"""The quadratic program through a maintained interior-point library."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer._extras import how_to_get
from mercer.kernels.blocks import submatrix
from mercer.problems.quadratic_program import QuadraticProgram, Vector
from mercer.solvers._limits import Callback, Limits
from mercer.solvers._polish import pair_steps, polish
from mercer.solvers._presolve import only_point, without_far_bounds
from mercer.solvers.solution import Solution, Status, starting_point

Matrix = Vector

# Asked of the library; it stops at what it can reach.
_LIBRARY_TOLERANCE = 1e-12
# Gap, relative to the range of the linear term, with which the search for good units ends.
_ACCURATE = 1e-9
_MOST_IMPROVEMENTS = 4
_MOST_STEPS = 200
# Eigenvalues below minus this share of the largest diagonal entry are not a matter of rounding.
_INDEFINITE = 1e-8


def solve_exact(
    problem: QuadraticProgram,
    gram: Any,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    time_limit: float | None = None,
    warm_start: Any = None,
    callback: Callback | None = None,
) -> Solution:
    r"""Solve a quadratic program with the interior-point method of clarabel.

    The whole matrix is formed, decomposed once, and its root factorised in every step, so this is
    for small problems, and for those that must be right: whatever the tolerance, the method goes on
    to the accuracy of the arithmetic. Its answer is put on the bounds that the multipliers name;
    then the conditions on the free rows are solved as linear equations, and wrong bounds are put
    right by moving pairs of variables.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : object
        With a method ``matrix()`` that returns K as a dense float64 array of shape (n, n).
        Eigenvalues that rounding has made negative (down to -1e-8 of the largest diagonal entry)
        are taken for zero inside the method; the gap is that of K as given.
    tol : float, default=1e-3
        The gap that counts as converged.
    max_iter : int, default=-1
        Limit of steps; -1 means 200, which no problem needs.
    time_limit : float or None, default=None
        Seconds.
    warm_start : Solution, StartingPoint, array-like or None, default=None
        Returned at once if its gap is at most ``tol``; of no other use to an interior-point method.
    callback : callable or None, default=None
        ``callback(n_iter, gap)`` after every step, with the present infeasibility of the dual; True
        stops.

    Returns
    -------
    Solution
        With status "unbounded" if the program has no minimum.

    Raises
    ------
    ImportError
        If clarabel is not installed.
    ValueError
        If K is not positive semi-definite.

    References
    ----------
    P. J. Goulart, Y. Chen, "Clarabel: an interior-point solver for conic programs with quadratic
    objectives" (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from mercer.problems import hinge_svc
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> gram = SimpleNamespace(matrix=lambda: X @ X.T)
    >>> solution = solve_exact(hinge_svc([-1, -1, 1, 1], C=10.0), gram)
    >>> solution.beta.round(6), solution.status
    (array([ 0. , -0.5,  0.5,  0. ]), 'converged')
    """
    limits = Limits(max_iter if max_iter >= 0 else _MOST_STEPS, time_limit, callback)
    matrix = np.asarray(gram.matrix(), dtype=np.float64)
    if matrix.shape != (problem.n, problem.n):
        raise ValueError(f"The matrix is {matrix.shape}, but there are {problem.n} variables.")
    search = _Search(problem, matrix, tol, limits)
    point = only_point(problem)
    if point is None:
        point = starting_point(problem, warm_start)
    if point is not None:
        solution = search.judge(point)
        if solution.converged:
            return solution
    relaxed = without_far_bounds(problem, float(matrix.diagonal().mean() - matrix.mean()))
    if relaxed is not None:
        solution = _Search(relaxed, matrix, tol, limits).run()
        if solution.converged and problem.contains(solution.beta):
            return solution
    return search.run()


@dataclass
class _Search:
    """The search for the solution of one problem."""

    problem: QuadraticProgram
    matrix: Matrix
    tol: float
    limits: Limits

    def judge(self, beta: Vector, status: Status = "stalled") -> Solution:
        """Return a feasible point as a solution, with its gradient computed afresh."""
        problem = self.problem
        gradient = self.matrix @ beta + problem.ridge * beta + problem.p
        n_iter = self.limits.n_iter
        return Solution.at(problem, beta, gradient, tol=self.tol, n_iter=n_iter, status=status)

    def run(self) -> Solution:
        """Solve for the rows with room, the others fixed, in the units that serve best."""
        problem, matrix = self.problem, self.matrix
        # With the sum given, K and the matrix centred in feature space differ by a linear term
        # only; the centred one has the smaller entries.
        mean = matrix.mean(axis=0)
        centred = matrix - mean - mean[:, None] + mean.mean()
        linear = problem.p + problem.delta * mean

        beta = np.clip(0.0, problem.lower, problem.upper)
        room = problem.lower < problem.upper
        rows, fixed = np.flatnonzero(room), np.flatnonzero(~room)
        factor = _factor(submatrix(centred, rows, rows), float(matrix.diagonal().max()))
        part = replace(
            problem.subset(rows, problem.delta - beta[fixed].sum()),
            p=linear[rows] + submatrix(centred, rows, fixed) @ beta[fixed],
        )
        best = None
        for unit, cost in _units(part, factor):
            beta[rows], status = _call_library(part, factor, unit, cost, self.limits)
            found = self.judge(problem.repair(beta), status)
            if status == "unbounded":
                return found
            goal = _ACCURATE * float(np.ptp(part.p))
            if not self.limits.reason:
                found = self._improve(found, goal)
            if best is None or found.gap < best.gap:
                best = found
            if self.limits.reason or best.gap <= goal:
                break
        assert best is not None  # there is always one unit at least
        return best

    def _improve(self, found: Solution, goal: float) -> Solution:
        """Put right what the library left: free rows by linear equations, wrong bounds by pairs."""
        problem = self.problem
        for _ in range(_MOST_IMPROVEMENTS):
            found = polish(problem, found, self._block, self.judge, problem.n)
            if found.gap <= goal:
                break
            beta = pair_steps(problem, self.matrix, found, goal)
            better = self.judge(problem.repair(beta), found.status)
            if not better.gap < 0.5 * found.gap:
                break
            found = better
        return found

    def _block(self, rows: NDArray[np.intp]) -> Matrix:
        return submatrix(self.matrix, rows, rows)


def _factor(matrix: Matrix, size: float) -> Matrix:
    """Return L with matrix = LL', or say that the matrix is indefinite."""
    values, vectors = scipy.linalg.eigh(0.5 * (matrix + matrix.T))
    if values[0] < -_INDEFINITE * size:
        raise ValueError(
            f"The kernel matrix is not positive semi-definite: centred, its most negative "
            f"eigenvalue is {values[0]:.3g}; its largest diagonal entry is {size:.3g}."
        )
    kept = values > np.finfo(float).eps * max(size, values[-1])
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _call_library(
    part: QuadraticProgram, factor: Matrix, unit: float, cost: float, limits: Limits
) -> tuple[Vector, Status]:
    r"""Call clarabel on the problem in beta and w = L'beta.

    The square root of K costs the library only half the digits that K itself would. Units are
    chosen so that beta, w and the objective are of the size of one.
    """
    clarabel = _import_clarabel()
    n, rank = factor.shape
    below, above = np.isfinite(part.lower), np.isfinite(part.upper)
    eye = sp.eye(n, format="csr")
    constraints = sp.bmat(
        [
            [np.ones((1, n)), None],
            [factor.T * (unit / np.sqrt(cost)), -sp.eye(rank)],
            [-eye[below], None],
            [eye[above], None],
        ],
        format="csc",
    )
    bounds = np.concatenate((-part.lower[below], part.upper[above])) / unit
    cones = [clarabel.ZeroConeT(1 + rank)]
    if bounds.shape[0]:
        cones.append(clarabel.NonnegativeConeT(bounds.shape[0]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _LIBRARY_TOLERANCE
    if not part.may_diverge():  # then the library must not think so either
        settings.tol_infeas_abs = settings.tol_infeas_rel = 1e-30
    settings.max_iter = max(0, limits.max_iter - limits.n_iter)
    settings.time_limit = limits.remaining()
    solver = clarabel.DefaultSolver(
        sp.diags(np.append(part.ridge * (unit * unit / cost), np.ones(rank)), format="csc"),
        np.append(part.p * (unit / cost), np.zeros(rank)),
        constraints,
        np.concatenate(([part.delta / unit], np.zeros(rank), bounds)),
        cones,
        settings,
    )
    watch = _Watch(limits, cost / unit)
    solver.set_termination_callback(watch)
    answer = solver.solve()
    watch.raise_pending()
    limits.n_iter = watch.before + answer.iterations

    beta = np.array(answer.x)[:n] * unit
    slack, dual = np.array(answer.s)[1 + rank :], np.array(answer.z)[1 + rank :]
    active_below, active_above = np.split(dual > slack, [int(below.sum())])
    beta[np.flatnonzero(below)[active_below]] = part.lower[below][active_below]
    beta[np.flatnonzero(above)[active_above]] = part.upper[above][active_above]
    return beta, _status(str(answer.status), part, limits)


def _units(part: QuadraticProgram, factor: Matrix) -> list[tuple[float, float]]:
    """Return units of beta and of the objective in which the variables may be of the size of one.

    They are as large as the room that bounds and sum leave, if the data force variables to their
    bounds; as large as the minimum along one variable, if not; or in between. Which it is shows
    only in the solution.
    """
    slope = float(np.ptp(part.p))
    curvature = float(np.einsum("ij,ij->", factor, factor)) / part.n
    ridge = float(part.ridge.mean())
    room = np.minimum(part.upper - part.lower, part.delta - part.lower.sum())
    room = np.minimum(room, part.upper.sum() - part.delta)
    finite = room[np.isfinite(room)]
    large = float(np.median(finite)) if finite.size else slope / (ridge or curvature or 1.0)
    large = large or 1.0
    small = min(large, slope / (curvature + ridge or 1.0)) or large
    units = dict.fromkeys((large, small, float(np.sqrt(large * small))))
    return [(unit, slope * unit or curvature * unit * unit or 1.0) for unit in units]


def _status(answer: str, part: QuadraticProgram, limits: Limits) -> Status:
    if "DualInfeasible" in answer and part.may_diverge():
        return "unbounded"
    limited: dict[str, Status] = {"MaxIterations": "max_iter", "MaxTime": "time_limit"}
    limits.reason = limits.reason or limited.get(answer)
    return limits.reason or "stalled"


class _Watch:
    """Carries the callback into the library, and exceptions (such as Ctrl-C) out of it."""

    def __init__(self, limits: Limits, unit: float) -> None:
        self.limits = limits
        self.unit = unit
        self.before = limits.n_iter
        self.pending: BaseException | None = None

    def __call__(self, info: Any) -> bool:
        try:
            self.limits.n_iter = self.before + info.iterations
            return self.limits.stop(info.res_dual * self.unit)
        except BaseException as error:  # raised again as soon as the library is left
            self.pending = error
            return True

    def raise_pending(self) -> None:
        if self.pending is not None:
            raise self.pending


def _import_clarabel() -> ModuleType:
    try:
        import clarabel
    except ImportError as error:
        raise ImportError(
            f"solver='exact' needs the package clarabel; run {how_to_get('exact')}."
        ) from error
    return cast(ModuleType, clarabel)
