"""One program for many prices of slack, and where such a path begins."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram import Gram, StoredGram, finite
from mercer.gram.base import RowSource
from mercer.problems import QuadraticProgram
from mercer.solvers.solution import Solution, Status
from mercer.solvers.solve import STATUSES, Options

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

RELEASED = 0.1
"""Share of the rows that may have to stay at zero, because the other class is smaller."""

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
    return _along(problem, gram.source(), finite(gram.diag()), prices, options, start)


def _along(
    problem: QuadraticProgram,
    source: RowSource,
    diagonal: Vector,
    prices: ArrayLike,
    options: Options,
    start: Start | None,
) -> PathSolutions:
    """Call the engine."""
    steps = np.asarray(prices, dtype=np.float64)
    n = problem.p.size
    n_threads = available_threads(options.n_threads) if n >= _engine.FEW_ROWS else 1
    nothing = (np.zeros(n), np.zeros(n), np.inf)
    beta, image, price = nothing if start is None else start
    betas, images = np.full((2, steps.size, n), np.nan)
    offset, gap = np.full((2, steps.size), np.nan)
    n_iter = np.zeros(steps.size, dtype=np.int64)
    status = np.full(steps.size, STATUSES.index("interrupted"), dtype=np.uint8)
    _engine.solve_path(
        source.rows,
        (problem.p, problem.lower, problem.upper, problem.ridge, diagonal),
        source.view,
        steps,
        (beta.copy(), image.copy(), price),
        options,
        n_threads,
        (betas, images, n_iter, status, offset, gap),
    )
    ended = tuple([STATUSES[code] for code in status.tolist()])
    converged = status == STATUSES.index("converged")
    return PathSolutions(problem, steps, betas, images, offset, gap, n_iter, converged, ended)


class BoundedStart:
    """Paths that begin with all variables at their bounds, by sums of kernel rows that all share.

    Parameters
    ----------
    gram : StoredGram
        Of all rows.
    codes : ndarray of int of shape (n,)
        Classes, 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> gram = StoredGram(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]))
    >>> start = BoundedStart(gram, np.array([0, 0, 1]))
    >>> start.point(np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 1.0]), np.array([1]))
    (array([-1.,  0.,  1.]), array([-0.9, -0.3,  0.9]))
    """

    def __init__(self, gram: StoredGram, codes: Rows) -> None:
        self.gram = gram
        self.source, self.diagonal = gram.source(), finite(gram.diag())
        self.codes = codes
        self.n_classes = int(codes.max()) + 1
        self._lock = Lock()
        self._sums: Vector | None = None

    def solve(
        self,
        problem: QuadraticProgram,
        prices: Vector,
        options: Options,
        bounds: Vector,
        ends: Vector | None,
        closed: Rows,
    ) -> PathSolutions:
        """Solve a program of all rows for rising prices, from the bounds of the first if that pays.

        Parameters
        ----------
        problem : QuadraticProgram
            As in `solve_path`.
        prices : ndarray
            As in `solve_path`.
        options : Options
            As in `solve_path`.
        bounds : ndarray of shape (n,)
            As in `point`, at a price of 1.
        ends : ndarray of shape (n_classes,)
            As in `point`, at a price of 1. Without it, or where some class has none, the path
            begins at zero.
        closed : ndarray of int
            As in `point`.
        """
        start, price = None, float(prices[0])
        if ends is not None and ends.size == self.n_classes:
            found = self.point(price * bounds, price * ends, closed)
            start = None if found is None else (*found, price)
        return _along(problem, self.source, self.diagonal, prices, options, start)

    def point(self, bounds: Vector, ends: Vector, closed: Rows) -> tuple[Vector, Vector] | None:
        r"""Return :math:`\beta` and :math:`K\beta`, or None where that would be a bad start.

        Variables sum to zero, so that some of the larger side are released, those whose images
        are farthest on their own side.

        Parameters
        ----------
        bounds : ndarray of shape (n,)
            Where the variables end, the same for all rows of a class; zero for closed rows.
        ends : ndarray of shape (n_classes,)
            The same for each class.
        closed : ndarray of int
            Rows that take no part.

        Returns
        -------
        beta, image : ndarray of shape (n,), or None
        """
        image, left_out = np.zeros((2, self.gram.n))
        for end, total in zip(ends.tolist(), self._class_sums()):
            image += end * total
        self.gram.add_rows(closed, ends[self.codes[closed]], left_out)
        image -= left_out
        beta, most = bounds.copy(), int(RELEASED * bounds.size)
        return (
            (beta, image) if _engine.release_excess(self.gram.padded, most, beta, image) else None
        )

    def _class_sums(self) -> Vector:
        """Return the sum of the kernel rows of each class."""
        with self._lock:
            if self._sums is None:
                self._sums = np.zeros((self.n_classes, self.gram.n))
                for code, total in enumerate(self._sums):
                    own = np.flatnonzero(self.codes == code)
                    self.gram.add_rows(own, np.ones(own.size), total)
            return self._sums
