"""Sequential minimal optimisation on blocks, the default solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import available_threads
from mercer.gram import Gram
from mercer.gram.base import Precision
from mercer.problems import QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers._presolve import starting_point
from mercer.solvers.solution import Solution, Vector
from mercer.solvers.starting_point import StartingPoint

SINGLE_MARGIN = 0.95
"""Share of the tolerance to which float32 rows are solved, so that the true gap keeps within it."""

SEPARABLE_MARGIN = 1e-5
"""Margin, relative to the radius of the data, below which classes count as not separable."""

SMALL = 256
"""Problems of at most so many variables are solved far beyond the tolerance; it costs nothing."""

SMALL_TOL = 1e-11
"""The gap aimed at for them, within ``SMALL_EFFORT`` steps for each variable."""

SMALL_EFFORT = 100

FEW_ROWS = 1000
"""Below this a second thread takes longer to start than to help."""

INTERRUPTIONS = ("max_iter", "time_limit", "interrupted")
"""Ends that another precision cannot mend."""

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
    rows from the point reached. Problems of at most 256 variables are solved as far as float64
    goes, whatever ``tol``, because that costs less than a millisecond.

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
    warm_start : Solution, StartingPoint, array-like or None, default=None
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
    if problem.n != gram.n:
        raise ValueError(f"The problem has {problem.n} rows, but the kernel matrix has {gram.n}.")
    limits = Limits(max_iter, time_limit)
    precisions = gram.precisions(tol if gram.n > SMALL else 0.0)
    beta, gradient = _start(problem, gram, warm_start, precisions[0])
    settings = {
        "callback": callback,
        "n_threads": available_threads(n_threads) if gram.n >= FEW_ROWS else 1,
        "cache_bytes": int(cache_bytes),
        "block": LARGEST_BLOCK,
        "shrinking": shrinking,
        "unbounded_below": _unbounded_below(problem, gram),
    }
    arrays = (problem.p, problem.lower, problem.upper, problem.ridge, gram.diag(), beta, gradient)
    for precision in precisions:
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
        if precision == "single":
            _check_gap(problem, gram, beta, gradient)
        elif gram.n <= SMALL and report["status"] == "converged" and max_iter < 0:
            effort = {"tol": min(tol, SMALL_TOL), "max_iter": SMALL_EFFORT * gram.n}
            limits.n_iter += gram.run_smo(arrays, options | effort, precision)["n_iter"]
        solution = Solution.at(
            problem, beta, gradient, tol=tol, n_iter=limits.n_iter, status=report["status"]
        )
        # Sums of float32 values prove nothing about a program without a minimum.
        hopeless = report["status"] == "unbounded" and precision == "double"
        if solution.converged or hopeless or report["status"] in INTERRUPTIONS:
            break
    return solution


def _start(
    problem: QuadraticProgram, gram: Gram, warm_start: Any, precision: Precision
) -> tuple[Vector, Vector]:
    """Return a feasible point and its gradient."""
    beta = starting_point(problem, warm_start)
    if beta is None:
        beta = problem.feasible_point()
    if isinstance(warm_start, StartingPoint):
        image = warm_start.image + gram.times(beta - warm_start.beta, precision=precision)
    else:
        image = gram.times(beta)
    return beta, problem.p + problem.ridge * beta + image


def _unbounded_below(problem: QuadraticProgram, gram: Gram) -> float:
    """Return an objective that proves that there is no minimum, or -inf where nothing can diverge.

    A hard margin of rho has the optimum -1/(2 rho^2), where p is -1 or 1; a margin that rounding
    hides counts as none. Otherwise the objective is in units of the range of p, squared.
    With a ridge the objective stays above -p^2/(2r) summed up, unless the kernel is not positive
    semi-definite.
    """
    if not (np.isinf(problem.upper).any() or np.isinf(problem.lower).any()):
        return -np.inf
    if problem.may_diverge():
        squared_radius = float(gram.diag().max(initial=0.0))
        unit = (0.5 * float(np.ptp(problem.p))) ** 2
        if not squared_radius * unit > 0:
            return -np.inf
        return -0.5 * unit / (SEPARABLE_MARGIN**2 * squared_radius)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = -0.5 * float((problem.p**2 / problem.ridge).sum())
    return 1.001 * least - 1e-6 if np.isfinite(least) else -np.inf


def _check_gap(problem: QuadraticProgram, gram: Gram, beta: Vector, gradient: Vector) -> None:
    """Put exact values into the gradient of every row that could determine the gap.

    The worst rows of both sides are computed in float64. Their largest error tells how far down
    another row may stand that could overtake them; those are computed too, until none is left.
    """
    if not beta.any():
        return
    exact = np.zeros(problem.n, dtype=bool)
    error, count = 0.0, 32
    while True:
        rows = _leading_rows(problem, beta, gradient, exact, error, count)
        if rows.size == 0:
            return
        values = problem.p[rows] + problem.ridge[rows] * beta[rows] + gram.times(beta, rows)
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
