"""The fuzzy sets of a rule base, as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.fuzzy import FuzzyRuleClassifier
from mercer.plotting._style import class_label, class_style, foreground, legend_beside, pyplot

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
"""One for each rule of a class, in turn."""

POINTS = 400
COLUMNS = 3


class MembershipsDisplay:
    r"""The fuzzy sets of all rules, one panel for each feature that any of them asks.

    A curve is the membership :math:`\exp(-(x - c)^2 / \sigma^2)` of one antecedent, in the colour
    of the class that its rule votes for. The number at its top is that of the rule, as in `rules_`.
    Thin vertical lines divide the feature into the linguistic terms, which stand above them. Where
    a row is given, an upright line marks its value, and dots how far each antecedent is true.
    Use `from_estimator` to make one.

    Parameters
    ----------
    estimator : FuzzyRuleClassifier
        A fitted one.
    features : list of int
        The features to draw.
    row : ndarray of shape (n_features,) or None, default=None
        A row to mark.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One for each feature.
    figure_ : matplotlib figure
    lines_ : dict of (int, int) to Line2D
        The curve of each rule and feature, by their positions.
    legend_ : Legend or None

    See Also
    --------
    mercer.FuzzyRuleClassifier : The classifier whose sets it shows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.fuzzy import FuzzyRuleClassifier
    >>> from mercer.plotting import MembershipsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = FuzzyRuleClassifier(max_rules=3, n_generations=20, random_state=0).fit(X, y)
    >>> display = MembershipsDisplay.from_estimator(model, row=X.iloc[70])
    >>> bool(len(display.lines_) == model.antecedents_.sum())
    True
    """

    def __init__(self, *, estimator: Any, features: list[int], row: Any = None) -> None:
        self.estimator = estimator
        self.features = features
        self.row = row

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, features: Any = None, row: Any = None, **plot: Any
    ) -> Self:
        """Draw the sets of a fitted classifier.

        Parameters
        ----------
        estimator : FuzzyRuleClassifier
            A fitted one.
        features : sequence of int or str, default=None
            Positions or names of the features to draw; None takes all that the rules ask.
        row : array-like of shape (n_features,), default=None
            A row to mark.
        **plot
            See `plot`.

        Returns
        -------
        MembershipsDisplay
        """
        if not isinstance(estimator, FuzzyRuleClassifier):
            raise TypeError(f"A FuzzyRuleClassifier is needed; got {type(estimator).__name__}.")
        check_is_fitted(estimator)
        asked = np.flatnonzero(estimator.antecedents_.any(axis=0)).tolist()
        chosen = asked if features is None else [_position(estimator, one) for one in features]
        if not chosen:
            raise ValueError("There is no feature to draw: the classifier has no rules.")
        values = None if row is None else np.asarray(row, dtype=np.float64).ravel()
        if values is not None and values.size != estimator.n_features_in_:
            raise ValueError(
                f"The row has {values.size} values, but the classifier was fitted on "
                f"{estimator.n_features_in_} features."
            )
        return cls(estimator=estimator, features=chosen, row=values).plot(**plot)

    def plot(self, axes: Any = None, *, legend: bool = True, colors: Any = None) -> Self:
        """Draw everything.

        Parameters
        ----------
        axes : array-like of matplotlib axes, default=None
            One for each feature; None makes a figure.
        legend : bool, default=True
            Whether to name the classes below the panels.
        colors : sequence of colours, default=None
            One for each class; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        MembershipsDisplay
            The display itself.
        """
        self.axes_ = _panels(axes, len(self.features))
        self.figure_ = self.axes_[0].figure
        self.lines_: dict[tuple[int, int], Any] = {}
        for ax, feature in zip(self.axes_, self.features):
            self._draw_terms(ax, feature)
            self._draw_sets(ax, feature, colors)
        self.legend_ = self._legend(colors) if legend else None
        return self

    def _draw_sets(self, ax: Any, feature: int, colors: Any) -> None:
        model = self.estimator
        x = np.linspace(*self._limits(feature), POINTS)
        codes = np.searchsorted(model.classes_, model.rule_classes_)
        for j in np.flatnonzero(model.antecedents_[:, feature]):
            center, width = model.centers_[j, feature], model.widths_[j, feature]
            color, marker = class_style(int(codes[j]), colors)
            style = LINES[int((codes[:j] == codes[j]).sum()) % len(LINES)]
            values = np.exp(-(((x - center) / width) ** 2))
            (self.lines_[int(j), feature],) = ax.plot(x, values, color=color, ls=style)
            ax.annotate(
                f"{j + 1}", (center, 1.0), (0, 2), textcoords="offset points", ha="center",
                fontsize="small", color=foreground(ax), annotation_clip=True,
            )  # fmt: skip
            if self.row is not None:
                value = self.row[feature]
                member = np.exp(-(((value - center) / width) ** 2))
                ax.plot([value], [member], marker, color=color, ms=6, mec=foreground(ax))
        if self.row is not None:
            ax.axvline(self.row[feature], color=foreground(ax), lw=1.2, zorder=1)
        ax.set(ylim=(0, 1.3), xlim=(x[0], x[-1]), yticks=[0, 0.5, 1])
        ax.set_xlabel(_name(model, feature))
        ax.set_ylabel("membership")

    def _draw_terms(self, ax: Any, feature: int) -> None:
        low, high = self.estimator.term_ranges_[:, feature]
        start, end = self._limits(feature)
        terms = self.estimator.terms
        inner = np.linspace(low, high, len(terms) + 1)[1:-1]
        edges = np.concatenate([[start], inner, [end]])
        for edge in inner:
            ax.axvline(edge, color=foreground(ax), lw=0.6, alpha=0.4, zorder=0)
        for term, left, right in zip(terms, edges[:-1], edges[1:]):
            ax.text(
                (left + right) / 2, 1.28, term, ha="center", va="top", fontsize="small",
                style="italic", color=foreground(ax), clip_on=True,
            )  # fmt: skip

    def _limits(self, feature: int) -> tuple[float, float]:
        """Return the ends of the axis: the terms and the centres, and something around them."""
        model = self.estimator
        low, high = model.term_ranges_[:, feature]
        inside = [low, high, *model.centers_[model.antecedents_[:, feature], feature]]
        if self.row is not None:
            inside.append(self.row[feature])
        margin = 0.12 * (max(inside) - min(inside) or 1.0)
        return min(inside) - margin, max(inside) + margin

    def _legend(self, colors: Any) -> Any:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=class_style(code, colors)[0], label=class_label(name))
            for code, name in enumerate(self.estimator.classes_)
        ]
        if len(self.axes_) > 1:
            return self.figure_.legend(
                handles=handles, loc="outside lower center", ncols=len(handles), frameon=False
            )
        return legend_beside(self.axes_[0], handles)


def _panels(axes: Any, count: int) -> Any:
    plt = pyplot()
    if axes is None:
        columns = min(count, COLUMNS)
        rows = -(-count // columns)
        size = (1.0 + 3.2 * columns, 0.5 + 2.5 * rows)
        figure = plt.figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for ax in grid.ravel()[count:]:
            ax.remove()
        return grid.ravel()[:count]
    given = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if given.size != count:
        raise ValueError(f"{count} features need {count} axes; got {given.size}.")
    return given


def _name(model: Any, feature: int) -> str:
    names = getattr(model, "feature_names_in_", None)
    return f"x{feature}" if names is None else str(names[feature])


def _position(model: Any, feature: Any) -> int:
    """Return the position of a feature that is given by position or name."""
    names = [_name(model, i) for i in range(model.n_features_in_)]
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if not isinstance(feature, str) and 0 <= int(feature) < len(names):
        return int(feature)
    raise ValueError(f"There is no feature {feature!r}; the features are {names}.")
