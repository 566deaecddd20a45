"""How far the rows of each class lie on the right side of the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._labels import Codes, codes_of
from mercer.plotting._plane import Floats
from mercer.plotting._style import (
    axes_for,
    class_label,
    class_style,
    foreground,
    legend_beside,
    pyplot,
    tint,
)
from mercer.plotting._support import has_margin, transform, unwrap

NEAR_ONE = 0.01
"""Support vectors on the margin reach 1 only up to the solver's tolerance."""

ROW_HEIGHT = 0.85
AXIS_NAMES = {
    "sides": "functional margin y f(x)",
    "classes": "margin: decision value of the true class minus the best other",
    "pairs": "margin: least y f(x) of the pairs with the true class",
}


class MarginDisplay:
    r"""Histogram of the functional margins, one row a class.

    For two classes the margin of a row is :math:`y_i f(x_i)` with :math:`y_i = \pm 1`; for more it
    is the decision value of the true class minus the largest of the others, or what the machine's
    own ``margins`` says (for one-against-one machines the least :math:`y f(x)` of the pairs with
    the true class). Left of 0 lie the errors; a machine with a margin wants every row at 1 or
    beyond, and pays for what lies left of it. The height is the share of the class in
    each bin, on the same scale for all classes.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        Functional margins.
    labels : ndarray of int of shape (n,)
        Position in ``classes`` of each row's label.
    classes : array-like of shape (n_classes,)
        Names of the classes.
    has_margin : bool, default=False
        Whether the margin ends at 1.
    kind : {"sides", "classes", "pairs"}, default="sides"
        What the margin is: y f(x) of two classes, the true class against the best other, or the
        least y f(x) of the pairs with the true class.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    bars_ : list of StepPatch
        The histograms, one a class.
    lines_ : list of Line2D
        The lines at 0 and, where the margin ends there, at 1.
    legend_ : Legend or None

    See Also
    --------
    mercer.BoundaryDisplay : The boundary in a plane.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC, MarginDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    >>> display = MarginDisplay.from_estimator(model, X, y)
    >>> bool(np.isclose(display.shares()[0].mean(), 1 - model.score(X, y), atol=0.01))
    True
    """

    def __init__(
        self,
        *,
        margins: Floats,
        labels: Codes,
        classes: Any,
        has_margin: bool = False,
        kind: str = "sides",
    ) -> None:
        self.margins = margins
        self.labels = labels
        self.classes = classes
        self.has_margin = has_margin
        self.kind = kind

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **plot: Any) -> Self:
        """Draw the margins of data under a fitted classifier.

        Parameters
        ----------
        estimator : classifier with a decision function
            Fitted; a pipeline or a search that ends in one will do.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Their labels.
        **plot
            See `plot`.

        Returns
        -------
        MarginDisplay
        """
        pyplot()
        steps, machine = unwrap(estimator)
        own = hasattr(machine, "margins")
        if not is_classifier(estimator) or not (own or hasattr(estimator, "decision_function")):
            name = type(estimator).__name__
            raise ValueError(f"Margins need a classifier with decision_function; got {name}.")
        check_is_fitted(estimator)
        classes = estimator.classes_
        scaled = has_margin(estimator)
        if own:
            margins = machine.margins(transform(steps, X), y)
            pairs = getattr(machine, "multi_class", "ovo") == "ovo"
            kind = "sides" if len(classes) == 2 else "pairs" if pairs else "classes"
            display = cls(
                margins=margins,
                labels=codes_of(y, classes, len(margins)),
                classes=classes,
                has_margin=scaled and kind != "classes",
                kind=kind,
            )
            return display.plot(**plot)
        if len(classes) > 2 and getattr(machine, "decision_function_shape", "ovr") == "ovo":
            raise ValueError(
                "Margins need one decision value for each class; set decision_function_shape='ovr'."
            )
        decision = estimator.decision_function(X)
        scaled = scaled and len(classes) == 2
        return cls.from_predictions(y, decision, classes=classes, has_margin=scaled, **plot)

    @classmethod
    def from_predictions(
        cls, y: Any, decision: Any, *, classes: Any = None, has_margin: bool = False, **plot: Any
    ) -> Self:
        """Draw the margins that decision values give.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        decision : array-like of shape (n_samples,) or (n_samples, n_classes)
            Decision values: of the second class, or of each class.
        classes : array-like of shape (n_classes,), default=None
            Classes in the order of the decision values; None sorts the labels.
        has_margin : bool, default=False
            Whether the margin ends at 1, as that of a support vector machine for two classes does.
        **plot
            See `plot`.

        Returns
        -------
        MarginDisplay
        """
        pyplot()
        decision = np.asarray(decision, dtype=np.float64)
        classes = np.unique(np.asarray(y)) if classes is None else classes
        codes = codes_of(y, classes, len(decision))
        expected = (len(codes),) if len(classes) == 2 else (len(codes), len(classes))
        if decision.shape != expected:
            raise ValueError(
                f"{len(classes)} classes and {len(codes)} rows need decision values of shape "
                f"{expected}; got {decision.shape}."
            )
        display = cls(
            margins=_margins(codes, decision),
            labels=codes,
            classes=classes,
            has_margin=has_margin,
            kind="sides" if decision.ndim == 1 else "classes",
        )
        return display.plot(**plot)

    def shares(self) -> tuple[Floats, Floats]:
        """Return for each class the share of rows below 0, and of those from 0 to below 1."""
        margins = self._snapped()
        rows = [margins[self.labels == code] for code in range(len(self.classes))]
        errors = [np.mean(m < 0) if m.size else np.nan for m in rows]
        within = [np.mean((m >= 0) & (m < 1)) if m.size else np.nan for m in rows]
        return np.array(errors), np.array(within)

    def plot(
        self, ax: Any = None, *, bins: int = 30, legend: bool = True, colors: Any = None
    ) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        bins : int, default=30
            About how many bins; their edges are such that 0 (and 1) are among them.
        legend : bool, default=True
            Whether to tell the shares of each class at the right of the axes.
        colors : sequence of colours, default=None
            One for each class; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        MarginDisplay
            The display itself.
        """
        n_classes = len(self.classes)
        self.ax_ = ax = axes_for(ax, (7.2, 2.4 + 0.4 * n_classes))
        self.figure_ = ax.figure
        self.bars_ = self._draw_bars(ax, bins, colors)
        color = foreground(ax)
        self.lines_ = [ax.axvline(0.0, color=color, lw=1.6, label="boundary")]
        if self.has_margin:
            self.lines_.append(ax.axvline(1.0, color=color, lw=1.1, ls="--", label="margin"))
        names = [class_label(name) for name in self.classes]
        ax.set_yticks(np.arange(n_classes)[::-1], names)
        ax.tick_params(axis="y", length=0)
        ax.set(xlabel=AXIS_NAMES[self.kind], ylim=(-0.1, n_classes))
        ax.spines[["top", "right", "left"]].set_visible(False)
        self.legend_ = self._draw_legend(ax, names) if legend else None
        return self

    def _draw_bars(self, ax: Any, bins: int, colors: Any) -> list[Any]:
        margins = self._snapped()
        edges = _edges(margins, bins)
        counts = [
            np.histogram(margins[self.labels == code], edges)[0]
            for code in range(len(self.classes))
        ]
        shares = [count / max(count.sum(), 1) for count in counts]
        highest = max(share.max() for share in shares)
        drawn = []
        for code, share in enumerate(shares):
            base = len(shares) - 1 - code
            color = class_style(code, colors)[0]
            fill = tint(color, ax.get_facecolor()[:3], 0.7)
            heights = base + ROW_HEIGHT * share / highest
            style: dict[str, Any] = {"fill": True, "fc": fill, "ec": color, "lw": 1.0}
            drawn.append(ax.stairs(heights, edges, baseline=base, label=str(code), **style))
            ax.axhline(base, color=foreground(ax), lw=0.5, zorder=0.5)
        return drawn

    def _draw_legend(self, ax: Any, names: Sequence[str]) -> Any:
        errors, within = self.shares()
        for bars, name, error, inside in zip(self.bars_, names, errors, within):
            text = f"{error:.1%}, {inside:.1%}" if self.has_margin else f"{error:.1%}"
            bars.set_label(f"{name}: {text}")
        legend = legend_beside(ax, [*self.bars_, *self.lines_])
        # Who loses one of several duels may still be predicted.
        below = "a pair lost" if self.kind == "pairs" else "errors"
        legend.set_title(f"{below}, within the margin" if self.has_margin else below)
        legend.set_alignment("left")
        return legend

    def _snapped(self) -> Floats:
        """Return the margins, those of support vectors on the margin being 1."""
        near = self.has_margin & (np.abs(self.margins - 1.0) < NEAR_ONE)
        return np.where(near, 1.0, self.margins)


def _margins(codes: Codes, decision: Floats) -> Floats:
    if decision.ndim == 1:
        return np.where(codes == 1, decision, -decision)
    rows = np.arange(len(codes))
    others = decision.copy()
    others[rows, codes] = -np.inf
    return decision[rows, codes] - others.max(axis=1)


def _edges(margins: Floats, bins: int) -> Floats:
    """Return equally spaced edges that cover the margins and hit 0 and 1."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1; got {bins}.")
    low, high = min(margins.min(), 0.0), max(margins.max(), 1.0)
    width = (high - low) / bins
    width = 1 / np.floor(1 / width) if width < 1 else np.ceil(width)
    return width * np.arange(np.floor(low / width), np.floor(high / width) + 2)
