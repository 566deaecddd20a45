"""Support vector classifiers on fewer and fewer features, each started from the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.feature_selection.elimination import RoundResult, RowSampler
from mercer.gram import Gram, make_gram
from mercer.gram.downdated import DowndatedGram, suits
from mercer.kernels import Kernel, Linear, Weighted
from mercer.machines import (
    KernelData,
    KernelMachine,
    Penalty,
    Training,
    TwoClassMachine,
    TwoClassTask,
    TwoClassTasks,
    class_factors,
    class_votes,
    decompose,
    warn_unless_converged,
)
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.problems import QuadraticProgram
from mercer.solvers.linear import linear_is_worthwhile
from mercer.svm import SVC

Floats = NDArray[np.float64]
Features = NDArray[np.intp]
Rows = NDArray[np.intp]

CRITERIA = ("auto", "weights", "objective", "decrease", "gradient", "bound", "span", "retrained")
JOINTS = ("sum", "max", "median", "variation")

LARGEST_MATRIX = 4000
"""Rows up to which the matrix of dot products or distances is held."""

NOT_SEPARABLE = (
    "The classes cannot be separated any more with the features that are left, so that C=inf "
    "(hard margin) has no solution; use a finite C or keep more features."
)


# ---- how much each feature matters ------------------------------------------------------------


def squared_weights(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    """Return the squared weights of a linear machine."""
    return (beta @ points) ** 2


def objective_decrease(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    r"""Return :math:`\tfrac12(\beta^\top K\beta - \beta^\top K^{(-i)}\beta)`, with its sign."""
    if beta.size == 0:
        return np.zeros(points.shape[1])
    if isinstance(kernel, Linear):
        return 0.5 * (beta @ points) ** 2
    whole = float(beta @ kernel(points) @ beta)
    return 0.5 * (whole - kernel.leave_feature_out(points, beta))


def objective_change(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    """Return the size of the decrease."""
    return np.abs(objective_decrease(kernel, points, beta))


def objective_slope(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    r"""Return :math:`\tfrac12|\partial\,\beta^\top K\beta / \partial\nu_i|` for scales ν at 1."""
    if isinstance(kernel, Linear) or beta.size == 0:
        return (beta @ points) ** 2
    return 0.5 * np.abs(kernel.contract_scale_gradient(points, np.outer(beta, beta)))


MEASURES: dict[str, Callable[[Kernel, Floats, Floats], Floats]] = {
    "weights": squared_weights,
    "objective": objective_change,
    "decrease": objective_decrease,
    "gradient": objective_slope,
}
"""Importances that follow from support vectors and their coefficients."""


def bound_growth(
    kernel: Kernel, points: Floats, machine_on: Callable[[KernelData], TwoClassMachine]
) -> Floats:
    """Return by how much the radius/margin bound grows without each feature, to first order.

    Minus the slope of the bound in the features' scales: leaving one out takes its scale to 0.
    """
    d = points.shape[1]
    machine = machine_on(KernelData(Weighted(kernel, np.ones(d)), points))
    bound = modified_radius_margin_of if machine.loss == "hinge" else radius_margin_of
    first = 0 if machine.loss == "hard" else 1  # C comes before the scales
    return -np.asarray(bound(machine)[1])[first : first + d]


def span_growth(
    kernel: Kernel, points: Floats, machine_on: Callable[[KernelData], TwoClassMachine]
) -> Floats:
    """Return by how much the span estimate grows without each feature, the solution unchanged.

    The estimate bends too much for its slope to tell what happens when a feature goes.
    """
    present, _ = span_of(machine_on(KernelData(kernel, points)), gradient=False)
    growth = []
    for matrix in kernel.without_features(points):
        data = KernelData(kernel, points)
        data.__dict__["matrix"] = matrix.copy()  # where its cached property keeps it
        growth.append(span_of(machine_on(data), gradient=False)[0] - present)
    return np.array(growth)


def retrained_change(
    kernel: Kernel, points: Floats, machine_on: Callable[[KernelData], TwoClassMachine]
) -> Floats:
    """Return by how much the optimum moves without each feature, each time trained anew."""
    present = machine_on(KernelData(kernel, points)).solution.objective
    change = []
    for matrix in kernel.without_features(points):
        data = KernelData(kernel, points)
        data.__dict__["matrix"] = matrix.copy()  # where its cached property keeps it
        machine = machine_on(data)
        anew = machine.part(np.arange(machine.n), "retrained")
        change.append(abs(anew.solution.objective - present))
    return np.array(change)


BOUNDS = {"bound": bound_growth, "span": span_growth, "retrained": retrained_change}
"""Importances that look at the whole machine."""


def join(values: list[Floats], how: str, power: float) -> Floats:
    """Return one importance for each feature from those of several machines.

    "sum" adds the values raised to a power (with their sign), "max" takes the largest, "median" the
    middle one, "variation" the standard deviation over the mean. Those of a single machine stay as
    they are.
    """
    if len(values) == 1:
        return values[0]
    rows = np.array(values)
    if how == "max":
        return rows.max(axis=0)
    if how == "median":
        return np.median(rows, axis=0)
    if how == "variation":
        means = np.abs(rows.mean(axis=0))
        return np.divide(rows.std(axis=0), means, out=np.zeros_like(means), where=means > 0)
    if power == 1.0:
        return rows.sum(axis=0)
    return (np.sign(rows) * np.abs(rows) ** power).sum(axis=0)


# ---- kernels and machines on some of the features ---------------------------------------------


def restricted(kernel: Kernel, features: Features, n_features: int) -> Kernel:
    """Return a kernel for some of the features: those given for each of them lose the others."""
    if features.size == n_features:
        return kernel
    changes: dict[str, Any] = {
        name: restricted(part, features, n_features) for name, part in kernel.parts().items()
    }
    for name, value in kernel.get_params(deep=False).items():
        if name not in changes and np.shape(value) == (n_features,) and n_features > 1:
            changes[name] = np.asarray(value)[features]
    return kernel._replace(**changes) if changes else kernel


def machine_for(estimator: Any, features: Features, n_features: int) -> Any:
    """Return a clone of an estimator that suits some of the features."""
    copy = clone(estimator)
    if isinstance(copy, KernelMachine) and not isinstance(copy.kernel, str):
        copy.set_params(kernel=restricted(copy._make_kernel(), features, n_features))
    return copy


# ---- the rounds -------------------------------------------------------------------------------


class _Machines(NamedTuple):
    """The machines of a round, before they are trained."""

    rows: Rows
    codes: Rows
    weights: Floats
    tasks: TwoClassTasks
    each: list[TwoClassTask]
    penalty: Penalty


class KernelRanker:
    """Trains a `SVC` round by round.

    Parameters
    ----------
    estimator : SVC
        With the parameters; it is not fitted.
    X : ndarray of shape (n, d)
    codes : ndarray of int
        Class of each row, from 0.
    weights : ndarray of shape (n,)
        Above 0.
    criterion, joint : str
    power : float
    tol : float
    warm_start : bool
        Whether the dual variables of a round are those that the next one starts from.
    sampler : RowSampler
    """

    def __init__(
        self,
        estimator: SVC,
        X: Floats,
        codes: Rows,
        weights: Floats,
        *,
        criterion: str,
        joint: str,
        power: float,
        tol: float,
        warm_start: bool,
        sampler: RowSampler,
    ) -> None:
        self.estimator = estimator
        self.kernel = estimator._make_kernel()
        self.is_linear = isinstance(self.kernel, Linear)
        if criterion == "weights" and not self.is_linear:
            raise ValueError(
                f"criterion='weights' needs a linear kernel; for {self.kernel!r} use 'objective' "
                "or 'gradient'."
            )
        if criterion == "auto":
            criterion = "weights" if self.is_linear else "objective"
        # As the dual variables add up to 0, a shift changes nothing but rounding errors.
        self.X = X - X.mean(axis=0) if self.is_linear else X
        self.codes, self.weights = codes, weights
        self.criterion, self.joint, self.power = criterion, joint, power
        self.warm_start, self.sampler = warm_start, sampler
        self.options = replace(estimator._options(), tol=tol)
        # Most kernels are the same for any of the features.
        self._is_alike = restricted(self.kernel, np.arange(1), X.shape[1]) is self.kernel
        self.n_classes = int(codes.max()) + 1
        counts = np.bincount(codes, weights=weights)
        self.chance = float(counts.max() / counts.sum())
        self.n_fits = 0
        self._of_all = self._machines(np.arange(len(X)))
        self._held: DowndatedGram | None = None
        self._starts: list[Any] | None = None
        self._memories: list[dict[str, Floats]] = []

    def look(self, features: Features) -> RoundResult:
        """Train on some of the features."""
        drawn = self.sampler.rows(features.size)
        machines = self._of_all if drawn is None else self._machines(drawn)
        points = np.ascontiguousarray(self.X[np.ix_(machines.rows, features)])
        kernel = self.kernel
        if not self._is_alike:
            kernel = restricted(kernel, features, self.X.shape[1])
        kernel = kernel.resolve(points, machines.weights)
        training = self._train(self._gram(kernel, points, features, drawn is None), machines)
        betas, decision, gap = training.warm_start(), training.decision, training.solutions.gap
        self.n_fits += gap.size
        importances = self._importances(kernel, points, machines, betas)
        found = _winners(training, decision, len(points), self.n_classes)
        right = machines.weights[found == machines.codes].sum()
        accuracy = float(right / machines.weights.sum())
        return RoundResult(importances, accuracy, float(gap.max()), len(points))

    def forget(self, features: Features) -> None:
        """Take features away for good."""
        if self._held is not None:
            self._held.forget(features)

    def program(self) -> QuadraticProgram:
        """Return the program of a two-class machine of all rows."""
        return self._of_all.penalty.program(self._of_all.tasks)

    def train_all(self, gram: Gram) -> Training:
        """Train the machines on all rows."""
        return self._train(gram, self._of_all)

    def start_from(self, solutions: list[Floats]) -> None:
        """Let the next machines of all rows start from given solutions."""
        self._starts = solutions

    def _machines(self, rows: Rows) -> _Machines:
        codes, weights = self.codes[rows], self.weights[rows]
        classes = np.arange(self.n_classes)
        factors = class_factors(self.estimator.class_weight, classes, codes, weights)
        tasks = decompose(codes, self.n_classes, self.estimator.multi_class)
        penalty = Penalty.of(self.estimator, factors, weights)
        return _Machines(rows, codes, weights, tasks, list(tasks), penalty)

    def _gram(self, kernel: Kernel, points: Floats, features: Features, whole: bool) -> Gram:
        """Return the kernel matrix, from the one that is held where there is one."""
        if (
            whole
            and len(points) <= LARGEST_MATRIX
            and not (self.is_linear and linear_is_worthwhile(*points.shape))
        ):
            form = kernel.pairwise_form()
            if self._held is None and form is not None and form.scales is None:
                if suits(form.family):
                    self._held = DowndatedGram(self.X, form.family, features)
            if self._held is not None and self._held.serves(form):
                return self._held.gram(kernel)
        return make_gram(kernel, points, memory=self.estimator.cache_size * 1e6)

    def _train(self, gram: Gram, machines: _Machines) -> Training:
        """Train the machines; those of all rows start from the last ones."""
        whole = machines is self._of_all
        starts = self._starts if whole else None
        training = Training.of(
            gram, machines.tasks, machines.penalty, self.options, starts, refusal=NOT_SEPARABLE
        )
        warn_unless_converged(training.solutions, self.options.tol)
        if whole and self.warm_start:
            self._starts = training.warm_start()
        return training

    def _importances(
        self, kernel: Kernel, points: Floats, machines: _Machines, betas: list[Floats]
    ) -> Floats:
        if len(self._memories) != len(betas) or self.sampler.share is not None:
            self._memories = [{} for _ in betas]
        values = []
        for task, beta, memory in zip(machines.each, betas, self._memories):
            if self.criterion in MEASURES:
                kept = np.flatnonzero(beta)
                support = points[task.rows[kept]]
                values.append(MEASURES[self.criterion](kernel, support, beta[kept]))
            else:
                machine_on = _two_class(task, machines.penalty, beta, memory)
                values.append(BOUNDS[self.criterion](kernel, points, machine_on))
        return join(values, self.joint, self.power)


def _two_class(
    task: TwoClassTask, penalty: Penalty, beta: Floats, memory: dict[str, Floats]
) -> Callable[[KernelData], TwoClassMachine]:
    """Return the trained machine as a function of its kernel values.

    The memory holds the solutions of the last round that the bounds start from.
    """
    return lambda data: TwoClassMachine(
        data, task.rows, task.signs, penalty, beta=beta, memory=memory, tol=1e-6
    )


def _winners(training: Training, decision: Floats, n: int, n_classes: int) -> Rows:
    """Return the class of each row by the largest value, or by the votes of all pairs.

    ``decision`` are the values of the training itself, of which two classes need no more.
    """
    if n_classes == 2:
        return (decision > 0).astype(np.intp)
    values = np.empty((n, len(training.tasks)))
    for m, (task, solution) in enumerate(zip(training.tasks, training.solutions)):
        beta = np.zeros(n)
        beta[task.rows] = solution.beta
        values[:, m] = training.gram.times(beta) + solution.offset
    if len(training.tasks.rows) == n * len(training.tasks):
        return values.argmax(axis=1)
    return class_votes(values, n_classes)[0].argmax(axis=1)
