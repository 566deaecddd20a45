"""One-class machines under a gradient search."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import Kernel
from mercer.model_selection.criteria.criterion import Rated
from mercer.model_selection.criteria.region_error import (
    MIX,
    SLOPE,
    drawn_outliers,
    region_machine,
    region_rate,
    with_outliers,
)
from mercer.model_selection.criteria.validation_error import judge, on_folds
from mercer.model_selection.gradient.search import DescentStep, Search
from mercer.model_selection.gradient.tuning import (
    SOLVER_TOL,
    Evaluations,
    Floats,
    MachineObjective,
    Prices,
    RememberedObjective,
    Rows,
    Sample,
    Tuning,
    kernel_params,
    splits_of_rows,
)
from mercer.spheres import SVDD

STEEP = 1e9
"""Slope of a sigmoid that is a step."""

MULTIPLES = (1.0, 0.1, 10.0, 0.01, 100.0)
"""Multiples of the parameters of a kernel from whose best "auto" starts."""


class RegionObjective(MachineObjective):
    """A criterion of a one-class machine."""

    known_criteria = ("region_error",)

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        model, sample = self.model, self.sample
        self.outliers = None if callable(self.criterion) else drawn_outliers(model, sample.points)
        signs = np.ones(sample.n) if sample.labels is None else sample.labels
        self._signs = np.asarray(signs, dtype=np.float64)

    def _judged(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
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


class RegionTuning(Tuning):
    """An `SVDD` or `OneClassSVM` under a gradient search; nu and C stay as they are."""

    criteria = RegionObjective.known_criteria
    kind = "a one-class machine"
    takes_sparse = False  # artificial outliers come from a box

    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return +1 and -1, or None where there are other labels or none."""
        if y is None or not isinstance(self.model, SVDD):
            return None
        return y if np.isin(y, [-1, 1]).all() else None

    def strata(self, y: Any) -> Any:
        """Return the labels, if there are any."""
        return y

    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the error as a function of the kernel."""
        if kernel.theta.size == 0:
            raise ValueError("The kernel of this machine has no parameters to choose.")
        codes = np.zeros(sample.n, dtype=np.int64)
        if sample.labels is not None:
            codes = (np.asarray(sample.labels) > 0).astype(np.int64)
        return RegionObjective(
            "region_error" if self.criterion == "auto" else self.criterion,
            self.model,
            kernel,
            sample,
            splits_of_rows(self.cv, sample, codes),
            evaluations,
            self.n_threads,
        )

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        """Go to a minimum, of "auto" from the best of a few multiples of the kernel's parameters.

        Where a kernel is so wide that the region is a ball, or so narrow that it is the rows, the
        error hardly depends on it.
        """
        if self.criterion != "auto" or n_starts > 1:
            return search.plain(kernel, self.prices, n_starts, random)
        space = search.space(kernel, self.prices)
        points = [np.full(space.size, np.log(factor)) for factor in MULTIPLES[: search.most]]
        tried = [
            search.run(space, np.clip(point, *space.bounds.T), "multiples", 0, 1)
            for point in points
        ]
        best = min(tried, key=lambda step: step.objective)
        left = search.most - len(tried)
        if left < 1:
            return best
        found = search.run(space, best.point, "all parameters", 0, left)
        return min(best, found, key=lambda step: step.objective)

    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return the kernel."""
        return kernel_params(self.model, [best.kernel])[0]

    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return the kernel of one evaluation."""
        return own

    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return 1 minus the errors on targets left out and on artificial outliers."""
        objective = search.objective
        assert isinstance(objective, RegionObjective)
        return objective.share_right(best.kernel)
