"""Which pictures a comparison has, and what they say in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mercer.report._layout import in_two_columns
from mercer.report._models import primary_errors
from mercer.report._protocol import ComparisonLike
from mercer.report._svg import inline_svg
from mercer.report._words import (
    clean,
    counted,
    measure_of,
    number,
    shortened,
    value_of,
    with_spread,
)
from mercer.report.confusion import MOST_CLASSES, confusion_of, draw_confusion
from mercer.report.elimination import draw_elimination
from mercer.report.errors import draw_errors
from mercer.report.features import beyond_noise, draw_features, leading_features
from mercer.report.learning import draw_learning
from mercer.report.reliability import draw_reliability
from mercer.report.residuals import MOST_POINTS, draw_residuals, residuals_of

WIDTH = 4.4
"""In inches, for all pictures: so their letters have the same size on the page."""


class Picture(NamedTuple):
    """A picture and its words."""

    name: str
    heading: str
    caption: str
    alt: str
    draw: Callable[..., Any]
    height: float

    def svg(self, comparison: ComparisonLike) -> str:
        """Return the picture as a part of a page."""
        size = (WIDTH, self.height)
        return inline_svg(self.draw, comparison, name=self.name, size=size, alt=self.alt)


def pictures_of(comparison: ComparisonLike) -> list[Picture]:
    """Return the pictures that there is something to draw for, in the order of the page."""
    return in_two_columns(
        [*_of_all_models(comparison), *_of_the_best(comparison), *_of_insights(comparison)]
    )


def best_title(comparison: ComparisonLike) -> str:
    """Return the best model's name in words."""
    results = comparison.results_
    best = comparison.best_name_
    return clean(results.loc[best, "title"] if best in results.index else best)


def _of_all_models(comparison: ComparisonLike) -> Iterator[Picture]:
    results, errors = comparison.results_, primary_errors(comparison)
    known = np.flatnonzero(np.isfinite(errors))
    if not known.size:
        return
    measure = comparison.measure
    name = measure_of(measure).name
    told = [
        f"{clean(results['title'].iloc[k])} "
        f"{with_spread(errors[k], float(results['error_sd'].iloc[k]), measure)}"
        for k in known
    ]
    partial = "Partial run. " if comparison.partial else ""
    yield Picture(
        "errors",
        "Errors of the models",
        f"{partial}{name[0].upper()}{name[1:]}: mean and one standard deviation over the folds; "
        "small points are single folds. What lies far beyond the others is marked at the edge.",
        f"{partial}{name} of {counted(known.size, 'model')}, best first: {'; '.join(told)}.",
        draw_errors,
        0.95 + 0.28 * known.size,
    )


def _of_the_best(comparison: ComparisonLike) -> Iterator[Picture]:
    best = comparison.best_name_
    if comparison.predictions_.get(best) is None:
        return
    title = best_title(comparison)
    if comparison.table.task == "regression":
        yield _residuals(comparison, title)
        return
    yield _confusion(comparison, title)
    scores = comparison.scores_.get(best)
    if scores is None or not np.isfinite(scores).all(axis=1).any():
        return
    yield Picture(
        "reliability",
        "Are the probabilities right?",
        f"Rows that {title} had not seen, grouped by predicted probability. On the dotted line the "
        "probabilities are right, below it they are too high. The steps below count the rows.",
        f"Reliability diagram of {title} with a histogram of its probabilities.",
        draw_reliability,
        3.9,
    )


def _confusion(comparison: ComparisonLike, title: str) -> Picture:
    classes, counts = confusion_of(comparison)
    off = np.where(np.eye(len(classes), dtype=bool), 0, counts)
    row, column = np.unravel_index(off.argmax(), off.shape)
    worst = (
        f" Most often, {shortened(classes[row], 40)} is taken for {shortened(classes[column], 40)}:"
        f" {counted(int(off[row, column]), 'row')}."
        if off.any()
        else " No row is predicted wrongly."
    )
    n_classes = len(comparison.classes_)
    only = (
        f" Of {n_classes} classes these {MOST_CLASSES} have most mistakes."
        if n_classes > len(classes)
        else ""
    )
    height = 2.9 if len(classes) == 2 else 4.4
    return Picture(
        "confusion",
        "Which classes are confused",
        f"Predictions of {title} for rows it had not seen; colour is the share of the true "
        f"class.{worst}{only}",
        f"Confusion matrix of {title} with {counted(len(classes), 'class', 'classes')}.{worst}",
        draw_confusion,
        height,
    )


def _residuals(comparison: ComparisonLike, title: str) -> Picture:
    _, residuals = residuals_of(comparison)
    shown = (
        f" Points are {MOST_POINTS:,} of {residuals.size:,} rows, drawn at random; lines are of "
        "all rows."
        if residuals.size > MOST_POINTS
        else ""
    )
    low, high = np.quantile(residuals, [0.1, 0.9]) if residuals.size else (np.nan, np.nan)
    return Picture(
        "residuals",
        "Where the predictions are off",
        f"Target minus prediction of {title} for rows it had not seen. The full line is the "
        f"median, dashed lines hold 80 % of the rows: a band that bends or widens tells where the "
        f"model is wrong.{shown}",
        f"Residuals of {title} against its predictions; 80 % of them lie between "
        f"{number(float(low))} and {number(float(high))}.",
        draw_residuals,
        3.4,
    )


def _of_insights(comparison: ComparisonLike) -> Iterator[Picture]:
    insights = comparison.insights_
    if insights is None:
        return
    title = best_title(comparison)
    if _has_rows(insights.features):
        yield _features(comparison, title)
    if _has_rows(insights.rfe):
        yield Picture(
            "elimination",
            "How many features are needed",
            "Error of a linear support vector machine while the weakest features are left out one "
            "after another, on rows that took no part in it; the band is one standard deviation.",
            f"Error against the number of features: {_ends(comparison, insights.rfe, 'features')}.",
            draw_elimination,
            2.9,
        )
    if _has_rows(insights.learning):
        yield Picture(
            "learning",
            "Would more rows help?",
            f"Error of {title} when it learns from fewer rows; the band is one standard deviation. "
            "A line that still falls at its right end says yes.",
            f"Learning curve: {_ends(comparison, insights.learning, 'rows')}.",
            draw_learning,
            2.9,
        )


def _features(comparison: ComparisonLike, title: str) -> Picture:
    leading = leading_features(comparison)
    n_features = comparison.table.frame.shape[1]
    first = ", ".join(shortened(name, 40) for name in leading["feature"].head(3))
    of_all = f" Shown: {len(leading)} of {n_features:,}." if n_features > len(leading) else ""
    if not all(beyond_noise(leading)):
        of_all += " Pale bars are within noise."
    return Picture(
        "features",
        "Leading features",
        f"What {title} loses on rows it had not seen when the values of one column are shuffled; "
        "lines are one standard deviation over the folds. Columns that say the same share it."
        f"{of_all}",
        f"Permutation importance of {counted(len(leading), 'feature')}; the first are {first}.",
        draw_features,
        0.8 + 0.25 * len(leading),
    )


def _ends(comparison: ComparisonLike, curve: Any, across: str) -> str:
    told = [
        f"{value_of(float(curve['error'].iloc[k]), comparison.measure)} with "
        f"{int(curve[across].iloc[k]):,} {across}"
        for k in (0, -1)
    ]
    return ", ".join(told)


def _has_rows(frame: Any) -> bool:
    return frame is not None and len(frame) > 0
