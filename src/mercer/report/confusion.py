"""Which classes the best model takes for which."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from mercer.plotting.palette import BLUE
from mercer.report._axes import axes_for, foreground, plain
from mercer.report._protocol import ComparisonLike
from mercer.report._words import shortened_apart

MOST_CLASSES = 25
MOST_COUNTS = 12
"""Up to so many classes each cell has its count written into it."""

MOST_ZEROS = 4
"""Up to so many classes counts of 0 are written, too."""

DARK = 0.8
"""From this share on the cell is so dark that its count needs the colour of the paper."""


def confusion_of(comparison: ComparisonLike) -> tuple[list[str], NDArray[np.int64]]:
    """Return the drawn classes and the counts, true class by predicted class.

    Of more than 25 classes, those are taken that have most mistakes, as truth or as prediction.
    """
    classes = [str(name) for name in comparison.classes_]
    place = {name: code for code, name in enumerate(classes)}
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    predicted = comparison.predictions_[comparison.best_name_]
    for truth, guess in zip(comparison.table.target, predicted):
        if guess is not None and str(guess) in place:  # folds that were not measured have none
            counts[place[str(truth)], place[str(guess)]] += 1
    if len(classes) > MOST_CLASSES:
        mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
        kept = np.sort(np.argsort(-mistakes, kind="stable")[:MOST_CLASSES])
        return [classes[code] for code in kept], counts[np.ix_(kept, kept)]
    return classes, counts


def draw_confusion(comparison: ComparisonLike, ax: Any = None) -> Any:
    """Draw the confusion matrix of the best model, from predictions of rows it had not seen.

    Parameters
    ----------
    comparison : Comparison
        Of classifiers; see `mercer.compare`; anything with its attributes will do.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import draw_confusion
    >>> table = SimpleNamespace(task="classification", target=pd.Series(["no", "yes", "yes"]))
    >>> ax = draw_confusion(SimpleNamespace(table=table, classes_=["no", "yes"], best_name_="svc",
    ...                                     predictions_={"svc": ["no", "yes", "no"]}))
    >>> [text.get_text() for text in ax.texts]
    ['1', '0', '1', '1']
    """
    if comparison.table.task != "classification":
        raise ValueError("Only classes can be confused; draw_residuals suits regression.")
    if comparison.best_name_ not in comparison.predictions_:
        raise ValueError("The best model has no predictions to draw.")
    classes, counts = confusion_of(comparison)
    ax = axes_for(ax, (5.0, 4.6))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    drawn = np.argwhere(counts > 0)
    cells = [Rectangle((column - 0.5, row - 0.5), 1, 1) for row, column in drawn]
    colors = [to_rgba(BLUE, max(float(shares[row, column]), 0.04)) for row, column in drawn]
    ax.add_collection(PatchCollection(cells, facecolors=colors, linewidths=0))
    if len(classes) <= MOST_COUNTS:
        _write_counts(ax, counts, shares)
    _name_axes(ax, classes)
    return ax


def _write_counts(ax: Any, counts: Any, shares: Any) -> None:
    fontsize = "medium" if len(counts) <= 6 else "small" if len(counts) <= 9 else "x-small"
    for row, column in np.ndindex(*counts.shape):
        if counts[row, column] == 0 and len(counts) > MOST_ZEROS:
            continue
        color = ax.get_facecolor() if shares[row, column] > DARK else foreground(ax)
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": fontsize}
        ax.text(column, row, _count(counts[row, column]), color=color, **look)


def _count(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"


def _name_axes(ax: Any, classes: list[str]) -> None:
    few = len(classes) <= MOST_COUNTS
    most = 16 if len(classes) <= MOST_ZEROS else 11
    names = [plain(name) for name in shortened_apart(classes, most)]
    turned = max(map(len, names)) * len(names) > 36
    size = {"fontsize": "small" if few else "x-small"}
    ax.set_xticks(range(len(names)), names, rotation=90 if turned else 0, **size)
    ax.set_yticks(range(len(names)), names, **size)
    ax.tick_params(length=0)
    edges = np.arange(len(names) + 1) - 0.5
    ax.hlines(edges, -0.5, len(names) - 0.5, color=foreground(ax), lw=0.5, alpha=0.25)
    ax.vlines(edges, -0.5, len(names) - 0.5, color=foreground(ax), lw=0.5, alpha=0.25)
    ax.set(xlim=(-0.52, len(names) - 0.48), ylim=(len(names) - 0.48, -0.52))
    ax.set(xlabel="predicted", ylabel="true")
    ax.spines[:].set_visible(False)
    if len(names) > 2:
        ax.set_aspect("equal")
