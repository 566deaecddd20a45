"""From a raw table and options to a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._columns import as_text, clean_columns, word_of
from mercer.tables._counters import counters
from mercer.tables._left_out import copies, identifiers, naming, repeated_identifiers, useless
from mercer.tables._options import Options, column
from mercer.tables._raw import RawTable, check_size
from mercer.tables._target import check_target, read_target
from mercer.tables.errors import InputError, counted, listed, shown, suggestion
from mercer.tables.table import Table

LEAST_DATES = 5
"""Of which one can say that they go on from row to row."""


def assemble(raw: RawTable, options: Options, name: str, source: str, where: str) -> Table:
    """Return the table that is meant, with a word for whatever is changed.

    Parameters
    ----------
    raw : RawTable
    options : Options
    name, source : str
        Of the table.
    where : str
        How messages call the data.
    """
    notices = list(raw.notices)
    left_out: dict[str, str] = {}
    frame = raw.frame.reset_index(drop=True)
    whole = frame
    check_size(*frame.shape)
    target_name, target = _target_column(raw, frame, options, where)
    frame = _less(frame, [target_name] if raw.target is None else [])
    beside = _beside(frame, options, left_out)
    categorical = [column(each, list(frame.columns), "categorical") for each in options.categorical]
    frame = _less(frame, left_out)
    target, task = read_target(target, options.task, notices)
    keep = target.notna().to_numpy()
    for series in beside.values():
        keep = keep & series.notna().to_numpy()
    _say_rows(keep, target, notices)
    if not keep.all():
        frame, target = frame[keep].reset_index(drop=True), target[keep].reset_index(drop=True)
        beside = {key: series[keep].reset_index(drop=True) for key, series in beside.items()}
    check_target(target, task)
    frame = clean_columns(frame, [each for each in categorical if each in frame.columns], notices)
    frame = _without(frame, target, task, categorical, left_out, notices, where)
    note_gaps(frame, notices, "become, fold by fold, the median of the training rows")
    _note_shape(frame, notices)
    if options.time is None:
        _note_dates(frame, notices)
    positive = _positive(options.positive, target, task)
    groups, time = beside.get("groups"), beside.get("time")
    names = whole.loc[keep, naming(left_out)]
    made = (positive, groups, time, tuple(notices), left_out, source, names)
    return Table(name, frame, target, task, *made)


def _less(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return the frame without some columns; a copy of thousands of columns takes its time."""
    names = list(names)
    return frame.drop(columns=names) if names else frame


def _target_column(
    raw: RawTable, frame: pd.DataFrame, options: Options, where: str
) -> tuple[str, pd.Series]:
    if raw.target is not None:
        if options.target is not None:
            raise InputError(f"{where} has its own target; `target` is for columns of a table.")
        return str(raw.target.name or "target"), raw.target.reset_index(drop=True)
    names = list(frame.columns)
    if options.target is None:
        raise InputError(f"Say which column of {where} is the target (it has {listed(names, 6)}).")
    name = column(options.target, names, "the target")
    return name, frame[name]


def _beside(
    frame: pd.DataFrame, options: Options, left_out: dict[str, str]
) -> dict[str, pd.Series]:
    """Return groups and time, and note what `drop` and they take from the features."""
    names = list(frame.columns)
    for each in options.drop:
        left_out[column(each, names, "drop")] = "asked for"
    beside = {}
    for key, reason in (
        ("groups", "it tells which rows belong together"),
        ("time", "it orders the rows"),
    ):
        given = getattr(options, key)
        if given is None:
            continue
        if isinstance(given, (str, int)):
            name = column(given, names, key)
            left_out[name] = reason
            beside[key] = frame[name]
        else:
            beside[key] = _as_series(given, len(frame), key)
        beside[key] = _cleaned(beside[key], key)
    return beside


def _as_series(given: Any, rows: int, key: str) -> pd.Series:
    series = pd.Series(np.asarray(given).ravel(), name=key)
    if len(series) != rows:
        raise InputError(f"`{key}` has {len(series)} values for {counted(rows, 'row')}.")
    return series


