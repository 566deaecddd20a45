"""Classifiers under a gradient search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from mercer._folds import fold_splits
from mercer._inputs import need_two_classes
from mercer.kernels import Kernel
from mercer.model_selection.gradient.objective import (
    ON_FOLDS,
    Evaluations,
    Objective,
    Prices,
    RelevanceObjective,
    RememberedObjective,
    Sample,
)
from mercer.model_selection.gradient.search import DescentStep, Search
from mercer.model_selection.gradient.tuning import Rows, Tuning, given_splits, kernel_params


@dataclass(frozen=True, eq=False)
class ClassifierTuning(Tuning):
    """An `SVC` under a gradient search.

    Parameters
    ----------
    model, criterion, cv, n_threads
        As in `Tuning`.
    chooses_loss : bool, default=False
        Whether the loss is left open.
    """

    chooses_loss: bool = False

    criteria = Objective.known_criteria
    kind = "an SVC"

    @property
    def prices(self) -> Prices:
        """C."""
        return {"C": float(self.model.C)}

    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return labels of two classes at least."""
        check_classification_targets(y)
        need_two_classes(np.unique(y[kept]).size)
        return y

    def strata(self, y: Any) -> Any:
        """Return the labels."""
        return y

    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the criterion as a function of C and the kernel."""
        on_folds = isinstance(self.criterion, str) and self.criterion in ON_FOLDS
        return Objective(
            "evidence" if self.criterion == "auto" else self.criterion,
            self.model,
            kernel,
            sample,
            self._splits(sample) if on_folds else [],
            evaluations,
            self.n_threads,
            # As precisions of the noise they would call for widths that know each rare row.
            weighs_classes=self.criterion != "auto",
        )

    def _splits(self, sample: Sample) -> Any:
        if isinstance(self.cv, int | np.integer):
            return fold_splits(self.cv, sample.labels)
        return given_splits(self.cv, sample, sample.labels)

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        """Go from the start to a minimum."""
        minimise = search.auto if self.criterion == "auto" else search.plain
        return minimise(kernel, self.prices, n_starts, random)

    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return loss, C and kernel."""
        loss, C = self.model.loss, best.prices["C"]
        if self.criterion == "auto" and np.isfinite(C):
            weighted = self.model.class_weight is not None
            loss, C = search.choose_loss(best, None if self.chooses_loss else loss, weighted)
        params = {"C": C, "loss": loss} if self.chooses_loss else {"C": C}
        return params | kernel_params(self.model, [best.kernel])[0]

    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return loss, C and kernel of one evaluation."""
        if self.chooses_loss:
            loss = "hinge" if step["stage"] == "hinge" else "squared_hinge"
            own = {"loss": loss} | own
        return {"C": step["C"]} | own

    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return the share of the rows that machines without their fold get right."""
        return search.objective.accuracy(self.model, best.kernel)


class RelevanceTuning(ClassifierTuning):
    """An `RVC` under a gradient search."""

    criteria = ("evidence",)
    kind = "an RVC"

    @property
    def prices(self) -> Prices:
        """None that moves."""
        return {"C": np.inf}

    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the evidence as a function of the kernel."""
        if kernel.theta.size == 0 or self.model.basis == "columns":
            raise ValueError("The basis of this RVC has no parameters to choose.")
        return RelevanceObjective(self.model, sample, evaluations)

    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return the kernel."""
        return kernel_params(self.model, [best.kernel])[0]

    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return the kernel of one evaluation."""
        return own
