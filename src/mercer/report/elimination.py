"""How many features are needed."""

from __future__ import annotations

from typing import Any

from mercer.report._axes import axes_for
from mercer.report._curve import draw_curve
from mercer.report._protocol import ComparisonLike

MANY = 100
"""From so many features on their number is drawn on a logarithmic scale."""


def draw_elimination(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the error against the number of features that recursive elimination has left.

    Parameters
    ----------
    comparison : Comparison
        See `mercer.compare`; anything with its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using
    support vector machines", Machine Learning 46 (2002) 389–422.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import draw_elimination
    >>> curve = pd.DataFrame({"features": [1, 4], "error": [0.2, 0.1], "error_sd": [0.02, 0.01]})
    >>> insights = SimpleNamespace(rfe=curve)
    >>> ax = draw_elimination(SimpleNamespace(insights_=insights, measure="error"))
    >>> ax.lines[0].get_xdata().tolist()
    [1, 4]
    """
    curve = None if comparison.insights_ is None else comparison.insights_.rfe
    if curve is None or not len(curve):
        raise ValueError("No features were eliminated, so there is no curve to draw.")
    ax = axes_for(ax, (5.4, 3.4))
    draw_curve(ax, curve, "features", comparison.measure)
    ax.set_xlabel("features that are left")
    if curve["features"].max() > MANY:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax
