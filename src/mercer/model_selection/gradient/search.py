"""The ways a gradient search goes through the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.kernels import RBF, Kernel
from mercer.model_selection.gradient.descent import Descent, DescentStep
from mercer.model_selection.gradient.objective import Objective
from mercer.model_selection.gradient.relevance_objective import RelevanceObjective
from mercer.model_selection.gradient.space import Space

FIRST_SHARE = 2 / 3
"""Share of the evaluations that "auto" may spend before vectors of parameters are set free."""

FREE_BOUNDS = (1e-5, 1e3)
"""How far one entry of a vector of parameters may go from where all of them were together."""


NEARBY = 2.0
"""Factor between the C of squared slack and those that are tried with the hinge."""


@dataclass(eq=False)
class Search:
    """A search for the minimum of one objective.

    Parameters
    ----------
    objective : Objective or RelevanceObjective
    C_bounds, kernel_bounds : pair of float
    most : int
        Evaluations allowed from each starting point.
    ftol, gtol : float
    verbose : int
    history : list of dict
        Every evaluation.
    n_fits : int
        Machines trained so far.
    """

    objective: Objective | RelevanceObjective
    C_bounds: Any
    kernel_bounds: Any
    most: int
    ftol: float
    gtol: float
    verbose: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    n_fits: int = 0

    def plain(self, kernel: Kernel, C: float, starts: int, random: Any) -> DescentStep:
        """Minimise over all parameters at once."""
        space = Space.around(kernel, C, self.C_bounds, self.kernel_bounds, tied=False)
        return self._best_of(space, starts, random, "all parameters", self.most)

    def auto(self, kernel: Kernel, C: float, starts: int, random: Any) -> DescentStep:
        """Minimise with vectors tied together, then set them free if the evidence calls for it."""
        n_features = self.objective.sample.points.shape[1]
        freed = _with_widths(kernel, n_features)
        one = Space.around(kernel, C, self.C_bounds, self.kernel_bounds, tied=True)
        n_freed = freed.theta.size - one.size + (0 if np.isinf(C) else 1)
        if n_freed == 0:
            return self._best_of(one, starts, random, "all parameters", self.most)
        first_most = max(1, int(FIRST_SHARE * self.most))
        before = len(self.history)
        tied = self._best_of(one, starts, random, "together", first_most)
        left = self.most - (len(self.history) - before) // starts
        count = self.objective.sample.count
        freed = _with_widths(tied.kernel, n_features)
        if n_freed >= count or left < 1:  # there is no telling so many parameters from so few rows
            return tied
        each = Space.around(freed, tied.C, self.C_bounds, FREE_BOUNDS, tied=False)
        free = self._run(each, np.zeros(each.size), "each on its own", 0, left, 1.0 / count)
        gain = count * (tied.criterion - free.criterion)
        accepted = gain > 0.5 * freed.theta.size * np.log(count)
        self._say(
            f"log evidence gained by one parameter for each feature: {gain:.4g}, "
            f"{'accepted' if accepted else 'not accepted'}"
        )
        return free if accepted else tied

    def choose_loss(self, best: DescentStep, loss: str | None) -> tuple[str, float]:
        """Return the loss and C with the fewest errors on folds, the first of equal ones.

        The evidence knows squared slack only. Where the loss is open (None) its choice competes
        with the hinge at a smaller and a larger C; for the hinge it is but the first of three.
        """
        if loss == "squared_hinge":
            return loss, best.C
        own = (loss or "squared_hinge", best.C)
        candidates = [own, ("hinge", best.C / NEARBY), ("hinge", best.C * NEARBY)]
        errors = []
        for loss, C in candidates:
            assert isinstance(self.objective, Objective)  # a relevance vector machine has no loss
            found = self.objective.fold_error(loss, C, best.kernel)
            self.n_fits += found.n_fits
            record = {"stage": loss, "start": 0, "C": C, "kernel": best.kernel}
            self.history.append(record | {"criterion": found.value, "objective": found.value})
            errors.append(found.value)
            self._say(f"{loss} at C = {C:.4g}: {100 * found.value:.2f} % errors on folds")
        return candidates[int(np.argmin(errors))]

    def _best_of(self, space: Space, count: int, random: Any, stage: str, most: int) -> DescentStep:
        found = [
            self._run(space, point, stage, k, most)
            for k, point in enumerate(space.starts(count, random))
        ]
        return min(found, key=lambda step: step.objective)

    def _run(
        self, space: Space, point: Any, stage: str, start: int, most: int, precision: float = 0.0
    ) -> DescentStep:
        def report(step: DescentStep) -> None:
            self.n_fits += step.n_fits
            record = {"stage": stage, "start": start, "C": step.C, "kernel": step.kernel}
            record |= {"criterion": step.criterion, "objective": step.objective}
            self.history.append(record)
            if self.verbose > 1:
                self._say(f"{len(self.history):4d}  C = {step.C:<10.4g} {step.criterion:.6g}")

        descent = Descent(
            self.objective,
            space,
            logarithmic=self.objective.is_logarithmic,
            precision=precision,
            most=most,
            report=report,
        )
        best = descent.run(point, self.ftol, self.gtol)
        self._say(
            f"{stage}, start {start + 1}: criterion {best.criterion:.6g} at C = {best.C:.4g} "
            f"after {len(self.history)} evaluations"
        )
        return best

    def _say(self, line: str) -> None:
        if self.verbose:
            print(f"GradientSearch: {line}", flush=True)


def _with_widths(kernel: Kernel, n_features: int) -> Kernel:
    """Return a kernel with one width for each feature in place of one for all, if it is radial."""
    if isinstance(kernel, RBF) and not np.ndim(kernel.gamma) and n_features > 1:
        return RBF(np.full(n_features, kernel.gamma))
    return kernel
