"""Colours, marker shapes and the one place where matplotlib is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
"""The palette of Okabe and Ito, told apart with every kind of colour vision."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Shapes; one more than colours, so that 56 classes differ in one or the other."""

SIZES = {"o": 1.0, "^": 1.25, "v": 1.25, "D": 0.75, "s": 0.85, "*": 1.8, "P": 1.15, "X": 1.15}
"""Factors of area that make all shapes look equally large."""


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, or say how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed; run pip install 'mercer[app]'."
        ) from error
    return plt


def class_style(code: int, colors: Any = None) -> tuple[Any, str]:
    """Return the colour and the marker of a class."""
    palette = COLORS if colors is None else tuple(colors)
    color = palette[code % len(palette)]
    if code >= len(palette):
        # The palette has been used up: go through it again, darker.
        color = tint(color, "black", 0.6 ** (code // len(palette)))
    return color, MARKERS[code % len(MARKERS)]


def tint(color: Any, background: Any, share: float) -> NDArray[np.float64]:
    """Mix a colour into a background, so that regions suit light and dark styles alike."""
    from matplotlib.colors import to_rgb

    return share * np.array(to_rgb(color)) + (1 - share) * np.array(to_rgb(background))
