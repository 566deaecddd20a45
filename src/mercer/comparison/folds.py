"""The parts on which models are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
)

from mercer.tables import InputError, Table

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on, rows that are left out, and when this is done."""

    repeat: int
    fold: int
    train: Rows
    test: Rows


def make_folds(table: Table, folds: int, repeats: int, seed: int) -> list[Fold]:
    """Return all folds, those of the first repeat first.

    Rows of a group stay together. With times each fold has only what was before it to learn from,
    and there is nothing to repeat.

    Examples
    --------
    >>> from mercer.tables import named_table
    >>> [len(fold.test) for fold in make_folds(named_table("iris"), 3, 1, seed=0)]
    [50, 50, 50]
    """
    n = len(table.target)
    _check(table, folds)
    if table.time is not None:
        return _with_classes(table, _in_time(table, folds))
    is_classes = table.task == "classification"
    y = table.target.to_numpy() if is_classes else None
    if table.groups is not None:
        kind: Any = StratifiedGroupKFold if is_classes else GroupKFold
        found = []
        for repeat in range(repeats):
            cut = kind(folds, shuffle=True, random_state=seed + repeat)
            parts = cut.split(np.zeros(n), y, table.groups.to_numpy())
            found += [Fold(repeat, k, a, b) for k, (a, b) in enumerate(parts)]
        return _with_classes(table, found)
    many: Any = RepeatedStratifiedKFold if is_classes else RepeatedKFold
    cut = many(n_splits=folds, n_repeats=repeats, random_state=seed)
    parts = cut.split(np.zeros(n), y)
    return [Fold(k // folds, k % folds, a, b) for k, (a, b) in enumerate(parts)]


def _in_time(table: Table, folds: int) -> list[Fold]:
    """Return folds that follow each other; rows of one time are never on both sides of a cut."""
    assert table.time is not None
    order = np.argsort(table.time.to_numpy(), kind="stable")
    times = table.time.to_numpy()[order]
    n, size = len(order), len(order) // (folds + 1)
    wanted = times[n - size * np.arange(folds, 0, -1)]
    cuts = [*np.searchsorted(times, wanted).tolist(), n]
    if min(np.diff([0, *cuts])) == 0:
        raise InputError(
            f"Too many rows have the same time for {folds} folds that learn from the past only; "
            "use fewer folds."
        )
    return [Fold(0, k, order[: cuts[k]], order[cuts[k] : cuts[k + 1]]) for k in range(folds)]


def _with_classes(table: Table, found: list[Fold]) -> list[Fold]:
    """Return the folds if there is something to learn and to predict in each."""
    y = table.target.to_numpy()
    why = "time" if table.time is not None else "group"
    for fold in found:
        if not len(fold.test) or (table.task == "classification" and len(set(y[fold.train])) < 2):
            raise InputError(
                f"With folds by {why}, fold {fold.fold + 1} has only one class to learn from or no "
                "row to predict; use fewer folds."
            )
    return found


def _check(table: Table, folds: int) -> None:
    n = len(table.target)
    if n < 2 * folds:
        raise InputError(f"{folds} folds need at least {2 * folds} rows; the table has {n}.")
    if table.groups is not None and table.groups.nunique() < folds:
        raise InputError(
            f"{folds} folds need at least {folds} groups; there are {table.groups.nunique()}."
        )
    if table.task == "regression" or table.time is not None:
        return
    counts = table.class_counts()
    if len(counts) < 2:
        raise InputError(
            f"A comparison needs at least two classes, but every row is {next(iter(counts))!r}."
        )
    name, count = min(counts.items(), key=lambda item: item[1])
    if count < folds:
        rare = sum(count < folds for count in counts.values())
        others = f" (and {rare - 1} others too few)" if rare > 1 else ""
        raise InputError(
            f"{folds} folds need at least {folds} rows of each class, but {name!r} has {count}"
            f"{others}; use fewer folds, or merge or leave out rare classes."
        )
