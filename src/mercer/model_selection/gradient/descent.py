"""Descending to the minimum of a criterion in the space of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer.kernels import Kernel
from mercer.machines.bordered_system import NoSolutionError
from mercer.model_selection.gradient.evaluations import Evaluation
from mercer.model_selection.gradient.space import Space

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DescentStep:
    """One evaluation on the way to a minimum.

    Parameters
    ----------
    point : ndarray
        Coordinates.
    C : float
    kernel : Kernel
    criterion : float
        Value of the criterion.
    objective : float
        What is minimised: the criterion or its logarithm, and a prior where there is one.
    n_fits : int
        Machines trained for it.
    """

    point: Floats
    C: float
    kernel: Kernel
    criterion: float
    objective: float
    n_fits: int


WALL = 1e3
"""What is added to the objective where a machine has no solution, to turn a search back."""


class _OutOfEvaluationsError(Exception):
    """Ends the minimisation where the number of evaluations is spent."""


class Descent:
    r"""L-BFGS-B on a criterion, from one starting point.

    Parameters
    ----------
    evaluate : callable
        From C and the kernel to the criterion.
    space : Space
    logarithmic : bool
        Whether to minimise the logarithm.
    precision : float
        Of a normal prior on the coordinates of the kernel around 0: half the square of each, times
        this, is added.
    most : int
        Evaluations allowed, at least one.
    report : callable
        Told about each step.
    """

    def __init__(
        self,
        evaluate: Callable[[float, Kernel], Evaluation],
        space: Space,
        *,
        logarithmic: bool,
        precision: float,
        most: int,
        report: Callable[[DescentStep], Any],
    ) -> None:
        self.evaluate = evaluate
        self.space = space
        self.logarithmic = logarithmic
        self.precision = precision
        self.left = most
        self.report = report
        self.best: DescentStep | None = None

    def run(self, start: Floats, ftol: float, gtol: float) -> DescentStep:
        """Return the best step of all, with the limits of SciPy."""
        start, value, slope = self._first(start)
        # The first step goes as far as the gradient is long: in these units it has the length 1.
        unit = max(float(np.linalg.norm(slope)), gtol)
        known = {start.tobytes(): (value, slope)}

        def scaled(point: Floats) -> tuple[float, Floats]:
            key = point.tobytes()
            found, gradient = known.pop(key) if key in known else self._objective(point)
            return (found - value) / unit, gradient / unit

        # SciPy takes the decrease relative to the value, or as it is where that is below 1.
        options = {"ftol": ftol * max(abs(value), 1.0) / unit, "gtol": gtol / unit}
        bounds = self.space.bounds
        with suppress(_OutOfEvaluationsError):
            if start.size:
                minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        assert self.best is not None  # at least one evaluation was allowed
        return self.best

    def _first(self, start: Floats) -> tuple[Floats, float, Floats]:
        """Evaluate at the start, or at a smaller C where there is no solution."""
        floor = 0.0 if self.space.log_penalty is None else self.space.bounds[0, 0]
        while True:
            try:
                return start, *self._objective(start)
            except NoSolutionError:
                if start.size == 0 or start[0] <= floor:
                    raise
                start = start.copy()
                start[0] = max(start[0] - np.log(10.0), floor)

    def _objective(self, point: Floats) -> tuple[float, Floats]:
        if self.left <= 0 and self.best is not None:
            raise _OutOfEvaluationsError
        self.left -= 1
        C, kernel = self.space.at(point)
        try:
            found = self.evaluate(C, kernel)
        except NoSolutionError:
            if self.best is None:
                raise
            return self.best.objective + WALL, np.zeros(self.space.size)
        value, gradient = found.value, self.space.pull_back(found.gradient)
        if self.logarithmic:
            value, gradient = float(np.log(value)), gradient / value
        if self.precision:
            held = np.zeros(self.space.size)
            held[self.space.of_kernel] = self.precision * point[self.space.of_kernel]
            value, gradient = value + 0.5 * float(held @ point), gradient + held
        step = DescentStep(point.copy(), C, kernel, found.value, value, found.n_fits)
        self.report(step)
        if self.best is None or value < self.best.objective:
            self.best = step
        return value, gradient
