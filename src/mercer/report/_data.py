"""What the page says of the data and of the method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from mercer.report._models import primary_errors
from mercer.report._protocol import ComparisonLike
from mercer.report._words import clean, counted, duration, number, percent

MOST_LISTED = 40
"""Of reasons, or classes, so many are listed; the rest is counted."""

MOST_TOGETHER = 8
"""Of columns that were left out for one reason, so many are named."""


class Listing(NamedTuple):
    """The beginning of a list, and how many more there are."""

    shown: list[tuple[str, str]]
    n_more: int


def facts(comparison: ComparisonLike) -> list[tuple[str, str]]:
    """Return the numbers that describe the comparison, each with its name."""
    table = comparison.table
    n_rows, n_columns = table.frame.shape
    found = [("rows", f"{n_rows:,}"), ("columns", f"{n_columns:,}")]
    if table.task == "classification":
        found.append(("classes", f"{len(comparison.classes_):,}"))
    n_measured = int(np.isfinite(primary_errors(comparison)).sum())
    n_folds, n_repeats = comparison.cuts
    found.append(("models", f"{n_measured:,}"))
    found.append(("folds × repeats", f"{n_folds} × {n_repeats}"))
    if (n_done := folds_measured(comparison)) < n_folds * n_repeats:
        found.append(("folds measured", f"{n_done:,}"))
    found.append(("time in all", duration(float(comparison.seconds_))))
    return found


def folds_measured(comparison: ComparisonLike) -> int:
    """Return the number of folds, of all repeats, that were measured."""
    return len(comparison.folds_[["repeat", "fold"]].drop_duplicates())


def columns_in_words(comparison: ComparisonLike) -> str:
    """Return how many columns of each kind there are."""
    kinds = {"number": 0, "date": 0, "category or text": 0}
    for dtype in comparison.table.frame.dtypes:
        kinds[_kind(dtype)] += 1
    many = {"category or text": "categories or texts"}
    told = [counted(n, kind, many.get(kind)) for kind, n in kinds.items() if n]
    return ", ".join(told) or "none"


def target_in_words(comparison: ComparisonLike) -> str:
    """Return the range of a target of numbers."""
    target = comparison.table.target.to_numpy(dtype=np.float64)
    low, middle, high = (number(float(v)) for v in np.quantile(target, [0, 0.5, 1]))
    return f"numbers from {low} to {high}, median {middle}"


def class_listing(comparison: ComparisonLike) -> Listing:
    """Return the classes with their counts, the largest first."""
    counts = sorted(comparison.table.class_counts().items(), key=lambda item: -item[1])
    n_rows = sum(count for _, count in counts)
    told = [
        (clean(name), f"{counted(count, 'row')}, {percent(count / n_rows)} %")
        for name, count in counts[:MOST_LISTED]
    ]
    return Listing(told, max(len(counts) - MOST_LISTED, 0))


def left_out_listing(left_out: Mapping[str, str]) -> Listing:
    """Return what was left out with the reasons, each reason once."""
    names: dict[str, list[str]] = {}
    for name, why in left_out.items():
        names.setdefault(clean(why), []).append(clean(name))
    told = [(_first_of(together), why) for why, together in names.items()]
    return Listing(told[:MOST_LISTED], max(len(told) - MOST_LISTED, 0))


def _first_of(names: list[str]) -> str:
    first = ", ".join(names[:MOST_TOGETHER])
    n_more = len(names) - MOST_TOGETHER
    return f"{first} and {n_more:,} more" if n_more > 0 else first


def _kind(dtype: Any) -> str:
    if is_datetime64_any_dtype(dtype):
        return "date"
    return "number" if is_numeric_dtype(dtype) else "category or text"
