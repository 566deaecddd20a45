"""Where the best model's numbers are off."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, VERMILION
from mercer.report._axes import axes_for, foreground, open_sides, short_ticks
from mercer.report._protocol import ComparisonLike

MOST_POINTS = 1500
N_GROUPS = 12
LEAST_ROWS = 10
"""Of a group, for its quantiles to say anything."""


def residuals_of(comparison: ComparisonLike) -> tuple[Any, Any]:
    """Return predictions of the best model and what the target lies above them."""
    predicted = np.asarray(comparison.predictions_[comparison.best_name_], dtype=np.float64)
    residuals = comparison.table.target.to_numpy(dtype=np.float64) - predicted
    known = np.isfinite(residuals)
    return predicted[known], residuals[known]


def draw_residuals(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw target minus prediction against prediction, for rows the best model had not seen.

    The full line is the median of groups of equal size, the dashed lines their 10 % and 90 %
    quantiles. Of more than 1500 rows as many are shown, drawn at random; the lines are of all.

    Parameters
    ----------
    comparison : Comparison
        Of regressors; see `mercer.compare`; anything with its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import pandas as pd
    >>> from mercer.report import draw_residuals
    >>> table = SimpleNamespace(task="regression", target=pd.Series([1.0, 2.0, 3.0]))
    >>> ax = draw_residuals(SimpleNamespace(table=table, best_name_="ridge",
    ...                                     predictions_={"ridge": np.array([1.5, 2.0, 2.5])}))
    >>> ax.collections[0].get_offsets()[:, 1].tolist()
    [-0.5, 0.0, 0.5]
    """
    if comparison.table.task != "regression":
        raise ValueError("Only numbers have residuals; draw_confusion suits classes.")
    if comparison.best_name_ not in comparison.predictions_:
        raise ValueError("The best model has no predictions to draw.")
    predicted, residuals = residuals_of(comparison)
    ax = axes_for(ax, (5.4, 4.0))
    shown = np.arange(residuals.size)
    if shown.size > MOST_POINTS:
        shown = np.sort(np.random.default_rng(0).choice(shown, MOST_POINTS, replace=False))
    look: dict[str, Any] = {"s": 9, "c": [BLUE], "alpha": 0.45, "linewidths": 0}
    ax.scatter(predicted[shown], residuals[shown], **look)
    ax.axhline(0.0, color=foreground(ax), lw=0.8)
    _draw_quantiles(ax, predicted, residuals)
    ax.set(xlabel="prediction", ylabel="target − prediction")
    ax.locator_params(nbins=6)
    short_ticks(ax.xaxis)
    short_ticks(ax.yaxis)
    open_sides(ax)
    return ax


def _draw_quantiles(ax: Any, predicted: Any, residuals: Any) -> None:
    n_groups = min(N_GROUPS, predicted.size // LEAST_ROWS)
    if n_groups < 3 or np.ptp(predicted) == 0:
        return
    groups = np.array_split(np.argsort(predicted, kind="stable"), n_groups)
    middles = [np.median(predicted[rows]) for rows in groups]
    for share, line in ((0.5, "-"), (0.1, "--"), (0.9, "--")):
        heights = [np.quantile(residuals[rows], share) for rows in groups]
        ax.plot(middles, heights, color=VERMILION, ls=line, lw=1.6)
