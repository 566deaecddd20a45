"""The error of a one-class machine as a function of the parameters of its kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.machines import KernelData
from mercer.model_selection.criteria.criterion import Rated
from mercer.model_selection.criteria.region_error import (
    MIX,
    SLOPE,
    drawn_outliers,
    region_machine,
    region_rate,
    with_outliers,
)
from mercer.model_selection.criteria.validation_error import Splits, judge, on_folds
from mercer.model_selection.gradient.objective import (
    SOLVER_TOL,
    Evaluations,
    Prices,
    RememberedObjective,
    Sample,
    judged_by_user,
)
from mercer.spheres import SVDD, OneClassSVM

Floats = NDArray[np.float64]

STEEP = 1e9
"""Slope of a sigmoid that is a step."""


class RegionObjective(RememberedObjective):
    """A criterion of a one-class machine.

    Parameters
    ----------
    criterion : "region_error" or callable
        Or a function of a fitted machine and X that returns a `Criterion`.
    model : SVDD or OneClassSVM
        The machine whose kernel is searched; not changed.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    splits : list of pairs of arrays
        Folds.
    evaluations : Evaluations
    n_threads : int or None
    """

    known_criteria = ("region_error",)

    def __init__(
        self,
        criterion: Any,
        model: SVDD | OneClassSVM,
        kernel: Kernel,
        sample: Sample,
        splits: Splits,
        evaluations: Evaluations,
        n_threads: int | None,
    ) -> None:
        super().__init__(sample, evaluations)
        self.criterion = criterion
        self.is_logarithmic = isinstance(criterion, str)
        self.model = model
        self.splits = splits
        self.n_threads = n_threads
        self.outliers = None if callable(criterion) else drawn_outliers(model, sample.points)
        self._data = KernelData(kernel, sample.points)
        signs = np.ones(sample.n) if sample.labels is None else sample.labels
        self._signs = np.asarray(signs, dtype=np.float64)

    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        if callable(self.criterion):
            return judged_by_user(self.criterion, self.model, self.sample, {}, kernel), 1
        return self._error(kernel, solutions.setdefault(0, {}), SLOPE, True)

    def share_right(self, kernel: Kernel) -> float:
        """Return 1 minus the error itself, without sigmoids."""
        if self.outliers is None:
            self.outliers = drawn_outliers(self.model, self.sample.points)
        (value, _), _ = self._error(kernel, {}, STEEP, False)
        return 1.0 - value

    def _error(
        self, kernel: Kernel, memory: dict[str, Floats], slope: float, gradient: bool
    ) -> tuple[Rated, int]:
        machine = region_machine(
            self.model,
            self._data.with_kernel(kernel),
            self._signs,
            self.sample.weights,
            memory=memory,
            tol=min(self.model.tol, SOLVER_TOL),
            n_threads=self.n_threads,
        )
        parts = on_folds(machine, self.splits)
        group = with_outliers(parts, self.outliers)
        # Each artificial outlier counts as much as a row.
        weights = [machine.weights[part.rows] for part in parts]
        weights += [np.ones(part.targets.size) for part in group[len(parts) :]]
        rate = region_rate(MIX, slope, np.concatenate(weights))
        return judge(group, rate, gradient), machine.n_fits
