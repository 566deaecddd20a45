"""scikit-learn's models beside a comparison: boosting, a forest, a tuned support vector machine."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from . import machine
from .comparison_tables import is_of_classes

MOST_TUNED = 2000
"""Rows on which scikit-learn's support vector machine is tuned; it then learns from all."""

MOST_FITTED = 20_000
"""Rows that it learns from at most: beyond that it takes longer than all the rest."""

SVM_GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.1, 0.3, 1.0, 3.0]}
"""Values of C, and multiples of one over the number of columns."""


def peers(is_classes: bool, balanced: bool) -> dict[str, Any]:
    """Return scikit-learn's models; where errors of classes count alike, they are told so."""
    if not is_classes:
        return {
            "boosting": HistGradientBoostingRegressor(random_state=0),
            "forest": RandomForestRegressor(300, random_state=0, n_jobs=machine.cores()),
            "tuned SVM": None,
        }
    weight = "balanced" if balanced else None
    return {
        "boosting": HistGradientBoostingClassifier(class_weight=weight, random_state=0),
        "forest": RandomForestClassifier(
            300, class_weight=weight, random_state=0, n_jobs=machine.cores()
        ),
        "tuned SVM": None,
    }


def tuned_svm(X: Any, y: Any, is_classes: bool, balanced: bool) -> Any:
    """Return scikit-learn's machine, tuned on some rows and fitted to as many as it can take."""
    rng = np.random.default_rng(0)
    some = rng.permutation(len(y))[:MOST_TUNED]
    weight = {"class_weight": "balanced" if balanced else None} if is_classes else {}
    machine = (SVC if is_classes else SVR)(cache_size=500, **weight)
    model = make_pipeline(StandardScaler(), machine)
    name = "svc" if is_classes else "svr"
    grid: dict[str, Any] = {
        f"{name}__C": SVM_GRID["C"],
        f"{name}__gamma": [factor / X.shape[1] for factor in SVM_GRID["gamma"]],
    }
    if not is_classes:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
        grid = {f"regressor__{key}": values for key, values in grid.items()}
    scoring = "balanced_accuracy" if balanced else None
    search = GridSearchCV(model, grid, cv=3, scoring=scoring, refit=False)
    search.fit(X[some], y[some])
    most = rng.permutation(len(y))[:MOST_FITTED]
    return model.set_params(**search.best_params_).fit(X[most], y[most])


def numeric(train: Any, test: Any) -> tuple[Any, Any]:
    """Return both parts as numbers for models that take nothing else: categories as codes."""
    whole = pd.get_dummies(pd.concat([train, test]), dtype=float)
    values = whole.fillna(whole.median()).to_numpy(dtype=np.float64)
    return values[: len(train)], values[len(train) :]


def predictions(
    train: Any, y_train: Any, test: Any, balanced: bool
) -> dict[str, tuple[Any, float]]:
    """Return what each peer says of the rows held out, and its seconds."""
    A, B = numeric(train, test)
    is_classes = is_of_classes(y_train)
    target = y_train.to_numpy()
    names = np.unique(target)
    if is_classes:  # numbers, since scikit-learn's forest fails with weights and texts like "0"
        target = np.searchsorted(names, target)
    found = {}
    with threadpool_limits(1):
        for name, model in peers(is_classes, balanced).items():
            start = time.perf_counter()
            if model is None:
                model = tuned_svm(A, target, is_classes, balanced)
            else:
                model.fit(A, target)
            said = model.predict(B)
            found[name] = names[said] if is_classes else said, time.perf_counter() - start
    return found
