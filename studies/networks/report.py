"""What the study of networks comes to: claims, tables and pictures."""

from __future__ import annotations

from typing import Any

from mercer.plotting.palette import BLUE, GREEN, GREY, PURPLE, VERMILION
from mercer.studies import StudyResults

from .claims import claims
from .found import Found
from .statistics import ALL
from .study import (
    GRAPH_KERNEL,
    KERNELS,
    METHODS,
    NAMES,
    ROWS,
    SCALINGS,
    SEARCHED,
    SELECTORS,
    SIZES,
    statistics_of_graphs,
)

COLORS = dict(zip((*KERNELS, SEARCHED), (BLUE, VERMILION, GREEN, PURPLE)))
STYLES = dict(zip(SELECTORS, (("-", "o"), ("--", "s"), (":", "^"))))
"""Line and marker of each selector."""

KINDS = {-1: (BLUE, "o", "directed scale-free"), 1: (VERMILION, "^", "small-world")}
"""Colour, marker and name of each kind of graph."""

PICTURED = (
    ("5.7", ("skewnessDegree", "skewnessNumNeighbors", "skewnessNumSuccessors")),
    ("5.8", ("medianDegree", "medianNumNeighbors", "meanNumNeighbors")),
    ("5.9", ("geometricMeanInDegree", "skewnessOutDegree", "numVertices")),
    ("5.10", ("clusteringCoefficient", "diameter", "averagePathLength")),
    ("5.11", ("meanNumSuccessors", "meanNumPredecessors", "meanNumNeighbors")),
)
"""The figures of the source with points, and their statistics."""


def report(results: StudyResults) -> str:
    """Return claims and tables as Markdown."""
    found = Found(results)
    judged = claims(found)
    held = sum(verdict == "holds" for _, verdict, _ in judged)
    parts = [
        f"Of {len(judged)} claims {held} hold:",
        _markdown([("claim", "verdict", "ours"), *judged]),
    ]
    for kind in NAMES:
        for scaling in SCALINGS:
            table = _errors(found, kind, scaling)
            if len(table) > 1:
                parts += [
                    f"{kind} statistics, {scaling}: error in percent with all of them / with the "
                    "best three, by training rows:",
                    _markdown(table),
                ]
    if (graphs := _graph_kernel(found)) is not None:
        parts += ["Error in percent by the graphs themselves:", _markdown(graphs)]
    leading = _leading(found)
    if len(leading) > 1:
        parts += ["The three statistics with the lowest mean places:", _markdown(leading)]
    return "\n\n".join(parts) + "\n"


def _errors(found: Found, kind: str, scaling: str) -> list[Any]:
    """Return a line for each method that ran with all numbers of training rows."""
    lines: list[Any] = [("method", *(f"{n} rows" for n in ROWS))]
    scaled, sizes = scaling == "scaled", (max(SIZES[kind]), 3)
    for method in METHODS:
        if all((kind, scaled, n, method) in found.rows for n in ROWS):
            cells = [
                " / ".join(
                    f"{100 * found.error(kind, scaled, n, method, size):.1f}" for size in sizes
                )
                for n in ROWS
            ]
            lines.append((method, *cells))
    return lines


def _graph_kernel(found: Found) -> list[Any] | None:
    keys = [(None, None, n, GRAPH_KERNEL) for n in ROWS]
    if not all(key in found.rows for key in keys):
        return None
    errors = [f"{100 * found.rows[key]['mean']:.1f}" for key in keys]
    return [("method", *(f"{n} rows" for n in ROWS)), (GRAPH_KERNEL, *errors)]


def _leading(found: Found) -> list[Any]:
    lines: list[Any] = [("statistics", "method", *SCALINGS)]
    for kind in NAMES:
        for method in METHODS:
            if method.endswith(SEARCHED):
                continue  # ranked without what is searched
            keys = [(kind, scaled, n, method) for scaled in (False, True) for n in ROWS]
            if all(key in found.rows for key in keys):
                names = [", ".join(found.leading(kind, how, method)) for how in (False, True)]
                lines.append((kind, method, *names))
    return lines


def _markdown(lines: list[Any]) -> str:
    rule = ["---"] * len(lines[0])
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))


def draw_curves_of_72(results: StudyResults) -> Any:
    """Draw errors against the number of statistics, of 72: the figures of appendix D."""
    return _draw_curves(results, "72")


def draw_curves_of_10(results: StudyResults) -> Any:
    """Draw errors against the number of statistics, of 10: the figures of appendix E."""
    return _draw_curves(results, "10")


def _draw_curves(results: StudyResults, kind: str) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    found = Found(results)
    figure = Figure(figsize=(15.5, 6.6), layout="constrained")
    axes = figure.subplots(len(SCALINGS), len(ROWS), sharex=True, sharey=True)
    for scaling, line in zip(SCALINGS, axes):
        for n, ax in zip(ROWS, line):
            for method in METHODS:
                _draw_curve(ax, found, (kind, scaling == "scaled", n, method))
            ax.set_title(f"{scaling}, {n} rows", fontsize="medium")
            ax.set_xscale("log")
            ax.set_xticks(SIZES[kind], [str(size) for size in SIZES[kind]])
            ax.minorticks_off()
            ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel(f"number of statistics, of {kind}")
    figure.supylabel("error on test rows, percent")
    handles = [Line2D([], [], color=color, lw=2, label=name) for name, color in COLORS.items()]
    handles += [
        Line2D([], [], color=GREY, ls=style, marker=marker, ms=5, label=name)
        for name, (style, marker) in STYLES.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    return figure


def _draw_curve(ax: Any, found: Found, key: tuple[str, bool, int, str]) -> None:
    if key not in found.rows:
        return
    selector, kernel = key[-1].split(", ")
    style, marker = STYLES[selector]
    errors = [100 * found.error(*key, size) for size in SIZES[key[0]]]
    ax.plot(SIZES[key[0]], errors, style, color=COLORS[kernel], marker=marker, ms=3.5, lw=1.3)


def draw_statistics(results: StudyResults) -> Any:
    """Draw the graphs in the statistics that the figures of the source show, two at a time."""
    from matplotlib.figure import Figure

    X, y = statistics_of_graphs()
    figure = Figure(figsize=(15.5, 6.4), layout="constrained")
    axes = figure.subplots(2, len(PICTURED))
    for (number, names), column in zip(PICTURED, axes.T):
        x, *others = (X[:, ALL.index(name)] for name in names)
        for ax, values, name in zip(column, others, names[1:]):
            for sign, (color, marker, kind) in KINDS.items():
                some, about = y == sign, {"c": color, "marker": marker, "label": kind}
                ax.scatter(x[some], values[some], s=9, alpha=0.5, lw=0, **about)
            ax.set(xlabel=names[0], ylabel=name)
            ax.spines[["top", "right"]].set_visible(False)
        column[0].set_title(f"figure {number}", fontsize="medium")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=2, frameon=False, markerscale=2)
    return figure
