"""What rankings of features are worth, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.feature_selection import RankingCurve
from mercer.feature_selection.kernel_rfe_cv import KernelRFECV
from mercer.plotting._style import axes_for, class_style, foreground, legend_beside, pyplot

FEW = 20
"""Up to so many sizes each is marked by a point."""


class RankingCurveDisplay:
    r"""Accuracy against the number of features, for one or several rankings.

    A full line is the mean score on test rows, with a band of one standard error; a dashed line
    the mean score on training rows. Small vertical strokes stand at the sizes that the elimination
    passed through, at the accuracy of its machines on their training rows. A ring marks the size of
    least cost, :math:`w_1 (1 - \text{score}) + w_2\,\text{size}/m`, and the legend names it. A
    dotted line is the share of the largest class.
    Use `from_curves` or `from_estimator` to make one.

    Parameters
    ----------
    curves : dict of str to RankingCurve

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of str to Line2D
        The test scores.
    legend_ : Legend

    See Also
    --------
    mercer.feature_selection.ranking_curve : The curves that it shows.
    mercer.KernelRFECV : Chooses a size by one of them.

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    section 5.1.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer import SVC, KernelRFE
    >>> from mercer.feature_selection import ranking_curve
    >>> from mercer.plotting import RankingCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curves = ranking_curve({"RFE": KernelRFE(SVC(kernel="linear"))}, SVC(), scale(X)[:200],
    ...                        y[:200], cv=3, random_state=0)
    >>> display = RankingCurveDisplay.from_curves(curves)
    >>> sorted(display.lines_)
    ['RFE', 'filter', 'random']
    """

    def __init__(self, *, curves: Mapping[str, RankingCurve]) -> None:
        self.curves = curves

    @classmethod
    def from_curves(cls, curves: Any, **plot: Any) -> Self:
        """Draw curves that `mercer.feature_selection.ranking_curve` has made.

        Parameters
        ----------
        curves : RankingCurve or dict of str to RankingCurve
        **plot
            See `plot`.

        Returns
        -------
        RankingCurveDisplay
        """
        given = {curves.name: curves} if isinstance(curves, RankingCurve) else dict(curves)
        if not given or not all(isinstance(curve, RankingCurve) for curve in given.values()):
            raise TypeError("A RankingCurve, or a dict of at least one, is needed.")
        return cls(curves=given).plot(**plot)

    @classmethod
    def from_estimator(cls, estimator: Any, **plot: Any) -> Self:
        """Draw the curve of a fitted `KernelRFECV`, with the size that it chose.

        Parameters
        ----------
        estimator : KernelRFECV
        **plot
            See `plot`.

        Returns
        -------
        RankingCurveDisplay
        """
        check_is_fitted(estimator)
        if not isinstance(estimator, KernelRFECV):
            raise TypeError(f"A fitted KernelRFECV is needed; got {type(estimator).__name__}.")
        plot.setdefault("optimum", estimator.n_features_)
        return cls.from_curves(estimator.curve_, **plot)

    def plot(
        self,
        ax: Any = None,
        *,
        trade_off: tuple[float, float] = (0.8, 0.2),
        optimum: int | None = None,
        train: bool = True,
        band: bool = True,
        log_scale: bool | None = None,
        legend: bool = True,
        colors: Any = None,
    ) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        trade_off : tuple of two floats, default=(0.8, 0.2)
            w1 and w2 of the cost.
        optimum : int or None, default=None
            The size to mark; None takes the one of least cost.
        train : bool, default=True
            Whether to draw the scores on training rows, and the strokes.
        band : bool, default=True
            Whether to draw the band of one standard error.
        log_scale : bool or None, default=None
            Whether sizes are drawn on a logarithmic scale; None does so beyond 100 features.
        legend : bool, default=True
            Whether to explain the picture at the right of the axes.
        colors : sequence of colours, default=None
            One for each ranking; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        RankingCurveDisplay
            The display itself.
        """
        pyplot()
        self.ax_ = ax = axes_for(ax, (8.0, 4.6))
        self.figure_ = ax.figure
        self.lines_: dict[str, Any] = {}
        for place, (name, curve) in enumerate(self.curves.items()):
            color, marker = class_style(place, colors)
            self._draw(name, curve, color, marker, trade_off, optimum, train, band)
        first = next(iter(self.curves.values()))
        handles = list(self.lines_.values())
        if np.isfinite(first.chance):
            line = ax.axhline(first.chance, color=foreground(ax), ls=":", lw=1, label="chance")
            handles.append(line)
        if train:
            handles += self._explanations()
        most = max(curve.n_features for curve in self.curves.values())
        if most > 100 if log_scale is None else log_scale:
            _logarithmic(ax)
        else:  # there is no half of a feature
            ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="number of features", ylabel="accuracy")
        self.legend_ = legend_beside(ax, handles) if legend else None
        return self

    def _draw(
        self,
        name: str,
        curve: RankingCurve,
        color: Any,
        marker: str,
        trade_off: tuple[float, float],
        optimum: int | None,
        train: bool,
        band: bool,
    ) -> None:
        ax, sizes, mean = self.ax_, curve.sizes, curve.mean_test_score
        size = curve.best_size(trade_off) if optimum is None else optimum
        score = float(np.interp(size, sizes, mean))
        label = f"{name}: {score:.3f} with {size}"
        points = {"marker": marker, "ms": 4} if sizes.size <= FEW else {}
        (self.lines_[name],) = ax.plot(sizes, mean, color=color, label=label, **points)
        if band and len(curve.test_scores) > 1:
            low, high = mean - curve.standard_error, mean + curve.standard_error
            ax.fill_between(sizes, low, high, color=color, alpha=0.2, lw=0)
        ax.plot([size], [score], "o", ms=10, mfc="none", mec=color, mew=1.8)
        if train:
            ax.plot(sizes, curve.mean_train_score, color=color, ls="--", lw=1)
            passed, accuracy = _passed_sizes(curve)
            ax.plot(passed, accuracy, ls="", marker="|", ms=8, mew=1, color=color, alpha=0.8)

    def _explanations(self) -> list[Any]:
        from matplotlib.lines import Line2D

        color = foreground(self.ax_)
        return [
            Line2D([], [], color=color, label="test rows"),
            Line2D([], [], color=color, ls="--", lw=1, label="training rows"),
            Line2D([], [], color=color, ls="", marker="|", ms=8, label="while ranking"),
            Line2D([], [], color=color, ls="", marker="o", ms=9, mfc="none", label="optimum"),
        ]


def _passed_sizes(curve: RankingCurve) -> tuple[Any, Any]:
    """Return the sizes of the machines that ranked, and their mean accuracy over the folds."""
    sizes = np.concatenate([ranking.sizes for ranking in curve.rankings])
    accuracy = np.concatenate([ranking.accuracy for ranking in curve.rankings])
    different, where, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    return different, np.bincount(where, weights=accuracy, minlength=different.size) / counts


def _logarithmic(ax: Any) -> None:
    """Use a logarithmic scale of sizes, with plain numbers."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
