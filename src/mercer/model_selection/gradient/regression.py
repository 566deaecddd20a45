"""Regressions under a gradient search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from mercer.kernels import Kernel
from mercer.machines import TubeMachine, TubePrice
from mercer.machines.bordered_system import LeastSquares
from mercer.model_selection.criteria.criterion import Rated
from mercer.model_selection.criteria.evidence import evidence_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.regression_error import squared_rate
from mercer.model_selection.criteria.regression_radius_margin import regression_radius_margin_of
from mercer.model_selection.criteria.validation_error import judge, on_folds
from mercer.model_selection.gradient.search import ON_FOLDS_STAGE, DescentStep, Search
from mercer.model_selection.gradient.tuning import (
    N_FOLDS,
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
    trained_on,
)

SMOOTH = {
    "evidence": evidence_of,
    "press": press_of,
    "regression_radius_margin": regression_radius_margin_of,
}
"""Criteria of one machine."""

LEAST_TUBE = 1e-6
"""The thinnest tube that "auto" begins with, as a share of the spread of the targets."""

LEAST_SIZE = 1e-140
"""Targets all of which are smaller have squares without digits; those above one over it, none."""

LEAST_TOL, LARGEST_TOL = 1e-9, 1e-2
"""Shares of that spread between which a tolerance, which has the same unit, asks for a fit."""


class TubeObjective(MachineObjective):
    """A criterion of a support vector regression."""

    known_criteria = (*SMOOTH, "regression_error")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.name = self.criterion if isinstance(self.criterion, str) else ""
        self._spread = float(np.std(self.sample.labels)) or 1.0

    def _judged(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
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


@dataclass(frozen=True, eq=False)
class RegressionTuning(Tuning):
    """An `SVR` under a gradient search.

    Parameters
    ----------
    model, criterion, cv, n_threads
        As in `Tuning`.
    adjusted : dict
        "tol", once it is known that the machine's own says nothing about targets of this size.
    """

    adjusted: dict[str, float] = field(default_factory=dict)

    criteria = TubeObjective.known_criteria
    kind = "an SVR"

    @property
    def prices(self) -> Prices:
        """C and epsilon."""
        return {"C": float(self.model.C), "epsilon": float(self.model.epsilon)}

    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return numbers whose squares are numbers too."""
        y = np.asarray(y, dtype=np.float64)
        largest = float(np.abs(y[kept]).max())
        if not (largest == 0.0 or LEAST_SIZE <= largest <= 1 / LEAST_SIZE):
            raise ValueError(
                f"The largest of y must be between {LEAST_SIZE:g} and {1 / LEAST_SIZE:g}, so that "
                "errors have squares; multiply y by a constant."
            )
        return y

    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the criterion as a function of prices and kernel, of "auto" the first one."""
        own, spread = float(self.model.tol), _spread(sample)
        tol = float(np.clip(own, LEAST_TOL * spread, LARGEST_TOL * spread))
        if tol != own:
            self.adjusted["tol"] = self.model.tol = tol
        criterion = "evidence" if self.criterion == "auto" else self.criterion
        return self._objective(criterion, kernel, sample, evaluations)

    def _objective(
        self, criterion: Any, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> TubeObjective:
        splits = _splits(self.cv, sample) if criterion == "regression_error" else []
        return TubeObjective(
            criterion, self.model, kernel, sample, splits, evaluations, self.n_threads
        )

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        r"""Go from the start to a minimum.

        "auto" takes the kernel by the evidence, and from there C and epsilon by the error on folds.
        What the evidence says about the noise, :math:`\sigma`, tells where these start: squared
        slack of that size pulls as much as slack itself at :math:`C\sigma`, and the tube is
        :math:`\varepsilon = 3\sigma\sqrt{\ln n/n}` (Cherkassky and Ma).
        """
        first, own_bounds = search.objective, search.C_bounds
        assert isinstance(first, TubeObjective)
        unit = _spread(first.sample) if self.model.loss == "epsilon_insensitive" else 1.0
        if self.criterion == "auto":
            squared = {"C": min(self.prices["C"], 1.0), "epsilon": 0.0}
            found = search.auto(kernel, squared, n_starts, random)
            args = (found.kernel, first.sample, first.evaluations)
            search.objective = self._objective("regression_error", *args)
        search.C_bounds = tuple(unit * float(end) for end in own_bounds)
        if self.criterion != "auto":
            return search.plain(kernel, self.prices, n_starts, random)
        space = search.space(found.kernel, self._start(first, found)).of_prices()
        (start,) = space.starts(1, random)
        return search.run(space, start, ON_FOLDS_STAGE, 0, search.most)

    def _start(self, objective: TubeObjective, found: DescentStep) -> Prices:
        """Return C and epsilon from what the evidence says about the noise."""
        if np.isinf(found.prices["C"]):
            return self.prices
        sample = objective.sample
        noise = objective.noise(found.prices, found.kernel)
        noise = max(noise, LEAST_TUBE * _spread(sample))
        C = (
            found.prices["C"] * noise
            if self.model.loss == "epsilon_insensitive"
            else found.prices["C"]
        )
        count = max(sample.count, 2.0)
        epsilon = 3.0 * noise * float(np.sqrt(np.log(count) / count))
        return {"C": C, "epsilon": epsilon if self.prices["epsilon"] > 0 else 0.0}

    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return prices and kernel."""
        return best.prices | kernel_params(self.model, [best.kernel])[0] | self.adjusted

    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return prices and kernel of one evaluation."""
        params = {"C": step["C"], "epsilon": step["epsilon"]}
        return params | own | self.adjusted

    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return R^2 of what machines without its fold say about each row."""
        predicted = np.full(sample.n, np.nan)
        for seen, held in _splits(N_FOLDS, sample):
            predicted[held] = trained_on(self.model, best.kernel, sample, seen)(held)
        known = np.isfinite(predicted)
        return float(
            r2_score(sample.labels[known], predicted[known], sample_weight=sample.weights[known])
        )


def _spread(sample: Sample) -> float:
    """Return the standard deviation of the targets, 1 where they are all equal."""
    mean = np.average(sample.labels, weights=sample.weights)
    return float(np.sqrt(np.average((sample.labels - mean) ** 2, weights=sample.weights))) or 1.0


def _splits(cv: Any, sample: Sample) -> Any:
    return splits_of_rows(cv, sample, np.zeros(sample.n, dtype=np.int64))
