"""The evidence of a relevance vector machine as what a search minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.kernels import Kernel
from mercer.model_selection.gradient.evaluations import Evaluation, Evaluations
from mercer.model_selection.gradient.objective import Sample
from mercer.relevance import RVC, relevance_evidence


@dataclass(eq=False)
class RelevanceObjective:
    """Evaluates the negative log evidence, for each row, unless it is known already.

    Every evaluation is a fit; the slope is that with its vectors and precisions held fixed.

    Parameters
    ----------
    model : RVC
        The classifier whose kernel is searched; not changed.
    sample : Sample
    evaluations : Evaluations
    checkpoint : path or None
        Where to save all of them after each evaluation.
    """

    model: RVC
    sample: Sample
    evaluations: Evaluations
    checkpoint: Any

    is_logarithmic = False

    def __call__(self, C: float, kernel: Kernel) -> Evaluation:
        """Return the criterion with its gradient in the kernel's parameters."""
        key = np.append(kernel.theta, C).tobytes()
        if key not in self.evaluations.known:
            self.evaluations.known[key] = self._evaluate(kernel)
            if self.checkpoint is not None:
                self.evaluations.save(self.checkpoint)
        return self.evaluations.known[key]

    def _evaluate(self, kernel: Kernel) -> Evaluation:
        sample = self.sample
        model = clone(self.model).set_params(kernel=kernel)
        model.fit(sample.points, sample.labels, sample_weight=sample.weights)
        found = relevance_evidence(
            model, sample.points, sample.labels, sample_weight=sample.weights
        )
        assert found.gradient is not None
        return Evaluation(-found.value / sample.count, -found.gradient / sample.count, 1)
