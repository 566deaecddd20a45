"""Labels beside points of a picture, where there is room for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.text import Text
from matplotlib.transforms import Bbox

NEAR, FAR, RINGS, DIRECTIONS = 11.0, 60.0, 6, 16
"""Points of a font between a place and its label, and how many spots are tried."""

ROOM = 2.0
"""Pixels around labels and places that stay free."""

DEAR = 1000
"""As many other points may rather be covered than another label, or a place with a label."""


def label_points(ax: Any, points: Any, listed: Sequence[int], texts: Sequence[str]) -> list[Any]:
    """Write texts beside some of the points, over no other text and few points, if that can be.

    Nearer spots are tried before those farther off; a line leads from each text to its point.

    Parameters
    ----------
    ax : matplotlib axes
        With the limits that it will have.
    points : ndarray of shape (n, 2)
        All that are drawn, in the units of the axes.
    listed : sequence of int
        Positions of those that get a text.
    texts : sequence of str

    Returns
    -------
    list of Annotation
        One for each text.
    """
    ax.figure.draw_without_rendering()  # which settles where the axes are
    pixels = ax.transData.transform(points)
    taken = [Bbox([pixels[row] - ROOM, pixels[row] + ROOM]) for row in listed]
    drawn, paper = [], ax.get_facecolor()
    for row, text in zip(listed, texts):
        label = ax.annotate(
            text,
            points[row],
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize="small",
            zorder=6,
            bbox={"boxstyle": "round,pad=0.1", "fc": paper, "ec": "none", "alpha": 0.7},
            arrowprops={"arrowstyle": "-", "lw": 0.6, "shrinkA": 0, "shrinkB": 2},
        )
        taken.append(_settle(label, taken, pixels))
        drawn.append(label)
    return drawn


def _settle(label: Any, taken: Sequence[Bbox], pixels: Any) -> Bbox:
    """Move a label to the first free spot, or else where it covers least, and return its box."""
    inside = label.axes.get_window_extent()
    found: list[tuple[int, tuple[float, float], Bbox]] = []
    for spot in _spots():
        label.set_position(spot)
        label.update_positions(label.figure.canvas.get_renderer())
        box = Text.get_window_extent(label).padded(ROOM)  # that of an annotation has the line, too
        covered = DEAR * sum(box.overlaps(other) for other in taken)
        covered += DEAR * len(taken) * (inside.count_contains(box.corners()) < 4)
        covered += box.count_contains(pixels)
        found.append((covered, spot, box))
        if not covered:
            break
    _, spot, box = min(found, key=lambda one: one[0])
    label.set_position(spot)
    return box


def _spots() -> Iterator[tuple[float, float]]:
    """Yield offsets in points, those near the place first, to the upper right before others."""
    for ring in range(RINGS):
        radius = NEAR + (FAR - NEAR) * ring / (RINGS - 1)
        for k in range(DIRECTIONS):
            turn = math.pi / 4 + (-1) ** k * ((k + 1) // 2) * 2 * math.pi / DIRECTIONS
            yield 1.3 * radius * math.cos(turn), radius * math.sin(turn)
