"""Machines without each fold in turn, as one set of programs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.machines import TwoClassTasks

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

NOTHING = 1e-9
"""Smaller shares of a weight are what rounding left of a row that is wholly in a fold."""


class HeldOut(NamedTuple):
    """What a machine without a fold is judged by: rows of its task with their signs and weights."""

    task: int
    fold: int
    rows: Rows
    signs: Floats
    weights: Floats


class FoldMachines(NamedTuple):
    """All machines without each fold in turn, laid end to end.

    ``rows`` are those of the sample and ``left`` their weights without the fold; ``tasks`` counts
    the entries of both. Machines of which nothing is left are not among them.
    """

    rows: Rows
    left: Floats
    tasks: TwoClassTasks
    held_out: list[HeldOut]

    @classmethod
    def of(cls, tasks: Any, weights: Floats, shares: Floats) -> FoldMachines:
        """Lay out the machines of some tasks; ``shares`` says how much of a row is in each fold."""
        rows, left, signs, held_out = [], [], [], []
        for k, task in enumerate(tasks):
            own = weights[task.rows]
            for number, held in enumerate(shares[task.rows].T):
                kept = np.flatnonzero(own - held > NOTHING * own)
                if kept.size == 0:
                    continue
                out = np.flatnonzero(held > NOTHING * own)
                rows.append(task.rows[kept])
                left.append((own - held)[kept])
                signs.append(task.signs[kept])
                held_out.append(HeldOut(k, number, task.rows[out], task.signs[out], held[out]))
        ends = np.concatenate([[0], np.cumsum([part.size for part in rows])])
        laid = TwoClassTasks(np.arange(ends[-1]), np.concatenate(signs), ends)
        return cls(np.concatenate(rows), np.concatenate(left), laid, held_out)
