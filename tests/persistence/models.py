"""Fitted models of every kind, with the rows on which their answers are compared."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import get_tags
from variants import VARIANTS

from mercer import ProximityImputer

ANSWERS = ("predict", "decision_function", "predict_proba", "transform")


@cache
def fitted_variants() -> list[tuple[Any, Any]]:
    """Return all variants that scikit-learn's checks use, fitted, with rows for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of data that are too few or no matrix of a kernel
        return [_fitted(clone(model)) for model in VARIANTS]


def _fitted(model: Any) -> tuple[Any, Any]:
    X, y = (part[::3] for part in load_iris(return_X_y=True))
    tags = get_tags(model).classifier_tags
    if tags is not None and not tags.multi_class:
        X, y = X[y < 2], y[y < 2]
    if "precomputed" in repr(model):
        X = X @ X.T
    if isinstance(model, ProximityImputer):
        model.set_params(estimator=RandomForestClassifier(3, random_state=0))  # for a small file
        X = np.where(np.arange(X.size).reshape(X.shape) == 5, np.nan, X)
    return model.fit(X, y), X


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return everything that a model says about rows."""
    return {name: np.asarray(getattr(model, name)(X)) for name in ANSWERS if hasattr(model, name)}
