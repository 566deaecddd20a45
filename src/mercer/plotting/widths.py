"""The width that each feature was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import RBF, Weighted
from mercer.plotting._plane import Floats
from mercer.plotting._style import axes_for, foreground, pyplot
from mercer.plotting._support import unwrap
from mercer.plotting.palette import COLORS

ROOMY = 30
"""Up to so many features each has its name beside the axis."""


class WidthsDisplay:
    r"""What a kernel with one parameter for each feature says of the features.

    Drawn is :math:`\gamma_k` of :math:`\exp(-\sum_k \gamma_k (x_k - x'_k)^2)`, or the squared scale
    of `Weighted`, on a logarithmic axis. A feature with a small value hardly counts; values compare
    where the features have the same spread. The line is the one width of all features that the
    search had found before. Use `from_estimator` to make one.

    Parameters
    ----------
    widths : array-like of shape (d,)
    names : sequence of str, default=None
        Of the features; their numbers if None.
    together : float, default=None
        The best width for all of them.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    stems_ : LineCollection
    points_ : Line2D
    together_ : Line2D or None
    legend_ : Legend or None

    See Also
    --------
    mercer.GradientSearch : Learns a width for each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GradientSearch, WidthsDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4
    >>> display = WidthsDisplay.from_estimator(GradientSearch(random_state=0).fit(X, y))
    >>> sorted(np.argsort(display.widths)[-2:].tolist())
    [0, 1]
    """

    def __init__(
        self,
        *,
        widths: Any,
        names: Sequence[str] | None = None,
        together: float | None = None,
    ) -> None:
        self.widths: Floats = np.asarray(widths, dtype=np.float64)
        self.names = names
        self.together = together

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        order: str = "feature",
        ax: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw the widths of a fitted machine or search.

        Parameters
        ----------
        estimator : GradientSearch, SVC or another with a kernel
            Fitted, with `RBF` or `Weighted` and one parameter for each feature; a pipeline that
            ends in one will do.
        names : sequence of str, default=None
            Of the features; None takes those of the data frame it was fitted on.
        order : {"feature", "width"}, default="feature"
            See `plot`.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        WidthsDisplay
        """
        pyplot()
        check_is_fitted(estimator)
        search = estimator[-1] if hasattr(estimator, "steps") else estimator
        machine = unwrap(estimator)[1]
        widths = _widths(getattr(machine, "kernel_", None))
        if names is None:
            names = getattr(machine, "feature_names_in_", None)
            names = getattr(search, "feature_names_in_", names)
        if names is not None and len(names) != widths.size:
            raise ValueError(f"There are {widths.size} features, but {len(names)} names.")
        display = cls(widths=widths, names=names, together=_together(search))
        return display.plot(ax, order=order, legend=legend)

    def plot(self, ax: Any = None, *, order: str = "feature", legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        order : {"feature", "width"}, default="feature"
            Whether features stand as in the data or from the largest value to the smallest.
        legend : bool, default=True
            Whether to explain the line.

        Returns
        -------
        WidthsDisplay
            The display itself.
        """
        if order not in ("feature", "width"):
            raise ValueError(f"order must be 'feature' or 'width'; got {order!r}.")
        self.ax_ = ax = axes_for(ax, (8.0, 3.6))
        self.figure_ = ax.figure
        count = self.widths.size
        places = np.arange(count) if order == "feature" else np.argsort(-self.widths, kind="stable")
        shown = self.widths[places]
        low = shown.min() / 2.0
        self.stems_ = ax.vlines(range(count), low, shown, color=COLORS[0], lw=1.4, alpha=0.8)
        (self.points_,) = ax.plot(
            range(count), shown, "o", ms=5, color=COLORS[0], label="own width"
        )
        handles, self.together_ = [self.points_], None
        if self.together is not None:
            label = f"one for all, {self.together:.3g}"
            self.together_ = ax.axhline(
                self.together, color=foreground(ax), ls="--", lw=1.0, label=label
            )
            handles.append(self.together_)
        ax.set(yscale="log", ylabel="gamma of the feature", ylim=(low, 2.0 * shown.max()))
        ax.set_xlim(-0.8, count - 0.2)
        self._name_features(places)
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = ax.legend(handles=handles, frameon=False) if legend else None
        return self

    def _name_features(self, places: Any) -> None:
        ax, count = self.ax_, len(places)
        names = list(map(str, range(count))) if self.names is None else list(map(str, self.names))
        if count <= ROOMY or self.names is not None:
            turned = max(map(len, names)) > 3
            look = {"rotation": 90 if turned else 0, "fontsize": "small" if count > 12 else None}
            ax.set_xticks(range(count), [names[k] for k in places], **look)
        elif (places != np.arange(count)).any():
            ax.set_xticks([])
        ax.set_xlabel("feature" if self.names is None else "")


def _widths(kernel: Any) -> Floats:
    if isinstance(kernel, RBF) and np.ndim(kernel.gamma):
        return np.asarray(kernel.gamma, dtype=np.float64)
    if isinstance(kernel, Weighted):
        return np.asarray(kernel.scales, dtype=np.float64) ** 2
    raise ValueError(
        "The kernel must have one width for each feature, as RBF with a vector gamma has; "
        f"got {kernel!r}."
    )


def _together(search: Any) -> float | None:
    """Return the best width of all features that a gradient search tried, if it did."""
    steps = [
        (step["objective"], float(step["kernel"].gamma))
        for step in getattr(search, "history_", ())
        if isinstance(step, dict)
        and step.get("stage") == "together"
        and np.isscalar(getattr(step["kernel"], "gamma", None))
    ]
    return min(steps)[1] if steps else None
