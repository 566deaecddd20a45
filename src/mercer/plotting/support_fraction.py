"""The share of support vectors as a kernel becomes narrower."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import scale_gamma
from mercer.plotting._plane import Floats, as_table
from mercer.plotting._style import axes_for, foreground, legend_beside, pyplot
from mercer.plotting.palette import COLORS


class SupportFractionDisplay:
    r"""Share of rows that are support vectors against :math:`\gamma`.

    A wide kernel (small :math:`\gamma`) needs few support vectors and gives a plain ball; with a
    narrow one every row becomes a support vector, and the description only remembers the data.
    Use `from_estimator` or `from_search` to make one.

    Parameters
    ----------
    gammas : array-like of shape (m,)
        Widths.
    shares : array-like of shape (m,)
        Share of support vectors at each.
    chosen : float or None, default=None
        A gamma to mark.
    nu : float or None, default=None
        The share below which the curve cannot fall.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : Line2D
    nu_line_, chosen_line_ : Line2D or None
    legend_ : Legend or None

    See Also
    --------
    mercer.MultipliersDisplay : The multipliers at one width.
    mercer.OneClassSearch : Chooses a width by this share.

    References
    ----------
    S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with Other
    Classification Techniques*, Stellenbosch University 2014, figure 4.7.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD, SupportFractionDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> display = SupportFractionDisplay.from_estimator(SVDD(nu=0), X, gammas=[0.01, 1.0, 100.0])
    >>> bool(display.shares[0] < display.shares[1] < display.shares[2])
    True
    """

    def __init__(
        self,
        *,
        gammas: ArrayLike,
        shares: ArrayLike,
        chosen: float | None = None,
        nu: float | None = None,
    ) -> None:
        order = np.argsort(np.asarray(gammas, dtype=np.float64), kind="stable")
        self.gammas: Floats = np.asarray(gammas, dtype=np.float64)[order]
        self.shares: Floats = np.asarray(shares, dtype=np.float64)[order]
        self.chosen = chosen
        self.nu = nu

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, gammas: Any = None, ax: Any = None, legend: bool = True
    ) -> Self:
        """Fit a description with several widths and draw the shares.

        Parameters
        ----------
        estimator : estimator
            `SVDD`, `OneClassSVM` or another with ``gamma`` and ``support_``; it is not changed.
        X : array-like of shape (n_samples, n_features)
            The data.
        gammas : array-like of float, default=None
            Widths to try; None takes 25 from a thousandth to a thousand times ``gamma="scale"``.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        SupportFractionDisplay
        """
        pyplot()
        table = as_table(X)
        if gammas is None:
            gammas = scale_gamma(table) * np.logspace(-3, 3, 25)
        model = clone(estimator)
        if "gamma" not in model.get_params():
            raise ValueError(f"{type(model).__name__} has no gamma to vary.")
        shares = [len(model.set_params(gamma=g).fit(table).support_) / len(table) for g in gammas]
        display = cls(gammas=gammas, shares=shares, nu=getattr(estimator, "nu", None))
        return display.plot(ax, legend=legend)

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw what a search has tried, and mark its choice.

        Parameters
        ----------
        search : OneClassSearch
            Fitted. Of several values of nu, the chosen one is shown.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        SupportFractionDisplay
        """
        pyplot()
        check_is_fitted(search)
        nu = search.best_params_["nu"]
        records = [record for record in search.history_ if record["nu"] == nu]
        display = cls(
            gammas=[record["gamma"] for record in records],
            shares=[record["support_fraction"] for record in records],
            chosen=search.best_params_["gamma"],
            nu=nu,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to explain the lines at the right of the axes.

        Returns
        -------
        SupportFractionDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.2, 3.6))
        self.figure_ = ax.figure
        style: dict[str, Any] = {"marker": "o", "ms": 4, "color": COLORS[0]}
        label = "share of support vectors"
        (self.line_,) = ax.plot(self.gammas, self.shares, label=label, **style)
        self.nu_line_ = self.chosen_line_ = None
        handles = [self.line_]
        if self.nu:
            line = {"color": foreground(ax), "lw": 1.0, "ls": "--"}
            self.nu_line_ = ax.axhline(self.nu, label=f"nu = {self.nu:g}", **line)
            handles.append(self.nu_line_)
        if self.chosen is not None:
            line = {"color": COLORS[1], "lw": 1.4}
            label = f"chosen, gamma = {self.chosen:.3g}"
            self.chosen_line_ = ax.axvline(self.chosen, label=label, **line)
            handles.append(self.chosen_line_)
        ax.set(xscale="log", xlabel="gamma", ylabel="share of support vectors", ylim=(0.0, 1.03))
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = legend_beside(ax, handles) if legend else None
        return self
