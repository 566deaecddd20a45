"""Columns that decide the target alone, which may not be known before it is."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mercer.comparison.rivals import BASELINE, rivals_for

if TYPE_CHECKING:
    from mercer.comparison.comparison import Comparison
    from mercer.comparison.folds import Fold

ALMOST = 0.15
"""Of the error of the baseline: a column with less than this alone almost decides."""

NEAR = 0.1
"""Of the same: no farther from the best model is near, and farther behind is much worse."""

TIMES = 3.0
"""And so many times the error of the column."""

TWINS = 0.99
"""Rank correlation of columns that are looked at together, as a leak and its copy."""

MOST_LEARNED = MOST_TESTED = 2000
FOLDS_WITHOUT = 3
NEIGHBOURS = (1, 5)
WITHOUT = {"classification": "forest,logistic", "regression": "forest,ridge"}
"""Models that tell what can be known without the columns."""


def lone_columns(found: Comparison, seconds: float) -> pd.DataFrame | None:
    """Return the columns that alone come near the best model, which nothing does without them.

    What a column alone tells is found out on the folds of the comparison, from the rows that are
    nearest in its values: it need not be a number, nor go up and down with the target. What is
    known without it is the error of a forest or a linear model, whichever is less.

    Returns
    -------
    DataFrame or None
        Columns feature, error (of it alone), error_without (it and its twins) and group: the same
        number for columns that say the same.
    """
    results, race, frame = found.results_, found._race, found.table.frame
    if BASELINE not in results.index or found.best_name_ == BASELINE or frame.shape[1] < 2:
        return None
    folds = [fold for fold in race.folds if fold.repeat == 0]
    base = float(results.loc[BASELINE, found.measure])
    most = min(ALMOST * base, float(results.loc[found.best_name_, found.measure]) + NEAR * base)
    parts = [(race.some(f.train, MOST_LEARNED), race.some(f.test, MOST_TESTED)) for f in folds]
    errors = {}
    for name in frame.columns:
        values = _places(frame[name])
        if _error(found, values, parts[:1]) <= 2 * most:  # most are far from it
            errors[name] = _error(found, values, parts)
    near = sorted((name for name in errors if errors[name] <= most), key=lambda name: errors[name])
    rows, told = [], set()
    for group, name in enumerate(near):
        if name in told:
            continue
        twins = [other for other in near if other not in told and _alike(frame, name, other)]
        told.update(twins)
        least = max(errors[name] + NEAR * base, TIMES * errors[name])
        without = _without(found, twins, folds[:FOLDS_WITHOUT], least)
        if without >= least:
            rows += [(str(twin), errors[twin], without, group) for twin in twins]
    return pd.DataFrame(rows, columns=["feature", "error", "error_without", "group"])


def _places(column: pd.Series) -> Any:
    """Return the values as numbers in their order, gaps in one place of their own."""
    if column.dtype == np.float64:
        values = column.to_numpy(copy=True)
    else:
        codes = pd.factorize(column.astype(object).where(column.notna(), None), sort=True)[0]
        values = np.where(codes < 0, np.nan, codes.astype(np.float64))
    values[np.isnan(values)] = -np.inf
    return values


def _error(found: Comparison, values: Any, parts: list[tuple[Any, Any]]) -> float:
    """Return the error of the nearest rows in one column, of one or a few, whichever suits."""
    race = found._race
    y = np.searchsorted(race.classes, race.y) if race.classes else race.y
    errors: dict[int, list[Any]] = {count: [] for count in NEIGHBOURS}
    for train, test in parts:
        sides = _told(y[train], len(race.classes), race.balanced)
        order = np.argsort(values[train], kind="stable")
        ordered, sums = values[train][order], np.cumsum(np.vstack([0 * sides[:1], sides[order]]), 0)
        first = np.searchsorted(ordered, values[test], "left")
        last = np.searchsorted(ordered, values[test], "right")  # all rows of the same value
        for count in NEIGHBOURS:
            most = min(count, len(train))
            low = np.clip((first + last - most + 1) // 2, 0, len(train) - most)
            low, high = np.minimum(low, first), np.maximum(low + most, last)
            means = (sums[high] - sums[low]) / (high - low)[:, None]
            said = means.argmax(axis=1) if race.classes else means[:, 0]
            errors[count].append(_loss(y[test], said, len(race.classes), race.balanced))
    return float(min(np.mean(one) for one in errors.values()))


def _told(y: Any, n_classes: int, balanced: bool) -> Any:
    """Return what each row says: its number, or its class with the weight of that."""
    if not n_classes:
        return y[:, None]
    counts = np.maximum(1, np.bincount(y, minlength=n_classes))
    return np.eye(n_classes)[y] / (counts if balanced else 1.0)


def _loss(y: Any, said: Any, n_classes: int, balanced: bool) -> float:
    if not n_classes:
        return float(np.sqrt(np.mean((said - y) ** 2)))
    wrong = said != y
    if not balanced:
        return float(wrong.mean())
    return float(np.mean([wrong[y == code].mean() for code in np.unique(y)]))


def _alike(frame: pd.DataFrame, one: Any, other: Any) -> bool:
    ranks = [pd.Series(_places(frame[name])).rank().to_numpy() for name in (one, other)]
    return one == other or bool(abs(np.corrcoef(*ranks)[0, 1]) >= TWINS)


def _without(found: Comparison, names: list[Any], folds: list[Fold], least: float) -> float:
    """Return the error of the better of a forest and a linear model without some columns.

    The forest takes longer, and is not asked where the other is better than ``least`` already.
    """
    table = found.table
    less = table.frame.drop(columns=names)
    if not less.shape[1]:
        return float(found.results_.loc[BASELINE, found.measure])
    race = copy.copy(found._race)
    race.table, race.caps = replace(table, frame=less), {}
    errors = []
    asked = rivals_for(table.task, WITHOUT[table.task])[1:]
    for rival in sorted(asked, key=lambda one: one.name == "forest"):
        own = []
        for fold in folds:
            test = race.some(fold.test, MOST_TESTED)
            model = race.fitted(rival, race.some(fold.train, MOST_LEARNED))
            own.append(race.measured(test, race.predicted(model, less.iloc[test]))[found.measure])
        errors.append(float(np.mean(own)))
        if min(errors) < least:
            break
    return min(errors)
