"""New rows for a model that was fitted on a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from mercer.tables._columns import DATE_FORMS, as_text
from mercer.tables._new_cells import missing_words, new_dates, new_numbers, new_words
from mercer.tables._read_raw import read_raw
from mercer.tables._values import is_missing, is_number
from mercer.tables.errors import InputError, listed, shown, suggestion


@dataclass(frozen=True, eq=False)
class NewRows:
    """What `read_new_rows` found.

    Parameters
    ----------
    frame : DataFrame
        The columns that were asked for, each of the kind that was asked for.
    beside : DataFrame
        Of the columns that may be missing, those that are there.
    others : list of str
        Columns of the file that nobody asked for.
    notices : list of str
        Words that became gaps where numbers or dates belong, one sentence a column.
    """

    frame: pd.DataFrame
    beside: pd.DataFrame
    others: list[str]
    notices: list[str]


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
        The frame of the table that a model was fitted on; none of its rows is needed. Its `attrs`
        tell how dates were written: what is neither written so nor clear by itself is missing.
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
    none = like.iloc[:0, :0]
    form = {"encoding": encoding, "separator": separator, "header": header}
    return read_new_rows(path, like, none, **form).frame


def read_new_rows(
    path: Any,
    like: pd.DataFrame,
    beside: pd.DataFrame,
    *,
    encoding: Any = None,
    separator: Any = None,
    header: Any = None,
) -> NewRows:
    """Read rows as `read_rows` does, and tell what else the file holds.

    Parameters
    ----------
    path : str or path
        As for `read_rows`.
    like : DataFrame
        As for `read_rows`.
    beside : DataFrame
        Columns that the file may lack, such as the target or an identifier, by name and kind.
    encoding : str or None, default=None
        As for `read_rows`.
    separator : str or None, default=None
        As for `read_rows`.
    header : bool or None, default=None
        As for `read_rows`.

    Returns
    -------
    NewRows

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.tables import named_table, read_new_rows
    >>> table = named_table("moons")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("id;target;y;x\\n7;B;1,5;2,5\\n8;A;soon;3,5\\n")
    ...     found = read_new_rows(path, table.frame, table.target.to_frame())
    >>> found.beside["target"].tolist(), found.others
    (['B', 'A'], ['id'])
    >>> found.notices
    ["In column 'y', 'soon' is no number and is taken as missing."]
    """
    path = Path(path)
    wanted = list(like.columns)
    kinds = {**{name: beside[name] for name in beside}, **{name: like[name] for name in like}}
    texts = [name for name, column in kinds.items() if _is_words(column)]
    raw = read_raw(
        path,
        encoding=encoding,
        separator=separator,
        header=header,
        target=next(iter([name for name in wanted if name not in texts] or wanted), None),
        text_columns=lambda names: [name for name in texts if name in names],
    )
    frame = _with_own_target(raw.frame, raw.target, beside)
    missing = [name for name in wanted if name not in frame]
    if missing:
        hint = suggestion(missing[0], frame.columns) if len(missing) == 1 else "."
        columns = "column" if len(missing) == 1 else "columns"
        raise InputError(f"{shown(path.name)} lacks the {columns} {listed(missing)}{hint}")
    notices: list[str] = []
    forms = like.attrs.get(DATE_FORMS, {})
    rows = {name: _converted(frame[name], like[name], forms.get(name), notices) for name in wanted}
    there = [name for name in beside if name in frame]
    own = {name: _converted(frame[name], beside[name], None, notices) for name in there}
    others = [str(name) for name in frame if name not in kinds]
    found = pd.DataFrame(rows, index=frame.index), pd.DataFrame(own, index=frame.index)
    return NewRows(*found, others, notices)


def _with_own_target(
    frame: pd.DataFrame, target: pd.Series | None, beside: pd.DataFrame
) -> pd.DataFrame:
    """Return the frame with the target of an svmlight file, if it is asked for."""
    name = "target" if target is None else str(target.name or "target")
    if target is None or name not in beside or name in frame:
        return frame
    return frame.assign(**{name: target.to_numpy()})


def _is_words(column: pd.Series) -> bool:
    return not (column.dtype == np.float64 or types.is_datetime64_any_dtype(column.dtype))


def _converted(
    column: pd.Series, like: pd.Series, form: str | None, notices: list[str]
) -> pd.Series:
    """Return the column as the kind of the other one; what cannot be is missing."""
    if _is_words(like):
        text = new_words(as_text(column.astype(object)), _names(like))
        is_category = isinstance(like.dtype, pd.CategoricalDtype)
        return text if is_category else text.astype(object).where(text.notna(), None)
    if like.dtype == np.float64:
        clean, kind = new_numbers(column), "number"
    else:
        clean, kind = new_dates(column, form).astype(like.dtype), "date"
    _say_lost(column, clean, kind, notices)
    return clean


def _names(like: pd.Series) -> list[str]:
    """Return the words that stand for nothing elsewhere but not here.

    Where the words are unknown, it is left to the model whether "NA" is one.
    """
    words = [str(word) for word in like.dropna().unique()]
    return missing_words(words) if words else ["NA", "na"]


def _say_lost(column: pd.Series, clean: pd.Series, kind: str, notices: list[str]) -> None:
    """Tell which words were lost, other than those that stand for a gap."""
    lost = as_text(column[clean.isna()].astype(object)).dropna().unique()
    words = [word for word in lost if not is_missing(word)]
    large = [word for word in words if kind == "number" and is_number(word)]
    if large:
        notices.append(f"Numbers beyond ±1e100 in {shown(column.name)} are taken as missing.")
        words = [word for word in words if word not in large]
    if words:
        verb = f"is no {kind} and is" if len(words) == 1 else f"are no {kind}s and are"
        notices.append(
            f"In column {shown(column.name)}, {listed(words, 3)} {verb} taken as missing."
        )
