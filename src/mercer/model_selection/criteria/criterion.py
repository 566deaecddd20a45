"""What a criterion returns, and the machines that it is evaluated on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._inputs import checked_rows, checked_weights
from mercer.machines import (
    KernelData,
    Penalty,
    TubeMachine,
    TubePrice,
    TwoClassMachine,
    class_factors,
    decompose,
    machine_coefficients,
    rows_of,
)
from mercer.svm import SVC, SVR

Floats = NDArray[np.float64]

Rated = tuple[float, Floats | None]
"""Value of a criterion for one machine, and its slope where there is one."""

OTHER_DATA = "A criterion needs the rows and labels on which the model was fitted."


@dataclass(frozen=True, eq=False)
class Criterion:
    """Value of a criterion and its slope in the logarithms of the parameters.

    Parameters
    ----------
    value : float
        Smaller is better.
    gradient : ndarray of shape (p,) or None
        Derivative in the logarithm of each parameter; None where the criterion is a step function
        or the derivative was not asked for.
    names : tuple of str
        The parameters: "C" (unless it is infinite), for regression "epsilon" (unless it is 0), then
        those of the kernel as in ``kernel.theta_names``; of one class those of the kernel alone.

    Examples
    --------
    >>> from mercer.model_selection import Criterion
    >>> float(Criterion(0.25, None, ("C", "gamma")))
    0.25
    """

    value: float
    gradient: Floats | None
    names: tuple[str, ...]

    def __float__(self) -> float:
        return float(self.value)


def mean_over(evaluate: Callable[[Any], Rated], machines: Sequence[Any]) -> Rated:
    """Return the mean over the machines of a classifier, with its slope if all have one."""
    found = [evaluate(machine) for machine in machines]
    values = [value for value, _ in found]
    slopes = [slope for _, slope in found if slope is not None]
    slope = np.mean(slopes, axis=0) if len(slopes) == len(found) else None
    return float(sum(values) / len(values)), slope


def average(
    evaluate: Callable[[Any], Rated], machines: Sequence[TwoClassMachine] | Sequence[TubeMachine]
) -> Criterion:
    """Return that mean as a criterion."""
    return Criterion(*mean_over(evaluate, machines), machines[0].names)


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
    X, y, weights = _fitted_data(SVC, model, X, y, sample_weight)
    if not np.isin(y, model.classes_).all():
        raise ValueError(OTHER_DATA)
    kept = np.flatnonzero(weights)
    codes = np.searchsorted(model.classes_, y[kept])
    weights = weights[kept]
    factors = class_factors(model.class_weight, model.classes_, codes, weights)
    penalty = Penalty.of(model, factors, weights)
    data = KernelData(model.kernel_, rows_of(X, kept, model.kernel_.is_pairwise))
    machines = []
    tasks = decompose(codes, model.classes_.size, model.multi_class)
    found = machine_coefficients(model.dual_coef_, model.n_support_, model._one_vs_one)
    for task, coefficients in zip(tasks, found):
        beta = _spread(model, coefficients, X.shape[0])[kept]
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


def tube_machine_of(model: Any, X: Any, y: Any, sample_weight: Any = None) -> TubeMachine:
    """Return the trained machine of a fitted `SVR`, with the data that it was fitted on."""
    X, y, weights = _fitted_data(SVR, model, X, y, sample_weight)
    kept = np.flatnonzero(weights)
    squared = model.loss == "squared_epsilon_insensitive"
    return TubeMachine(
        KernelData(model.kernel_, rows_of(X, kept, model.kernel_.is_pairwise)),
        np.arange(kept.size),
        np.asarray(y, dtype=np.float64)[kept],
        TubePrice(float(model.C), float(model.epsilon), squared, weights[kept]),
        beta=_spread(model, model.dual_coef_[0], X.shape[0])[kept],
        tol=model.tol,
        n_threads=model._n_threads(),
    )


def least_squares_machines_of(
    model: Any, X: Any, y: Any, sample_weight: Any = None
) -> Sequence[TwoClassMachine] | Sequence[TubeMachine]:
    """Return the machines of a classifier or of a regression."""
    if isinstance(model, SVR):
        return [tube_machine_of(model, X, y, sample_weight)]
    return machines_of(model, X, y, sample_weight)


def _fitted_data(
    kind: Any, model: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, Floats]:
    """Return the data of a model, after a check that they can be those that it was fitted on."""
    if not isinstance(model, kind):
        raise TypeError(
            f"This criterion needs a fitted mercer.{kind.__name__}; got {type(model).__name__}."
        )
    check_is_fitted(model)
    X = checked_rows(model, X, **model._data_format())
    y = np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[0] != model.shape_fit_[0]:
        raise ValueError(OTHER_DATA)
    return X, y, checked_weights(sample_weight, X)


def _spread(model: Any, coefficients: Floats, n: int) -> Floats:
    """Return the coefficients of all rows from those of the support vectors."""
    beta = np.zeros(n)
    beta[model.support_] = coefficients
    return beta
