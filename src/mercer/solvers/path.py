"""One program for many prices of slack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram import Gram, finite
from mercer.problems import QuadraticProgram
from mercer.solvers.solution import Solution, Status
from mercer.solvers.solve import STATUSES, Options

Vector = NDArray[np.float64]

SINGLE_MARGIN, SINGLE_ROUNDING = _engine.SINGLE_MARGIN, _engine.SINGLE_ROUNDING

Start = tuple[Vector, Vector, float]
"""A solution, K times it, and its price."""


@dataclass(frozen=True, eq=False)
class PathSolutions:
    r"""What came out for each price.

    Parameters
    ----------
    problem : QuadraticProgram
        That of price 1.
    prices : ndarray of shape (m,)
    betas, images : ndarray of shape (m, n)
        The variables, and K times them; NaN where the callback stopped it.
    offset, gap : ndarray of shape (m,)
        As in `Solution`.
    n_iter : ndarray of int of shape (m,)
    converged : ndarray of bool of shape (m,)
    status : tuple of m str
    """

    problem: QuadraticProgram
    prices: Vector
    betas: Vector
    images: Vector
    offset: Vector
    gap: Vector
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    status: tuple[Status, ...]

    def program(self, k: int) -> QuadraticProgram:
        """Return the program of one of the prices."""
        problem, price = self.problem, self.prices[k]
        bounds = (price * problem.lower, price * problem.upper)
        return QuadraticProgram.known(problem.p, *bounds, problem.delta, problem.ridge / price)

    def __len__(self) -> int:
        return self.prices.size

    def __getitem__(self, k: int) -> Solution:
        program, beta = self.program(k), self.betas[k]
        gradient = self.images[k] + program.p + program.ridge * beta
        return Solution(
            beta,
            gradient,
            program.objective(beta, gradient),
            float(self.offset[k]),
            float(self.gap[k]),
            int(self.n_iter[k]),
            bool(self.converged[k]),
            self.status[k],
        )


def solve_path(
    problem: QuadraticProgram,
    gram: Gram,
    prices: ArrayLike,
    options: Options | None = None,
    *,
    start: Start | None = None,
) -> PathSolutions:
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
    PathSolutions

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import StoredGram
    >>> from mercer.problems import hinge_svc
    >>> problem = hinge_svc([1, -1], C=1.0)
    >>> solve_path(problem, StoredGram(np.eye(2)), [0.1, 0.5, 2.0]).betas[:, 0]
    array([0.1, 0.5, 1. ])
    """
    if problem.delta != 0.0:
        raise ValueError(f"Only a sum of 0 stays one at any price, got a sum of {problem.delta:g}.")
    options = Options() if options is None else options
    steps = np.asarray(prices, dtype=np.float64)
    n = problem.p.size
    n_threads = available_threads(options.n_threads) if n >= _engine.FEW_ROWS else 1
    nothing = (np.zeros(n), np.zeros(n), np.inf)
    beta, image, price = nothing if start is None else start
    betas, images = np.empty((2, steps.size, n))
    offset, gap = np.full((2, steps.size), np.nan)
    n_iter = np.zeros(steps.size, dtype=np.int64)
    status = np.full(steps.size, STATUSES.index("interrupted"), dtype=np.uint8)
    rows, view = gram.source()
    n_solved = _engine.solve_path(
        rows,
        (problem.p, problem.lower, problem.upper, problem.ridge, finite(gram.diag())),
        view,
        steps,
        (beta.copy(), image.copy(), price),
        options,
        n_threads,
        (betas, images, n_iter, status, offset, gap),
    )
    betas[n_solved + 1 :] = images[n_solved + 1 :] = np.nan
    ended = tuple([STATUSES[code] for code in status.tolist()])
    converged = status == STATUSES.index("converged")
    return PathSolutions(problem, steps, betas, images, offset, gap, n_iter, converged, ended)
