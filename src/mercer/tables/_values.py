"""Cells as people write them: numbers with signs and commas, words for nothing, dates."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

ALWAYS_MISSING = {"", "?", "nan", "<na>", "#n/a", "n/a", "null", "nat", "#na", "(null)"}
"""Lower case; in any column."""

MISSING_NUMBERS = ALWAYS_MISSING | {
    *("na", "-", "--", "---", "–", "—", ".", "..", "...", "*", "none", "nil", "n.a.", "n.d."),
    *("k.a.", "unknown", "unk", "missing", "undefined", "not available", "not known", "no data"),
    *("#value!", "#div/0!", "#ref!", "#num!", "#name?", "error", "tbd", "n/d", "n.a", "empty"),
}
"""Lower case; in a column of numbers."""

LARGEST = 1e100
"""Numbers beyond it, such as 1e308 for what is not known, are none: no unit makes them so large,
and their powers are infinite."""

PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
DECORATION = re.compile(r"^[$€£¥]\s*|\s*[$€£¥]$|\s*%$")
THOUSANDS = {
    ",": re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ".": re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?"),
    " ": re.compile(r"[-+]?\d{1,3}([ \u00a0\u202f'’]\d{3})+([.,]\d*)?"),
}
COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
LIKE_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}( .*)?"
    r"|([A-Za-z]{3}, )?\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}( .*)?"
    r"|[A-Za-z]{3,9} \d{1,2}, \d{4}( .*)?"
)
DATE_FORMATS = (
    *("ISO8601", "%Y/%m/%d", "%Y.%m.%d", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M"),
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%Y %H:%M:%S", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%Y %H:%M"),
    *("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p"),
    *("%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%d-%b-%Y %H:%M", "%d-%b-%Y %H:%M:%S", "%d %b %Y %H:%M", "%d %b %Y %H:%M:%S"),
    *("%b %d, %Y %H:%M", "%b %d, %Y %I:%M %p", "%a, %d %b %Y %H:%M:%S %z"),
)
_TWO_WAYS = ("%d/", "%m/", "%d-", "%m-")
CLEAR_FORMATS = tuple(form for form in DATE_FORMATS if "%b" in form or form[:3] not in _TWO_WAYS)
"""Of which no one takes the day for the month."""

HOUR = re.compile(" %[HI]")
"""Where the time of the day begins."""

MOST_ODD = 0.05
"""Share of words among numbers that are taken for mistakes."""


def is_missing(cell: str) -> bool:
    """Return whether a cell among numbers says that there is none."""
    return cell.strip().lower() in MISSING_NUMBERS


def is_number(cell: str) -> bool:
    """Return whether a cell is a number as people write it."""
    return not math.isnan(_number(cell, decimal_comma=True))


@dataclass(frozen=True)
class Numbers:
    """A column of text that turned out to hold numbers.

    Parameters
    ----------
    values : ndarray of float64
        NaN where there is none.
    rewritten : list of str
        Different cells that are no plain numbers, such as "1,234".
    missing : list of str
        Different words that stand for nothing, such as "-".
    """

    values: Any
    rewritten: list[str]
    missing: list[str]


def read_numbers(column: pd.Series, least: float = 1 - MOST_ODD) -> Numbers | None:
    """Return the numbers of a column of text (None where it holds something else).

    Parameters
    ----------
    column : Series of str
        Missing cells are None or NaN.
    least : float, default=0.95
        Share of the cells that must be numbers or words for nothing; with 0, one number is enough.
    """
    codes, cells = pd.factorize(column)
    texts = [str(cell).strip() for cell in cells]
    missing = np.array([text.lower() in MISSING_NUMBERS for text in texts], dtype=bool)
    comma = _decimal_comma(texts)
    whole_column_percent = all(t.endswith("%") for t, gone in zip(texts, missing) if not gone)
    values = np.array([_number(text, comma, not whole_column_percent) for text in texts])
    values = np.where(missing, np.nan, values) if len(texts) else np.empty(0)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    odd = np.isnan(values) & ~missing
    known = counts[~missing].sum()
    if not known or counts[odd].sum() > (1 - least) * known or not (~np.isnan(values)).any():
        return None
    if (
        least and odd.any() and (~odd & ~missing).sum() <= 10
    ):  # few numbers beside a word are categories
        return None
    plain = [bool(PLAIN.fullmatch(text)) for text in texts]
    rewritten = [t for t, is_plain, v in zip(texts, plain, values) if not is_plain and v == v]
    gone = [text for text, value in zip(texts, values) if value != value and text]
    filled = np.append(values, np.nan)
    return Numbers(filled[codes], rewritten, gone)


def _decimal_comma(texts: list[str]) -> bool:
    """Return whether commas are decimal signs: some of them cannot separate thousands."""
    bare = [DECORATION.sub("", text) for text in texts if "," in text]
    return any(
        not THOUSANDS[","].fullmatch(text)
        and (COMMA.fullmatch(text) or THOUSANDS["."].fullmatch(text))
        for text in bare
    )


def _number(text: str, decimal_comma: bool = False, percent: bool = False) -> float:
    """Return the number that a cell spells, or NaN; percentages as hundredths if asked for."""
    text = text.strip()
    if PLAIN.fullmatch(text):
        return float(text)
    text = text.replace("\u2212", "-")
    factor = 0.01 if percent and text.endswith("%") else 1.0
    if re.fullmatch(r"\(.*\d.*\)", text):  # how accountants write what is below zero
        text, factor = text[1:-1], -factor
    sign = "-" if text.startswith("-") and text[1:2] in "$€£¥" and len(text) > 1 else ""
    text = sign + DECORATION.sub("", DECORATION.sub("", text.removeprefix(sign)))
    text = _plain(text, decimal_comma)
    if PLAIN.fullmatch(text):
        return factor * float(text)
    if re.fullmatch(r"[-+]?inf(inity)?", text.lower()):
        return float(text)
    return math.nan


def _plain(text: str, decimal_comma: bool) -> str:
    """Return a number without signs between its thousands, with a decimal point."""
    if THOUSANDS[" "].fullmatch(text):
        text = re.sub("[ \u00a0\u202f'’]", "", text)
    if decimal_comma and (COMMA.fullmatch(text) or THOUSANDS["."].fullmatch(text)):
        return (
            text.replace(".", "").replace(",", ".") if "," in text or text.count(".") > 1 else text
        )
    return text.replace(",", "") if THOUSANDS[","].fullmatch(text) else text


@dataclass(frozen=True)
class Dates:
    """A column of text that turned out to hold dates, how they are written, and what is none."""

    values: pd.Series
    form: str
    missing: list[str]


def read_dates(column: pd.Series, least: float = 1 - MOST_ODD) -> Dates | None:
    """Return the dates of a column of text, or None for other text; see `read_numbers`."""
    known = column.dropna()
    known = known[~known.str.lower().isin(MISSING_NUMBERS)]
    some = known[known.map(lambda cell: bool(LIKE_DATE.fullmatch(cell)))].iloc[:50]
    if some.empty or (least and len(some) < len(known.iloc[:50])):
        return None
    for form in DATE_FORMATS:
        for cells in (some, known):  # most forms are ruled out by a few cells
            dates = pd.to_datetime(cells, format=form, errors="coerce", utc=True)
            if dates.isna().mean() > 1 - least or not dates.notna().any():
                break
        else:
            gone = sorted(set(column.dropna()) - set(known[dates.notna()]))
            return Dates(dates.dt.tz_localize(None).reindex(column.index), form, gone)
    return None


def dates_of_form(column: pd.Series, form: str) -> pd.Series:
    """Return the dates of a column of text that are written in one form, or in a clear one.

    Each cell is judged by itself, so that the other rows and their order do not matter.

    Parameters
    ----------
    column : Series of str
        Missing cells are None or NaN.
    form : str
        One of `DATE_FORMATS`.
    """
    left = column.dropna()
    left = left[left.map(lambda cell: bool(LIKE_DATE.fullmatch(cell)))]
    found = pd.Series(pd.NaT, column.index, dtype="datetime64[us]")
    day = HOUR.split(form)[0]
    same_day = [other for other in DATE_FORMATS if HOUR.split(other)[0] == day]
    for one in dict.fromkeys((form, *same_day, *CLEAR_FORMATS)):
        if left.empty:
            break
        dates = pd.to_datetime(left, format=one, errors="coerce", utc=True).dropna()
        found[dates.index] = dates.dt.tz_localize(None)
        left = left.drop(dates.index)
    return found
