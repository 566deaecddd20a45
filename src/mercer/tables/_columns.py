"""From cells as they were found to columns of numbers, dates or text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from mercer.tables._values import ALWAYS_MISSING, LARGEST, read_dates, read_numbers
from mercer.tables.errors import InputError, listed, shown

DATE_FORMS = "date_forms"
"""Among the `attrs` of a frame: how its columns of dates were written, where they were text."""

MOST_NOTICES = 5
"""About single columns; the rest is counted."""


def clean_columns(frame: pd.DataFrame, categorical: list[str], notices: list[str]) -> pd.DataFrame:
    """Return the frame with float64, datetime64 and text only, and without infinite numbers.

    Parameters
    ----------
    frame : DataFrame
    categorical : list of str
        Columns that stay text whatever they hold.
    notices : list of str
        What was done is added here.
    """
    said: list[str] = []
    is_plain = np.array([_is_plain(kind) for kind in frame.dtypes], dtype=bool)
    is_plain &= ~frame.columns.isin(categorical)
    numbers = frame.loc[:, is_plain].to_numpy(dtype=np.float64, na_value=np.nan)
    columns: dict[str, Any] = {}
    forms: dict[str, str] = {}
    for name in frame.columns[~is_plain]:
        if name in categorical:
            columns[name] = as_category(frame[name])
        else:
            columns[name] = _clean(frame[name], said, forms)
    clean = pd.DataFrame(numbers, frame.index, frame.columns[is_plain])
    if columns:
        clean = pd.concat([clean, pd.DataFrame(columns, index=frame.index)], axis=1)
        clean = clean[list(frame.columns)]
    clean = _without_endless(clean, notices)
    notices += said[:MOST_NOTICES]
    if len(said) > MOST_NOTICES:
        notices.append(f"The like was done in {len(said) - MOST_NOTICES} more columns.")
    clean.attrs[DATE_FORMS] = forms
    return clean


def _without_endless(clean: pd.DataFrame, notices: list[str]) -> pd.DataFrame:
    """Take numbers that are infinite, or so large that their squares would be, as missing."""
    numbers = clean.select_dtypes(np.float64)
    size = np.abs(numbers.to_numpy())
    is_endless = size > LARGEST
    if not is_endless.any():
        return clean
    names = list(numbers.columns[is_endless.any(axis=0)])
    clean[names] = numbers[names].mask(size[:, is_endless.any(axis=0)] > LARGEST)
    is_infinite = bool(np.isinf(size[is_endless]).all())
    what = "Infinite numbers" if is_infinite else f"Numbers beyond ±{LARGEST:.0e}".replace("+", "")
    notices.append(f"{what} in {listed(names)} are taken as missing.")
    return clean


def _is_plain(kind: Any) -> bool:
    return types.is_bool_dtype(kind) or (
        types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind)
    )


def _clean(column: pd.Series, said: list[str], forms: dict[str, str]) -> pd.Series:
    kind = column.dtype
    if types.is_complex_dtype(kind):
        raise InputError(f"Column {shown(column.name)} holds complex numbers.")
    if isinstance(kind, pd.PeriodDtype):
        return column.dt.to_timestamp()
    if types.is_datetime64_any_dtype(kind):
        return column.dt.tz_convert("UTC").dt.tz_localize(None) if _has_zone(kind) else column
    if types.is_timedelta64_dtype(kind):
        return column.dt.total_seconds()
    if isinstance(kind, pd.CategoricalDtype):
        return as_category(column)
    return _from_text(as_text(column), said, forms)


def _has_zone(kind: Any) -> bool:
    return isinstance(kind, pd.DatetimeTZDtype)


def as_text(column: pd.Series) -> pd.Series:
    """Return the cells as text without spaces around it; empty ones are None."""
    cells = [None if _is_gap(cell) else word_of(cell) for cell in column]
    return pd.Series(cells, column.index, dtype=object, name=column.name)


def as_category(column: pd.Series) -> pd.Series:
    """Return names for the values: 3.0 is called "3"."""
    return as_text(column.astype(object)).astype("category")


def _is_gap(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    if isinstance(cell, (float, np.floating)):
        return bool(np.isnan(cell))
    return cell is None or cell is pd.NA or cell is pd.NaT


def word_of(cell: Any) -> str:
    """Return what a cell is called: 3.0 is called "3"."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace").strip()
    if isinstance(cell, (float, np.floating)) and np.isfinite(cell) and cell % 1 == 0:
        return str(int(cell))
    return str(cell).strip()


def _from_text(column: pd.Series, said: list[str], forms: dict[str, str]) -> pd.Series:
    known = column.dropna()
    if known.empty:
        return pd.Series(np.nan, column.index)
    if known.isin(("True", "False")).all():  # of which pandas makes no numbers where some are gone
        return column.map({"True": 1.0, "False": 0.0}).astype(np.float64)
    numbers = read_numbers(column)
    if numbers is not None:
        _say(column.name, numbers.rewritten, numbers.missing, said)
        return pd.Series(numbers.values, column.index)
    dates = read_dates(column)
    if dates is not None:
        forms[str(column.name)] = dates.form
        if "%d/%m" in dates.form or dates.form.startswith("%m/%d"):
            order = "day/month" if "%d/%m" in dates.form else "month/day"
            said.append(f"Dates in column {shown(column.name)} are read as {order}.")
        _say(column.name, [], dates.missing, said)
        return dates.values
    return _text(column, said)


def _say(name: Any, rewritten: list[str], missing: list[str], said: list[str]) -> None:
    parts = []
    if rewritten:
        verb = "is read as a number" if len(rewritten) == 1 else "are read as numbers"
        parts.append(f"{listed(rewritten, 3)} {verb}")
    if missing:
        parts.append(
            f"{listed(missing, 3)} {'is' if len(missing) == 1 else 'are'} taken as missing"
        )
    if parts:
        said.append(f"In column {shown(name)}, {' and '.join(parts)}.")


def _text(column: pd.Series, said: list[str]) -> pd.Series:
    lower = column.str.lower()
    gone = lower.isin(ALWAYS_MISSING) | ((lower == "na") & (not na_is_a_name(column)))
    words = list(column[gone].unique())
    if words:
        _say(column.name, [], words, said)
    return pd.Series([None if g else c for g, c in zip(gone, column)], column.index, dtype="str")


def na_is_a_name(column: pd.Series) -> bool:
    """Return whether "NA" is likely to be one of the names, as North America is beside "EU"."""
    others = [cell for cell in column.dropna().unique() if cell.lower() not in {"na", "n/a", "nan"}]
    codes = [cell.isalpha() and cell.isupper() and len(cell) <= 3 for cell in others]
    return len(codes) > 0 and all(codes) and bool((column == "NA").any())
