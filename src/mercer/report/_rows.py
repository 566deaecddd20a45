"""Rows of the data that are worth a look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pandas.api.types import is_numeric_dtype

from mercer.report._protocol import ComparisonLike
from mercer.report._words import cell, clean, is_missing, number, shortened

MOST_ROWS = 10
MOST_COLUMNS = 4


class Rows(NamedTuple):
    """A table of rows; the first column of each line is the row's number."""

    header: list[tuple[str, bool]]
    """Names, and whether numbers stand below them."""
    lines: list[list[str]]
    n_more: int


def unusual_rows(comparison: ComparisonLike) -> Rows | None:
    """Return the rows that lie farthest from all others, with their leading features."""
    unusual = None if comparison.insights_ is None else comparison.insights_.unusual
    if unusual is None or not len(unusual):
        return None
    columns = _leading_columns(comparison)
    target = comparison.table.target
    lines = []
    for row, distance in zip(unusual["row"].head(MOST_ROWS), unusual["distance"]):
        values = [cell(comparison.table.frame[name].iloc[int(row)]) for name in columns]
        lines.append([f"{int(row):,}", number(float(distance)), cell(target.iloc[int(row)])])
        lines[-1] += values
    numeric = [is_numeric_dtype(comparison.table.frame[name].dtype) for name in columns]
    header = [("row", False), ("distance", True), _target(comparison)]
    header += [(shortened(name, 40), is_number) for name, is_number in zip(columns, numeric)]
    return Rows(header, lines, max(len(unusual) - MOST_ROWS, 0))


def hard_rows(comparison: ComparisonLike) -> Rows | None:
    """Return the rows that no model gets right, with what they say instead."""
    hard = None if comparison.insights_ is None else comparison.insights_.hard
    if hard is None or not len(hard):
        return None
    lines = [
        [f"{int(row):,}", cell(truth), _told(predictions)]
        for row, truth, predictions in zip(
            hard["row"].head(MOST_ROWS), hard["target"], hard["predictions"]
        )
    ]
    header = [("row", False), _target(comparison), ("predicted instead", False)]
    return Rows(header, lines, max(len(hard) - MOST_ROWS, 0))


def _target(comparison: ComparisonLike) -> tuple[str, bool]:
    name = comparison.table.target.name
    is_number = comparison.table.task == "regression"
    return "target" if name is None else shortened(name, 40), is_number


def _leading_columns(comparison: ComparisonLike) -> list[Any]:
    """Return columns of the data, those of leading features first."""
    frame = comparison.table.frame
    features = None if comparison.insights_ is None else comparison.insights_.features
    names = list(frame.columns)
    if features is not None and len(features):
        order = features.sort_values("importance", ascending=False, kind="stable")
        names = [name for name in order["feature"] if name in frame.columns] or names
    return list(dict.fromkeys(names))[:MOST_COLUMNS]


def _told(predictions: Any) -> str:
    """Return what the models say, each answer once with the number of models that give it."""
    if isinstance(predictions, str):
        return clean(predictions)
    values = predictions.values() if isinstance(predictions, Mapping) else predictions
    counts: dict[str, int] = {}
    for value in values:
        if is_missing(value):  # its fold was not measured
            continue
        text = cell(value)
        counts[text] = counts.get(text, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{text} (×{count})" if count > 1 else text for text, count in ordered)
