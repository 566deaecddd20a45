"""The errors of all models, with their deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from mercer.plotting.palette import BLUE, GREY
from mercer.report._axes import axes_for, label, open_sides, short_ticks
from mercer.report._models import primary_errors
from mercer.report._protocol import ComparisonLike
from mercer.report._words import measure_of, value_of

TOO_FAR = 3.0
"""Errors beyond so many times the median are marked at the edge, not to squeeze the others."""

STYLES: dict[str, dict[str, Any]] = {
    "best": {"marker": "o", "color": BLUE, "ms": 8},
    "tied": {"marker": "o", "color": BLUE, "ms": 7, "hollow": True},
    "worse": {"marker": "s", "color": GREY, "ms": 5.5},
    "baseline": {"marker": "D", "color": GREY, "ms": 5.5, "hollow": True},
}


def draw_errors(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the error of each model, the best on top.

    A line reaches one standard deviation over the folds to both sides, and small points are the
    folds. What lies far beyond the others is marked at the right edge with its value. A partial
    run is marked as partial.

    Parameters
    ----------
    comparison : Comparison
        See `mercer.compare`; anything with its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import draw_errors
    >>> results = pd.DataFrame({"title": ["SVC", "always the largest class"], "error": [0.1, 0.4],
    ...                         "error_sd": [0.02, 0.01], "verdict": ["best", "baseline"]},
    ...                        index=["svc", "dummy"])
    >>> folds = pd.DataFrame({"model": ["svc", "svc"], "error": [0.09, 0.11]})
    >>> ax = draw_errors(SimpleNamespace(results_=results, folds_=folds, measure="error",
    ...                                  partial=False))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['SVC', 'always the largest class']
    """
    results, errors = comparison.results_, primary_errors(comparison)
    known = np.flatnonzero(np.isfinite(errors))
    if not known.size:
        raise ValueError("No model was measured, so there are no errors to draw.")
    ax = axes_for(ax, (6.4, 1.2 + 0.36 * known.size))
    factor = 100.0 if measure_of(comparison.measure).is_share else 1.0
    limit = _limit(comparison, known)
    for place, index in enumerate(known):
        style = dict(STYLES.get(results["verdict"].iloc[index], STYLES["worse"]))
        if style.pop("hollow", False):
            style["mfc"] = ax.get_facecolor()
        if errors[index] > limit:
            _draw_beyond(ax, place, errors[index], limit, comparison.measure, style)
            continue
        folds = _folds(comparison, results.index[index])
        spread = np.linspace(-0.2, 0.2, folds.size)
        points = {"ls": "", "marker": "o", "ms": 3, "mew": 0, "alpha": 0.45, "clip_on": False}
        ax.plot(factor * folds, place + spread, color=style["color"], **points)
        deviation = results["error_sd"].iloc[index]
        bar = factor * deviation if np.isfinite(deviation) else None
        ax.errorbar(factor * errors[index], place, xerr=bar, lw=1.6, capsize=2.5, **style)
    _finish(ax, comparison, known, factor, limit)
    return ax


def _limit(comparison: ComparisonLike, known: Any) -> float:
    """Return the right end of the axis if some errors lie far beyond it, else infinity."""
    results, errors = comparison.results_, primary_errors(comparison)[known]
    far = TOO_FAR * float(np.median(errors))
    near = known[errors <= far]
    if near.size == known.size or not far > 0:
        return np.inf
    ends = [errors[errors <= far] + np.nan_to_num(results["error_sd"].iloc[near].to_numpy(float))]
    ends += [_folds(comparison, results.index[index]) for index in near]
    return 1.04 * float(np.concatenate(ends).max())


def _folds(comparison: ComparisonLike, key: Any) -> Any:
    folds = comparison.folds_
    if comparison.measure not in folds.columns:
        return np.empty(0)
    values = folds.loc[folds["model"] == key, comparison.measure].to_numpy(dtype=np.float64)
    return values[np.isfinite(values)]


def _draw_beyond(
    ax: Any, place: int, error: float, limit: float, measure: str, style: dict[str, Any]
) -> None:
    factor = 100.0 if measure_of(measure).is_share else 1.0
    mark = {"marker": ">", "ms": style["ms"], "color": style["color"], "ls": ""}
    ax.plot([factor * limit], [place], clip_on=False, **mark)
    ax.annotate(
        value_of(error, measure),
        (factor * limit, place),
        xytext=(-7, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize="small",
    )


def _finish(ax: Any, comparison: ComparisonLike, known: Any, factor: float, limit: float) -> None:
    results = comparison.results_
    titles = [label(results["title"].iloc[index], 24) for index in known]
    ax.set_yticks(range(known.size), titles)
    ax.set_ylim(known.size - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=8)
    measure = measure_of(comparison.measure)
    ax.set_xlabel(f"{measure.name} (%)" if measure.is_share else measure.name)
    low, high = ax.get_xlim()
    ax.set_xlim(max(low, 0.0) if low < 0.25 * high else low, min(high, factor * limit))
    short_ticks(ax.xaxis)
    ax.grid(axis="x", lw=0.6, alpha=0.6)
    ax.set_axisbelow(True)
    open_sides(ax)
    ax.spines["left"].set_visible(False)
    verdicts = dict.fromkeys(results["verdict"].iloc[known])
    handles = [_handle(ax, verdict) for verdict in verdicts if verdict in STYLES]
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 4}
    gaps = {"columnspacing": 1.1, "handletextpad": 0.1, "borderpad": 0.1}
    legend = ax.legend(handles=handles, frameon=False, fontsize="small", **place, **gaps)
    if comparison.partial:
        legend.set_title("partial run: not everything was measured")
        legend.get_title().set_fontsize("small")


def _handle(ax: Any, verdict: str) -> Line2D:
    style = dict(STYLES[verdict])
    if style.pop("hollow", False):
        style["mfc"] = ax.get_facecolor()
    return Line2D([], [], ls="", label=verdict, **style)
