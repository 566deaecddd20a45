"""A fold, its machines, and these for one price after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram, StoredGram
from mercer.gram.base import fits_single
from mercer.kernels.blocks import submatrix
from mercer.machines.training import Penalty, TwoClassTask, decompose
from mercer.problems import QuadraticProgram
from mercer.solvers import BoundedStart, Options, PathSolutions, Solution, solve, solve_path
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


@dataclass(frozen=True, eq=False)
class FoldMachine:
    """One machine of a fold, at a price of 1.

    Parameters
    ----------
    program : QuadraticProgram
    rows : ndarray of int
        Whose variables the program has.
    is_whole : bool
        Whether these are all rows, those left out being closed: they get their values for nothing.
    ends : ndarray of shape (n_classes,) or None
        Where the variables of each class end, if all do.
    """

    program: QuadraticProgram
    rows: Rows
    is_whole: bool
    ends: Floats | None

    @cached_property
    def bounds(self) -> Floats:
        """Where each variable ends; the other end is zero."""
        return self.program.lower + self.program.upper

    @cached_property
    def largest(self) -> float:
        """The most that a variable can weigh, which need not be finite."""
        return float(np.abs(self.bounds).max())

    @cached_property
    def room(self) -> float:
        """The most that the variables can weigh together."""
        return float(np.abs(self.bounds).sum())


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, rows left out, and the machines to be trained.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Classes of all rows, 0, 1, ...
    n_classes : int
        Those of the training rows. With fewer than the matrix was made for, ``codes`` are others.
    train, test : ndarray of int
    penalty : Penalty
        Of the training rows, for a price of 1.
    multi_class : {"ovo", "ovr"}
    """

    codes: Rows
    n_classes: int
    train: Rows
    test: Rows
    penalty: Penalty
    multi_class: str

    @cached_property
    def machines(self) -> list[FoldMachine]:
        """One for two classes, else one for each pair or each class."""
        tasks = decompose(self.codes[self.train], self.n_classes, self.multi_class)
        return [self._machine(task) for task in tasks]

    def _machine(self, task: TwoClassTask) -> FoldMachine:
        program, rows, n = self.penalty.program(task), self.train[task.rows], self.codes.size
        if rows.size + self.test.size != n:
            return FoldMachine(program, rows, False, None)
        spread = np.zeros((4, n))
        spread[:, rows] = program.p, program.lower, program.upper, program.ridge
        p, lower, upper, ridge = spread
        whole = QuadraticProgram.known(p, lower, upper, program.delta, ridge)
        bounds, ends = lower + upper, None
        if np.isfinite(bounds).all():
            ends = np.zeros(self.n_classes)
            ends[self.codes[rows]] = bounds[rows]
        return FoldMachine(whole, np.arange(n), True, ends)


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
        Solves machines of all rows.
    """

    gram: StoredGram
    exact: Gram
    start: BoundedStart

    @classmethod
    def of(cls, gram: StoredGram, exact: Gram, codes: Rows) -> SharedMatrix:
        """Return what all folds share of the matrix of rows with these classes.

        A matrix beyond computing with is refused here, before any fold begins.
        """
        return cls(gram, exact, BoundedStart(gram, codes))


@dataclass(frozen=True, eq=False)
class PathSettings:
    """What the machines of all folds have in common.

    Parameters
    ----------
    prices : ndarray of shape (m,)
        Rising.
    options : Options
        Their limits are those of each machine.
    """

    prices: Floats
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
    fold : Fold
        The same for all kernels.
    """

    matrix: SharedMatrix
    fold: Fold

    def values(self, settings: PathSettings, rows: Rows) -> tuple[Floats, list[Solution]]:
        """Return decision values for rising prices.

        Parameters
        ----------
        settings : PathSettings
        rows : ndarray of int
            Those of the values: first the rows left out, then perhaps others.

        Returns
        -------
        values : ndarray of shape (m, len(rows), n_machines)
        unsolved : list of Solution
            Those that are above the gap, but for a little that float32 rows leave.
        """
        columns, unsolved = [], []
        for machine in self.fold.machines:
            found, above = self._machine(machine, settings, rows)
            columns.append(found)
            unsolved += above
        values = columns[0][..., None] if len(columns) == 1 else np.stack(columns, axis=-1)
        return values, unsolved

    def _machine(
        self, machine: FoldMachine, settings: PathSettings, wanted: Rows
    ) -> tuple[Floats, list[Solution]]:
        """Return decision values for one machine along the path."""
        prices, options, rows = settings.prices, settings.options, machine.rows
        shared, start = self.matrix.gram, self.matrix.start
        if machine.is_whole:
            own = (machine.bounds, machine.ends, self.fold.test)
            found = start.solve(machine.program, prices, settings.rough, *own)
            diagonal, values = start.diagonal, found.images[:, wanted]
        else:
            found = solve_path(
                machine.program, shared.stored(rows, "single"), prices, settings.rough
            )
            diagonal = start.diagonal[rows]
            values = _products(found.betas, diagonal, submatrix(shared.values, rows, wanted))
        betas, offsets = found.betas, found.offset
        values += offsets[:, None]
        unsolved: list[Solution] = []
        if not _is_sound(found, machine, diagonal, options.tol):
            unsolved = self._mend_doubtful(values, found, rows, wanted, options)
        weak = _without_offset(betas, offsets, machine.room * prices)
        if weak.size:
            self._mend_distant(values, weak, rows, betas, offsets)
        return values, unsolved

    def _mend_doubtful(
        self, values: Floats, found: PathSolutions, rows: Rows, wanted: Rows, options: Options
    ) -> list[Solution]:
        """Solve in float64 what float32 rows may have spoilt, and return what is unsolved still."""
        diagonal = self.matrix.start.diagonal[rows]
        failed, doubtful, is_noise = _judged(found, found.betas * diagonal, options.tol)
        unsolved = [found[k] for k in np.flatnonzero(failed & ~doubtful).tolist()]
        for k in np.flatnonzero(doubtful).tolist():
            known = None if is_noise[k] else found.betas[k]
            exact = self._solve_exactly(found.program(k), rows, known, options)
            found.betas[k], found.offset[k] = exact.beta, exact.offset
            spread = np.zeros(self.matrix.gram.n)
            spread[rows] = exact.beta
            values[k] = self.matrix.exact.times(spread, wanted) + exact.offset
            unsolved += [] if exact.converged else [exact]
        return unsolved

    def _solve_exactly(
        self, program: QuadraticProgram, rows: Rows, beta: Floats | None, options: Options
    ) -> Solution:
        """Go on with float64 rows, from a point if one is known."""
        exact = self.matrix.exact
        gram = exact if rows.size == exact.n else exact.subset(rows)
        return solve(program, gram, warm_start=beta, **{**vars(options), "solver": "smo"})

    def _mend_distant(
        self, values: Floats, weak: Rows, rows: Rows, betas: Floats, offsets: Floats
    ) -> None:
        """Compute in float64 what models without offset say of points far from all."""
        used = betas[weak].any(axis=0)
        rows, betas, test = rows[used], betas[np.ix_(weak, used)], self.fold.test
        far = np.flatnonzero(~self.matrix.gram.reaches(test, rows, FAINT))
        products = betas @ self.matrix.exact.block(rows, test[far])
        values[np.ix_(weak, far)] = products + offsets[weak, None]


