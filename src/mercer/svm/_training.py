"""What a classifier knows while it is being fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.kernels import Kernel
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution
from mercer.svm._decomposition import TwoClassTask


@dataclass(frozen=True, eq=False)
class Training:
    """The machines of one fit and all that they were made of.

    Parameters
    ----------
    kept : ndarray of int
        Rows with weight above zero; all other indices count among these.
    classes : ndarray
        Labels that occur in them.
    codes : ndarray of int
        Position of each row's label in ``classes``.
    kernel : Kernel
    gram : Gram
        Kernel matrix of the rows.
    tasks, problems, solutions : list
        One of each for every machine.
    """

    kept: NDArray[np.int64]
    classes: Any
    codes: NDArray[np.int64]
    kernel: Kernel
    gram: Gram
    tasks: list[TwoClassTask]
    problems: list[QuadraticProgram]
    solutions: list[Solution]

    def part(self, task: TwoClassTask) -> Gram:
        """Return the kernel matrix of the rows of one machine."""
        return self.gram if task.rows.size == self.gram.n else self.gram.subset(task.rows)
