"""Axes to draw into, and texts from the data on them."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import EngFormatter

from mercer.report._words import shortened

LARGE = 1e4


def axes_for(ax: Any, size: tuple[float, float]) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is None:
        # Not above: it chooses a backend, and the page needs none.
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def foreground(ax: Any) -> Any:
    """Return the colour of the axes' texts, which can be read in every style."""
    return ax.xaxis.label.get_color()


def plain(text: str) -> str:
    """Return a text in which no sign begins a formula."""
    return text.replace("$", r"\$")


def label(text: Any, most: int) -> str:
    """Return a name from the data, short enough for an axis."""
    return plain(shortened(text, most))


def short_ticks(axis: Any) -> None:
    """Write large numbers as 20k or 3M, rather than with a factor that stands elsewhere."""
    low, high = axis.get_view_interval()
    if max(abs(low), abs(high)) >= LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))


def open_sides(ax: Any) -> None:
    """Leave out the lines that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)
