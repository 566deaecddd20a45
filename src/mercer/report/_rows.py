"""Rows of the data that are worth a look."""

from __future__ import annotations

from typing import Any, NamedTuple

from pandas.api.types import is_numeric_dtype

from mercer.report._protocol import ComparisonLike
from mercer.report._words import cell, clean, is_missing, number, shortened

MOST_ROWS = 10
MOST_COLUMNS = 4
MOST_NAMES = 2


class Rows(NamedTuple):
    """A table of rows; the first column of each line is the row's number, counted from 1."""

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
        said = [number(float(distance)), cell(target.iloc[int(row)])]
        lines.append([*_found_by(comparison, int(row)), *said, *values])
    numeric = [is_numeric_dtype(comparison.table.frame[name].dtype) for name in columns]
    header = [*_finders(comparison), ("distance", True), _target(comparison)]
    header += [(shortened(name, 40), is_number) for name, is_number in zip(columns, numeric)]
    return Rows(header, lines, max(len(unusual) - MOST_ROWS, 0))


def hard_rows(comparison: ComparisonLike) -> Rows | None:
    """Return the rows that no model gets right, with what they say instead."""
    hard = None if comparison.insights_ is None else comparison.insights_.hard
    if hard is None or not len(hard):
        return None
    lines = [
        [*_found_by(comparison, int(row)), cell(truth), _told(comparison, predictions)]
        for row, truth, predictions in zip(
            hard["row"].head(MOST_ROWS), hard["target"], hard["predictions"]
        )
    ]
    header = [*_finders(comparison), _target(comparison), ("predicted instead", False)]
    return Rows(header, lines, max(len(hard) - MOST_ROWS, 0))


def _finders(comparison: ComparisonLike) -> list[tuple[str, bool]]:
    """Return the heads of what rows are found by: their number, and what names them."""
    return [("row", False), *[(shortened(name, 40), False) for name in _naming(comparison)]]


def _found_by(comparison: ComparisonLike, row: int) -> list[str]:
    """Return what a row is found by in the data as they were given."""
    table = comparison.table
    named = [shortened(table.names[name].iloc[row], 40) for name in _naming(comparison)]
    return [f"{int(table.row_numbers()[row])}", *named]


def _naming(comparison: ComparisonLike) -> list[Any]:
    """Return the columns that tell rows apart; one that counts them would say nothing new."""
    names = comparison.table.names
    if names is None:
        return []
    numbers = [str(number) for number in comparison.table.row_numbers()]
    told = [name for name in names.columns if names[name].astype(str).tolist() != numbers]
    return told[:MOST_NAMES]


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


def _told(comparison: ComparisonLike, predictions: Any) -> str:
    """Return what the models say, each answer once with the models that give it."""
    if isinstance(predictions, str):
        return clean(predictions)
    said: dict[str, list[str]] = {}
    for name, value in predictions.items():
        if not is_missing(value):  # else its fold was not measured
            said.setdefault(cell(value), []).append(clean(comparison.results_.loc[name, "title"]))
    if len(said) == 1:
        (answer, titles) = next(iter(said.items()))
        return f"{answer} (all {len(titles)} models)" if len(titles) > 1 else answer
    ordered = sorted(said.items(), key=lambda item: -len(item[1]))
    return "; ".join(f"{answer} ({', '.join(titles)})" for answer, titles in ordered)
