"""Columns that must not be learned from: numbers of rows, copies of the target, nothing at all."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd

LIKE_IDENTIFIER = re.compile(
    r"(?i)^(idx|index|instant|rows?|rownum|row[_ ]?(name|id|number|no|nr)s?|record|serial|ssn)$"
    r"|^(case|customer|patient|sample|subject|ticket|account|phone)$|^unnamed: ?\d+$|^id([_\s.-]|$)"
    r"|(^|[_\s.-])(ids?|uid|uuid|guid|key|nr|no|num|number|nummer|code)\.?$"
)
CAMEL_IDENTIFIER = re.compile(r"[a-z0-9](Id|ID|Nr|No|Key|UUID)$")
FIRST = "c1"
"""The name of the first column where there are no names."""

NEARLY_UNIQUE = 0.9
NEARLY_UNIQUE_TEXT = 0.95
IMPROBABLE = math.log(1e-6)
CHANCE = 0.01
"""That one of all columns copies the target by accident, above which it is not blamed."""

ALL_ALIKE = ("no value", "the same value")
"""How the reasons begin for which columns are left out that tell no rows apart at all."""

NO_NAME = (*ALL_ALIKE, "it tells the target", "asked for")
"""And of those that do so only if they are called as identifiers are."""

LIKE_TIME = re.compile(
    r"(?i)(^|[^a-z])(time|timestamp|datetime|date|epoch|unix|elapsed|day|week|t)([^a-z]|$)"
)
SECONDS = (1.0e9, 2.2e9)
"""Since 1970: from 2001 to 2039, the years in which rows are logged by such numbers."""

UNITS = (1.0, 1e3, 1e6, 1e9)
"""Of a second: clocks also count thousandths and less."""

TOGETHER = 0.2
"""Logarithm of the quotient of a clock's last and first number, in any unit: ten years."""

