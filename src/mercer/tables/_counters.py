"""Columns that count groups of rows: an identifier whose values each come a few times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._left_out import like_identifier

CODE = r"^(?P<front>\D{0,12}?)[ _.:#/-]?(?P<number>\d{1,15})(?P<back>\D{0,3})$"
"""One word with a number in it, such as P0012."""

MOST_ROWS_EACH = 5
MOST_ROWS_EACH_NAMED = 20
"""Rows with the same value in the mean, also of a column that is called as identifiers are."""

LEAST_VALUES = 10
"""Of each class, or of all rows where numbers are predicted."""

MOST_BREAKS = 0.01
"""Of the rows: places where the target changes although it should not, as in a mended table."""

EVEN_STEPS = 0.8
"""Share of the steps from value to value that are the usual one."""

EVEN_COUNTS = 0.5
"""Variance of the numbers of rows over their mean: 0 of a counter, 1 and more of measurements."""

ALIKE = 0.999
"""Rank correlation with numbers that are to be predicted."""


def counters(frame: pd.DataFrame, target: pd.Series, task: str) -> dict[str, str]:
    """Return columns that count on with the target, a few rows to each value, with the reason.

    Of rows that were collected class by class and numbered in that order the number tells the
    class, also where several rows share one. Such a column is a whole number or a code with one,
    many of its values have few rows, and in their order the target is sorted. A measurement may
    be all that; so it must also have the name of an identifier, or count evenly: as many rows for
    each value, and the same step from one value to the next.
    """
    reasons = {}
    n = len(frame)
    least = LEAST_VALUES * (target.nunique() if task == "classification" else 2)
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype) or "datetime" in str(column.dtype):
            continue
        each = MOST_ROWS_EACH_NAMED if like_identifier(str(name)) else MOST_ROWS_EACH
        if column.nunique() < max(least, n / each):
            continue
        values = _places(column)
        if values is None or not _goes_with(values, target, task):
            continue
        if like_identifier(str(name)) or _counts_evenly(values):
            reasons[name] = (
                "it counts on with the target as an identifier does; if the rows of a value belong "
                "together, name it as `groups` (--groups)"
            )
    return reasons


def _places(column: pd.Series) -> Any:
    """Return whole numbers in the order of the values, NaN for gaps; None for anything else."""
    if column.dtype == np.float64:
        values = column.to_numpy()
        return values if (np.isnan(values) | (values % 1 == 0)).all() else None
    known = column.dropna().astype(str)
    parts = known.str.extract(CODE)
    if parts.isna().any(axis=None):
        return None
    order = pd.MultiIndex.from_arrays([parts["front"], parts["number"].astype(float)])
    numbers, fronts = parts["number"].astype(float), pd.factorize(parts["front"], sort=True)[0]
    if order.nunique() < known.nunique():  # what stands behind the number tells values apart
        return None
    values = fronts * (numbers.max() + 1) + numbers
    return values.reindex(column.index).to_numpy(dtype=np.float64)


def _goes_with(values: Any, target: pd.Series, task: str) -> bool:
    """Return whether the target is sorted in the order of the values."""
    known = ~np.isnan(values)
    values, said = values[known], target.to_numpy()[known]
    if task != "classification":
        ranks = pd.Series(values).rank(), pd.Series(said.astype(np.float64)).rank()
        return bool(abs(np.corrcoef(*ranks)[0, 1]) >= ALIKE)
    codes, names = pd.factorize(said)
    ordered = codes[np.lexsort((codes, values))]
    breaks = int((np.diff(ordered) != 0).sum()) - (len(names) - 1)
    return breaks <= MOST_BREAKS * len(values)


def _counts_evenly(values: Any) -> bool:
    different, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    steps = np.diff(different)
    even = float((steps == np.median(steps)).mean())
    return even >= EVEN_STEPS and float(counts.var() / counts.mean()) <= EVEN_COUNTS
