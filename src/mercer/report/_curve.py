"""An error against a number of rows or features."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE
from mercer.report._axes import open_sides, short_ticks
from mercer.report._words import measure_of


def draw_curve(ax: Any, curve: Any, across: str, measure: str) -> None:
    """Draw a line with a band of one standard deviation."""
    share = measure_of(measure).is_share
    factor = 100.0 if share else 1.0
    places = curve[across].to_numpy()
    error = factor * curve["error"].to_numpy(dtype=np.float64)
    spread = factor * curve["error_sd"].to_numpy(dtype=np.float64)
    ax.plot(places, error, "o-", ms=5, lw=1.8, color=BLUE)
    ax.fill_between(places, error - spread, error + spread, color=BLUE, alpha=0.18, lw=0)
    ax.set_ylabel(f"{measure_of(measure).name} (%)" if share else measure_of(measure).name)
    ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
    ax.locator_params(nbins=6)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    short_ticks(ax.yaxis)
    ax.grid(axis="y", lw=0.6, alpha=0.6)
    ax.set_axisbelow(True)
    open_sides(ax)
