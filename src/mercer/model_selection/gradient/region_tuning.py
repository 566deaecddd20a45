"""One-class machines under a gradient search."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import Kernel
from mercer.model_selection.gradient.objective import Evaluations, RememberedObjective, Sample
from mercer.model_selection.gradient.region_objective import RegionObjective
from mercer.model_selection.gradient.search import DescentStep, Search
from mercer.model_selection.gradient.tuning import Rows, Tuning, kernel_params, splits_of_rows
from mercer.spheres import SVDD


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
        if self.criterion == "auto" and n_starts == 1:
            return search.from_best_multiple(kernel, self.prices)
        return search.plain(kernel, self.prices, n_starts, random)

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