def _products(betas: Floats, diagonal: Floats, block: Any) -> Floats:
    """Return the products with kernel values as short as these are, where that has room."""
    largest = float(np.abs(betas).max(initial=0.0))
    if fits_single(largest) and fits_single(largest * float(np.abs(diagonal).max())):
        betas = betas.astype(block.dtype, copy=False)
    products: Floats = (betas @ block).astype(np.float64, copy=False)
    return products


def _without_offset(betas: Floats, offsets: Floats, room: Floats) -> Rows:
    """Return the models whose offset hides nothing. ``room`` is the most that betas can weigh."""
    size = np.abs(offsets)
    if (size > HIDDEN_BY_OFFSET * room).all():  # which spares a look at the variables
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(size <= HIDDEN_BY_OFFSET * np.abs(betas).sum(axis=1))


def _is_sound(found: PathSolutions, machine: FoldMachine, diagonal: Floats, tol: float) -> bool:
    """Say whether nothing needs a closer look, from bounds times the diagonal instead of variables.

    They tell the most that float32 rows can do at the highest price, in a fraction of the time.
    Variables without bounds may do anything, and a product that is too large is so by itself.
    """
    allowed = TOLERATED * tol / (SINGLE_ROUNDING * float(found.prices[-1]))
    if not (found.converged.all() and machine.largest * float(np.abs(diagonal).max()) <= allowed):
        return False
    weights = machine.bounds * diagonal
    return bool(np.sqrt(weights @ weights) <= allowed)


def _judged(found: PathSolutions, weights: Floats, tol: float) -> tuple[Mask, Mask, Mask]:
    """Tell which solutions are above the gap, which may be by float32 rows, and which are noise.

    What these rows may leave is let pass. ``weights`` are the variables times the diagonal. Where
    rounding is larger than the margin, the matrix need not even have been definite, and the point
    may lie anywhere.
    """
    stalled = np.array([status == "stalled" for status in found.status])
    failed = ~found.converged & ~(stalled & (found.gap <= TOLERATED * tol))
    rounding = SINGLE_ROUNDING * np.sqrt(np.einsum("ij,ij->i", weights, weights))
    return failed, (stalled & failed) | ~(rounding <= TOLERATED * tol), ~(rounding <= 1.0)
