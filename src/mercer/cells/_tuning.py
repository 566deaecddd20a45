"""The machine of every cell: what depends on all rows is settled once, what a search finds too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight

from mercer.cells._given import Given


def for_all_rows(estimator: Any, given: Given, rows: Any, classes: Any = None) -> Any:
    """Return the machine with numbers where its parameters speak of all rows.

    In a cell ``gamma="scale"`` and ``class_weight="balanced"`` would mean those of its rows.

    Parameters
    ----------
    estimator : estimator
    given : Given
    rows : ndarray of int
        Those that stand for all when the kernel needs data.
    classes : ndarray or None, default=None
        Labels for which the codes of a classifier stand.

    Returns
    -------
    estimator
        A copy.
    """
    model = clone(estimator)
    X, _, weights = given.part(rows) if len(rows) < given.n_rows else given.part(slice(None))
    _set_width(model, X, weights)
    for name, value in model.get_params().items():
        kind = name.rpartition("__")[2]
        if kind == "class_weight" and classes is not None and _is_of_labels(value):
            factors = _class_weights(value, given, classes)
            model.set_params(**{name: dict(enumerate(factors.tolist()))})
        elif kind == "decision_function_shape" and value == "ovo":
            model.set_params(**{name: "ovr"})
    return model


def _set_width(model: Any, X: Any, weights: Any) -> None:
    """Give a kernel its numbers, also that of a machine in a search, which sees the same rows."""
    while hasattr(model, "estimator"):
        model = model.estimator
    if not hasattr(model, "_make_kernel"):
        return
    kernel = model._make_kernel().resolve(X, weights)
    if isinstance(model.kernel, str) and hasattr(kernel, "gamma"):
        model.set_params(gamma=kernel.gamma)  # which a search may go on to set
    else:
        model.set_params(kernel=kernel)


def _is_of_labels(class_weight: Any) -> bool:
    """Tell whether factors belong to labels, or mean the rows that a machine is given."""
    return isinstance(class_weight, dict) or class_weight == "balanced"


def _class_weights(class_weight: Any, given: Given, classes: Any) -> Any:
    """Return the factor of each class."""
    if class_weight == "balanced":
        counts = given.class_counts
        return counts.sum() / (classes.size * counts)
    return compute_class_weight(class_weight, classes=classes, y=classes)


def chosen_once(searches: Sequence[Any]) -> Any:
    """Return the machine that fitted searches have tuned, with the middle of what they chose.

    Numbers are averaged in their logarithms where all are above zero; of anything else the most
    frequent choice is taken, and the first of equally frequent ones.

    Parameters
    ----------
    searches : sequence of fitted searches

    Returns
    -------
    estimator
        Not fitted.
    """
    choices = [search.best_params_ for search in searches]
    params = {name: _middle([choice[name] for choice in choices]) for name in choices[0]}
    return clone(searches[0].best_estimator_).set_params(**params)


def _middle(values: list[Any]) -> Any:
    if all(_is_number(value) for value in values):
        numbers = np.array(values, dtype=np.float64)
        if not np.isfinite(numbers).all():
            return float(np.median(numbers))
        if (numbers > 0).all():
            found = float(np.exp(np.log(numbers).mean()))
            return round(found) if all(isinstance(value, int) for value in values) else found
    spelled = [repr(value) for value in values]
    return values[spelled.index(max(spelled, key=spelled.count))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
