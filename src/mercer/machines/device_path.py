"""The machines of a fold for one price after another, on a device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.machines.fold_path import Fold, PathSettings
from mercer.solvers import Solution, solve_path

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DevicePath:
    """The machines of one kernel and one fold, solved on a device; see `FoldPath`.

    Parameters
    ----------
    gram : DeviceGram
        Of all rows.
    fold : Fold
    """

    gram: Gram
    fold: Fold

    @staticmethod
    def suits(fold: Fold) -> bool:
        """Say whether the machines are of all rows, those left out being closed."""
        return all(machine.is_whole for machine in fold.machines)

    def values(self, settings: PathSettings, rows: Rows) -> tuple[Floats, list[Solution]]:
        """Return decision values for rising prices, and what was not brought to the tolerance."""
        columns, unsolved = [], []
        for machine in self.fold.machines:
            found = solve_path(machine.program, self.gram, settings.prices, settings.options)
            columns.append(found.images[:, rows] + found.offset[:, None])
            unsolved += [found[k] for k in np.flatnonzero(~found.converged).tolist()]
        return np.stack(columns, axis=-1), unsolved
