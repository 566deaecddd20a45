"""Whether more rows would help."""

from __future__ import annotations

from typing import Any

from mercer.report._axes import axes_for
from mercer.report._curve import draw_curve
from mercer.report._protocol import ComparisonLike


def draw_learning(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the error of the best model against the number of rows that it learned from.

    Parameters
    ----------
    comparison : Comparison
        See `mercer.compare`; anything with its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import draw_learning
    >>> learning = pd.DataFrame({"rows": [50, 100], "error": [0.2, 0.1], "error_sd": [0.02, 0.01]})
    >>> insights = SimpleNamespace(learning=learning)
    >>> ax = draw_learning(SimpleNamespace(insights_=insights, measure="error"))
    >>> ax.lines[0].get_ydata().tolist()
    [20.0, 10.0]
    """
    learning = None if comparison.insights_ is None else comparison.insights_.learning
    if learning is None or not len(learning):
        raise ValueError("The learning curve was not measured.")
    ax = axes_for(ax, (5.4, 3.4))
    draw_curve(ax, learning, "rows", comparison.measure)
    ax.set_xlabel("rows to learn from")
    return ax
