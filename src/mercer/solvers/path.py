"""One program for many prices of slack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram import Gram
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers.options import Options
from mercer.solvers.smo import STATUSES
from mercer.solvers.solution import Solutions

Vector = NDArray[np.float64]

Start = tuple[Vector, Vector, float]
"""A solution, K times it, and its price."""


def solve_path(
    problem: QuadraticProgram,
    gram: Gram,
    prices: ArrayLike,
    options: Options | None = None,
    *,
    start: Start | None = None,
) -> tuple[Programs, Solutions]:
    r"""Solve a program for rising prices of slack, each time from the solution before.

    A price multiplies the bounds and divides the ridge, as C does for linear and for squared slack.
    All of it is one call of the engine, with the rows of the matrix as they are held: of a float32
    matrix the gap is that of float32 too.

    Parameters
    ----------
    problem : QuadraticProgram
        The program of price 1; its variables sum to 0.
    gram : Gram
        The matrix K, which should lie in memory.
    prices : array-like of shape (m,)
        Above 0, rising.
    options : Options or None, default=None
        Their limits are those of each price; a callback that returns True ends the whole path.
    start : tuple of beta, image and price, or None, default=None
        Where the first solve begins, if not at zero.

    Returns
    -------
    Programs
        The program of each price.
    Solutions
        Where the callback stopped it: NaN, "interrupted".

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import StoredGram
    >>> from mercer.problems import hinge_svc
    >>> problem = hinge_svc([1, -1], C=1.0)
    >>> _, found = solve_path(problem, StoredGram(np.eye(2)), [0.1, 0.5, 2.0])
    >>> found.beta.reshape(3, 2)[:, 0]
    array([0.1, 0.5, 1. ])
    """
    if problem.delta != 0.0:
        raise ValueError(f"Only a sum of 0 stays one at any price, got a sum of {problem.delta:g}.")
    options = Options() if options is None else options
    steps = np.asarray(prices, dtype=np.float64)
    n = problem.n
    nothing = (np.zeros(n), np.zeros(n), np.inf)
    beta, image, price = nothing if start is None else start
    betas, images = np.full((2, steps.size, n), np.nan)
    n_iter = np.zeros(steps.size, dtype=np.int64)
    status = np.full(steps.size, STATUSES.index("interrupted"), dtype=np.uint8)
    rows, view = gram.source()
    _engine.solve_path(
        rows,
        (problem.p, problem.lower, problem.upper, problem.ridge, gram.diag()),
        view,
        steps,
        (beta.copy(), image.copy(), price),
        options,
        available_threads(options.n_threads),
        (betas, images, n_iter, status),
    )
    programs = _priced(problem, steps)
    gradient = images.ravel() + programs.p + programs.ridge * betas.ravel()
    ended: Sequence[Any] = [STATUSES[code] for code in status]
    found = Solutions.at(
        programs, betas.ravel(), gradient, tol=options.tol, n_iter=n_iter, status=ended
    )
    return programs, found


def _priced(problem: QuadraticProgram, prices: Vector) -> Programs:
    """Return the programs of all prices, one after the other."""
    return Programs(
        np.concatenate([problem.p] * prices.size),
        np.multiply.outer(prices, problem.lower).ravel(),
        np.multiply.outer(prices, problem.upper).ravel(),
        np.divide.outer(problem.ridge, prices).T.ravel(),
        np.full(prices.size, problem.delta),
        np.arange(prices.size + 1) * problem.n,
    )
