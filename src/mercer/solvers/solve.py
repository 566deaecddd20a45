"""One entry to all solvers, and the one door to the engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer import _engine
from mercer._threads import available_threads, blas_for
from mercer.gram import Gram, finite
from mercer.gram.base import Indices
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers._features import Features
from mercer.solvers._limits import Limits
from mercer.solvers.exact import solve_exact
from mercer.solvers.linear import linear_is_worthwhile, solve_linear
from mercer.solvers.solution import Solution, StartingPoint, Status, Vector

SOLVERS = ("auto", "smo", "exact", "linear")


@dataclass(frozen=True)
class Options:
    """How to solve, how exactly, and when to give up; the engine reads it as it is.

    Parameters
    ----------
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        "smo" is block SMO; "exact" the interior-point method of clarabel (needs the ``exact``
        extra); "linear" Newton and interior-point steps that never form K, for linear kernels with
        many more rows than columns. "auto" takes "linear" where that is faster, and for a hard
        margin, where it is surer to tell whether the classes can be separated; else "smo", but
        with a linear kernel and four rows to a feature no more than 20 steps of it for each row,
        and "linear" for what is not solved by then.
    tol : float, default=1e-3
        Gap at which to stop.
    max_iter : int, default=-1
        Limit of iterations for each program; of SMO they are two-variable steps. -1 means none.
    time_limit : float or None, default=None
        Seconds for all programs together.
    callback : callable or None, default=None
        ``callback(n_iter, gap)``, about twenty times a second, of whichever program is at hand;
        True stops all of them.
    n_threads : int or None, default=None
        None uses all processors.
    cache_bytes : float, default=200e6
        Memory for kernel rows, only for "smo".
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved;
        only for "smo".
    block : int, default=2048
        Variables of a working set at most, only for "smo": the kernel matrix of so many still fits
        the processor's last cache.

    Examples
    --------
    >>> Options(tol=1e-6).solver
    'auto'
    """

    solver: str = "auto"
    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float | None = None
    callback: Callable[[int, float], Any] | None = None
    n_threads: int | None = None
    cache_bytes: float = 200e6
    shrinking: bool = True
    block: int = 2048

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            allowed = ", ".join(map(repr, SOLVERS))
            raise ValueError(f"solver must be one of {allowed}; got {self.solver!r}.")
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ValueError(
                f"time_limit must be None or a number of seconds, got {self.time_limit}."
            )


@dataclass(frozen=True, eq=False)
class Solutions:
    """Points of several programs laid end to end, and how good each is.

    Parameters
    ----------
    beta, gradient : ndarray of shape (n,)
        As in `Solution`, of one program after the other.
    ends : ndarray of int of shape (m + 1,)
        Those of the programs.
    objective, offset, gap : ndarray of shape (m,)
    n_iter : ndarray of int of shape (m,)
    converged : ndarray of bool of shape (m,)
    status : tuple of m str

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import Linear
    >>> from mercer.problems import Programs, hinge_svc
    >>> from mercer.solvers import solve_all
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> programs = Programs.of([hinge_svc([-1, 1], C=10.0), hinge_svc([-1, 1], C=10.0)])
    >>> solutions = solve_all(programs, make_gram(Linear(), X), rows=np.array([1, 2, 0, 3]))
    >>> solutions.beta, [solution.offset for solution in solutions]
    (array([-0.5  ,  0.5  , -0.125,  0.125]), [0.0, 0.0])
    """

    beta: Vector
    gradient: Vector
    ends: NDArray[np.int64]
    objective: Vector
    offset: Vector
    gap: Vector
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    status: tuple[Status, ...]

    @classmethod
    def of(cls, solutions: Sequence[Solution]) -> Solutions:
        """Lay solutions end to end."""
        return cls(
            np.concatenate([one.beta for one in solutions]),
            np.concatenate([one.gradient for one in solutions]),
            np.concatenate([[0], np.cumsum([one.beta.size for one in solutions])]),
            np.array([one.objective for one in solutions]),
            np.array([one.offset for one in solutions]),
            np.array([one.gap for one in solutions]),
            np.array([one.n_iter for one in solutions], dtype=np.int64),
            np.array([one.converged for one in solutions]),
            tuple(one.status for one in solutions),
        )

    def part(self, first: int, last: int) -> Solutions:
        """Return those from the first on, without the last."""
        some, inside = slice(first, last), slice(self.ends[first], self.ends[last])
        return Solutions(
            self.beta[inside],
            self.gradient[inside],
            self.ends[first : last + 1] - self.ends[first],
            self.objective[some],
            self.offset[some],
            self.gap[some],
            self.n_iter[some],
            self.converged[some],
            self.status[some],
        )

    def __len__(self) -> int:
        return self.gap.size

    def __getitem__(self, k: int) -> Solution:
        part = slice(self.ends[k], self.ends[k + 1])
        return Solution(
            self.beta[part],
            self.gradient[part],
            float(self.objective[k]),
            float(self.offset[k]),
            float(self.gap[k]),
            int(self.n_iter[k]),
            bool(self.converged[k]),
            self.status[k],
        )

    def __iter__(self) -> Iterator[Solution]:
        return (self[k] for k in range(len(self)))


STATUSES: tuple[Status, ...] = get_args(Status)
"""How a solve may end, in the order of the engine."""


def solve_smo(
    problem: QuadraticProgram, gram: Gram, *, warm_start: Any = None, **options: Any
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

    Where kernel values times bounds are beyond the digits of a number, steps may promise a lower
    objective for ever. The status is "stalled" when the gap has not been halved in 2,000 steps for
    each variable (of at least a hundred); in 200 for problems of at most 256 variables, of which an
    active-set method has been tried before.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : Gram
        The matrix K.
    warm_start : Solution, StartingPoint, array-like or None, default=None
        Where to start; made feasible first.
    **options
        As in `Options`.

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
    return smo_all(Programs.of([problem]), gram, Options(**options), warm_start=warm_start)[0]


def smo_all(
    programs: Programs,
    gram: Gram,
    options: Options,
    *,
    rows: Indices | None = None,
    tol: ArrayLike | None = None,
    warm_start: Any = None,
) -> Solutions:
    """Solve programs on the rows of one kernel matrix by block SMO; `solve_all` has the parameters.

    Small programs are solved side by side, one thread each, larger ones one after the other by all
    threads.
    """
    n, begun = programs.p.size, time.monotonic()
    if rows is None and n != gram.n:
        raise ValueError(f"The problem has {n} rows, but the kernel matrix has {gram.n}.")
    if gram.is_on_device and programs.largest > SMALL:
        return _on_device(programs, gram, options, rows, tol, warm_start)
    if warm_start is None:
        beta = programs.feasible_point()
    else:
        beta = programs.repair(getattr(warm_start, "start", warm_start))
    gaps = np.full(programs.delta.size, options.tol if tol is None else tol, dtype=np.float64)
    start = None
    if isinstance(warm_start, StartingPoint):
        start = (warm_start.beta, warm_start.image)
    found = _by_engine(programs, gram, _with_time_left(options, begun), rows, gaps, beta, start)
    if warm_start is None and found.converged.all():
        return found
    options = _with_time_left(options, begun)
    ended_early = not {"stalled", "unbounded"}.isdisjoint(found.status)
    if warm_start is not None and ended_early and _came_from_afar(warm_start, found):
        return smo_all(programs, gram, options, rows=rows, tol=tol)
    return _with_sums(found, programs, gram, options, rows, gaps)


SMALL = 8192
"""Up to so many variables the processor is done before a device has begun."""


def _on_device(
    programs: Programs,
    gram: Any,
    options: Options,
    rows: Indices | None,
    tol: ArrayLike | None,
    warm_start: Any,
) -> Solutions:
    """Solve programs one after the other on the device that the matrix is on."""
    from mercer.solvers.device import solve_on_device

    begun, found = time.monotonic(), []
    gaps = np.broadcast_to(options.tol if tol is None else np.asarray(tol), len(programs))
    start = None if warm_start is None else np.asarray(getattr(warm_start, "start", warm_start))
    for k in range(len(programs)):
        part = slice(programs.ends[k], programs.ends[k + 1])
        own = _with_time_left(options, begun)
        own_start = None if start is None else start[part]
        own_rows = None if rows is None else rows[part]
        found.append(
            solve_on_device(
                programs[k],
                gram,
                own,
                smo_all,
                rows=own_rows,
                tol=float(gaps[k]),
                warm_start=own_start,
            )
        )
        if found[-1].status == "interrupted":  # of all programs
            options = replace(options, max_iter=0, callback=None)
    return Solutions.of(found)


def _with_time_left(options: Options, begun: float) -> Options:
    if options.time_limit is None:
        return options
    left = options.time_limit - (time.monotonic() - begun)
    return replace(options, time_limit=max(0.0, left))


FAR = 1e6
"""How many times the multipliers of a start may be those of its end: digits are lost on the way."""


def _came_from_afar(warm_start: Any, found: Solutions) -> bool:
    """Say whether rounding of a start, rather than of the problem, may have ended a solve."""
    start = np.asarray(getattr(warm_start, "start", warm_start))
    size, left = np.abs(start).max(initial=0.0), np.abs(found.beta).max(initial=0.0)
    return bool(size > FAR * left or not found.n_iter.any())


def _with_sums(
    found: Solutions,
    programs: Programs,
    gram: Gram,
    options: Options,
    rows: Indices | None,
    tol: Vector,
) -> Solutions:
    """Return points whose sums are right, though huge multipliers took digits of them away."""
    if programs.have_their_sums(found.beta):
        return found
    goes_on = found.converged.all() and options.max_iter < 0
    how = options if goes_on else replace(options, max_iter=0, callback=None)
    seen = _by_engine(programs, gram, how, rows, tol, programs.repair(found.beta), None)
    if goes_on:
        return replace(seen, n_iter=found.n_iter + seen.n_iter)
    return replace(
        seen,
        n_iter=found.n_iter,
        converged=found.converged & seen.converged,
        status=tuple(map(_worse, found.status, seen.status)),
    )


def _worse(before: Status, seen: Status) -> Status:
    """Return how a solve ended whose point was moved a little afterwards."""
    return "stalled" if before == "converged" != seen else before


def _by_engine(
    programs: Programs,
    gram: Gram,
    options: Options,
    rows: Indices | None,
    tol: Vector,
    beta: Vector,
    start: tuple[Vector, Vector] | None,
) -> Solutions:
    """Let the engine go on from feasible points, which it changes."""
    n, count, begun = programs.p.size, programs.delta.size, time.monotonic()
    gradient = np.empty_like(beta)
    n_iter = np.empty(count, dtype=np.int64)
    status = np.empty(count, dtype=np.uint8)
    verdict = np.empty((3, count))
    diagonal, (source, view) = finite(gram.diag()), gram.source()
    single = n > _engine.FEW_VARIABLES and gram.allows_single(float(tol.min()))
    n_threads = available_threads(options.n_threads) if n >= _engine.FEW_ROWS else 1
    _engine.solve_programs(
        source,
        (
            programs.p,
            programs.lower,
            programs.upper,
            programs.ridge,
            diagonal if rows is None else diagonal[rows],
        ),
        _composed(view, rows),
        programs.ends,
        tol,
        start,
        single,
        _with_time_left(options, begun),  # the diagonal may have been asked for row by row
        n_threads,
        (beta, gradient, n_iter, status, verdict),
    )
    offset, gap, objective = verdict
    if not np.isfinite(gradient).all() or np.isnan(offset).any():
        raise ValueError(BEYOND_NUMBERS)
    ended = tuple([STATUSES[code] for code in status.tolist()])
    converged = status == STATUSES.index("converged")
    return Solutions(
        beta, gradient, programs.ends, objective, offset, gap, n_iter, converged, ended
    )


BEYOND_NUMBERS = (
    "Kernel values times multipliers are beyond the range of numbers; scale the features, or lower "
    "C or the weights."
)


def _composed(view: Indices | None, rows: Indices | None) -> Indices | None:
    """Return the row of the source that each variable has; None where they are the same."""
    if view is None or rows is None:
        return view if rows is None else rows
    return view[rows]


def solve(
    problem: QuadraticProgram, gram: Gram, *, warm_start: Any = None, **options: Any
) -> Solution:
    """Solve a quadratic program.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : Gram
        The matrix K.
    warm_start : Solution, StartingPoint, array-like or None, default=None
        Where to start; made feasible first.
    **options
        As in `Options`.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import RBF
    >>> from mercer.problems import one_class
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> solve(one_class(3, nu=1.0), make_gram(RBF(1.0), X)).beta.round(3)
    array([0.333, 0.333, 0.333])
    """
    programs = Programs.of([problem])
    return solve_all(programs, gram, Options(**options), warm_start=warm_start)[0]


def solve_all(
    programs: Programs,
    gram: Gram,
    options: Options | None = None,
    *,
    rows: Indices | None = None,
    tol: ArrayLike | None = None,
    warm_start: Any = None,
) -> Solutions:
    """Solve several programs on the rows of one kernel matrix, within one time limit.

    Parameters
    ----------
    programs : Programs
    gram : Gram
        The matrix K.
    options : Options or None, default=None
        None stands for ``Options()``.
    rows : ndarray of int of shape (n,) or None, default=None
        The row of the matrix that each variable of the programs has. None stands for a single
        program whose variables have the rows of the matrix in turn.
    tol : array-like of shape (m,) or None, default=None
        Gap of each program; None takes that of the options for all.
    warm_start : Solution, StartingPoint, array-like or None, default=None
        Where to start, of one program after the other; made feasible first.

    Returns
    -------
    Solutions

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import RBF
    >>> from mercer.problems import Programs, one_class
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]])
    >>> programs = Programs.of([one_class(2, nu=1.0), one_class(3, nu=1.0)])
    >>> solve_all(programs, make_gram(RBF(1.0), X), rows=np.arange(5)).beta.round(3)
    array([0.5  , 0.5  , 0.333, 0.333, 0.333])
    """
    options = Options() if options is None else options
    features = None
    if gram.is_linear and options.solver in ("auto", "linear"):
        features = gram.features()
    if options.solver == "linear" and features is None:
        raise ValueError("solver='linear' needs a linear kernel on data given as features.")
    if options.solver in ("linear", "exact") or (
        features is not None and _pays(programs, features)
    ):
        return _one_by_one(programs, gram, options, rows, tol, warm_start)
    if features is not None and _may_pay(programs, features, options):
        return _smo_at_first(programs, gram, options, rows, tol, warm_start)
    return smo_all(programs, gram, options, rows=rows, tol=tol, warm_start=warm_start)


def _one_by_one(
    programs: Programs,
    gram: Gram,
    options: Options,
    rows: Indices | None,
    tol: ArrayLike | None,
    warm_start: Any,
    which: Sequence[int] | None = None,
) -> Solutions:
    """Solve the programs, or those named, by the exact or by the linear solver."""
    finite(gram.diag())
    gaps = np.broadcast_to(options.tol if tol is None else np.asarray(tol), len(programs))
    limits = Limits(time_limit=options.time_limit)
    start = None if warm_start is None else np.asarray(getattr(warm_start, "start", warm_start))
    found = []
    for k in range(len(programs)) if which is None else which:
        part = slice(programs.ends[k], programs.ends[k + 1])
        own = gram if rows is None else gram.subset(rows[part])
        left = limits.remaining()
        common = {
            "tol": float(gaps[k]),
            "max_iter": options.max_iter,
            "time_limit": None if math.isinf(left) else left,
            "warm_start": None if start is None else start[part],
            "callback": options.callback,
        }
        found.append(_solve_one(programs[k], own, options, common))
    return Solutions.of(found)


def _smo_at_first(
    programs: Programs,
    gram: Gram,
    options: Options,
    rows: Indices | None,
    tol: ArrayLike | None,
    warm_start: Any,
) -> Solutions:
    """Solve by SMO what takes no more steps than usual, and the rest by the linear solver.

    SMO is the faster one on classes that a hyperplane separates, but where they overlap and slack
    is dear it takes thousands of steps for each variable, and the linear solver a few in all.
    """
    limits = Limits(time_limit=options.time_limit)
    usual = replace(options, max_iter=USUAL_STEPS * programs.largest)
    first = smo_all(programs, gram, usual, rows=rows, tol=tol, warm_start=warm_start)
    hard = [k for k, status in enumerate(first.status) if status in ("max_iter", "stalled")]
    if not hard:
        return first
    left = limits.remaining()
    options = replace(options, time_limit=None if math.isinf(left) else left)
    others = _one_by_one(programs, gram, options, rows, tol, warm_start, hard)
    found = list(first)
    for k, other in zip(hard, others):
        found[k] = replace(other, n_iter=found[k].n_iter + other.n_iter)
    if all(one.status != "stalled" for one in found):
        return Solutions.of(found)
    left = limits.remaining()
    options = replace(options, time_limit=None if math.isinf(left) else left)
    reached = np.concatenate([one.beta for one in found])
    return smo_all(programs, gram, options, rows=rows, tol=tol, warm_start=reached)


USUAL_STEPS = 20
"""Steps of SMO for each variable; of ordinary programs it takes fewer than ten."""


def _pays(programs: Programs, features: Any) -> bool:
    """Say whether to work with the features instead of kernel rows."""
    n, d = programs.largest, features.shape[1]
    may_diverge = np.isinf(programs.upper).any() and any(one.may_diverge() for one in programs)
    return linear_is_worthwhile(n, d) or bool(d <= n and may_diverge)


def _may_pay(programs: Programs, features: Any, options: Options) -> bool:
    """Say whether to work with the features where SMO takes too many steps.

    Smaller programs have another way out in the engine, and a limit of steps is the user's.
    """
    smallest = int(np.diff(programs.ends).min())
    enough = max(_engine.FEW_VARIABLES + 1, FEWEST_ROWS_TO_A_FEATURE * features.shape[1])
    return smallest >= enough and options.max_iter < 0


FEWEST_ROWS_TO_A_FEATURE = 4
"""With fewer the steps of the linear solver take longer than the many of SMO."""


def _solve_one(
    program: QuadraticProgram, gram: Gram, options: Options, common: dict[str, Any]
) -> Solution:
    if options.solver == "exact":
        with blas_for(program.n, options.n_threads):
            return solve_exact(program, gram, **common)
    features: Any = gram.features()
    with blas_for(math.isqrt(features.shape[0] * features.shape[1]), options.n_threads):
        return solve_linear(program, Features(features), **common)  # of a diagonal seen before
