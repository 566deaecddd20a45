"""Sequential minimal optimisation on blocks, the default solver: the one door to the engine."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram import Gram
from mercer.gram.base import Indices
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers._presolve import variables
from mercer.solvers.options import Options
from mercer.solvers.solution import Solution, Solutions, Status
from mercer.solvers.starting_point import StartingPoint

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
    if warm_start is None:
        beta = programs.feasible_point()
    else:
        beta = programs.repair(variables(warm_start))
    gradient = np.empty_like(beta)
    n_iter = np.zeros(len(programs), dtype=np.int64)
    status = np.zeros(len(programs), dtype=np.uint8)
    gaps = np.full(len(programs), options.tol if tol is None else tol, dtype=np.float64)
    start = None
    if isinstance(warm_start, StartingPoint):
        start = (warm_start.beta, warm_start.image)
    diagonal = gram.diag()
    source, view = gram.source()
    if options.time_limit is not None:
        left = options.time_limit - (time.monotonic() - begun)
        options = replace(options, time_limit=max(0.0, left))
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
        gaps,
        start,
        n > _engine.FEW_VARIABLES and gram.allows_single(float(gaps.min())),
        options,
        available_threads(options.n_threads) if n >= _engine.FEW_ROWS else 1,
        (beta, gradient, n_iter, status),
    )
    ended = [STATUSES[code] for code in status]
    return Solutions.at(programs, beta, gradient, tol=gaps, n_iter=n_iter, status=ended)


def _composed(view: Indices | None, rows: Indices | None) -> Indices | None:
    """Return the row of the source that each variable has; None where they are the same."""
    if view is None or rows is None:
        return view if rows is None else rows
    return view[rows]
