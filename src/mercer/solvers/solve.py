"""One entry to all solvers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer._threads import blas_for
from mercer.gram import Gram
from mercer.gram.base import Indices
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers._presolve import variables
from mercer.solvers.exact import solve_exact
from mercer.solvers.linear import linear_is_worthwhile, solve_linear
from mercer.solvers.options import Options
from mercer.solvers.smo import smo_all
from mercer.solvers.solution import Solution, Solutions


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
    features = gram.features() if options.solver in ("auto", "linear") else None
    if options.solver == "linear" and features is None:
        raise ValueError("solver='linear' needs a linear kernel on data given as features.")
    if features is not None and not (options.solver == "linear" or _pays(programs, features)):
        features = None
    if features is None and options.solver != "exact":
        return smo_all(programs, gram, options, rows=rows, tol=tol, warm_start=warm_start)
    gaps = np.broadcast_to(options.tol if tol is None else np.asarray(tol), len(programs))
    limits = Limits(time_limit=options.time_limit)
    found = []
    for k, program in enumerate(programs):
        part = slice(programs.ends[k], programs.ends[k + 1])
        own = gram if rows is None else gram.subset(rows[part])
        left = limits.remaining()
        common = {
            "tol": float(gaps[k]),
            "max_iter": options.max_iter,
            "time_limit": None if math.isinf(left) else left,
            "warm_start": None if warm_start is None else variables(warm_start)[part],
            "callback": options.callback,
        }
        found.append(_solve_one(program, own, features is not None, options.n_threads, common))
    return Solutions.of(found)


def _pays(programs: Programs, features: Any) -> bool:
    """Say whether to work with the features instead of kernel rows."""
    n, d = programs.largest, features.shape[1]
    may_diverge = np.isinf(programs.upper).any() and any(one.may_diverge() for one in programs)
    return linear_is_worthwhile(n, d) or bool(d <= n and may_diverge)


def _solve_one(
    program: QuadraticProgram,
    gram: Gram,
    is_linear: bool,
    n_threads: int | None,
    common: dict[str, Any],
) -> Solution:
    if not is_linear:
        with blas_for(program.n, n_threads):
            return solve_exact(program, gram, **common)
    features: Any = gram.features()
    with blas_for(math.isqrt(features.shape[0] * features.shape[1]), n_threads):
        return solve_linear(program, features, **common)
