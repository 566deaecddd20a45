"""How many columns are needed: a linear machine with the weakest left out one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.feature_selection import KernelRFE, percent, ranking_curve
from mercer.svm import SVC
from mercer.tables import vectorizer

if TYPE_CHECKING:
    from mercer.comparison.comparison import Comparison

MOST_CELLS = {True: 200_000, False: 20_000}
"""Numbers in a table up to which it is cheap: for two classes, and for more."""

LEAST_COLUMNS = 4
MOST_SIZES = 12
DROPPED = 10.0
"""Percent of the columns that are left out at a time where there are many classes."""


def elimination_curve(found: Comparison, seconds: float) -> pd.DataFrame | None:
    """Return the error on rows left out against the number of columns, for a table of numbers.

    In each fold of the first repeat, what prepares the columns and what ranks them, recursive
    elimination with a linear support vector machine [1]_, sees the rows to learn from only.

    Returns
    -------
    DataFrame or None
        Columns features, error and error_sd; None where it would not be cheap, or columns are not
        all numbers.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification
       using support vector machines", Machine Learning 46 (2002).
    """
    table, race = found.table, found._race
    n_rows, n_columns = table.frame.shape
    is_two = len(race.classes) == 2
    numbers = table.frame.select_dtypes("number").shape[1]
    if table.task == "regression" or numbers < max(n_columns, LEAST_COLUMNS):
        return None
    if n_rows * n_columns > MOST_CELLS[is_two]:
        return None
    weight = "balanced" if race.balanced else None
    machine = SVC(kernel="linear", class_weight=weight)
    ranker = KernelRFE(machine, step=1 if is_two else percent(DROPPED))
    scoring = "balanced_accuracy" if race.balanced else None
    errors, sizes = [], None
    for fold in [fold for fold in race.folds if fold.repeat == 0]:
        ready = make_pipeline(vectorizer(table), StandardScaler())
        points = np.empty((n_rows, n_columns))
        points[fold.train] = ready.fit_transform(table.frame.iloc[fold.train])
        points[fold.test] = ready.transform(table.frame.iloc[fold.test])
        sizes = np.unique(
            np.geomspace(1, n_columns, min(MOST_SIZES, n_columns)).round().astype(int)
        )
        more: dict[str, Any] = {"sizes": sizes, "cv": [(fold.train, fold.test)], "baselines": False}
        curve = ranking_curve({"rfe": ranker}, machine, points, race.y, scoring=scoring, **more)
        errors.append(1.0 - curve["rfe"].test_scores[0])
    spread = np.std(errors, axis=0, ddof=1) if len(errors) > 1 else np.full(len(errors[0]), np.nan)
    columns = {"features": sizes, "error": np.mean(errors, axis=0), "error_sd": spread}
    return pd.DataFrame(columns)
