"""New rows for a model that was fitted on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from mercer.tables._columns import as_category, as_text, clean_columns
from mercer.tables._read_raw import read_raw
from mercer.tables._values import ALWAYS_MISSING, read_dates, read_numbers
from mercer.tables.errors import InputError, listed, shown, suggestion


def read_rows(
    path: Any,
    like: pd.DataFrame,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
) -> pd.DataFrame:
    """Read rows with the columns of another frame, each of the same kind as there.

    Other columns of the file are left alone, words among numbers and dates become gaps, and no row
    is left out: row k of the result is row k of the file.

    Parameters
    ----------
    path : path-like
        As for `read_table`.
    like : DataFrame
        The frame of the table that a model was fitted on; none of its rows is needed.
    encoding, separator, header
        As for `read_table`.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.tables import named_table, read_rows
    >>> like = named_table("moons").frame.iloc[:0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("id;y;x\\n7;1,5;2,5\\n8;unknown;3,5\\n")
    ...     read_rows(path, like)
         x    y
    0  2.5  1.5
    1  3.5  NaN
    """
    path = Path(path)
    wanted = list(like.columns)
    texts = [name for name in wanted if _is_words(like[name])]
    frame = read_raw(
        path,
        encoding=encoding,
        separator=separator,
        header=header,
        target=next(iter(wanted), None),
        text_columns=lambda names: [name for name in texts if name in names],
    ).frame
    missing = [name for name in wanted if name not in frame]
    if missing:
        hint = suggestion(missing[0], frame.columns) if len(missing) == 1 else "."
        raise InputError(f"{shown(path.name)} lacks the column {listed(missing)}{hint}")
    return pd.DataFrame({name: _converted(frame[name], like[name]) for name in wanted})


def _is_words(column: pd.Series) -> bool:
    return not (column.dtype == np.float64 or types.is_datetime64_any_dtype(column.dtype))


def _converted(column: pd.Series, like: pd.Series) -> pd.Series:
    """Return the column as the kind of the other one; what cannot be is missing."""
    if _is_words(like):
        text = as_text(column.astype(object))
        text = text.where(~text.str.lower().isin(ALWAYS_MISSING - set(like.dropna())), None)
        return as_category(text) if isinstance(like.dtype, pd.CategoricalDtype) else text
    clean = clean_columns(column.to_frame(), [], [])[column.name]
    if clean.dtype.kind == like.dtype.kind:
        return clean
    text = as_text(column.astype(object))
    if like.dtype == np.float64:
        numbers = read_numbers(text, least=0.0)
        return pd.Series(np.nan if numbers is None else numbers.values, column.index)
    dates = read_dates(text, least=0.0)
    values = pd.Series(pd.NaT, column.index) if dates is None else dates.values
    return values.astype(like.dtype)
