"""Styles of classes, marker shapes and the one place where matplotlib is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer._extras import how_to_get
from mercer.plotting.palette import COLORS

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<")
"""Shapes; one fewer than colours, so that 90 classes differ in one or the other."""

SIZES = {"s": 0.85, "^": 1.25, "D": 0.75, "v": 1.25, "P": 1.15, "X": 1.15, "*": 1.8, "<": 1.25}
"""Factors of area that make all shapes look as large as the disc."""

POINT_SIZE = 36.0
ROOMY = 200
"""Rows up to which points have their full size; more are drawn smaller, not to hide the regions."""


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, or say how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"Pictures need matplotlib, which is not installed; run {how_to_get('app')}."
        ) from error
    return plt


def axes_for(ax: Any, size: tuple[float, float], layout: str = "constrained") -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout=layout)
    return ax


def class_style(code: int, colors: Any = None) -> tuple[Any, str]:
    """Return the colour and the marker of a class."""
    palette = COLORS if colors is None else tuple(colors)
    color = palette[code % len(palette)]
    if code >= len(palette):
        # The palette has been used up: go through it again, darker.
        color = tint(color, "black", 0.6 ** (code // len(palette)))
    return color, MARKERS[code % len(MARKERS)]


def class_handle(code: int, label: str, colors: Any = None) -> Any:
    """Return what stands for a class in a legend."""
    from matplotlib.lines import Line2D

    color, marker = class_style(code, colors)
    size = np.sqrt(point_size(1, marker))
    return Line2D([], [], ls="", marker=marker, ms=size, mew=0, color=color, label=label)


def class_label(name: Any) -> str:
    """Return the name of a class; a bare number would say nothing in a legend."""
    text = str(name)
    return f"class {text}" if text.replace(".", "", 1).lstrip("-").isdigit() else text


def point_scale(n_points: int) -> float:
    """Return the factor of lengths in signs for a point among many."""
    return float(np.clip((ROOMY / max(n_points, 1)) ** 0.25, 0.4, 1.0))


def point_size(n_points: int, marker: str = "o") -> float:
    """Return the area of a point among many."""
    return POINT_SIZE * point_scale(n_points) ** 2 * SIZES.get(marker, 1.0)


def foreground(ax: Any) -> Any:
    """Return the colour of the axes' texts, in which lines can be read in every style."""
    return ax.xaxis.label.get_color()


def tint(color: Any, background: Any, share: ArrayLike) -> NDArray[np.float64]:
    """Mix a colour into a background, so that regions suit light and dark styles alike.

    `share` may have any shape; the result has one more axis, of red, green and blue.
    """
    from matplotlib.colors import to_rgb

    part = np.asarray(share, dtype=np.float64)[..., None]
    return part * np.array(to_rgb(color)) + (1 - part) * np.array(to_rgb(background))


def legend_beside(ax: Any, handles: list[Any]) -> Any:
    """Explain the picture at the right of the axes, where it hides nothing."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    return ax.legend(handles=handles, borderaxespad=0, frameon=False, **place)


def write_note(ax: Any, note: str) -> None:
    """Say above the picture what else must be known to read it."""
    if note:
        ax.set_title(note, loc="left", fontsize="small", style="italic")
