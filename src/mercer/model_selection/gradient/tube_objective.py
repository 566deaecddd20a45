"""A criterion of a regression as a function of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.machines import KernelData, TubeMachine, TubePrice
from mercer.model_selection.criteria.criterion import Rated
from mercer.model_selection.criteria.evidence import LeastSquares, evidence_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.regression_error import squared_rate
from mercer.model_selection.criteria.regression_radius_margin import regression_radius_margin_of
from mercer.model_selection.criteria.validation_error import Splits, judge, on_folds
from mercer.model_selection.gradient.objective import (
    SOLVER_TOL,
    Evaluations,
    Prices,
    RememberedObjective,
    Sample,
    judged_by_user,
)
from mercer.svm import SVR

Floats = NDArray[np.float64]

SMOOTH = {
    "evidence": evidence_of,
    "press": press_of,
    "regression_radius_margin": regression_radius_margin_of,
}
"""Criteria of one machine."""


class TubeObjective(RememberedObjective):
    """A criterion of a support vector regression.

    Parameters
    ----------
    criterion : str or callable
        A name, or a function of a fitted regression, X and y that returns a `Criterion`.
    model : SVR
        The regression whose parameters are searched; not changed.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    splits : list of pairs of arrays
        Folds, for the error on them.
    evaluations : Evaluations
    n_threads : int or None
    """

    known_criteria = (*SMOOTH, "regression_error")

    def __init__(
        self,
        criterion: Any,
        model: SVR,
        kernel: Kernel,
        sample: Sample,
        splits: Splits,
        evaluations: Evaluations,
        n_threads: int | None,
    ) -> None:
        super().__init__(sample, evaluations)
        self.criterion = criterion
        self.name = criterion if isinstance(criterion, str) else ""
        self.is_logarithmic = isinstance(criterion, str) and criterion != "evidence"
        self.model = model
        self.splits = splits
        self.n_threads = n_threads
        self._data = KernelData(kernel, sample.points)
        self._spread = float(np.std(sample.labels)) or 1.0

    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        if callable(self.criterion):
            found = judged_by_user(self.criterion, self.model, self.sample, prices, kernel)
            return found, 1
        machine = self.machine(prices, kernel, solutions.setdefault(0, {}))
        if self.criterion in SMOOTH:
            return SMOOTH[self.criterion](machine), machine.n_fits
        group = on_folds(machine, self.splits)
        rate = squared_rate(np.concatenate([machine.weights[part.rows] for part in group]))
        value, slope = judge(group, rate, True)
        return (max(value, np.finfo(float).tiny), slope), machine.n_fits  # it has a logarithm

    def machine(
        self, prices: Prices, kernel: Kernel, memory: dict[str, Floats] | None = None
    ) -> TubeMachine:
        """Return the machine at given parameters, still to be trained."""
        squared = self.model.loss == "squared_epsilon_insensitive"
        return TubeMachine(
            self._data.with_kernel(kernel),
            np.arange(self.sample.n),
            self.sample.labels,
            TubePrice(prices["C"], prices["epsilon"], squared, self.sample.weights),
            memory=memory,
            tol=min(self.model.tol, SOLVER_TOL * self._spread),
            n_threads=self.n_threads,
        )

    def noise(self, prices: Prices, kernel: Kernel) -> float:
        r"""Return the standard deviation of the noise that the evidence speaks of.

        With the scale :math:`s^2 = y^\top\beta/(n - 1)` of the process it is :math:`s/\sqrt C`.
        """
        machine = self.machine(prices, kernel)
        fit = float(machine.targets @ LeastSquares.of(machine).beta)
        return float(np.sqrt(max(fit, 0.0) / max(self.sample.count - 1.0, 1.0) / prices["C"]))
