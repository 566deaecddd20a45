"""The machines of a classifier, trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.machines.messages import no_minimum
from mercer.machines.penalty import Penalty
from mercer.machines.tasks import TwoClassTask, TwoClassTasks
from mercer.problems import Programs
from mercer.solvers import Options, Solutions, solve_all

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Training:
    """Two-class machines on the rows of one kernel matrix, with their solutions.

    Parameters
    ----------
    gram : Gram
    tasks : TwoClassTasks
    programs : Programs
    solutions : Solutions
    """

    gram: Gram
    tasks: TwoClassTasks
    programs: Programs
    solutions: Solutions

    @classmethod
    def of(
        cls,
        gram: Gram,
        tasks: TwoClassTasks,
        penalty: Penalty,
        options: Options,
        starts: Sequence[Floats] | None = None,
        refusal: str | None = None,
    ) -> Training:
        """Train all machines, within the limits of the options together.

        Parameters
        ----------
        gram : Gram
            Kernel matrix of all rows.
        tasks : TwoClassTasks
        penalty : Penalty
        options : Options
        starts : sequence of ndarray, one for each machine, or None, default=None
            Where to start; left aside where the sizes do not fit.
        refusal : str or None, default=None
            What to say where there is no solution, if not the usual.

        Returns
        -------
        Training
        """
        programs = penalty.programs(tasks)
        fits = starts is not None and [len(s) for s in starts] == np.diff(tasks.ends).tolist()
        solutions = solve_all(
            programs,
            gram,
            options,
            rows=None if len(tasks) == 1 else tasks.rows,
            warm_start=np.concatenate(starts) if starts is not None and fits else None,
        )
        if "unbounded" in solutions.status:
            raise ValueError(refusal or no_minimum(penalty.loss))
        return cls(gram, tasks, programs, solutions)

    def part(self, task: TwoClassTask) -> Gram:
        """Return the kernel matrix of the rows of one machine."""
        return self.gram if task.rows.size == self.gram.n else self.gram.subset(task.rows)

    @property
    def decision(self) -> Floats:
        """f(x) of each row by each of its machines, one machine after the other."""
        solutions = self.solutions
        image = self.programs.image(solutions.beta, solutions.gradient)
        return image + np.repeat(solutions.offset, np.diff(self.tasks.ends))

    @property
    def slack(self) -> Floats:
        """max(0, 1 - y f(x)), laid out in the same way."""
        return np.maximum(0.0, 1.0 - self.tasks.signs * self.decision)

    @property
    def margin(self) -> Floats:
        """1/|w| of each machine, where |w|^2 = b'Kb."""
        beta = self.solutions.beta
        image = self.programs.image(beta, self.solutions.gradient)
        squared = np.add.reduceat(beta * image, self.programs.starts)
        with np.errstate(divide="ignore"):
            return 1.0 / np.sqrt(np.maximum(squared, 0.0))

    def warm_start(self) -> list[Any]:
        """Return the solutions from which another fit may go on."""
        return np.split(self.solutions.beta, self.tasks.ends[1:-1])