def _cleaned(series: pd.Series, key: str) -> pd.Series:
    if key == "groups":
        return as_text(series.astype(object)).rename(series.name)
    clean = clean_columns(series.to_frame("time"), [], [])["time"].rename(series.name)
    if not (pd.api.types.is_numeric_dtype(clean) or pd.api.types.is_datetime64_any_dtype(clean)):
        raise InputError(f"Column {shown(series.name)} holds neither dates nor numbers for time.")
    return clean


def _say_rows(keep: Any, target: pd.Series, notices: list[str]) -> None:
    missing = int(target.isna().sum())
    if missing:
        notices.append(f"{counted(missing, 'row')} without a target left out.")
    others = int((~keep).sum()) - missing
    if others:
        notices.append(f"{counted(others, 'row')} without a group or a time left out.")
    if not keep.any():
        raise InputError("No row is left that has a target.")


def _without(
    frame: pd.DataFrame,
    target: pd.Series,
    task: str,
    categorical: Sequence[str],
    left_out: dict[str, str],
    notices: list[str],
    where: str,
) -> pd.DataFrame:
    """Return the frame without columns that must not be learned from."""
    found = useless(frame)
    left_out.update(found)
    frame = _less(frame, found)
    told = copies(frame, target, task)
    for name, reason in told.items():
        notices.append(f"Column {shown(name)} was left out: {reason}.")
    left_out.update(told)
    frame = _less(frame, told)
    if frame.shape[1] == 0:
        reason = f": {next(iter(left_out.items()))[1]}" if len(left_out) == 1 else ""
        raise InputError(f"No column of {where} is left to learn from besides the target{reason}.")
    named = identifiers(frame, target, task)
    named |= counters(_less(frame, named), target, task)
    named = {name: reason for name, reason in named.items() if name not in categorical}
    if named and len(named) == frame.shape[1]:
        notices.append(
            f"{listed(named)} may only name the rows, but nothing else is there to learn from."
        )
        named = {}
    left_out.update(named)
    for name in repeated_identifiers(_less(frame, named)):
        notices.append(
            f"Column {shown(name)} looks like an identifier that repeats; if its rows belong "
            "together, name it as `groups` (--groups)."
        )
    by_reason: dict[str, list[str]] = {}
    for name, reason in {**found, **named}.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        notices.append(f"Column{'s' * (len(names) > 1)} {listed(names)} left out: {reason}.")
    return _less(frame, named)


def note_gaps(frame: pd.DataFrame, notices: list[str], filled: str) -> None:
    """Tell how many gaps there are and what becomes of them."""
    missing = frame.isna()
    is_number = (frame.dtypes == np.float64).to_numpy()
    for what, then, which in (
        ("number", filled, is_number),
        ("value", "count as a value of their own", ~is_number),
    ):
        gaps = missing.loc[:, which].to_numpy().sum(axis=0)
        if gaps.any():
            notices.append(
                f"{counted(int(gaps.sum()), f'missing {what}')} in "
                f"{counted(int((gaps > 0).sum()), 'column')}: they {then}."
            )


def _note_shape(frame: pd.DataFrame, notices: list[str]) -> None:
    rows, columns = frame.shape
    if columns > rows:
        notices.append(
            f"More columns ({columns:,}) than rows ({rows:,}): the errors are uncertain."
        )


def _note_dates(frame: pd.DataFrame, notices: list[str]) -> None:
    """Ask whether rows are in the order of time, in which new ones go on."""
    for name, dates in frame.select_dtypes("datetime").items():
        known = dates.dropna()
        goes_on = known.is_monotonic_increasing or known.is_monotonic_decreasing
        if goes_on and len(known) >= LEAST_DATES:
            notices.append(
                f"The dates in column {shown(name)} go on from row to row; if new rows are later, "
                "name it as `time` (--time): folds then learn from the past only, and no model "
                "from the date."
            )


def _positive(given: Any, target: pd.Series, task: str) -> str | None:
    if given is None:
        return None
    if task == "regression":
        raise InputError("`positive` names a class, but the target holds numbers.")
    names = sorted(target.unique())
    word = word_of(given)
    if word not in names:
        hint = suggestion(word, names)
        hint = f" (there are {listed(names, 6)})." if hint == "." else hint
        raise InputError(f"There is no class {shown(word)} for `positive`{hint}")
    if len(names) > 2:
        raise InputError(f"`positive` is for two classes, but there are {len(names)}.")
    return word
