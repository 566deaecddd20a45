"""A fold and the programs of its machines, which are the same for every kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mercer.machines.training import Penalty, TwoClassTask, decompose
from mercer.problems import QuadraticProgram

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


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
