"""The ways a gradient search goes through the logarithms of the parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import minimize

from mercer.kernels import RBF, Kernel
from mercer.machines.bordered_system import NoSolutionError
from mercer.model_selection.gradient.tuning import (
    Evaluation,
    Floats,
    Prices,
    RememberedObjective,
)

SPREAD = 2.5
"""Standard deviation of further starting points around the first, in logarithms."""

_LIMITS = np.finfo(np.float64)
OF_NUMBERS = np.nextafter(np.log([[_LIMITS.tiny, _LIMITS.max]]), 0.0)
"""Logarithms between which a parameter is a number, whatever the unit of the rows."""

WALL = 1e3
"""What is added to the objective where a machine has no solution, to turn a search back."""

NOTHING = 1e-290
"""Values of a criterion that are not told from 0."""

FIRST_SHARE = 2 / 3
"""Share of the evaluations that "auto" may spend before vectors of parameters are set free."""

FREE_BOUNDS = (1e-5, 1e3)
"""How far one entry of a vector of parameters may go from where all of them were together."""

ON_FOLDS_STAGE = "on folds"
"""The stage in which a regression has the prices chosen by its errors on folds."""

LAST_STAGES = ("hinge", "squared_hinge", ON_FOLDS_STAGE)
"""Stages that come last where there are any: their errors on folds decide."""


@dataclass(frozen=True, eq=False)
class Space:
    r"""Where a search moves: logarithms of prices and :math:`\theta` are :math:`a + A\varphi`.

    Parameters
    ----------
    kernel : Kernel
        Without "scale" and the like; its own parameters are part of the base a.
    theta : ndarray of shape (p,)
        These parameters.
    prices : dict
        "C" and, for a regression, "epsilon", those that stay as they are included.
    price_bounds : dict
        The bounds of those that move themselves, which logarithms and back would miss by a
        rounding. C moves unless it is infinite, epsilon unless it is 0.
    ties : ndarray of shape (k + p, q)
        A: one column for each coordinate; the first k rows are of the prices that move.
    bounds : ndarray of shape (q, 2)
        Bounds of the coordinates, which are 0 at the base; that may lie outside.
    """

    kernel: Kernel
    theta: Floats
    prices: Prices
    price_bounds: dict[str, tuple[float, float]]
    ties: Floats
    bounds: Floats

    @classmethod
    def around(
        cls,
        kernel: Kernel,
        prices: Prices,
        C_bounds: Any,
        kernel_bounds: Any,
        tied: bool,
        limits: Floats | None = None,
    ) -> Space:
        """Return the space of all parameters; with `tied` each vector moves as one.

        `limits`, where there are any, hold for each entry of theta beside its bounds.
        """
        names = kernel.theta_names
        groups = [re.sub(r"\[\d+\]$", "", name) for name in names] if tied else names
        columns = list(dict.fromkeys(groups))
        ties = np.array([[float(group == column) for column in columns] for group in groups])
        low, high = np.log(np.asarray(kernel_bounds, dtype=np.float64))
        theta = kernel.theta
        within = (OF_NUMBERS if limits is None else limits) - theta[:, None]
        bounds = np.array(
            [
                (max(low, within[own, 0].max()), min(high, within[own, 1].min()))
                for own in ties.T == 1
            ]
        ).reshape(len(columns), 2)
        moving = {name: value for name, value in prices.items() if 0.0 < value < np.inf}
        of_prices = {
            name: (float(ends[0]), float(ends[1]))
            for name, value in moving.items()
            for ends in [C_bounds if name == "C" else np.multiply(kernel_bounds, value)]
        }
        own = [np.log(of_prices[name]) - np.log(value) for name, value in moving.items()]
        whole = block_diag(np.eye(len(moving)), ties.reshape(len(names), len(columns)))
        bounds = np.vstack([np.reshape(own, (len(moving), 2)), bounds])
        return cls(kernel, theta, prices, of_prices, whole, bounds)

    def of_prices(self) -> Space:
        """Return the part in which the kernel stays as it is."""
        k = len(self.price_bounds)
        return replace(self, ties=self.ties[:, :k], bounds=self.bounds[:k])

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.ties.shape[1])

    @property
    def of_kernel(self) -> slice:
        """The coordinates of the kernel."""
        return slice(len(self.price_bounds), None)

    def at(self, point: Floats) -> tuple[Prices, Floats, Kernel]:
        """Return prices, theta and the kernel at a point."""
        moved = self.ties @ point
        prices, theta = dict(self.prices), self.theta + moved[self.of_kernel]
        for (name, ends), step in zip(self.price_bounds.items(), moved):
            prices[name] = float(np.clip(np.exp(np.log(prices[name]) + step), *ends))
        return prices, theta, self.kernel.with_theta(theta)

    def pull_back(self, gradient: Floats) -> Floats:
        """Return the gradient in the coordinates."""
        return self.ties.T @ gradient

    def starts(self, count: int, random: np.random.RandomState) -> list[Floats]:
        """Return the base, or where the bounds are nearest to it, and further points around."""
        points = [np.clip(np.zeros(self.size), *self.bounds.T)]
        for _ in range(count - 1):
            point = SPREAD * random.standard_normal(self.size)
            points.append(np.clip(point, *self.bounds.T))
        return points


@dataclass(frozen=True, eq=False)
class DescentStep:
    """One evaluation on the way to a minimum.

    Parameters
    ----------
    point : ndarray
        Coordinates.
    prices : dict
    theta : ndarray
        Logarithms of the parameters of the kernel.
    kernel : Kernel
    criterion : float
        Value of the criterion.
    objective : float
        What is minimised: the criterion or its logarithm, and a prior where there is one.
    n_fits : int
        Machines trained for it.
    """

    point: Floats
    prices: Prices
    theta: Floats
    kernel: Kernel
    criterion: float
    objective: float
    n_fits: int


class _OutOfEvaluationsError(Exception):
    """Ends the minimisation where the number of evaluations is spent."""


class Descent:
    r"""L-BFGS-B on a criterion, from one starting point.

    Parameters
    ----------
    objective : RememberedObjective
    space : Space
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
        objective: RememberedObjective,
        space: Space,
        precision: float,
        most: int,
        report: Callable[[DescentStep], Any],
    ) -> None:
        self.objective = objective
        self.space = space
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
        floor = self.space.bounds[0, 0] if "C" in self.space.price_bounds else 0.0
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
        prices, theta, kernel = self.space.at(point)
        try:
            found = _finite(self.objective(prices, theta, kernel))
        except NoSolutionError:
            if self.best is None:
                raise
            return self.best.objective + WALL, np.zeros(self.space.size)
        value, gradient = found.value, self.space.pull_back(found.gradient)
        if self.objective.is_logarithmic:
            if value > NOTHING:
                value, gradient = float(np.log(value)), gradient / value
            else:  # an error of nothing has no logarithm, and no slope leads to less
                value, gradient = float(np.log(NOTHING)), np.zeros(self.space.size)
        if self.precision:
            held = np.zeros(self.space.size)
            held[self.space.of_kernel] = self.precision * point[self.space.of_kernel]
            value, gradient = value + 0.5 * float(held @ point), gradient + held
        step = DescentStep(point.copy(), prices, theta, kernel, found.value, value, found.n_fits)
        self.report(step)
        if self.best is None or value < self.best.objective:
            self.best = step
        return value, gradient


