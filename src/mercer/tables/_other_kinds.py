"""Tables that are not text with separators: Parquet, Excel, svmlight."""

from __future__ import annotations

import re
import warnings
from datetime import date, datetime
from typing import Any

import pandas as pd
from sklearn.datasets import load_svmlight_file

from mercer.tables._content import Content, in_memory
from mercer.tables._dialect import is_header, unique_names
from mercer.tables._raw import RawTable, check_size, frame_of_matrix
from mercer.tables.errors import InputError, shown

SVMLIGHT_LINE = re.compile(
    r"[-+.\deE]+(,[-+.\deE]+)*(\s+qid:\d+)?(\s+\d+:[-+.\deEnaif]+)+\s*(#.*)?"
)

Sheet = tuple[str, list[list[Any]]]
"""Its title, and its lines without those that are empty."""

MOST_TITLES = 5
"""Lines of a sheet among which its names are looked for."""


def read_parquet(content: Content) -> RawTable:
    """Read a Parquet file, after a look at its size."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise _not_installed(content, "Parquet", "pyarrow") from None
    try:
        with content.open() as stream:
            file = parquet.ParquetFile(stream)
            check_size(file.metadata.num_rows, file.metadata.num_columns)
            whole = file.read()
            whole.validate(full=True)  # text whose bytes are none, for instance
    except InputError:
        raise
    except Exception:  # pyarrow lets through whatever its decoders raise
        raise InputError(f"{shown(content.name)} is a damaged Parquet file.") from None
    notices: list[str] = []
    frame = _frame_of(whole, content)
    frame = frame.loc[:, [not str(name).startswith("__index_level_") for name in frame.columns]]
    frame.columns = unique_names([str(name).strip() for name in frame.columns], notices)
    if not len(frame):
        raise InputError(f"{shown(content.name)} has column names but no rows with values.")
    return RawTable(frame, notices)


def _frame_of(whole: Any, content: Content) -> pd.DataFrame:
    """Return a table of Arrow as a frame, or name the column that pandas cannot hold."""
    try:
        return whole.to_pandas(ignore_metadata=True)  # an index comes as a column
    except Exception:
        for field, column in zip(whole.schema, whole.columns):
            try:
                column.to_pandas()
            except Exception:
                raise InputError(
                    f"Column {shown(field.name)} of {shown(content.name)} holds values of the kind "
                    f"{field.type} that pandas cannot; write them as text or leave it out."
                ) from None
        raise


def read_excel(content: Content, header: bool | None, target: object) -> RawTable:
    """Read a sheet of an Excel file; formulas count as their results.

    It is the first that has the target among its names, else the first with two columns.
    """
    try:
        import openpyxl
    except ImportError:
        raise _not_installed(content, "Excel", "openpyxl") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which nobody needs here
            with content.open() as stream:
                book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
                sheets = [(sheet.title, _cells(sheet)) for sheet in book.worksheets]
                book.close()
    except InputError:
        raise
    except Exception:  # openpyxl lets through whatever XML, zip and its own classes raise
        raise InputError(f"{shown(content.name)} is a damaged Excel file.") from None
    filled = [(title, rows) for title, rows in sheets if rows]
    if not filled:
        raise InputError(f"{shown(content.name)} has no cells.")
    (title, rows), notices = _chosen(filled, target), []
    if len(filled) > 1:
        notices.append(f"The file has {len(filled)} sheets; {shown(title)} was read.")
    return _from_cells(content, rows, header, target, notices)


def _chosen(sheets: list[Sheet], target: object) -> Sheet:
    """Return the sheet that is the table; remarks on it often have a sheet of their own."""
    with_target = [sheet for sheet in sheets if _names(sheet, target)]
    wide = [sheet for sheet in sheets if max(map(len, sheet[1])) > 1]
    return [*with_target, *wide, *sheets][0]


def _names(sheet: Sheet, target: object) -> bool:
    """Tell whether one of the first lines, some of which may be titles, has the target's name."""
    return any(target == str(cell).strip() for row in sheet[1][:MOST_TITLES] for cell in row)


def _cells(sheet: Any) -> list[list[Any]]:
    """Return the lines that are not empty, without the empty cells at their ends."""
    rows: list[list[Any]] = []
    before: Any = None
    for row in sheet.iter_rows(values_only=True):
        if row is before:  # openpyxl fills a gap, perhaps of a million lines, with one object
            continue
        before, cells = row, list(row)
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            rows.append(cells)
            check_size(len(rows), len(cells))
    return rows


def _from_cells(
    content: Content,
    rows: list[list[Any]],
    header: bool | None,
    target: object,
    notices: list[str],
) -> RawTable:
    width = max(map(len, rows))
    while len(rows) > 1 and width > 2 and sum(cell is not None for cell in rows[0]) == 1:
        rows = rows[1:]  # a title
    filled = [row + [None] * (width - len(row)) for row in rows]
    words = [["" if cell is None else str(cell).strip() for cell in row] for row in filled[:50]]
    if header if header is not None else is_header(words[0], words[1:], target):
        names = unique_names(words[0], notices)
        filled = filled[1:]
    else:
        names = [f"c{k + 1}" for k in range(width)]
        notices.append("There is no line of column names; they are called c1, c2, ….")
    if not filled:
        raise InputError(f"{shown(content.name)} has column names but no rows with values.")
    columns = {name: _column([row[k] for row in filled]) for k, name in enumerate(names)}
    return RawTable(pd.DataFrame(columns), notices)


def _column(cells: list[Any]) -> pd.Series:
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, (date, datetime)) for cell in known):
        return pd.to_datetime(pd.Series(cells, dtype=object), errors="coerce")
    return pd.Series(cells)


def looks_like_svmlight(lines: list[str]) -> bool:
    """Return whether the first lines are "label index:value index:value …"."""
    filled = [line.strip() for line in lines[:20] if line.strip() and line[0] != "#"]
    return bool(filled) and all(SVMLIGHT_LINE.fullmatch(line) for line in filled)


def read_svmlight(content: Content) -> RawTable:
    """Read svmlight's format by scikit-learn's loader; absent entries are zeros."""
    try:
        X, y = load_svmlight_file(in_memory(content.name, content.open))
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{shown(content.name)} is not in svmlight's format (label index:value …)."
        ) from None
    return RawTable(frame_of_matrix(X), [], pd.Series(y))


def _not_installed(content: Content, kind: str, package: str) -> InputError:
    return InputError(
        f"{shown(content.name)} is a file of {kind}, for which {package} is needed: "
        f"pip install {package}."
    )
