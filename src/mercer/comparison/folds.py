"""The parts on which models are compared."""

from __future__ import annotations

import warnings
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

LEAST_JUDGED = 3
"""Rows that a class needs to be compared on; as many as there are folds, where that is less."""

LEAST_OF_CLASS = 5
"""Rows that a class keeps in a random part, if it has them: folds inside need more than one."""

MOST_NAMED = 4


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
        parts = _in_time(table.time.to_numpy(), folds)
        if any(not len(train) or not len(test) for train, test in parts):
            raise InputError(
                f"Too many rows have the same time for {folds} folds that learn from the past "
                "only; use fewer folds."
            )
        return _with_classes(table, [Fold(0, k, a, b) for k, (a, b) in enumerate(parts)])
    is_classes = table.task == "classification"
    y = table.target.to_numpy() if is_classes else None
    if table.groups is not None:
        kind: Any = StratifiedGroupKFold if is_classes else GroupKFold
        found = []
        for repeat in range(repeats):
            cut = kind(folds, shuffle=True, random_state=seed + repeat)
            pairs = cut.split(np.zeros(n), y, table.groups.to_numpy())
            found += [Fold(repeat, k, a, b) for k, (a, b) in enumerate(pairs)]
        return _with_classes(table, found)
    many: Any = RepeatedStratifiedKFold if is_classes else RepeatedKFold
    cut = many(n_splits=folds, n_repeats=repeats, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds
        return [
            Fold(k // folds, k % folds, a, b) for k, (a, b) in enumerate(cut.split(np.zeros(n), y))
        ]


def inner_folds(
    n_rows: int, y: Any, groups: Any, times: Any, number: int, seed: int
) -> list[tuple[Rows, Rows]]:
    """Return folds of rows to learn from, by which a model chooses its parameters.

    They keep groups together and learn from the past only, as those of the comparison do. Where
    that cannot be done with so many, there are fewer, and none where it cannot be done at all.

    Parameters
    ----------
    n_rows : int
    y : array-like of shape (n_rows,) or None
        Labels; None for numbers.
    groups, times : array-like of shape (n_rows,) or None
        One of them at least.
    number : int
        Folds.
    seed : int

    Examples
    --------
    >>> folds = inner_folds(6, None, None, np.array([1, 2, 3, 4, 5, 6]), 2, seed=0)
    >>> [(train.tolist(), test.tolist()) for train, test in folds]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """
    if times is not None:
        found = _in_time(times, min(number, n_rows - 1))
    else:
        number = min(number, len(np.unique(groups)))
        if number < 2:
            return []
        kind: Any = StratifiedGroupKFold if y is not None else GroupKFold
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than folds
            cut = kind(number, shuffle=True, random_state=seed)
            found = list(cut.split(np.zeros(n_rows), y, groups))
    kept = [part for part in found if len(part[0]) and len(part[1])]
    return [part for part in kept if y is None or len(np.unique(y[part[0]])) > 1]


def some_rows(rows: Any, most: int | None, labels: Any, seed: int) -> Any:
    """Return a random part of rows, with some of every class; a larger one holds a smaller.

    Parameters
    ----------
    rows : array of int
    most : int or None
        None returns all.
    labels : array or None
        Classes of these rows; None for numbers.
    seed : int

    Examples
    --------
    >>> some_rows(np.arange(100), 4, None, seed=0).tolist()
    [5, 20, 36, 82]
    """
    if most is None or len(rows) <= most:
        return rows
    order = np.random.default_rng(seed).permutation(len(rows))
    if labels is not None:
        own = labels[order]
        first = [np.flatnonzero(own == name)[:LEAST_OF_CLASS] for name in np.unique(own)]
        some = np.concatenate(first)
        most = max(most, some.size)
        order = np.concatenate([order[some], np.delete(order, some)])
    return np.sort(rows[order[:most]])


def _in_time(times: Any, folds: int) -> list[tuple[Rows, Rows]]:
    """Return folds that follow each other; rows of one time are never on both sides of a cut."""
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    n, size = len(order), max(1, len(order) // (folds + 1))
    wanted = ordered[n - size * np.arange(folds, 0, -1)]
    cuts = [*np.searchsorted(ordered, wanted).tolist(), n]
    return [(order[: cuts[k]], order[cuts[k] : cuts[k + 1]]) for k in range(folds)]


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


def judgeable(table: Table, folds: int) -> tuple[Table, int, str]:
    """Return what can be compared of a table: its rows, the folds, and what was changed in words.

    A class with a row or two can be learned or judged, but not both; its rows are left out. More
    folds than the largest class has rows are too many.

    Examples
    --------
    >>> from mercer.tables import as_table
    >>> table = as_table([[k, k % 3] for k in range(21)], [*"ab" * 10, "c"], task="classification")
    >>> judgeable(table, 5)[2]
    "1 row is left out: of class 'c' there are too few to learn it and to judge it."
    """
    if table.task == "regression" or table.time is not None:
        return table, folds, ""
    counts = table.class_counts()
    rare = [name for name, count in counts.items() if count < min(LEAST_JUDGED, folds)]
    said = []
    if rare and len(rare) < len(counts) - 1:
        keep = ~table.target.isin(rare).to_numpy()
        said.append(_rare_in_words(rare, int((~keep).sum())))
        table = table.part(np.flatnonzero(keep))
    largest = max(table.class_counts().values())
    if largest < folds <= len(table.target) // 2:
        folds = max(2, largest)
        said.append(f"There are {folds} folds: the largest class has {largest} rows.")
    return table, folds, " ".join(said)


def _rare_in_words(rare: list[str], n_rows: int) -> str:
    names = ", ".join(repr(name) for name in rare[:MOST_NAMED])
    more = f" and {len(rare) - MOST_NAMED} others" if len(rare) > MOST_NAMED else ""
    rows = "1 row is" if n_rows == 1 else f"{n_rows} rows are"
    kind = "class" if len(rare) == 1 else "classes"
    return (
        f"{rows} left out: of {kind} {names}{more} there are too few to learn "
        f"{'it and to judge it' if len(rare) == 1 else 'them and to judge them'}."
    )
