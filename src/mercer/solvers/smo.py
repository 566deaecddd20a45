"""Sequential minimal optimisation on blocks, the default solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.gram import Gram, available_threads
from mercer.problems import QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers.solution import Solution, Vector

SINGLE_MARGIN = 0.95
"""Share of the tolerance to which single-precision rows are solved, so that the true gap keeps it."""

SEPARABLE_MARGIN = 1e-5
"""Margin, relative to the radius of the data, below which classes count as not separable."""

LARGEST_BLOCK = 2048
"""Variables in a block at most: their kernel matrix still fits the processor's last cache."""


def solve_smo(
    problem: QuadraticProgram,
    gram: Gram,
    *,
    tol: float = 1e-3,
    max_iter: int = -1,
    time_limit: float | None = None,
    warm_start: Any = None,
    callback: Any = None,
    n_threads: int | None = None,
    cache_bytes: float = 200e6,
    shrinking: bool = True,
) -> Solution:
    r"""Solve a quadratic program by block SMO in the engine.

    The two variables of a step are the one that violates the optimality conditions most and the
    partner that lowers the objective most by second order [1]_. Steps are taken inside a block of
    variables whose kernel matrix lies in the processor's cache [2]_; then the gradient of all
    variables is brought up to date.

    Kernel rows are float32 where ``tol`` allows it. The gap is then computed anew in float64 on
    every row that could determine it, and where it exceeds ``tol`` the solve goes on with float64
    rows from the point reached.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : Gram
        The matrix K.
    tol : float, default=1e-3
        Gap at which to stop.
    max_iter : int, default=-1
        Limit of two-variable steps; -1 means none.
    time_limit : float or None, default=None
        Seconds.
    warm_start : Solution, array-like or None, default=None
        Where to start; made feasible first.
    callback : callable or None, default=None
        ``callback(n_iter, gap)``, about twenty times a second; True stops.
    n_threads : int or None, default=None
        None uses all processors.
    cache_bytes : float, default=200e6
        Memory for kernel rows.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.

    Returns
    -------
    Solution

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information
       for training support vector machines", JMLR 6 (2005).
    .. [2] T. Joachims, "Making large-scale SVM learning practical", in Advances in Kernel Methods
       (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import Linear
    >>> from mercer.problems import hinge_svc
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = hinge_svc(np.array([-1.0, -1.0, 1.0, 1.0]), C=10.0)
    >>> solution = solve_smo(problem, make_gram(Linear(), X))
    >>> solution.beta, solution.converged
    (array([ 0. , -0.5,  0.5,  0. ]), True)
    """
    limits = Limits(max_iter, time_limit)
    beta, gradient = _start(problem, gram, warm_start)
    settings = {
        "callback": callback,
        "n_threads": available_threads(n_threads),
        "cache_bytes": int(cache_bytes),
        "block": LARGEST_BLOCK,
        "shrinking": shrinking,
        "unbounded_below": _unbounded_below(problem, gram),
    }
    arrays = (problem.p, problem.lower, problem.upper, problem.ridge, gram.diag(), beta, gradient)
    status = "converged"
    for precision in gram.precisions(tol):
        if limits.n_iter > 0:  # single precision was not enough: an exact gradient first
            gradient[:] = problem.p + problem.ridge * beta + gram.times(beta)
        seconds = limits.remaining()
        options = settings | {
            "tol": SINGLE_MARGIN * tol if precision == "single" else tol,
            "max_iter": max_iter if max_iter < 0 else max_iter - limits.n_iter,
            "time_limit": -1.0 if np.isinf(seconds) else seconds,
        }
        report = gram.run_smo(arrays, options, precision)
        limits.n_iter += report["n_iter"]
        status = report["status"]
        if precision == "single":
            _check_gap(problem, gram, beta, gradient)
        if problem.kkt(beta, gradient)[1] <= tol or status not in ("converged", "stalled"):
            break
    return Solution.at(problem, beta, gradient, tol=tol, n_iter=limits.n_iter, status=status)


def _start(problem: QuadraticProgram, gram: Gram, warm_start: Any) -> tuple[Vector, Vector]:
    """Return a feasible point and its gradient."""
    if warm_start is None:
        beta = problem.feasible_point()
    else:
        given = warm_start.beta if isinstance(warm_start, Solution) else warm_start
        beta = problem.repair(given)
    return beta, problem.p + problem.ridge * beta + gram.times(beta)


def _unbounded_below(problem: QuadraticProgram, gram: Gram) -> float:
    """Return the objective that proves a hard margin impossible, or 0 where nothing can diverge.

    A margin of rho has the optimum -1/(2 rho^2); a smaller margin than single rows of the data can
    resolve counts as none.
    """
    room = np.minimum(problem.upper, -problem.lower) if problem.n else np.zeros(0)
    endless = np.isinf(problem.upper).any() and np.isinf(problem.lower).any()
    if not (endless or np.isinf(room).any()) or (problem.ridge > 0).all():
        return 0.0
    radius = float(gram.diag().max())
    return -0.5 / (SEPARABLE_MARGIN**2 * radius) if radius > 0 else 0.0


def _check_gap(problem: QuadraticProgram, gram: Gram, beta: Vector, gradient: Vector) -> None:
    """Put exact values into the gradient of every row that could determine the gap.

    The worst rows of both sides are computed in float64. Their largest error tells how far down
    another row may stand that could overtake them; those are computed too, until none is left.
    """
    support = np.flatnonzero(beta)
    if support.size == 0:
        return
    exact = np.zeros(problem.n, dtype=bool)
    error, count = 0.0, 32
    while True:
        rows = _leading_rows(problem, beta, gradient, exact, error, count)
        if rows.size == 0:
            return
        values = problem.p[rows] + problem.ridge[rows] * beta[rows]
        values += gram.block(rows, support) @ beta[support]
        error = max(error, float(np.abs(values - gradient[rows]).max()))
        gradient[rows] = values
        exact[rows] = True
        count = 0


def _leading_rows(
    problem: QuadraticProgram, beta: Vector, gradient: Vector, exact: Any, error: float, count: int
) -> Any:
    """Return the rows, not exact yet, within twice the error of the extremes (or the first few)."""
    wanted = np.zeros(problem.n, dtype=bool)
    for side, level in (
        (beta < problem.upper, -gradient),
        (beta > problem.lower, gradient),
    ):
        rows = np.flatnonzero(side)
        if rows.size == 0:
            continue
        if count:
            first = np.argpartition(-level[rows], min(count, rows.size - 1))[:count]
            wanted[rows[first]] = True
        wanted[rows[level[rows] >= level[rows].max() - 2.0 * error]] = True
    return np.flatnonzero(wanted & ~exact)
