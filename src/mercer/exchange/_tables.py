"""Models of tables: what stands between the columns of numbers and the machine."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer.exchange._searches import found_by
from mercer.svm import SVR

MOST_NAMED = 4
"""Columns that a sentence names."""


class Filling(TransformerMixin, BaseEstimator):
    """The columns of a table of numbers, in order, and what a gap in them counts as.

    Parameters
    ----------
    columns : tuple of str
    medians : ndarray of float64
    places : tuple of int or None, default=None
        Where the columns stand in the rows, if these have others too.
    """

    def __init__(
        self,
        columns: tuple[str, ...],
        medians: NDArray[np.float64],
        places: tuple[int, ...] | None = None,
    ) -> None:
        self.columns = columns
        self.medians = medians
        self.places = places

    def __sklearn_is_fitted__(self) -> bool:
        return True


def without_table(model: Any, form: str) -> tuple[Filling | None, Any]:
    """Return how gaps are filled before a model, and the model of numbers behind that.

    Models that `mercer fit` and `mercer compare` save hold the model proper, a pipeline whose
    first step makes numbers of the columns. The package that they come from is in a layer above,
    so that they are known by what they have.

    Parameters
    ----------
    model : estimator
        Any; None and the same model come back where it has no such step.
    form : str
        What it is wanted for, for messages.
    """
    model = found_by(model)
    kinds = getattr(model, "columns", None)
    if isinstance(kinds, dict) and hasattr(model, "model"):
        _refuse([name for name, kind in kinds.items() if kind != "number"], form)
        model = found_by(model.model)
    if not isinstance(model, Pipeline):
        return None, _in_units_of_the_target(model)
    (_, first), *others = model.steps
    if isinstance(first, ColumnTransformer) and "others" in first.named_transformers_:
        _refuse(first.named_transformers_["others"].feature_names_in_, form)
    if others:
        name, last = others[-1]
        others[-1] = (name, _in_units_of_the_target(found_by(last)))
    if not others or not hasattr(first, "medians_"):
        return None, Pipeline([model.steps[0], *others]) if others else model
    return Filling(tuple(map(str, first.feature_names_in_)), first.medians_), Pipeline(others)


def with_fillings(model: Any) -> Any:
    """Return a pipeline whose imputers of numbers are `Filling`, which ONNX has in any precision.

    skl2onnx's own operator for them runs in single precision only. It knows no types derived
    from others, so that scalers which are only fitted in another way become what they derive from.
    """
    if isinstance(model, Pipeline):
        filled = copy(model)
        filled.steps = [(name, with_fillings(step)) for name, step in model.steps]
        return filled
    if getattr(type(model), "transform", None) is StandardScaler.transform:
        plain = StandardScaler()
        vars(plain).update(vars(model))
        return plain
    numbers = _put_in_gaps(model)
    return model if numbers is None else Filling((), numbers)


def _put_in_gaps(step: Any) -> NDArray[np.float64] | None:
    """Return what a step puts in place of NaN, or None if it is no imputer or does more."""
    if not isinstance(step, SimpleImputer) or step.add_indicator:
        return None
    try:
        numbers = np.asarray(step.statistics_, dtype=np.float64)
        is_plain = np.isnan(step.missing_values) and np.isfinite(numbers).all()
    except (TypeError, ValueError):  # of words
        return None
    return numbers if is_plain else None


def listed(columns: Any) -> str:
    """Return for instance "'a', 'b', 'c', 'd' and 5 more".

    Examples
    --------
    >>> listed("abcdef")
    "'a', 'b', 'c', 'd' and 2 more"
    """
    names = [repr(str(name)) for name in columns]
    more = f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _refuse(columns: Any, form: str) -> None:
    if not len(columns):
        return
    raise ValueError(
        f"{form} takes numbers only, and the model reads words or dates in the "
        f"column{'s' * (len(columns) > 1)} {listed(columns)}; mercer predict serves such a "
        "model, or mercer.load(file).predict(frame) in Python."
    )


def _in_units_of_the_target(model: Any) -> Any:
    """Return a regression to a scaled target as one to the target itself, where it is an SVR."""
    if not isinstance(model, TransformedTargetRegressor) or not hasattr(model, "regressor_"):
        return model
    scaler, machine = model.transformer_, found_by(model.regressor_)
    if not isinstance(scaler, StandardScaler) or not isinstance(machine, SVR):
        return model
    factor = 1.0 if scaler.scale_ is None else float(scaler.scale_[0])
    centre = 0.0 if scaler.mean_ is None else float(scaler.mean_[0])
    machine = copy(machine)
    machine.dual_coef_ = factor * machine.dual_coef_
    machine.intercept_ = factor * np.asarray(machine.intercept_) + centre
    return machine
