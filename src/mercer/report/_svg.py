"""A picture of matplotlib as a part of the page: its texts are texts, its colours the page's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any

from cycler import cycler
from matplotlib import style
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mercer.plotting.palette import BLUE, GREY, VERMILION
from mercer.report._protocol import ComparisonLike

INK, LINE, PAPER = "darkslategrey", "silver", "white"
VARIABLES = {
    INK: "--ink",
    LINE: "--line",
    PAPER: "--paper",
    BLUE: "--blue",
    VERMILION: "--vermilion",
    GREY: "--grey",
}
"""What stands for a colour of the page, which is another one in the dark."""

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",  # comes with matplotlib, and hardly any font is wider
    "font.size": 11.0,
    "text.color": INK,
    "text.usetex": False,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=[BLUE]),
    "axes.edgecolor": LINE,
    "axes.facecolor": PAPER,
    "axes.unicode_minus": True,
    "figure.facecolor": PAPER,
    "grid.color": LINE,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9.6,
    "ytick.labelsize": 9.6,
    "legend.fontsize": 9.6,
}


def inline_svg(
    draw: Callable[..., Any],
    comparison: ComparisonLike,
    *,
    name: str,
    size: tuple[float, float],
    alt: str,
) -> str:
    """Return an element `svg` of the picture, in the same words each time.

    Parameters
    ----------
    draw : callable
        From a comparison and axes.
    comparison : Comparison
    name : str
        Begins all ids of the element, which must differ from those of other pictures.
    size : tuple of float
        Width and height in inches.
    alt : str
        What the picture shows, for those who do not see it.
    """
    text = StringIO()
    unknown = {"Date": None, "Creator": None, "Format": None, "Type": None}
    # The same page whatever style the caller draws in, whose settings come back afterwards.
    with style.context(["default", {**SETTINGS, "svg.hashsalt": name}]):
        figure = Figure(figsize=size, layout="constrained")
        with warnings.catch_warnings():
            # The reader's browser finds the signs that matplotlib's font does not have.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            draw(comparison, figure.subplots())
            figure.savefig(text, format="svg", transparent=True, metadata=unknown)
    return _as_part(text.getvalue(), name, alt)


def _as_part(svg: str, name: str, alt: str) -> str:
    """Return the element alone, with ids of its own and without what the page says for all."""
    body = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'\b(?:xlink:)?href="#', f'href="#{name}-', body)
    body = body.replace("url(#", f"url(#{name}-")
    # The page has fonts of its own; versions of matplotlib write them in one word or in two.
    body = re.sub(r"\bfont: ([^;\"]*?)([\d.]+px) [^;\"]*", r"font-size: \2", body)
    body = re.sub(r"\bfont-family: [^;\"]*;? ?", "", body)
    for color, variable in VARIABLES.items():
        body = body.replace(to_hex(color), f"var({variable})")
    view = re.search(r'viewBox="[^"]*"', body)
    if view is None:
        raise RuntimeError("matplotlib wrote a picture without a viewBox.")
    opening = f'<svg class="picture" role="img" aria-label="{escape(alt)}" {view.group()}>'
    body = re.sub(r"^<svg[^>]*>", lambda _: opening, body)
    return re.sub(r"\n\s*", "\n", body).strip()
