"""The picture of all z scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.plotting.palette import GREY

from .pictures import VERDICTS as STYLES
from .verdicts import CLOSE, FEWEST, VERDICTS, Comparison, closeness

LIMIT = 15.0
"""What lies beyond is drawn at the edge."""

SPREAD = 0.32


def draw_z_scores(numbers: Mapping[str, Sequence[Comparison]]) -> Any:
    """Draw a line of points for each study and number: how far ours are from the printed ones.

    Points beside the grey band are more than three standard errors away; beyond the lighter one no
    deviation that counts is known from so few draws that it could be chance. Those beyond the edge
    stand at it. Each printed number is drawn once, and what has no z is left out.

    Parameters
    ----------
    numbers : mapping of str to sequence of Comparison
        By study.

    Returns
    -------
    matplotlib Figure
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    lines: dict[str, list[Comparison]] = {}
    for name, comparisons in numbers.items():
        for one in comparisons:
            if one.z is not None and not one.again and not one.quantity.endswith("seconds"):
                lines.setdefault(f"{name}: {one.quantity.replace('_', ' ')}", []).append(one)
    figure = Figure(figsize=(8.4, 1.6 + 0.62 * len(lines)), layout="constrained")
    ax = figure.subplots()
    for close in (closeness(FEWEST - 1), CLOSE):
        ax.axvspan(-close, close, color=GREY, alpha=0.09, lw=0)
    ax.axvline(0.0, color=GREY, lw=0.8)
    seen = set()
    for place, some in enumerate(lines.values()):
        # Side by side, in an order that has nothing to do with z, so that equal ones can be seen.
        heights = place + SPREAD * np.linspace(-1, 1, len(some) + 2)[1:-1]
        for one, height in zip(some, heights):
            color, marker = STYLES[one.verdict]
            seen.add(one.verdict)
            z = max(-LIMIT, min(LIMIT, one.z or 0.0))
            ax.plot(z, height, marker, color=color, ms=5.5, mec="none", alpha=0.8, clip_on=False)
    ax.set_yticks(range(len(lines)), [f"{name} ({len(v)})" for name, v in lines.items()])
    ax.set_ylim(len(lines) - 0.5, -0.5)
    ax.set_xlim(-LIMIT, LIMIT)
    ticks = (-LIMIT, -10.0, -5.0, -CLOSE, 0.0, CLOSE, 5.0, 10.0, LIMIT)
    edges = {-LIMIT: "≤ ", LIMIT: "≥ "}
    ax.set_xticks(ticks, [f"{edges.get(tick, '')}{tick:g}" for tick in ticks])
    ax.set_xlabel("z: ours minus printed, in standard errors of the difference")
    ax.spines[["top", "right"]].set_visible(False)
    handles = [
        Line2D([], [], ls="", color=STYLES[v][0], marker=STYLES[v][1], ms=6, label=v)
        for v in VERDICTS
        if v in seen
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False)
    return figure
