"""The machines of a fold, for one price after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, StoredGram, finite
from mercer.machines.training import Penalty, TwoClassTask, decompose
from mercer.problems import QuadraticProgram
from mercer.solvers import Options, PathSolutions, Solution, solve, solve_path
from mercer.solvers.path import SINGLE_MARGIN, SINGLE_ROUNDING

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

TOLERATED = 10.0
"""Multiple of the tolerance up to which rounding of float32 rows is let pass: decision values are
then off by as much, a hundredth of the margin with the usual tolerance."""

FAINT = 1e-30
"""Kernel values below this are lost beside others in float32."""

HIDDEN_BY_OFFSET = FAINT / np.finfo(np.float64).eps
"""An offset larger than this, for each unit of weight, leaves nothing of faint kernel values."""


RELEASED = 0.1
"""Share of the rows that may have to stay at zero, because the other class is smaller."""

ROUNDING = 1e-10
"""Errors of sums, relative to what is summed."""


class BoundedStart:
    """Points with all variables at their bounds, from sums of kernel rows that all folds share.

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
    >>> start.point(np.array([-1.0, 0.0, 1.0]), np.array([1]))
    (array([-1.,  0.,  1.]), array([-0.9, -0.3,  0.9]))
    """

    def __init__(self, gram: StoredGram, codes: Rows) -> None:
        self.gram = gram
        self.codes = codes
        self._lock = Lock()
        self._sums: list[Floats] = []

    def point(self, bounds: Floats, closed: Rows) -> tuple[Floats, Floats] | None:
        r"""Return :math:`\beta` and :math:`K\beta`, or None where that would be a bad start.

        Variables sum to zero, so that some of the larger side are released, those whose images
        are farthest on their own side.

        Parameters
        ----------
        bounds : ndarray of shape (n,)
            Where the variables end, the same for all rows of a class; zero for closed rows.
        closed : ndarray of int
            Rows that take no part.

        Returns
        -------
        beta, image : ndarray of shape (n,), or None
        """
        factors = np.zeros(self.codes.max() + 1)
        members = np.flatnonzero(bounds)
        factors[self.codes[members]] = bounds[members]
        outside = np.zeros_like(bounds)
        outside[closed] = factors[self.codes[closed]]
        image = self._weighted(factors) - self.gram.times(outside)
        beta = bounds.copy()
        if not self._release(beta, image) or beta @ image > np.abs(beta).sum():
            return None
        return beta, image

    def _weighted(self, factors: Floats) -> Floats:
        """Return the sum of all kernel rows, each times the factor of its class."""
        with self._lock:
            while len(self._sums) < factors.size:
                own = self.codes == len(self._sums)
                self._sums.append(self.gram.times(own.astype(np.float64)))
        total = np.zeros_like(self._sums[0])
        for factor, one in zip(factors, self._sums):
            total += factor * one
        return total

    def _release(self, beta: Floats, image: Floats) -> bool:
        """Change variables until they sum to zero; say False where those would be too many."""
        excess = float(beta.sum())
        side = np.sign(excess)
        larger = np.flatnonzero(side * beta > 0)
        most = int(RELEASED * beta.size)
        if larger.size > most:
            larger = larger[np.argpartition(-side * image[larger], most)[:most]]
        order = larger[np.argsort(-side * image[larger], kind="stable")]
        sizes = np.abs(beta[order])
        taken = np.minimum(np.maximum(abs(excess) - (np.cumsum(sizes) - sizes), 0.0), sizes)
        # Rounding must not leave a variable beside its bound: it would count as one between them.
        taken[taken < ROUNDING * sizes] = 0.0
        whole = taken > (1.0 - ROUNDING) * sizes
        taken[whole] = sizes[whole]
        change = np.zeros_like(beta)
        change[order] = -side * taken
        beta += change
        image += self.gram.times(change)
        return bool(abs(beta.sum()) <= ROUNDING * np.abs(beta).sum())


@dataclass(frozen=True, eq=False)
class SharedMatrix:
    """A kernel matrix for all folds and all prices.

    Parameters
    ----------
    gram : StoredGram
        Of all rows, float32 where that has room for them.
    exact : Gram
        The same with float64 values, computed when asked for: where float32 is not enough for the
        tolerance, and for kernels so narrow that float32 would call all distant points equally
        distant.
    start : BoundedStart
        Where machines of all rows begin, if not at zero.
    diagonal : ndarray of shape (n,)
    """

    gram: StoredGram
    exact: Gram
    start: BoundedStart
    diagonal: Floats

    @classmethod
    def of(cls, gram: StoredGram, exact: Gram, codes: Rows) -> SharedMatrix:
        """Return what all folds share of the matrix of rows with these classes."""
        return cls(gram, exact, BoundedStart(gram, codes), gram.diag())


@dataclass(frozen=True, eq=False)
class PathSettings:
    """What the machines of all folds have in common.

    Parameters
    ----------
    prices : ndarray of shape (m,)
        Rising.
    multi_class : {"ovo", "ovr"}
    options : Options
        Their limits are those of each machine.
    """

    prices: Floats
    multi_class: str
    options: Options

    @cached_property
    def rough(self) -> Options:
        """What float32 rows are solved to, so that the gap in float64 is within the tolerance."""
        return replace(self.options, tol=SINGLE_MARGIN * self.options.tol)


@dataclass(frozen=True, eq=False)
class FoldPath:
    """The machines of one kernel and one fold.

    Parameters
    ----------
    matrix : SharedMatrix
    codes : ndarray of int of shape (n,)
        Classes of all rows, 0, 1, ...
    n_classes : int
        Those of the training rows. With fewer than the matrix was made for, ``codes`` are others.
    train, test : ndarray of int
        The fold.
    penalty : Penalty
        Of the training rows, for a price of 1.
    """

    matrix: SharedMatrix
    codes: Rows
    n_classes: int
    train: Rows
    test: Rows
    penalty: Penalty

    def values(self, settings: PathSettings) -> tuple[Floats, list[Solution]]:
        """Return decision values of all rows for rising prices.

        Returns
        -------
        values : ndarray of shape (m, n, n_machines)
        unsolved : list of Solution
            Those that are above the gap, but for a little that float32 rows leave.
        """
        finite(self.matrix.exact.diag())
        columns, unsolved = [], []
        tasks = decompose(self.codes[self.train], self.n_classes, settings.multi_class)
        for task in list(tasks):
            found, above = self._machine(task, settings)
            columns.append(found)
            unsolved += above
        return np.stack(columns, axis=-1), unsolved

    def _machine(self, task: TwoClassTask, settings: PathSettings) -> tuple[Floats, list[Solution]]:
        """Return decision values of all rows for one machine along the path."""
        problem, prices, options = self.penalty.program(task), settings.prices, settings.options
        rows, diagonal, first = self.train[task.rows], self.matrix.diagonal, None
        shared = self.matrix.gram
        whole = rows.size + self.test.size == self.codes.size
        gram: Gram = shared
        if whole:  # the rows left out stay in the problem, closed, and get their values for nothing
            spread = np.zeros((4, self.codes.size))
            spread[:, rows] = problem.p, problem.lower, problem.upper, problem.ridge
            p, lower, upper, ridge = spread
            problem = QuadraticProgram.known(p, lower, upper, problem.delta, ridge)
            rows = np.arange(self.codes.size)
            first = self._first(lower + upper, prices[0])
        else:
            gram, diagonal = shared.stored(rows, "single"), diagonal[rows]
        found = solve_path(problem, gram, prices, settings.rough, start=first)
        betas, offsets = found.betas, found.offset
        if whole:
            values = found.images
        else:
            weights = betas.astype(shared.values.dtype, copy=False)
            values = (weights @ shared.values[rows]).astype(np.float64, copy=False)
        failed, doubtful, is_noise = _judged(found, betas * diagonal, options.tol)
        unsolved = [found[k] for k in np.flatnonzero(failed & ~doubtful).tolist()]
        values += offsets[:, None]
        for k in np.flatnonzero(doubtful).tolist():
            known = None if is_noise[k] else betas[k]
            exact = self._solve_exactly(found.program(k), rows, known, options)
            betas[k], offsets[k] = exact.beta, exact.offset
            values[k] = self.matrix.exact.times(self._spread(rows, exact.beta)) + exact.offset
            unsolved += [] if exact.converged else [exact]
        self._mend_distant(values, rows, betas, offsets)
        return values, unsolved

    def _spread(self, rows: Rows, values: Floats) -> Floats:
        """Return values of some rows with zeros for the others."""
        spread = np.zeros(self.codes.size)
        spread[rows] = values
        return spread

    def _first(self, bounds: Floats, price: float) -> tuple[Floats, Floats, float] | None:
        """Return where to begin, if better than zero is known."""
        start = self.matrix.start
        lacks_class = self.n_classes <= start.codes.max()
        if lacks_class or not np.isfinite(bounds).all():
            return None
        found = start.point(price * bounds, self.test)
        return None if found is None else (*found, price)

    def _solve_exactly(
        self, program: QuadraticProgram, rows: Rows, beta: Floats | None, options: Options
    ) -> Solution:
        """Go on with float64 rows, from a point if one is known."""
        exact = self.matrix.exact
        gram = exact if rows.size == exact.n else exact.subset(rows)
        return solve(program, gram, warm_start=beta, **{**vars(options), "solver": "smo"})

    def _mend_distant(self, values: Floats, rows: Rows, betas: Floats, offsets: Floats) -> None:
        """Compute in float64 what models whose offset hides nothing say of points far from all."""
        weights = np.abs(betas).sum(axis=1)
        weak = np.flatnonzero(np.abs(offsets) <= HIDDEN_BY_OFFSET * weights)
        if weak.size == 0:
            return
        used = betas[weak].any(axis=0)
        rows, betas = rows[used], betas[np.ix_(weak, used)]
        near = np.abs(self.matrix.gram.values[np.ix_(self.test, rows)]).max(axis=1, initial=0.0)
        far = self.test[near < FAINT]
        values[np.ix_(weak, far)] = betas @ self.matrix.exact.block(rows, far) + offsets[weak, None]


def _judged(found: PathSolutions, weights: Floats, tol: float) -> tuple[Mask, Mask, Mask]:
    """Tell which solutions are above the gap, which may be by float32 rows, and which are noise.

    What these rows may leave is let pass. ``weights`` are the variables times the diagonal. Where
    rounding is larger than the margin, the matrix need not even have been definite, and the point
    may lie anywhere.
    """
    stalled = np.array([status == "stalled" for status in found.status])
    failed = ~found.converged & ~(stalled & (found.gap <= TOLERATED * tol))
    rounding = SINGLE_ROUNDING * np.sqrt(np.einsum("ij,ij->i", weights, weights))
    return failed, (stalled & failed) | (rounding > TOLERATED * tol), ~(rounding <= 1.0)
