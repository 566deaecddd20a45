"""The squared error of a regression on rows that took no part in the training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from mercer._folds import regression_splits
from mercer._inputs import checked_rows
from mercer._threads import holds_blas
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, tube_machine_of
from mercer.model_selection.criteria.validation_error import (
    HeldOut,
    HeldOutPoints,
    Rate,
    judge,
    on_folds,
)

Floats = NDArray[np.float64]


@holds_blas
def regression_error(
    model: Any, X: Any, y: Any, *, validation: Any = None, cv: Any = 5, gradient: bool = True
) -> Criterion:
    r"""Mean squared error of a regression, with its gradient in C, epsilon and the kernel.

    .. math:: T = \frac1N\sum_{i=1}^N (f(x_i) - y_i)^2

    over a validation set, or over all rows, each by the machine trained without its fold. Rows on
    the edge of the tube fulfil :math:`f(x_i) = y_i \mp \varepsilon` and stay there while the
    parameters move, which gives the derivative of f as for `smoothed_validation_error`; a change of
    :math:`\varepsilon` moves that edge. It is exact as long as no row meets or leaves a bound.

    Parameters
    ----------
    model : SVR
        Fitted, any loss.
    X, y : array-like
        The training data.
    validation : tuple (X, y) or None, default=None
        Validation set; None for folds.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of shuffled folds.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithm 6; chapter 6 hopes for the like in regression.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> from mercer.model_selection import regression_error
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X).ravel()
    >>> narrow, wide = (SVR(C=10.0, epsilon=0.01, gamma=gamma).fit(X, y) for gamma in (0.5, 1e-4))
    >>> regression_error(narrow, X, y).value < 0.001 < regression_error(wide, X, y).value
    True
    >>> regression_error(narrow, X, y).names
    ('C', 'epsilon', 'gamma')
    """
    machine = tube_machine_of(model, X, y)
    refuse_weights([machine], "regression_error")
    if validation is None:
        group: list[HeldOut] = on_folds(machine, regression_splits(cv, machine.targets))
    else:
        points = checked_rows(model, validation[0], **model._data_format())
        targets = np.asarray(validation[1], dtype=np.float64)
        check_consistent_length(points, targets)
        group = [HeldOutPoints(machine, points, targets)]
    n_points = sum([part.targets.size for part in group])
    return Criterion(*judge(group, squared_rate(np.ones(n_points)), gradient), machine.names)


def squared_rate(weights: Floats) -> Rate:
    """Return the mean squared deviation as a function of what is predicted; rows have weights."""
    share = weights / weights.sum()

    def rate(predicted: Floats, targets: Floats, gradient: bool) -> tuple[float, Floats]:
        deviations = predicted - targets
        return float(share @ deviations**2), 2.0 * share * deviations

    return rate
