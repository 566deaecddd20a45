"""What the best model leans on: how much it loses where a column is shuffled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from mercer.comparison.paired import paired_difference
from mercer.comparison.rivals import BASELINE

if TYPE_CHECKING:
    from mercer.comparison.comparison import Comparison

SHUFFLES = 6
"""Of each column, shared out among the folds, but two in each."""

MOST_FEATURES = 40
"""Columns that are shuffled; of more, those that differ most between targets."""

MOST_TESTED = 2000
SHARE_OF_FITS = 0.5
"""Part of the time for the models of the folds; the rest is for their predictions."""


def feature_importance(found: Comparison, seconds: float) -> pd.DataFrame | None:
    """Return how much the best model loses on rows left out where a column is shuffled.

    The loss is the Brier score where there are probabilities, with the same weight for all classes
    where models are ranked so: it feels what moves a prediction, not only what overturns it. For
    numbers it is their RMSE. Each fold is predicted by a model that has not seen it.

    Returns
    -------
    DataFrame or None
        Columns feature, importance, sd (over the folds) and clear: whether it is more than what
        chance could make of it (95 %, corrected as in `paired_difference`). None where there was
        not even the time for one fold.
    """
    if found.best_name_ == BASELINE:
        return None
    begun, race = time.monotonic(), found._race
    rival = found._rivals[found.best_name_]
    one_fit = max(1e-3, float(found.results_.loc[found.best_name_, "fit_seconds"]))
    first = [fold for fold in race.folds if fold.repeat == 0]
    folds = first[: max(1, int(SHARE_OF_FITS * seconds / one_fit))]
    n_shuffles = max(2, SHUFFLES // len(folds))
    rng, names = np.random.default_rng(found.settings.get("seed", 0)), None
    rises: list[Any] = []
    for fold in folds:
        if rises and time.monotonic() - begun > seconds:
            break
        model = race.fitted(rival, fold.train)
        test = race.some(fold.test, MOST_TESTED)
        held, start = found.table.frame.iloc[test], time.monotonic()
        base = _loss(found, model, test, held)
        if names is None:
            one = max(1e-4, time.monotonic() - start) * n_shuffles * len(folds)
            left = seconds - (start - begun) - (len(folds) - 1) * one_fit
            most = min(MOST_FEATURES, int(left / one))
            names = _leading(found, fold.train, most) if most > 0 else []
        rises.append([_rises(found, model, test, base, name, n_shuffles, rng) for name in names])
    return _told(names or [], np.array(rises), race.folds[0])


def _rises(
    found: Comparison, model: Any, test: Any, base: float, name: Any, count: int, rng: Any
) -> list[float]:
    """Return what is lost by some shuffles of a column."""
    held, rises = found.table.frame.iloc[test], []
    for _ in range(count):
        shuffled = held.copy()
        shuffled[name] = held[name].array[rng.permutation(len(held))]
        rises.append(_loss(found, model, test, shuffled) - base)
    return rises


def _told(names: list[Any], rises: Any, fold: Any) -> pd.DataFrame | None:
    """Return the table, from the losses by fold, column and shuffle."""
    if not names:
        return None
    n_folds = len(rises)
    means = rises.mean(axis=2) if n_folds > 1 else rises[0].T  # of one fold, shuffle by shuffle
    ratio = len(fold.test) / len(fold.train) if n_folds > 1 else 1.0
    rows = []
    for name, own in zip(names, means.T):
        rise, half = paired_difference(own, np.zeros(len(own)), ratio)
        rows.append((str(name), rise, float(own.std(ddof=1)), bool(rise > half)))
    table = pd.DataFrame(rows, columns=["feature", "importance", "sd", "clear"])
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def _loss(found: Comparison, model: Any, rows: Any, frame: Any) -> float:
    """Return how far the predictions are from what is true of some rows."""
    race = found._race
    probabilities = race.probabilities(model, frame)
    if probabilities is None:
        return race.measured(rows, race.predicted(model, frame))[found.measure]
    codes = np.searchsorted(race.classes, race.y[rows])
    off = ((probabilities - np.eye(len(race.classes))[codes]) ** 2).sum(axis=1) / 2
    weights = 1 / np.bincount(codes, minlength=len(race.classes))[codes] if race.balanced else None
    return float(np.average(off, weights=weights))


def _leading(found: Comparison, train: Any, most: int) -> list[Any]:
    """Return the columns to look at: all, or those without numbers and the plainest of the rest."""
    frame, y = found.table.frame.iloc[train], found._race.y[train]
    if frame.shape[1] <= most:
        return list(frame.columns)
    numbers = frame.select_dtypes("number")
    words = [name for name in frame.columns if name not in numbers.columns]
    if len(words) >= most or numbers.empty:
        return words[:most]
    values = np.nan_to_num(StandardScaler().fit_transform(numbers.to_numpy()))
    if found.table.task == "classification":
        means = np.array([values[y == name].mean(axis=0) for name in np.unique(y)])
        said = np.abs(means).max(axis=0)
    else:
        said = np.abs((y - y.mean()) @ values)
    return words + numbers.columns[np.argsort(-said, kind="stable")].tolist()[: most - len(words)]
