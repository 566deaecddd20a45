"""From a fitted classifier and its training data to two-class machines."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from mercer._machine import checked_weights, rows_of
from mercer.model_selection._kernel_data import KernelData
from mercer.model_selection._two_class import Penalty, TwoClassMachine
from mercer.svm import SVC
from mercer.svm._decomposition import TwoClassTask, decompose

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
    X = validate_data(model, X, reset=False, **model._data_format())
    y = np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[0] != model.shape_fit_[0] or not np.isin(y, model.classes_).all():
        raise ValueError("A criterion needs the rows and labels on which the model was fitted.")
    weights = checked_weights(sample_weight, X)
    kept = np.flatnonzero(weights)
    codes = np.searchsorted(model.classes_, y[kept])
    weights = weights[kept]
    factors = model._class_factors(model.classes_, codes, weights)
    penalty = Penalty.of(model, factors, weights)
    data = KernelData(model.kernel_, rows_of(X, kept, model.kernel_.is_pairwise))
    position = np.full(X.shape[0], -1)
    position[kept] = np.arange(kept.size)
    machines = []
    for m, task in enumerate(decompose(codes, model.classes_.size, model.multi_class)):
        beta = np.zeros(kept.size)
        beta[position[model.support_]] = _coefficients(model, m)
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
    tasks: list[TwoClassTask],
    penalty: Penalty,
    memories: list[dict[str, Floats]],
    **options: Any,
) -> list[TwoClassMachine]:
    """Return machines that are trained when a criterion asks for it."""
    return [
        TwoClassMachine(data, task.rows, task.signs, penalty, memory=memory, **options)
        for task, memory in zip(tasks, memories)
    ]


def _coefficients(model: SVC, m: int) -> Floats:
    """Return the coefficients of machine ``m`` at all support vectors of the classifier."""
    if not model._one_vs_one:
        return model.dual_coef_[m]
    first, second = list(combinations(range(model.classes_.size), 2))[m]
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    beta = np.zeros(model.support_.size)
    for own, other in ((first, second - 1), (second, first)):
        part = slice(ends[own], ends[own + 1])
        beta[part] = model.dual_coef_[other, part]
    return beta
