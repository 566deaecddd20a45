"""Text with separators, as a frame of numbers where all cells are plain and text elsewhere."""

from __future__ import annotations

import csv
import io
import re
import warnings
from typing import Any

import pandas as pd

from mercer.tables._content import Content, refusing_damage
from mercer.tables._dialect import SPACES, Dialect
from mercer.tables._encoding import Spelling
from mercer.tables._raw import RawTable, check_size
from mercer.tables.errors import InputError, counted, listed, shown

DOTTED_THOUSANDS = (
    r"\s*[-+]?[$€£¥]?\s*[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?\s*[$€£¥%]?\s*"  # 0.125 has none
)


def read_delimited(
    content: Content,
    spelling: Spelling,
    dialect: Dialect,
    text_columns: list[str],
    words: list[str],
) -> RawTable:
    """Read comma-separated values and their relatives.

    Parameters
    ----------
    content : Content
    spelling : Spelling
    dialect : Dialect
    text_columns : list of str
        Columns whose cells must stay as they are written.
    words : list of str
        Those of them whose cells are never numbers.
    """
    check_size(spelling.lines, len(dialect.names))
    as_text = dict.fromkeys(text_columns, str)
    frame = _parse(content, spelling, dialect, as_text)
    if not len(frame):
        raise InputError(f"{shown(content.name)} has column names but no rows with values.")
    notices = [*spelling.notices, *dialect.notices]
    if dialect.decimal == ",":
        _join_thousands(frame, words, notices)
        _give_points(frame)
    last = frame[dialect.names[-1]]
    if last.isna().any():
        notices += _short_lines(content, spelling, dialect)
        if last.isna().all() and dialect.names[-1].startswith("Unnamed"):  # a separator too many
            frame = frame.drop(columns=dialect.names[-1])
    return RawTable(frame, notices)


def _join_thousands(frame: pd.DataFrame, words: list[str], notices: list[str]) -> None:
    """Write numbers without the dots between their thousands, in columns with no other dots."""
    found = {}
    for name, kind in frame.dtypes.items():
        if name in words or pd.api.types.is_numeric_dtype(kind):
            continue
        cells = frame[name].dropna().astype("str")
        dotted = cells[cells.str.contains(".", regex=False)]
        if not dotted.empty and dotted.str.fullmatch(DOTTED_THOUSANDS).all():
            joined = dotted.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
            frame[name] = frame[name].astype(object)
            frame.loc[dotted.index, name] = joined
            found[str(name)] = f"{dotted.iloc[0].strip()!r} is {joined.iloc[0].strip()}"
    if found:
        notices.append(
            f"Dots in {listed(found)} are taken to separate thousands ({next(iter(found.values()))}"
            "), since the decimal sign of the file is the comma."
        )


def _give_points(frame: pd.DataFrame) -> None:
    """Write decimal points for commas in columns that the parser left as text."""
    for name, kind in frame.dtypes.items():
        if not pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
            text = frame[name].astype("str").where(frame[name].notna())
            frame[name] = text.str.replace(r"^\s*([-+]?\d*),(\d+)\s*$", r"\1.\2", regex=True)


def _parse(
    content: Content, spelling: Spelling, dialect: Dialect, as_text: dict[str, Any]
) -> pd.DataFrame:
    try:
        with refusing_damage(content.name), content.open() as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells would be lost
            return pd.read_csv(
                stream,
                sep=dialect.separator,
                decimal=dialect.decimal,
                header=None,
                names=dialect.names,
                index_col=False,
                skiprows=dialect.skipped,
                dtype=as_text,
                encoding=spelling.encoding,
                encoding_errors=spelling.errors,
                skipinitialspace=dialect.separator != SPACES,
                keep_default_na=False,  # what stands for nothing depends on the column
                na_values=[""],
                low_memory=False,
            )
    except pd.errors.EmptyDataError:
        said = f"{shown(content.name)} has column names but no rows with values."
        raise InputError(said) from None
    except pd.errors.ParserWarning:
        width = counted(len(dialect.names), "column")
        raise InputError(
            f"The first row of {shown(content.name)} has more values than there are columns "
            f"({width})."
        ) from None
    except pd.errors.ParserError as error:
        raise InputError(f"{shown(content.name)} is not a table: {_reason(error)}.") from None
    except (UnicodeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error).split("\n")[0].rstrip(".")[:120]
        raise InputError(f"{shown(content.name)} is not a table: {reason}.") from None


def _reason(error: Exception) -> str:
    """Return the parser's reason in our words."""
    text = str(error).split("C error: ")[-1].strip().replace("\n", " ")
    ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", text)
    if ragged:
        expected, line, seen = ragged.groups()
        return f"line {line} has {seen} values where {expected} are expected"
    if "EOF inside string" in text:
        return "a quotation mark is opened and never closed"
    return text.rstrip(".")[:120]


def _short_lines(content: Content, spelling: Spelling, dialect: Dialect) -> list[str]:
    """Return a notice if there are lines that end too early: the parser says nothing of them."""
    width, short = len(dialect.names), 0
    with refusing_damage(content.name), content.open() as stream:
        text = io.TextIOWrapper(stream, spelling.encoding, spelling.errors, newline="")
        for _ in range(dialect.skipped):
            text.readline()
        try:
            if dialect.separator == SPACES:
                short = sum(0 < len(line.split()) < width for line in text)
            else:
                reader = csv.reader(text, delimiter=dialect.separator)
                short = sum(0 < len(record) < width for record in reader)
        except csv.Error:
            return []
    if not short:
        return []
    lines = "1 line has" if short == 1 else f"{short:,} lines have"
    return [f"{lines} fewer values than there are columns; the rest is taken as missing."]