CALENDAR = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Dates that are numbers, by how many digits they have."""

CENTURIES = (19, 20)
"""In which their years are."""

EVEN, EVENLY, ENOUGH = 0.95, 1e-2, 20
"""No measurement rises from row to row so evenly: the share of its steps that are equal, how nearly
they are, and of how many rows that tells something."""

WHEN = "when a row was is not what it is like; `dates` (--dates) takes such columns in"
"""Why a description has no use for dates."""

MOST_WORDS = 2
"""Longer text is read rather than left out, however different it is in each row."""


def useless(frame: pd.DataFrame) -> dict[str, str]:
    """Return columns without information, each with its reason."""
    reasons = {}
    distinct = _distinct(frame)
    for name in distinct.index[distinct < 2]:
        reasons[name] = (
            "no value in any row" if not distinct[name] else "the same value in every row"
        )
    return reasons


def _distinct(frame: pd.DataFrame) -> pd.Series:
    """Return the number of different values in each column, of numbers all at once."""
    is_number = (frame.dtypes == np.float64).to_numpy()
    counts = np.zeros(frame.shape[1], dtype=np.int64)
    values = np.sort(frame.loc[:, is_number].to_numpy(), axis=0)  # NaN last
    known = ~np.isnan(values)
    counts[is_number] = known[:1].sum(axis=0) + ((np.diff(values, axis=0) != 0) & known[1:]).sum(
        axis=0
    )
    counts[~is_number] = frame.loc[:, ~is_number].nunique()
    return pd.Series(counts, frame.columns)


def copies(frame: pd.DataFrame, target: pd.Series, task: str) -> dict[str, str]:
    """Return columns that equal the target or name its classes in other words."""
    reasons = {}
    if task == "regression":
        for name in frame.columns[frame.dtypes == np.float64]:
            if _is_line(frame[name].to_numpy(), target.to_numpy()):
                reasons[name] = "it tells the target: it is the same number, or a line through it"
        return reasons
    classes, _ = pd.factorize(target)
    k = classes.max() + 1
    if math.log(max(frame.shape[1], 1)) - (len(target) - k) * math.log(k) > math.log(CHANCE):
        return {}
    for name in frame.columns[(_distinct(frame) == k).to_numpy()]:
        codes, _ = pd.factorize(frame[name], use_na_sentinel=True)
        if codes.min() >= 0 and len(np.unique(codes * k + classes)) == k:
            reasons[name] = "it tells the target: each of its values belongs to one class"
    return reasons


def _is_line(x: Any, y: Any) -> bool:
    if not np.isfinite(x).all() or len(x) < 5:
        return False
    if np.array_equal(x, y):
        return True
    centred_x, centred_y = x - x.mean(), y - y.mean()
    with np.errstate(all="ignore"):
        slope = centred_x @ centred_y / (centred_x @ centred_x)
        return bool(np.abs(centred_y - slope * centred_x).max() <= 1e-9 * np.abs(centred_y).max())


def identifiers(frame: pd.DataFrame, target: pd.Series, task: str) -> dict[str, str]:
    """Return columns that name or count rows, each with its reason.

    Whole numbers are taken for identifiers if they count on from row to row; if they have such a
    name and hardly repeat; or if measurements of that range would repeat: the chance that n
    numbers out of s are all different is at most s! / ((s - n)! sⁿ), whatever their distribution.
    """
    reasons: dict[str, str] = {}
    is_sorted = task == "classification" and _is_sorted(target)
    numbers = frame.select_dtypes(np.float64)
    values = numbers.to_numpy()
    whole = (np.isnan(values) | (values % 1 == 0)).all(axis=0)
    for k in _candidates(values, whole, is_sorted):
        reason = _number_reason(values[:, k], bool(whole[k]), numbers.columns[k], is_sorted)
        if reason:
            reasons[numbers.columns[k]] = reason
    if not reasons and FIRST in numbers and _stands_alone(values, whole, numbers.columns):
        reasons[FIRST] = "the first column, and the only one whose whole numbers hardly repeat"
    for name in frame.select_dtypes("datetime").columns:
        dates = frame[name]
        rises = dates.is_monotonic_increasing or dates.is_monotonic_decreasing
        if is_sorted and dates.is_unique and rises:
            reasons[name] = "it goes with the number of the row while the target is sorted"
    for name in frame.select_dtypes(exclude=["number", "datetime", "category"]).columns:
        if _names_rows(frame[name]):
            reasons[name] = "nearly every row has its own value, as names of rows do"
    return reasons


def _stands_alone(values: Any, whole: Any, names: pd.Index) -> bool:
    """Return whether the first of nameless columns differs from the rest as identifiers do."""
    place = names.get_loc(FIRST)
    if len(values) < 30 or not whole[place] or np.nanmin(values[:, place]) < 0:
        return False
    distinct = [len(np.unique(values[:, k])) for k in np.flatnonzero(whole)]
    unique = np.array(distinct) >= NEARLY_UNIQUE * len(values)
    return bool(unique.sum() == 1 and unique[whole.nonzero()[0] == place].all())


def _candidates(values: Any, whole: Any, is_sorted: bool) -> Any:
    """Return the places of columns worth a closer look: most of a wide table is not."""
    if not len(values):
        return []
    steps = np.diff(values[: min(len(values), 200)], axis=0)
    monotone = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
    return np.flatnonzero(whole | (monotone & is_sorted))


def _number_reason(x: Any, whole: bool, name: str, is_sorted: bool) -> str | None:
    known = x[~np.isnan(x)]
    n, distinct = len(known), len(np.unique(known))
    if n < 3 or distinct < NEARLY_UNIQUE * n:
        return None
    steps = np.diff(known)
    rises = distinct == n and bool((steps > 0).all() or (steps < 0).all())
    even = rises and bool(np.allclose(steps, steps[0], rtol=1e-6, atol=0.0))
    if rises and is_sorted and n >= 5 and (whole or even):
        return "it goes with the number of the row while the target is sorted"
    if not whole:
        return None
    if rises and n >= 5 and np.abs(steps).sum() <= 1.5 * n:  # rows may have been left out
        return "it counts the rows"
    if like_identifier(name):
        return "its name and its values, which hardly repeat, are those of an identifier"
    if distinct == n and _log_chance_of_no_repeat(n, known.max() - known.min() + 1) < IMPROBABLE:
        return "its whole numbers are all different, more than those of a measurement would be"
    return None


def _log_chance_of_no_repeat(n: int, span: float) -> float:
    if span > 1e12:
        return -n * n / (2 * span)
    return math.lgamma(span + 1) - math.lgamma(span - n + 1) - n * math.log(span)


def moments(frame: pd.DataFrame) -> dict[str, str]:
    """Return columns that tell when rows were, each with its reason: dates, and numbers of clocks.

    What is usual does not go on with time, so that to a description all later rows would be
    unusual. Numbers are a clock's if they are seconds since 1970 (or parts of seconds) or dates
    written as digits; if they go on in equal steps from row to row; or if they never turn back, do
    so in mostly equal steps and are called a time.
    """
    names = list(frame.select_dtypes("datetime").columns)
    numbers = frame.select_dtypes(np.float64)
    names += [name for name in numbers.columns if _is_clock(numbers[name].to_numpy(), name)]
    return dict.fromkeys(names, WHEN)


def _is_clock(x: Any, name: str) -> bool:
    known = x[~np.isnan(x)]
    steps = np.diff(known)
    if len(known) < 5 or not steps.any():
        return False
    is_named = bool(LIKE_TIME.search(name))
    rises = bool((steps >= 0).all() or (steps <= 0).all())
    if _since_1970(known):
        near = len(np.unique(known)) >= NEARLY_UNIQUE * len(known) and _within_years(known)
        return is_named or bool((known % 1 == 0).all() and (rises or near))
    if _of_digits(known):
        return True
    if not rises:
        return False
    moves = steps[steps != 0]
    near = np.isclose(
        moves, np.median(moves), rtol=EVENLY if len(known) >= ENOUGH else 1e-6, atol=0
    )
    if len(moves) == len(steps) and len(known) >= ENOUGH and near.mean() >= EVEN:
        return True
    return is_named and len(moves) >= 5 and bool(near.mean() > 0.5)


def _since_1970(known: Any) -> bool:
    low, high = SECONDS
    return any(low * unit <= known.min() and known.max() <= high * unit for unit in UNITS)


def _within_years(known: Any) -> bool:
    """Return whether the rows of a clock lie as near to each other as those of a log do."""
    return bool(np.log(known.max() / known.min()) <= TOGETHER)


def _of_digits(known: Any) -> bool:
    """Return whether numbers such as 20240301 are dates, all of them."""
    if known.min() < 1e7 or known.max() >= 1e14 or (known % 1 != 0).any():
        return False
    texts = pd.Series(np.unique(known)).map(lambda value: str(int(value)))
    form = CALENDAR.get(len(texts[0]))
    if form is None or not (texts.str.len() == len(texts[0])).all():
        return False
    if not texts.str[:2].astype(int).isin(CENTURIES).all():
        return False
    return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())


def repeated_identifiers(frame: pd.DataFrame) -> list[str]:
    """Return columns that are called like identifiers and hold each value several times."""
    names = [name for name in frame.columns if like_identifier(name)]
    return [name for name in names if 0.02 < frame[name].nunique() / len(frame) < NEARLY_UNIQUE]


def like_identifier(name: str) -> bool:
    """Return whether a column is called as numbers of rows are."""
    return bool(LIKE_IDENTIFIER.search(name) or CAMEL_IDENTIFIER.search(name))


def naming(left_out: dict[str, str]) -> list[str]:
    """Return the columns that were left out but tell rows apart, as identifiers and groups do."""
    return [
        name
        for name, reason in left_out.items()
        if not reason.startswith(NO_NAME)
        or (like_identifier(name) and not reason.startswith(ALL_ALIKE))
    ]


def _names_rows(column: pd.Series) -> bool:
    known = column.dropna()
    if len(known) < 3 or known.nunique() < NEARLY_UNIQUE_TEXT * len(known):
        return False
    words = known.iloc[:1000].str.split().str.len().median()
    return bool(words <= MOST_WORDS)


def _is_sorted(target: pd.Series) -> bool:
    """Return whether the classes stand one after the other."""
    codes, names = pd.factorize(target)
    return bool((np.diff(codes) != 0).sum() == len(names) - 1)
