"""Pictures of any study."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

from .results import StudyResults
from .study import StudyError
from .verdicts import CLOSE

VERDICTS = {
    "reproduced": (BLUE, "o"),
    "better": (GREEN, "^"),
    "worse": (VERMILION, "v"),
    "not printed": (PURPLE, "s"),
    "undecided": (ORANGE, "D"),
    "not reproducible": (SKY, "X"),
}
"""Colour and marker of each verdict, told apart with every kind of colour vision."""

BOX, MEDIAN = BLUE, VERMILION
MOST_BOXES = 4
LETTERS_AN_INCH = 12


def draw_pictures(results: StudyResults, folder: Any) -> Iterator[Path]:
    """Draw all pictures that a study names, and yield their files.

    What is drawn of a part of a study says so. Panels in which there is nothing are left out, and
    so is a picture that has no others.
    """
    for stem, place in results.study.pictures.items():
        module_name, _, function = place.partition(":")
        try:
            draw = getattr(import_module(module_name), function)
        except (ImportError, AttributeError) as error:
            raise StudyError(f"The picture {place!r} cannot be drawn: {error}.") from error
        figure = draw(results)
        for ax in figure.axes:
            if not ax.has_data():
                ax.remove()
        if not figure.axes:
            continue
        if results.partial:
            _mark_as_partial(figure, results.partial)
        path = Path(folder) / f"{stem}.png"
        figure.savefig(path, dpi=130)
        yield path


def _mark_as_partial(figure: Any, note: str) -> None:
    lines = textwrap.wrap(note, int(LETTERS_AN_INCH * figure.get_figwidth()))
    title = figure.get_suptitle()
    figure.suptitle("\n".join([title] * bool(title) + lines), fontsize="medium")


def draw_overview(results: StudyResults) -> Any:
    """Draw a panel for each method: our means beside the printed ones, configuration by line.

    Bars reach over three standard errors on both sides, the distance within which a printed mean
    counts as reproduced.
    """
    from matplotlib.figure import Figure

    rows = results.table()
    methods = list(dict.fromkeys(row["method"] for row in rows))
    names = list(dict.fromkeys(row["configuration"] for row in rows))
    size = (2.2 + 2.1 * len(methods), 1.9 + 0.27 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for ax, method in zip(axes, methods):
        for row in rows:
            if row["method"] == method:
                _draw_row(ax, row, names.index(row["configuration"]))
        ax.set_title(method, fontsize="medium")
        ax.set_xlabel(results.study.measure)
        ax.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.4, -0.6)
    figure.suptitle(results.study.title, fontweight="bold")
    _add_legend(figure, _handles(rows), title=f"bars: ± {CLOSE:g} standard errors")
    return figure


def _draw_row(ax: Any, row: dict[str, Any], place: int) -> None:
    if row["mean"] is None:
        return
    color, marker = VERDICTS[row["verdict"]]
    error = None if row["sd"] is None else CLOSE * row["sd"] / np.sqrt(row["repetitions"])
    ax.errorbar(
        row["mean"], place, xerr=error, color=color, marker=marker, ms=5.5, lw=1.6, mec="none"
    )
    if row["printed_mean"] is not None:
        ax.plot(row["printed_mean"], place, "|", color=GREY, ms=13, mew=1.8, zorder=0)


def _handles(rows: list[dict[str, Any]]) -> list[Any]:
    from matplotlib.lines import Line2D

    seen = {row["verdict"] for row in rows}
    handles = [
        Line2D([], [], ls="", color=color, marker=marker, ms=5.5, label=f"ours, {verdict}")
        for verdict, (color, marker) in VERDICTS.items()
        if verdict in seen
    ]
    if seen - {"not printed"}:
        printed: dict[str, Any] = {
            "color": GREY,
            "marker": "|",
            "ms": 13,
            "mew": 1.8,
            "label": "printed",
        }
        handles.append(Line2D([], [], ls="", **printed))
    return handles


def _add_legend(figure: Any, handles: list[Any], **options: Any) -> None:
    small = {"fontsize": "small", "title_fontsize": "small", "frameon": False}
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), **small, **options
    )


def draw_boxes(results: StudyResults, configurations: Sequence[str] | None = None) -> Any:
    """Draw the spread over the repetitions as boxes, with the printed means behind them.

    Of the configurations given, or else of all, the first four that have results are drawn; where
    none of those given has any, others are.
    Whiskers end at the last value within 1.5 times the height of the box.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    rows = results.table()
    found = list(dict.fromkeys(row["configuration"] for row in rows))
    wanted = [name for name in found if name in (configurations or found)]
    names = (wanted or found)[:MOST_BOXES]
    size = (2.9 * max(1, len(names)) + 0.8, 3.9)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, max(1, len(names)), squeeze=False)[0]
    for ax, name in zip(axes, names):
        _draw_panel(ax, results, [row for row in rows if row["configuration"] == name])
        ax.set_title(f"configuration {name}", fontsize="medium")
    axes[0].set_ylabel(results.study.measure)
    handles = [
        Line2D([], [], color=MEDIAN, lw=2, label="median of ours"),
        Line2D([], [], color=GREY, lw=1.8, label="printed mean"),
    ]
    _add_legend(figure, handles)
    return figure


def _draw_panel(ax: Any, results: StudyResults, rows: list[dict[str, Any]]) -> None:
    line = {"color": BOX, "linewidth": 1.4}
    ax.boxplot(
        [results.values(row["configuration"], row["method"]) for row in rows],
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={"color": MEDIAN, "linewidth": 2},
        flierprops={"marker": ".", "markeredgecolor": GREY, "markersize": 4},
    )
    for place, row in enumerate(rows, start=1):
        if row["printed_mean"] is not None:
            ax.plot(place, row["printed_mean"], "_", color=GREY, ms=22, mew=1.8, zorder=0)
    slanted: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(1, len(rows) + 1), [row["method"] for row in rows], **slanted)
    ax.spines[["top", "right"]].set_visible(False)
