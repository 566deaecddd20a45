"""What is to be predicted: classes or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from mercer.tables._columns import as_text, na_is_a_name
from mercer.tables._values import (
    ALWAYS_MISSING,
    LARGEST,
    Numbers,
    is_missing,
    is_number,
    read_numbers,
)
from mercer.tables.errors import InputError, counted, listed, shown

MOST_CLASSES = 20
MOST_DECIMAL_CLASSES = 10
MOST_LABELS = 100
"""More different numbers than this are quantities, in however many rows."""


def read_target(column: pd.Series, task: str | None, notices: list[str]) -> tuple[pd.Series, str]:
    """Return class names or numbers, missing ones as None or NaN, and the task.

    Parameters
    ----------
    column : Series
        As it was found.
    task : {"classification", "regression"} or None
    notices : list of str
        What was decided is added here.
    """
    name = column.name
    if types.is_datetime64_any_dtype(column.dtype) or types.is_complex_dtype(column.dtype):
        raise InputError(
            f"Column {shown(name)} holds dates or complex numbers, which are no target."
        )
    text = as_text(column.astype(object))
    if not text.notna().any():
        raise InputError(f"Column {shown(name)} is empty, so that there is nothing to predict.")
    numbers = None if types.is_bool_dtype(column.dtype) else read_numbers(text, least=1.0)
    if numbers is None:
        if task == "regression":
            words = (cell for cell in text.dropna() if not is_number(cell) and not is_missing(cell))
            example = next(words, text.dropna().iloc[0])
            raise InputError(
                f"Regression needs numbers, but column {shown(name)} holds {shown(example)}."
            )
        return _names(text, notices), "classification"
    is_endless = np.abs(numbers.values) > LARGEST
    if is_endless.any():
        if (is_endless | np.isnan(numbers.values)).all():
            raise InputError(
                f"Column {shown(name)} holds numbers beyond ±1e100 only; divide them by a constant."
            )
        numbers.values[is_endless] = np.nan
        what = counted(int(is_endless.sum()), "number")
        notices.append(f"In column {shown(name)}, {what} beyond ±1e100 taken as missing.")
    chosen = task or _task(numbers.values, name, notices)
    if chosen == "regression":
        return _numbers(numbers, text, notices), chosen
    return _number_names(numbers, text, notices), chosen


def _task(values: Any, name: Any, notices: list[str]) -> str:
    known = values[~np.isnan(values)]
    distinct = len(np.unique(known))
    whole = bool((known % 1 == 0).all())
    many = distinct > MOST_LABELS or (distinct > MOST_CLASSES and distinct > 0.05 * len(known))
    if many or (not whole and distinct > MOST_DECIMAL_CLASSES):
        return "regression"
    if distinct > MOST_DECIMAL_CLASSES:
        notices.append(
            f"Column {shown(name)} holds {distinct} different numbers, which are taken as classes; "
            "`task` (--task) decides otherwise."
        )
    return "classification"


def _numbers(numbers: Numbers, text: pd.Series, notices: list[str]) -> pd.Series:
    _say_missing(numbers.missing, text, notices)
    if numbers.rewritten:
        notices.append(
            f"In column {shown(text.name)}, {listed(numbers.rewritten, 3)} read as numbers."
        )
    return pd.Series(numbers.values, text.index, name=text.name)


def _number_names(numbers: Numbers, text: pd.Series, notices: list[str]) -> pd.Series:
    _say_missing(numbers.missing, text, notices)
    names = [None if v != v else f"{v:.0f}" if v % 1 == 0 else f"{v:g}" for v in numbers.values]
    return pd.Series(names, text.index, dtype=object, name=text.name)


def _names(text: pd.Series, notices: list[str]) -> pd.Series:
    lower = text.str.lower()
    gone = lower.isin(ALWAYS_MISSING)
    if (text == "NA").any():
        has_gaps = bool(text.isna().any())
        if has_gaps or na_is_a_name(text):
            reason = "empty cells are what is missing" if has_gaps else "the other names look alike"
            notices.append(f"'NA' in column {shown(text.name)} is taken as a class: {reason}.")
        else:
            gone |= text == "NA"
    _say_missing(sorted(text[gone].unique()), text, notices)
    return text.where(~gone, None)


def _say_missing(words: list[str], text: pd.Series, notices: list[str]) -> None:
    if words:
        verb = "is" if len(words) == 1 else "are"
        notices.append(f"In column {shown(text.name)}, {listed(words, 3)} {verb} taken as missing.")


def check_target(target: pd.Series, task: str) -> None:
    """Refuse what nothing can be learned from."""
    distinct = target.nunique()
    if len(target) < 2:
        raise InputError("There is only one row with a target, from which nothing can be learned.")
    if task == "regression":
        if distinct < 2:
            raise InputError(
                f"The target is {target.iloc[0]:g} in every row; there is nothing to learn."
            )
    elif distinct < 2:
        raise InputError(
            f"At least two classes are needed, but every row is {shown(target.iloc[0])}."
        )
    elif distinct == len(target):
        raise InputError(
            f"Column {shown(target.name)} holds {counted(distinct, 'different value')} in as many "
            "rows, which are no classes."
        )
    elif (target.value_counts() == 1).sum() > len(target) / 2:
        raise InputError(
            f"Column {shown(target.name)} holds {counted(distinct, 'different value')} in "
            f"{len(target)} rows, most of which come once: too few for classes."
        )
