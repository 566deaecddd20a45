"""Whether a criterion knows the true error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone

from mercer import model_selection
from mercer.kernels import scale_gamma
from mercer.plotting._plane import Floats, as_table
from mercer.plotting._style import axes_for, class_style, foreground, legend_beside, pyplot

CRITERIA = (
    *("evidence", "press", "radius_margin", "modified_radius_margin", "span", "gacv", "xi_alpha"),
    *("leave_one_out", "support_vector_count", "smoothed_validation_error", "posterior_error"),
)


class CriterionDisplay:
    """Criteria against the error on test rows, over a grid of parameters.

    Each point is a pair of C and gamma. Across goes the rank of the criterion (0 is the smallest
    value, which a search would choose), up goes the error on rows that the criterion has not seen.
    A large marker shows what the criterion chooses, the dotted line the least error of all points;
    the legend gives both and the rank correlation. A good criterion rises from left to right and,
    above all, chooses near the line. Use `from_estimator` to make one.

    Parameters
    ----------
    values : dict of str to array-like of shape (m,)
        Of each criterion.
    errors : array-like of shape (m,)
        True errors at the same parameters.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    points_ : dict of str to Line2D
    chosen_ : dict of str to float
        Error at the smallest value of each criterion.
    correlations_ : dict of str to float
        Spearman's rank correlation of each criterion with the error; nan where one is constant.
    legend_ : Legend or None

    See Also
    --------
    mercer.ErrorSurfaceDisplay : The error over C and gamma.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, CriterionDisplay
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> display = CriterionDisplay.from_estimator(
    ...     SVC(loss="squared_hinge"), X[:80], y[:80], X[80:], y[80:], criteria=["evidence"])
    >>> display.correlations_["evidence"] > 0.5
    True
    """

    def __init__(self, *, values: Mapping[str, Any], errors: Any) -> None:
        self.errors: Floats = np.asarray(errors, dtype=np.float64)
        self.values = {name: np.asarray(each, dtype=np.float64) for name, each in values.items()}
        for name, each in self.values.items():
            if each.shape != self.errors.shape:
                raise ValueError(f"{name!r} has {each.size} values, but errors {self.errors.size}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        criteria: Any = ("evidence",),
        C: Any = None,
        gamma: Any = None,
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Fit at every point of a grid and draw criteria against errors.

        Parameters
        ----------
        estimator : SVC
            With a kernel that has a gamma; it is not changed.
        X, y : array-like
            Training data.
        X_test, y_test : array-like
            Test data.
        criteria : sequence of str, or dict of str to callable
            Names of functions of `mercer.model_selection`, or functions of a fitted classifier, X
            and y by names of their own.
        C, gamma : array-like of float, default=None
            The grid; None takes 7 values of C from .01 to 10^4 and 7 of gamma from a thousandth to
            a thousand times ``gamma="scale"``.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        CriterionDisplay
        """
        pyplot()
        functions = _functions(criteria)
        table = as_table(X)
        C = np.logspace(-2, 4, 7) if C is None else np.atleast_1d(C)
        gamma = scale_gamma(table) * np.logspace(-3, 3, 7) if gamma is None else gamma
        values: dict[str, list[float]] = {name: [] for name in functions}
        errors = []
        for one_C in C:
            for one_gamma in np.atleast_1d(gamma):
                model = clone(estimator).set_params(C=float(one_C), gamma=float(one_gamma))
                model.fit(X, y)
                errors.append(1.0 - model.score(X_test, y_test))
                for name, function in functions.items():
                    values[name].append(float(function(model, X, y)))
        return cls(values=values, errors=errors).plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to explain the points at the right of the axes.

        Returns
        -------
        CriterionDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (8.4, 4.2))
        self.figure_ = ax.figure
        self.points_: dict[str, Any] = {}
        self.chosen_: dict[str, float] = {}
        self.correlations_: dict[str, float] = {}
        handles = []
        for place, (name, values) in enumerate(self.values.items()):
            handles.append(self._draw(name, values, *class_style(place)))
        least = float(self.errors.min())
        label = f"least error, {100 * least:.1f} %"
        handles.append(
            ax.axhline(100 * least, color=foreground(ax), ls=":", lw=1.2, label=label, zorder=0)
        )
        ax.set(xlabel="rank of the criterion, from the best", ylabel="test error [%]")
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = legend_beside(ax, handles) if legend else None
        return self

    def _draw(self, name: str, values: Floats, color: Any, marker: str) -> Any:
        from matplotlib.lines import Line2D

        order = np.argsort(values, kind="stable")
        chosen = float(self.errors[order[0]])
        varied = np.ptp(values) > 0 and np.ptp(self.errors) > 0
        correlation = float(spearmanr(values, self.errors).statistic) if varied else np.nan
        self.chosen_[name], self.correlations_[name] = chosen, correlation
        look: dict[str, Any] = {"color": color, "marker": marker, "ls": ""}
        (self.points_[name],) = self.ax_.plot(
            np.arange(order.size), 100 * self.errors[order], ms=5, alpha=0.85, mew=0, **look
        )
        rim = foreground(self.ax_)
        self.ax_.plot(0, 100 * chosen, ms=11, mec=rim, mew=1.2, zorder=3, clip_on=False, **look)
        label = f"{name}: {100 * chosen:.1f} %, ρ = {correlation:.2f}"
        return Line2D([], [], ms=7, label=label, **look)


def _functions(criteria: Any) -> dict[str, Any]:
    if isinstance(criteria, Mapping):
        return dict(criteria)
    names = [criteria] if isinstance(criteria, str) else list(criteria)
    for name in names:
        if name not in CRITERIA:
            raise ValueError(f"A criterion must be one of {', '.join(CRITERIA)}; got {name!r}.")
    return {name: getattr(model_selection, name) for name in names}
