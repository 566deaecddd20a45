"""Decision values of rows that took no part in the training, and how they move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.validation import check_consistent_length

from mercer._inputs import checked_rows
from mercer.machines import decompose
from mercer.machines.kernel_data import KernelData, Rows
from mercer.machines.two_class_machine import TwoClassMachine, refuse_weights
from mercer.model_selection.criteria.criterion import Criterion
from mercer.model_selection.criteria.fitted import machines_of
from mercer.model_selection.criteria.solution_sensitivity import through_solution

Floats = NDArray[np.float64]
Splits = Sequence[tuple[Rows, Rows]]


class Points(ABC):
    """Points at which a machine is evaluated."""

    @abstractmethod
    def block(self, columns: Rows) -> Floats:
        """Return their kernel values with some of the training rows."""

    @abstractmethod
    def contract(self, weights: Floats, columns: Rows) -> Floats:
        """Contract the derivative of these values with a matrix."""


class OtherRows(Points):
    """Rows of the data that are not among those of the machine."""

    def __init__(self, data: KernelData, rows: Rows) -> None:
        self.data = data
        self.rows = rows

    def block(self, columns: Rows) -> Floats:
        """Return their kernel values with some of the training rows."""
        return self.data.block(self.rows, columns)

    def contract(self, weights: Floats, columns: Rows) -> Floats:
        """Contract the derivative of these values with a matrix."""
        return self.data.contract(weights, self.rows, columns)


class OtherPoints(Points):
    """Points that are not part of the data; kernel values where the kernel is precomputed."""

    def __init__(self, data: KernelData, points: Any) -> None:
        self.data = data
        self.points = points

    def block(self, columns: Rows) -> Floats:
        """Return their kernel values with some of the training rows."""
        kernel = self.data.kernel
        if kernel.is_pairwise:
            return kernel(self.points[:, columns])
        return kernel(self.points, self.data.points[columns])

    def contract(self, weights: Floats, columns: Rows) -> Floats:
        """Contract the derivative of these values with a matrix."""
        kernel = self.data.kernel
        if kernel.theta.size == 0:
            return np.empty(0)
        if kernel.is_pairwise:
            return kernel.contract_gradient(self.points[:, columns], weights)
        return kernel.contract_gradient(self.points, weights, self.data.points[columns])


class HeldOut:
    """A trained machine, points that it never saw, and their labels."""

    def __init__(self, machine: TwoClassMachine, points: Points, signs: Floats) -> None:
        self.machine = machine
        self.points = points
        self.signs = signs
        self._columns = machine.rows[machine.support]
        self._block = points.block(self._columns)

    def decision(self) -> Floats:
        """Return f(x) at the points."""
        machine = self.machine
        return self._block @ machine.beta[machine.support] + machine.solution.offset

    def gradient(self, pull: Floats) -> Floats:
        """Return the derivative of the sum of decision values with coefficients ``pull``."""
        machine = self.machine
        beta = machine.beta[machine.support]
        in_beta = self._block.T @ pull
        in_log_C, in_kernel = through_solution(machine, in_beta, float(pull.sum()))
        in_kernel = in_kernel + self.points.contract(np.outer(pull, beta), self._columns)
        return machine.gradient(in_log_C, in_kernel)


Rate = Callable[[Floats, Floats, bool], tuple[float, Floats]]
"""From decision values and labels to the value of a criterion and its derivative in the former."""


def fold_splits(cv: Any, y: Any) -> Splits:
    """Return the rows to train on and to test on for each fold.

    A number stands for so many stratified folds, shuffled always in the same way.
    """
    if isinstance(cv, int | np.integer):
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=0)
    return list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))


def on_folds(machine: TwoClassMachine, splits: Splits) -> list[HeldOut]:
    """Return the machines trained without each fold in turn."""
    found = []
    for k, (train, test) in enumerate(splits):
        kept = np.flatnonzero(np.isin(machine.rows, train))
        held = np.flatnonzero(np.isin(machine.rows, test))
        if held.size:
            part = machine.part(kept, f"fold {k}")
            points = OtherRows(machine.data, machine.rows[held])
            found.append(HeldOut(part, points, machine.signs[held]))
            machine.n_fits += part.n_fits
    return found


def on_validation_set(
    model: Any, machines: Sequence[TwoClassMachine], X: Any, y: Any
) -> list[list[HeldOut]]:
    """Return, for each machine of a classifier, the points of a validation set that concern it."""
    X = checked_rows(model, X, **model._data_format())
    y = np.asarray(y)
    check_consistent_length(X, y)
    if not np.isin(y, model.classes_).all():
        raise ValueError("The validation set must hold no labels but those of the training data.")
    codes = np.searchsorted(model.classes_, y)
    tasks = decompose(codes, model.classes_.size, model.multi_class)
    return [
        [HeldOut(machine, OtherPoints(machine.data, X[task.rows]), task.signs)]
        for machine, task in zip(machines, tasks)
        if task.rows.size
    ]


def held_out_groups(
    name: str, model: Any, X: Any, y: Any, validation: Any, cv: Any
) -> list[list[HeldOut]]:
    """Return for each machine what it is judged by: a validation set, or all folds."""
    machines = machines_of(model, X, y)
    refuse_weights(machines, name)
    if validation is not None:
        return on_validation_set(model, machines, *validation)
    splits = fold_splits(cv, y)
    return [on_folds(machine, splits) for machine in machines]


def judge(group: Sequence[HeldOut], rate: Rate, gradient: bool) -> Criterion:
    """Evaluate a criterion on all held-out points of one machine together."""
    decision = np.concatenate([part.decision() for part in group])
    signs = np.concatenate([part.signs for part in group])
    value, pull = rate(decision, signs, gradient)
    slope = None
    if gradient:
        pulls = np.split(pull, np.cumsum([part.signs.size for part in group])[:-1])
        slope = np.sum([part.gradient(one) for part, one in zip(group, pulls)], axis=0)
    return Criterion(value, slope, group[0].machine.names)
