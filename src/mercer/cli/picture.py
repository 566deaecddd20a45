"""A comparison as a picture."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mercer.cli.comparison import OURS, PEER, Candidate, Comparison, preparation
from mercer.cli.tables import Table
from mercer.plotting import BoundaryDisplay
from mercer.plotting.palette import BLUE, GREY, VERMILION

STYLES: dict[tuple[str, str], dict[str, Any]] = {
    (OURS, "hinge"): {"color": BLUE, "marker": "o"},
    (OURS, "squared_hinge"): {"color": VERMILION, "marker": "s"},
    (PEER, "hinge"): {"color": GREY, "marker": "D"},
}
MOST_PANELS = 5
WIDE_RANGE = 15
"""Ratio of times beyond which the short ones would vanish on a linear scale."""


def draw_comparison(comparison: Comparison, table: Table, C: float, path: Path) -> None:
    """Draw error, time and number of support vectors, and boundaries where there are two features.

    Parameters
    ----------
    comparison : Comparison
    table : Table
        The data, for the boundaries.
    C : float
    path : Path
        The picture file; its ending says which kind.
    """
    from matplotlib.figure import Figure

    has_boundaries = table.X.shape[1] == 2 and bool(_panels(comparison))
    places = _places(comparison)
    height = 1.7 + 0.26 * (places.max() + 1)
    figure = Figure(figsize=(11, height + 3.4 * has_boundaries), layout="constrained")
    above: Any = figure
    if has_boundaries:
        parts: Any = figure.subfigures(2, 1, height_ratios=[height, 3.4])
        above = parts[0]
        _draw_boundaries(parts[1], comparison, table, C)
    error, seconds, vectors = above.subplots(1, 3, sharey=True, width_ratios=[1.5, 1, 1])
    _draw_errors(error, comparison, places)
    _draw_times(seconds, comparison, places)
    _draw_values(vectors, comparison.n_support.mean(axis=1), comparison, places)
    error.set(xlabel="error on held-out rows (%): folds, mean ± sd")
    vectors.set(xlabel="support vectors, mean", xlim=(0, None))
    _label_kernels(error, comparison, places)
    for ax in (error, seconds, vectors):
        ax.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.7)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right"]].set_visible(False)
    n_rows, n_features = table.X.shape
    above.suptitle(
        f"{table.name}: {n_rows} rows, {n_features} features, {len(table.class_counts())} classes, "
        f"C = {C:g}",
        fontweight="bold",
    )
    _draw_legend(above, error, comparison)
    figure.savefig(path, dpi=130)


def _places(comparison: Comparison) -> Any:
    """Return the height of each candidate's row; a gap parts the kernels."""
    kernels = [candidate.kernel for candidate in comparison.candidates]
    new = [a != b for a, b in pairwise(kernels)]
    return np.arange(len(kernels)) + np.concatenate([[0], np.cumsum(new)]).astype(int)


def _style(candidate: Candidate) -> dict[str, Any]:
    return STYLES[candidate.library, candidate.loss]


def _draw_errors(ax: Any, comparison: Comparison, places: Any) -> None:
    jitter = np.linspace(-0.22, 0.22, comparison.errors.shape[1])
    for index, candidate in enumerate(comparison.candidates):
        style = _style(candidate)
        errors = 100 * comparison.errors[index]
        ax.plot(errors, places[index] + jitter, ls="", ms=3, alpha=0.35, **style, mew=0)
        deviation = 100 * comparison.error_deviation(index)
        spread = None if np.isnan(deviation) else deviation
        ax.errorbar(
            errors.mean(), places[index], xerr=spread, ms=7, lw=1.8, capsize=3, mec="white", **style
        )
    lowest = 100 * comparison.mean_errors[comparison.best]
    ax.axvline(lowest, color=GREY, lw=1, ls=":", zorder=0)
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))


def _draw_times(ax: Any, comparison: Comparison, places: Any) -> None:
    """Draw times from zero where they are alike, on a logarithmic scale where they are not."""
    times = np.array([comparison.fit_seconds(index) for index in range(places.size)])
    unit, factor = ("s", 1.0) if np.nanmax(times) >= 1 else ("ms", 1e3)
    _draw_values(ax, factor * times, comparison, places)
    ax.set_xlabel(f"time of a fit ({unit}), shortest")
    if np.nanmax(times) > WIDE_RANGE * np.nanmin(times):
        from matplotlib.ticker import LogFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(LogFormatter(labelOnlyBase=False))
        ax.xaxis.set_minor_formatter("")
    else:
        ax.set_xlim(left=0)


def _draw_values(ax: Any, values: Any, comparison: Comparison, places: Any) -> None:
    for value, place, candidate in zip(values, places, comparison.candidates):
        ax.plot(value, place, ms=7, mec="white", ls="", **_style(candidate))


def _label_kernels(ax: Any, comparison: Comparison, places: Any) -> None:
    kernels = [candidate.kernel for candidate in comparison.candidates]
    names = list(dict.fromkeys(kernels))
    middles = [places[[k == name for k in kernels]].mean() for name in names]
    ax.set_yticks(middles, names)
    ax.set_ylim(places.max() + 0.7, -0.7)


def _draw_legend(figure: Any, ax: Any, comparison: Comparison) -> None:
    from matplotlib.lines import Line2D

    kinds = dict.fromkeys((c.library, c.loss) for c in comparison.candidates)
    handles = [
        Line2D([], [], ls="", ms=7, label=f"{kind[0]}, {kind[1].replace('_', ' ')}", **STYLES[kind])
        for kind in kinds
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def _draw_boundaries(figure: Any, comparison: Comparison, table: Table, C: float) -> None:
    """Draw the boundary of each kernel with our best loss, fitted on all rows."""
    from sklearn.pipeline import make_pipeline

    chosen = _panels(comparison)[:MOST_PANELS]
    axes = figure.subplots(1, len(chosen), sharex=True, sharey=True, squeeze=False)[0]
    for ax, candidate in zip(axes, chosen):
        model = make_pipeline(*preparation(table.X), candidate.build(C)).fit(table.X, table.y)
        BoundaryDisplay.from_estimator(
            model, table.X, table.y, ax=ax, legend=ax is axes[-1], grid_resolution=200
        )
        ax.set_title(f"{candidate.kernel}, {candidate.loss.replace('_', ' ')}", fontsize="medium")
        ax.set(xlabel=table.feature_names[0], ylabel=table.feature_names[1])
        ax.label_outer()


def _panels(comparison: Comparison) -> list[Candidate]:
    """Return our candidates that share the loss of the best of them, so that one legend serves."""
    ours = [
        (mean, candidate)
        for mean, candidate in zip(comparison.mean_errors, comparison.candidates)
        if candidate.library == OURS and not np.isnan(mean)
    ]
    loss = min(ours)[1].loss if ours else ""
    return [candidate for _, candidate in ours if candidate.loss == loss]
