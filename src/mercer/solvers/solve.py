"""One entry to all solvers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mercer._threads import blas_for
from mercer.gram import Gram
from mercer.problems import QuadraticProgram
from mercer.solvers.smo import solve_smo
from mercer.solvers.solution import Solution

SOLVERS = ("auto", "smo", "exact", "linear")


def solve(
    problem: QuadraticProgram,
    gram: Gram,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = -1,
    time_limit: float | None = None,
    warm_start: Any = None,
    callback: Callable[[int, float], Any] | None = None,
    n_threads: int | None = None,
    cache_bytes: float = 200e6,
    shrinking: bool = True,
) -> Solution:
    """Solve a quadratic program.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : Gram
        The matrix K.
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        "smo" is block SMO; "exact" the interior-point method of clarabel (needs the ``exact``
        extra); "linear" Newton and interior-point steps that never form K, for linear kernels with
        many more rows than columns. "auto" takes "linear" where that is faster, and for a hard
        margin, where it is surer to tell whether the classes can be separated; else "smo".
    tol, max_iter, time_limit, warm_start, callback
        As in each solver, see `solve_smo`.
    n_threads, cache_bytes, shrinking
        Only for "smo".

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
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {solver!r}.")
    common: dict[str, Any] = {
        "tol": tol,
        "max_iter": max_iter,
        "time_limit": time_limit,
        "warm_start": warm_start,
        "callback": callback,
    }
    features = gram.features() if solver in ("auto", "linear") else None
    if solver == "linear" and features is None:
        raise ValueError("solver='linear' needs a linear kernel on data given as features.")
    if features is not None:
        from mercer.solvers.linear import linear_is_worthwhile, solve_linear

        if (
            solver == "linear"
            or linear_is_worthwhile(*features.shape)
            or (problem.may_diverge() and features.shape[1] <= features.shape[0])
        ):
            entries = features.shape[0] * features.shape[1]
            with blas_for(math.isqrt(entries), n_threads):
                return solve_linear(problem, features, **common)
    if solver == "exact":
        from mercer.solvers.exact import solve_exact

        with blas_for(problem.n, n_threads):
            return solve_exact(problem, gram, **common)
    common |= {"n_threads": n_threads, "cache_bytes": cache_bytes, "shrinking": shrinking}
    return solve_smo(problem, gram, **common)
