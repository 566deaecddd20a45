"""The evidence of a relevance vector machine as what a search minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.kernels import Kernel
from mercer.model_selection.gradient.evaluations import Evaluation, Memory
from mercer.model_selection.gradient.objective import Sample
from mercer.relevance import RVC, relevance_evidence


@dataclass(eq=False)
class RelevanceObjective:
    """Evaluates the negative log evidence, for each row, unless the memory knows it already.

    Every evaluation is a fit; the slope is that with its vectors and precisions held fixed.

    Parameters
    ----------
    model : RVC
        The classifier whose kernel is searched; not changed.
    sample : Sample
    memory : Memory
    checkpoint : path or None
        Where to save the memory after each evaluation.
    """

    model: RVC
    sample: Sample
    memory: Memory
    checkpoint: Any

    is_logarithmic = False

    def __call__(self, C: float, kernel: Kernel) -> Evaluation:
        """Return the criterion with its gradient in the kernel's parameters."""
        key = np.append(kernel.theta, C).tobytes()
        if key not in self.memory.evaluations:
            self.memory.evaluations[key] = self._evaluate(kernel)
            if self.checkpoint is not None:
                self.memory.save(self.checkpoint)
        return self.memory.evaluations[key]

    def _evaluate(self, kernel: Kernel) -> Evaluation:
        sample = self.sample
        model = clone(self.model).set_params(kernel=kernel)
        model.fit(sample.points, sample.labels, sample_weight=sample.weights)
        found = relevance_evidence(
            model, sample.points, sample.labels, sample_weight=sample.weights
        )
        assert found.gradient is not None
        return Evaluation(-found.value / sample.count, -found.gradient / sample.count, 1)
