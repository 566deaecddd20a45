"""Whether the best model's probabilities are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting import ReliabilityDisplay
from mercer.report._axes import axes_for, label, open_sides
from mercer.report._protocol import ComparisonLike
from mercer.report._words import shortened


def draw_reliability(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the reliability of the best model's probabilities for rows it had not seen.

    Of two classes it is that of the class that F1 speaks of. See
    `mercer.plotting.ReliabilityDisplay`; the histogram below counts the rows.

    Parameters
    ----------
    comparison : Comparison
        Of classifiers, the best of which has probabilities; see `mercer.compare`; anything with
        its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; its lower part becomes the histogram. None makes a figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import pandas as pd
    >>> from mercer.report import draw_reliability
    >>> table = SimpleNamespace(target=pd.Series(["no", "yes", "yes"]), positive=None)
    >>> scores = np.array([[0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    >>> ax = draw_reliability(SimpleNamespace(table=table, classes_=["no", "yes"],
    ...                                       positive_="yes", best_name_="svc",
    ...                                       scores_={"svc": scores}))
    >>> ax.get_ylabel()
    'share of yes'
    """
    scores = comparison.scores_.get(comparison.best_name_)
    if scores is None:
        raise ValueError("The best model has no probabilities, so there is no reliability to draw.")
    ax = axes_for(ax, (5.0, 4.6))
    known = np.isfinite(np.asarray(scores, dtype=np.float64)).all(axis=1)
    classes = [str(name) for name in comparison.classes_]
    # Names are shortened before they are handed on, so that labels fit and hold no formula.
    names = dict(zip(classes, (label(f"{name}", 18) for name in classes)))
    if len(set(names.values())) < len(names):
        names = {name: f"{code}: {short}" for code, (name, short) in enumerate(names.items())}
    display = ReliabilityDisplay.from_predictions(
        [names[str(label)] for label in np.asarray(comparison.table.target)[known]],
        np.clip(np.asarray(scores)[known], 0.0, 1.0),
        classes=list(names.values()),
        pos_label=names.get(str(comparison.positive_)),
        ax=ax,
        legend=False,
    )
    _compact(display)
    return ax


def _compact(display: ReliabilityDisplay) -> None:
    below = display.histogram_ax_
    for part in (display.ax_, below):
        open_sides(part)
    most = shortened(display.positive, 24)
    below.set_xlabel(f"probability of {most}")
    below.locator_params(axis="y", nbins=3)
