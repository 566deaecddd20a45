"""The multipliers of a machine, row by row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._plane import Floats
from mercer.plotting._style import axes_for, foreground, legend_beside, pyplot
from mercer.plotting._support import unwrap
from mercer.plotting.palette import COLORS

KINDS = {
    "margin": (COLORS[0], "o", "below the bound"),
    "bound": (COLORS[1], "s", "at the bound, C"),
}


class MultipliersDisplay:
    r"""Index plot of the multipliers: a spike for every support vector.

    The number of spikes is the number of support vectors; those at the bound lie on the surface or
    on the wrong side of it. Use `from_estimator` to make one.

    Parameters
    ----------
    multipliers : ndarray of shape (n,)
        :math:`\alpha_i` of every training row.
    kinds : ndarray of str of shape (n,)
        "margin", "bound", or "" where the multiplier is 0.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    spikes_ : dict of LineCollection
        By kind.
    heads_ : dict of PathCollection
        The marks at their ends, by kind.
    legend_ : Legend or None

    See Also
    --------
    mercer.SupportFractionDisplay : The share of support vectors against the width.

    References
    ----------
    S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with Other
    Classification Techniques*, Stellenbosch University 2014, figures 4.4 and 4.6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD, MultipliersDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ball = SVDD(nu=0, gamma=0.1).fit(X)
    >>> display = MultipliersDisplay.from_estimator(ball)
    >>> int((display.multipliers > 0).sum()) == ball.support_.size
    True
    """

    def __init__(self, *, multipliers: Floats, kinds: NDArray[np.str_]) -> None:
        self.multipliers = multipliers
        self.kinds = kinds

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, legend: bool = True) -> Self:
        """Draw the multipliers of a fitted description.

        Parameters
        ----------
        estimator : estimator
            Fitted `SVDD` or `OneClassSVM`; a pipeline or a search that ends in one will do.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        MultipliersDisplay
        """
        pyplot()
        check_is_fitted(estimator)
        machine = unwrap(estimator)[1]
        kind: Any = getattr(machine, "support_kind_", None)
        if np.ndim(kind) != 1 or hasattr(machine, "classes_"):
            name = type(machine).__name__
            raise ValueError(f"Only descriptions of one class have an index plot; got {name}.")
        multipliers = np.zeros(machine.shape_fit_[0])
        multipliers[machine.support_] = np.abs(machine.dual_coef_[0])
        kinds = np.full(multipliers.size, "", dtype="U8")
        kinds[machine.support_] = machine.support_kind_
        return cls(multipliers=multipliers, kinds=kinds).plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to count the support vectors of each kind at the right of the axes.

        Returns
        -------
        MultipliersDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.2, 3.0))
        self.figure_ = ax.figure
        self.spikes_: dict[str, Any] = {}
        self.heads_: dict[str, Any] = {}
        for kind, (color, marker, label) in KINDS.items():
            rows = np.flatnonzero(self.kinds == kind)
            if rows.size == 0:
                continue
            heights = self.multipliers[rows]
            self.spikes_[kind] = ax.vlines(rows, 0.0, heights, colors=color, lw=1.0)
            self.heads_[kind] = ax.scatter(
                rows, heights, s=16, c=color, marker=marker, label=f"{label}: {rows.size}", zorder=3
            )
        ax.axhline(0.0, color=foreground(ax), lw=0.8)
        ax.set(xlabel="row", ylabel="multiplier", xlim=(-1, self.multipliers.size))
        ax.set_ylim(bottom=0.0)
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = None
        if legend and self.heads_:
            self.legend_ = legend_beside(ax, list(self.heads_.values()))
            count = int((self.multipliers > 0).sum())
            share = f"{count / self.multipliers.size:.1%}"
            self.legend_.set_title(f"{count} support vectors ({share})", {"size": "medium"})
        return self
