"""Cells of new rows, read as those were that a model was fitted on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from mercer.tables._columns import as_text, clean_columns, word_of
from mercer.tables._values import ALWAYS_MISSING, dates_of_form, read_dates, read_numbers

MISSING_WORDS = ALWAYS_MISSING | {"na"}
"""Lower case; what stands for nothing in a column of words, unless it was a word there before."""


def new_numbers(column: pd.Series) -> pd.Series:
    """Return the numbers of a column; what is none is missing."""
    clean = clean_columns(column.to_frame(), [], [])[column.name]
    if clean.dtype == np.float64:
        return clean
    numbers = read_numbers(as_text(column.astype(object)), least=0.0)
    return pd.Series(np.nan if numbers is None else numbers.values, column.index)


def new_dates(column: pd.Series, form: str | None) -> pd.Series:
    """Return the dates of a column; what is none is missing.

    Parameters
    ----------
    column : Series
    form : str or None
        How the old dates were written; without it the new ones tell themselves.
    """
    if types.is_datetime64_any_dtype(column.dtype) or isinstance(column.dtype, pd.PeriodDtype):
        return clean_columns(column.to_frame(), [], [])[column.name]
    text = as_text(column.astype(object)).reset_index(drop=True)  # names of rows may repeat
    if form is not None:
        return dates_of_form(text, form).set_axis(column.index)
    dates = read_dates(text, least=0.0)
    found = pd.Series(pd.NaT, text.index) if dates is None else dates.values
    return found.set_axis(column.index)


def new_words(column: pd.Series, old: Collection[str]) -> pd.Series:
    """Return the words of a column as categories, with gaps for those that stand for nothing.

    Parameters
    ----------
    column : Series
    old : collection of str
        Words that are names here although they stand for nothing elsewhere.
    """
    column = column.astype("category")
    given = column.cat.categories
    names = [_name(cell, old) for cell in given]
    if names == list(given):
        return column
    return column.astype(object).map(dict(zip(given, names))).astype("category")


def missing_words(old: Collection[str]) -> list[str]:
    """Return which of the words stand for nothing elsewhere."""
    return [word for word in old if word.lower() in MISSING_WORDS]


def _name(cell: Any, old: Collection[str]) -> str | None:
    word = word_of(cell)
    return word if word in old or word.lower() not in MISSING_WORDS else None
