"""The models of a comparison as the lines of its tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.report._protocol import ComparisonLike
from mercer.report._words import (
    MEASURES,
    clean,
    counted,
    difference,
    duration,
    is_known,
    measure_of,
    shortened,
    size,
    value_of,
    with_spread,
)

VERDICTS = {
    "best": "best",
    "tied": "tied with the best",
    "worse": "worse",
    "baseline": "baseline",
    "failed": "failed",
}


class Model(NamedTuple):
    """A line of the table of models, in words."""

    title: str
    error: str
    majority: str
    difference: str
    verdict: str
    words: str
    simplest: bool
    note: str


def primary_errors(comparison: ComparisonLike) -> NDArray[np.float64]:
    """Return the measure by which the models are ranked, NaN for those that failed."""
    results = comparison.results_
    name = comparison.measure if comparison.measure in results.columns else "error"
    return results[name].to_numpy(dtype=np.float64)


def majority_error(comparison: ComparisonLike, measure: str) -> float | None:
    """Return the error of naming the largest class always, where the classes are unbalanced."""
    if comparison.measure != "balanced_error" or measure not in ("error", "balanced_error"):
        return None
    counts = list(comparison.table.class_counts().values())
    return 1 - 1 / len(counts) if measure == "balanced_error" else 1 - max(counts) / sum(counts)


def models_of(comparison: ComparisonLike) -> list[Model]:
    """Return the lines of the table, the best first."""
    results, measure = comparison.results_, comparison.measure
    models = []
    for place, (key, row) in enumerate(results.iterrows()):
        error, verdict = float(primary_errors(comparison)[place]), str(row["verdict"])
        rival = verdict in ("tied", "worse", "baseline")
        models.append(
            Model(
                title=clean(row["title"]),
                error=with_spread(error, float(row["error_sd"]), measure),
                majority=_majority(comparison, measure) if is_known(error) else "",
                difference=_difference(row, measure) if rival else "",
                verdict=verdict,
                words=VERDICTS.get(verdict, verdict),
                simplest=key == comparison.simplest_name_ != comparison.best_name_,
                note=_note(results, row),
            )
        )
    return models


def _note(results: Any, row: Any) -> str:
    """Return what a model had less of than others, folds or rows."""
    told = []
    most = int(np.nanmax(results["folds"], initial=0))
    if is_known(row["folds"]) and 0 < row["folds"] < most:
        told.append(f"{row['folds']:.0f} of {counted(most, 'fold')} only")
    rows = _trained_rows(row)
    if "trained_rows" in results and rows < (most := int(results["trained_rows"].max())):
        told.append(f"learned from {rows:,} of {counted(most, 'row')}")
    return "; ".join(told)


def _trained_rows(row: Any) -> int:
    return int(row["trained_rows"]) if is_known(row.get("trained_rows")) else 0


def measures_of(comparison: ComparisonLike) -> tuple[list[str], list[list[str]]]:
    """Return names of all measures beside the primary one, and their values for each model."""
    results = comparison.results_
    names = [name for name in _measures(comparison) if name != comparison.measure]
    header = [_name(comparison, name) for name in names] + ["fit", "prediction", "size"]
    header += ["learned from"] * ("trained_rows" in results)
    lines = []
    for key, row in results.iterrows():
        line = [clean(row["title"])]
        for name in names:
            # The column `error` of the results is the primary measure, whichever that is.
            value = _mean(comparison, key, name) if name == "error" else float(row[name])
            beside = _majority(comparison, name) if is_known(value) else ""
            line.append(value_of(value, name) + (f" ({beside})" if beside else ""))
        line += [duration(float(row["fit_seconds"])), duration(float(row["predict_seconds"]))]
        line.append(size(float(row["size_bytes"])))
        line += [counted(_trained_rows(row), "row")] * ("trained_rows" in results)
        lines.append(line)
    return header, lines


def meanings(comparison: ComparisonLike) -> list[tuple[str, str]]:
    """Return what each measure of this comparison is."""
    return [
        (_name(comparison, name), MEASURES[name].meaning + _of_which_class(comparison, name))
        for name in _measures(comparison)
    ]


def _name(comparison: ComparisonLike, measure: str) -> str:
    """Return the name of a measure, with the class that it speaks of."""
    one = comparison.positive_
    return f"F1 of {shortened(one, 24)}" if measure == "f1" and one else measure_of(measure).name


def _of_which_class(comparison: ComparisonLike, measure: str) -> str:
    if measure != "f1":
        return ""
    one = comparison.positive_
    return f" (of the class {shortened(one, 40)})" if one else " (mean over the classes)"


def left_out_by_title(comparison: ComparisonLike) -> dict[str, str]:
    """Return the models that were left out, by their titles."""
    return {comparison.title(key): why for key, why in comparison.left_out_models.items()}


def _measures(comparison: ComparisonLike) -> list[str]:
    known = [*comparison.results_.columns, *comparison.folds_.columns, comparison.measure]
    task = comparison.table.task
    numbers = ("r2", "mae", "rmse")
    return [n for n in MEASURES if n in known and (n in numbers) == (task == "regression")]


def _mean(comparison: ComparisonLike, key: Any, name: str) -> float:
    folds = comparison.folds_
    if name not in folds.columns:
        return float("nan")
    values = folds.loc[folds["model"] == key, name]
    return float(values.mean()) if len(values) else float("nan")


def _majority(comparison: ComparisonLike, measure: str) -> str:
    error = majority_error(comparison, measure)
    return "" if error is None else f"majority {value_of(error, measure)}"


def _difference(row: Any, measure: str) -> str:
    return difference(float(row["difference"]), float(row["half_width"]), measure)
