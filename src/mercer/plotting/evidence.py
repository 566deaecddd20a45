"""How the evidence of a relevance vector machine rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._style import axes_for, foreground, legend_beside, pyplot
from mercer.plotting._support import unwrap
from mercer.plotting.palette import COLORS

ACTIONS = {
    "start": ("o", COLORS[3]),
    "add": ("^", COLORS[0]),
    "re-estimate": ("o", COLORS[4]),
    "delete": ("v", COLORS[1]),
    "widen": ("*", COLORS[2]),
    "prune": ("v", COLORS[1]),
}
"""Marker and colour of each action."""


class EvidenceDisplay:
    r"""Log evidence and number of weights after every step of a fit.

    The upper line is :math:`\ln p(t \mid \alpha)`; its markers say what each step did. The lower
    axes show how many weights there are. With ``method="fast"`` the line never falls.
    Use `from_estimator` to make one.

    Parameters
    ----------
    histories : sequence of sequence of dict
        The steps of each machine, as in ``history_``.
    names : sequence of str, default=None
        A name for each machine, shown where there are several.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib axes
    figure_ : matplotlib figure
    lines_ : list of Line2D
        The evidence, one line a machine.
    counts_ : list of Line2D
        The numbers of weights.
    legend_ : Legend or None

    See Also
    --------
    mercer.RVC : The machine whose evidence it shows.

    Examples
    --------
    >>> from mercer import RVC, EvidenceDisplay
    >>> from mercer.datasets import make_ripley
    >>> model = RVC(gamma=4.0).fit(*make_ripley(random_state=0))
    >>> display = EvidenceDisplay.from_estimator(model)
    >>> len(display.lines_[0].get_ydata()) == model.n_iter_
    True
    """

    def __init__(
        self,
        *,
        histories: Sequence[Sequence[Mapping[str, Any]]],
        names: Sequence[str] | None = None,
    ) -> None:
        self.histories = histories
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, *, axes: Any = None, legend: bool = True) -> Self:
        """Draw the steps of a fitted machine.

        Parameters
        ----------
        estimator : RVC or RVR
            Fitted; a pipeline or a search that ends in one will do.
        axes : pair of matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        EvidenceDisplay
        """
        pyplot()
        check_is_fitted(estimator)
        machine = unwrap(estimator)[1]
        history = getattr(machine, "history_", None)
        if not history or not hasattr(machine, "log_evidence_"):
            raise TypeError(f"A fitted RVC or RVR is needed; got {type(machine).__name__}.")
        if isinstance(history[0], Mapping):
            return cls(histories=[history]).plot(axes, legend=legend)
        names = [f"{name} against the rest" for name in machine.classes_]
        return cls(histories=history, names=names).plot(axes, legend=legend)

    def plot(self, axes: Any = None, *, legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        axes : pair of matplotlib axes, default=None
            Where to draw evidence and numbers; None makes a figure.
        legend : bool, default=True
            Whether to explain markers and lines at the right of the axes.

        Returns
        -------
        EvidenceDisplay
            The display itself.
        """
        if axes is None:
            heights = {"height_ratios": [3, 1]}
            _, axes = pyplot().subplots(
                2, 1, figsize=(7.2, 4.6), sharex=True, gridspec_kw=heights, layout="constrained"
            )
        self.axes_ = np.asarray(axes)
        upper = axes_for(self.axes_[0], (7.2, 4.6))
        lower, self.figure_ = self.axes_[1], upper.figure
        self.lines_, self.counts_ = [], []
        styles = ("-", "--", ":", "-.")
        handles: list[Any] = []
        for k, history in enumerate(self.histories):
            steps = np.arange(1, len(history) + 1)
            evidence = np.array([step["log_evidence"] for step in history])
            look = {"color": foreground(upper), "lw": 1.2, "ls": styles[k % len(styles)]}
            (line,) = upper.plot(steps, evidence, zorder=1, **look)
            self.lines_.append(line)
            self._mark(upper, history, steps, evidence)
            counts = [step["n_weights"] for step in history]
            self.counts_ += lower.step(steps, counts, where="post", **look)
            if self.names is not None:
                line.set_label(self.names[k])
                handles.append(line)
        upper.set(ylabel="log evidence")
        lower.set(xlabel="step", ylabel="weights", ylim=(0, None))
        lower.locator_params(axis="y", integer=True)
        for ax in (upper, lower):
            ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = legend_beside(upper, self._handles() + handles) if legend else None
        return self

    def _mark(self, ax: Any, history: Any, steps: Any, evidence: Any) -> None:
        actions = np.array([step["action"] for step in history])
        for action, (marker, color) in ACTIONS.items():
            chosen = actions == action
            if chosen.any():
                size = {"re-estimate": 14, "widen": 90}.get(action, 34)
                ax.scatter(
                    steps[chosen], evidence[chosen], s=size, marker=marker, color=color, zorder=2
                )

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D

        seen = {step["action"] for history in self.histories for step in history}
        return [
            Line2D([], [], ls="", marker=marker, color=color, label=action)
            for action, (marker, color) in ACTIONS.items()
            if action in seen
        ]