@dataclass(eq=False)
class Search:
    """A search for the minimum of one objective.

    Parameters
    ----------
    objective : RememberedObjective
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

    objective: RememberedObjective
    C_bounds: Any
    kernel_bounds: Any
    most: int
    ftol: float
    gtol: float
    verbose: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    n_fits: int = 0

    def space(self, kernel: Kernel, prices: Prices, tied: bool = False) -> Space:
        """Return the space of all parameters; with `tied` each vector moves as one."""
        return Space.around(kernel, prices, self.C_bounds, self.kernel_bounds, tied)

    def plain(self, kernel: Kernel, prices: Prices, starts: int, random: Any) -> DescentStep:
        """Minimise over all parameters at once."""
        return self._best_of(
            self.space(kernel, prices), starts, random, "all parameters", self.most
        )

    def auto(self, kernel: Kernel, prices: Prices, starts: int, random: Any) -> DescentStep:
        """Minimise with vectors tied together, then set them free if the evidence calls for it."""
        n_features = self.objective.sample.points.shape[1]
        freed = _with_widths(kernel, n_features)
        one = self.space(kernel, prices, tied=True)
        n_freed = freed.theta.size - one.size + len(one.price_bounds)
        if n_freed == 0:
            return self._best_of(one, starts, random, "all parameters", self.most)
        first_most = max(1, int(FIRST_SHARE * self.most))
        tied = self._best_of(one, starts, random, "together", first_most)
        left = self.most - len(self.history) // starts
        count = self.objective.sample.count
        freed = _with_widths(tied.kernel, n_features)
        if n_freed >= count or left < 1:  # there is no telling so many parameters from so few rows
            return tied
        first = _with_widths(kernel, n_features).theta[:, None]
        limits = first + np.log(np.asarray(self.kernel_bounds, dtype=np.float64))
        each = Space.around(
            freed, tied.prices, self.C_bounds, FREE_BOUNDS, tied=False, limits=limits
        )
        (start,) = each.starts(1, random)
        free = self.run(each, start, "each on its own", 0, left, 1.0 / count)
        gain = count * (tied.criterion - free.criterion)
        accepted = gain > 0.5 * freed.theta.size * np.log(count)
        self.say(
            f"log evidence gained by one parameter for each feature: {gain:.4g}, "
            f"{'accepted' if accepted else 'not accepted'}"
        )
        return free if accepted else tied

    def _best_of(self, space: Space, count: int, random: Any, stage: str, most: int) -> DescentStep:
        found = [
            self.run(space, point, stage, k, most)
            for k, point in enumerate(space.starts(count, random))
        ]
        return min(found, key=lambda step: step.objective)

    def run(
        self, space: Space, point: Any, stage: str, start: int, most: int, precision: float = 0.0
    ) -> DescentStep:
        """Go from one point to a minimum, and note every step."""

        def report(step: DescentStep) -> None:
            self.n_fits += step.n_fits
            record = {"stage": stage, "start": start, **step.prices, "kernel": step.kernel}
            record |= {"criterion": step.criterion, "objective": step.objective}
            self.history.append(record)
            if self.verbose > 1:
                self.say(
                    f"{len(self.history):4d}  C = {step.prices['C']:<10.4g} {step.criterion:.6g}"
                )

        descent = Descent(self.objective, space, precision, most, report)
        best = descent.run(point, self.ftol, self.gtol)
        self.say(
            f"{stage}, start {start + 1}: criterion {best.criterion:.6g} "
            f"at C = {best.prices['C']:.4g} after {len(self.history)} evaluations"
        )
        return best

    def say(self, line: str) -> None:
        """Print a line, if that is wanted."""
        if self.verbose:
            print(f"GradientSearch: {line}", flush=True)


def _finite(found: Evaluation) -> Evaluation:
    """Return an evaluation, if it is of numbers."""
    if not (np.isfinite(found.value) and np.isfinite(found.gradient).all()):
        raise NoSolutionError(
            "The criterion or its slope is no finite number; scale the features and targets so "
            "that their squares are, and divide all weights by a number if they are large."
        )
    return found


def _with_widths(kernel: Kernel, n_features: int) -> Kernel:
    """Return a kernel with one width for each feature in place of one for all, if it is radial."""
    if isinstance(kernel, RBF) and not np.ndim(kernel.gamma) and n_features > 1:
        return RBF(np.full(n_features, kernel.gamma))
    return kernel


def results_table(
    history: list[dict[str, Any]], params: list[dict[str, Any]], best: int
) -> dict[str, Any]:
    """Return the evaluations as a dictionary of columns.

    Parameters
    ----------
    history : list of dict
        As ``GradientSearch.history_``.
    params : list of dict
        The parameters of the estimator at each evaluation.
    best : int
        Which of them was chosen.

    Returns
    -------
    dict
        As ``GradientSearch.cv_results_``.
    """
    columns: dict[str, Any] = {"params": params}
    for name in dict.fromkeys(name for row in params for name in row):
        column = np.empty(len(params), dtype=object)  # of numbers, vectors and kernels
        column[:] = [row.get(name) for row in params]
        columns[f"param_{name}"] = column
    for name in ("stage", "start"):
        columns[name] = np.array([step[name] for step in history])
    columns["mean_test_score"] = -np.array([step["criterion"] for step in history])
    # Errors on folds, where there are any, have had the last word; within a stage it is the score.
    is_last = np.array([step["stage"] in LAST_STAGES for step in history])
    is_best = np.arange(len(history)) == best
    order = np.lexsort([-columns["mean_test_score"], ~is_last, ~is_best])
    columns["rank_test_score"] = np.empty(len(history), dtype=np.int32)
    columns["rank_test_score"][order] = np.arange(1, len(history) + 1)
    return columns
