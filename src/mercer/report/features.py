"""The features that the best model leans on."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE
from mercer.report._axes import axes_for, foreground, open_sides, plain
from mercer.report._protocol import ComparisonLike
from mercer.report._words import shortened_apart

MOST_FEATURES = 12
PALE = 0.35
"""Bars of features whose importance is within noise."""


def leading_features(comparison: ComparisonLike) -> Any:
    """Return the features that count, at most twelve, as a data frame, the first one first."""
    features = None if comparison.insights_ is None else comparison.insights_.features
    if features is None or not len(features):
        raise ValueError("The importance of features was not measured.")
    order = features.sort_values("importance", ascending=False, kind="stable")
    n_shown = int((order["importance"] > 0).sum())
    return order.head(min(max(n_shown, 1), MOST_FEATURES))


def beyond_noise(features: Any) -> list[bool]:
    """Tell of each feature whether its importance is more than noise, as far as that is known."""
    return (
        [bool(one) for one in features["clear"]] if "clear" in features else [True] * len(features)
    )


def draw_features(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the leading features by their permutation importance, at most twelve.

    Those whose importance may be noise are pale.

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
    L. Breiman, "Random forests", Machine Learning 45 (2001) 5–32.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import draw_features
    >>> features = pd.DataFrame({"feature": ["age", "height"], "importance": [0.1, 0.3],
    ...                          "sd": [0.01, 0.02]})
    >>> ax = draw_features(SimpleNamespace(insights_=SimpleNamespace(features=features)))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['height', 'age']
    """
    leading = leading_features(comparison)
    ax = axes_for(ax, (6.0, 1.0 + 0.3 * len(leading)))
    places = np.arange(len(leading))
    # All of a deviation that is not known would be lost with it.
    spread = np.nan_to_num(leading["sd"].to_numpy(dtype=np.float64))
    ends = {"ecolor": foreground(ax), "elinewidth": 1.0, "capsize": 2}
    bars: dict[str, Any] = {"height": 0.62, "color": BLUE, "error_kw": ends}
    drawn = ax.barh(places, leading["importance"], xerr=spread, **bars)
    for bar, is_clear in zip(drawn, beyond_noise(leading)):
        bar.set_alpha(1.0 if is_clear else PALE)
    ax.set_yticks(places, [plain(name) for name in shortened_apart(leading["feature"], 22)])
    ax.set_ylim(len(leading) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0.0, color=foreground(ax), lw=0.8)
    ax.set_xlabel("loss of score when shuffled")
    ax.locator_params(axis="x", nbins=5)
    open_sides(ax)
    ax.spines["left"].set_visible(False)
    return ax
