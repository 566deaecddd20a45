"""From a fitted classifier and its training data to two-class machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._inputs import checked_rows, checked_weights
from mercer.machines import (
    Penalty,
    TwoClassTask,
    class_factors,
    decompose,
    machine_coefficients,
    rows_of,
)
from mercer.machines.kernel_data import KernelData
from mercer.machines.two_class_machine import TwoClassMachine
from mercer.svm import SVC

Floats = NDArray[np.float64]


def machines_of(model: Any, X: Any, y: Any, sample_weight: Any = None) -> list[TwoClassMachine]:
    """Return the trained machines of a fitted `SVC`.

    Parameters
    ----------
    model : SVC
        Fitted.
    X, y, sample_weight
        What it was fitted on.

    Returns
    -------
    list of TwoClassMachine
        One for two classes, else one for each pair or for each class.
    """
    if not isinstance(model, SVC):
        raise TypeError(f"A criterion needs a fitted mercer.SVC; got {type(model).__name__}.")
    check_is_fitted(model)
    X = checked_rows(model, X, **model._data_format())
    y = np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[0] != model.shape_fit_[0] or not np.isin(y, model.classes_).all():
        raise ValueError("A criterion needs the rows and labels on which the model was fitted.")
    weights = checked_weights(sample_weight, X)
    kept = np.flatnonzero(weights)
    codes = np.searchsorted(model.classes_, y[kept])
    weights = weights[kept]
    factors = class_factors(model.class_weight, model.classes_, codes, weights)
    penalty = Penalty.of(model, factors, weights)
    data = KernelData(model.kernel_, rows_of(X, kept, model.kernel_.is_pairwise))
    position = np.full(X.shape[0], -1)
    position[kept] = np.arange(kept.size)
    machines = []
    tasks = decompose(codes, model.classes_.size, model.multi_class)
    found = machine_coefficients(model.dual_coef_, model.n_support_, model._one_vs_one)
    for task, coefficients in zip(tasks, found):
        beta = np.zeros(kept.size)
        beta[position[model.support_]] = coefficients
        machine = TwoClassMachine(
            data,
            task.rows,
            task.signs,
            penalty,
            beta=beta[task.rows],
            tol=model.tol,
            n_threads=model._n_threads(),
        )
        machines.append(machine)
    return machines


def untrained_machines(
    data: KernelData,
    tasks: Iterable[TwoClassTask],
    penalty: Penalty,
    memories: list[dict[str, Floats]],
    **options: Any,
) -> list[TwoClassMachine]:
    """Return machines that are trained when a criterion asks for it."""
    return [
        TwoClassMachine(data, task.rows, task.signs, penalty, memory=memory, **options)
        for task, memory in zip(tasks, memories)
    ]
