"""Errors of a grid search as a surface, with the way of a gradient search on it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._style import axes_for, pyplot
from mercer.plotting.palette import COLORS

Floats = NDArray[np.float64]

N_LEVELS = 12

STAGES = ("together", "all parameters")
"""Stages of a gradient search in which C and one width move."""


class ErrorSurfaceDisplay:
    r"""Cross-validated error over C and :math:`\gamma`, and the steps of a gradient search.

    The darker, the fewer errors. A square marks the best point of the grid. Dots joined by a line
    are the evaluations of a gradient search in their order, from a ring; a star is what it chose
    in the end. Evaluations with one width for each feature have no place in this plane.
    Use `from_search` to make one.

    Parameters
    ----------
    C, gamma : array-like of shape (m,), (k,)
        The grid, ascending.
    errors : array-like of shape (m, k)
        Error at each point; nan where nothing is known.
    path : array-like of shape (s, 2) or None, default=None
        C and gamma of each step; a line of nan before each further start.
    chosen : tuple of two floats or None, default=None
        C and gamma that the search chose.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    surface_ : contour set
    path_ : Line2D or None
    colorbar_ : Colorbar
    legend_ : Legend or None

    See Also
    --------
    mercer.CriterionDisplay : A criterion against the error.
    mercer.PathSearchCV : The search that it shows.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, ErrorSurfaceDisplay, GradientSearch, PathSearchCV
    >>> X, y = make_moons(120, noise=0.3, random_state=0)
    >>> grid = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, 1, 10]}
    >>> search = GradientSearch(SVC(loss="squared_hinge"), "evidence").fit(X, y)
    >>> display = ErrorSurfaceDisplay.from_search(PathSearchCV(SVC(), grid).fit(X, y), path=search)
    >>> len(display.path) == search.n_evaluations_
    True
    """

    def __init__(
        self,
        *,
        C: Any,
        gamma: Any,
        errors: Any,
        path: Any = None,
        chosen: tuple[float, float] | None = None,
    ) -> None:
        self.C: Floats = np.asarray(C, dtype=np.float64)
        self.gamma: Floats = np.asarray(gamma, dtype=np.float64)
        self.errors: Floats = np.asarray(errors, dtype=np.float64)
        self.path = None if path is None else np.asarray(path, dtype=np.float64).reshape(-1, 2)
        self.chosen = chosen

    @classmethod
    def from_search(
        cls, search: Any, *, path: Any = None, ax: Any = None, legend: bool = True
    ) -> Self:
        """Draw the scores of a grid search, and the steps of a gradient search.

        Parameters
        ----------
        search : PathSearchCV, GridSearchCV or alike
            Fitted, over C and gamma; their names may have the prefix of a step of a pipeline.
            Scores are taken as accuracies. Of further parameters the best value counts.
        path : GradientSearch, default=None
            Fitted on the same data.
        ax : matplotlib axes, default=None
            See `plot`.
        legend : bool, default=True
            See `plot`.

        Returns
        -------
        ErrorSurfaceDisplay
        """
        pyplot()
        check_is_fitted(search)
        C, gamma, errors = _surface(search)
        if path is None:
            return cls(C=C, gamma=gamma, errors=errors).plot(ax, legend=legend)
        check_is_fitted(path)
        steps = _steps(path)
        width = _width(path.best_kernel_)
        chosen = None if width is None else (float(path.best_params_["C"]), width)
        display = cls(C=C, gamma=gamma, errors=errors, path=steps, chosen=chosen)
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to explain the marks below the axes.

        Returns
        -------
        ErrorSurfaceDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.6, 4.6))
        self.figure_ = ax.figure
        shown = np.ma.masked_invalid(100.0 * self.errors)
        self.surface_ = ax.contourf(self.gamma, self.C, shown, N_LEVELS, cmap="cividis")
        ax.contour(self.gamma, self.C, shown, N_LEVELS, colors="black", linewidths=0.4, alpha=0.4)
        self.colorbar_ = self.figure_.colorbar(self.surface_, ax=ax, label="error [%]")
        row, column = np.unravel_index(np.nanargmin(self.errors), self.errors.shape)
        look: dict[str, Any] = {"mec": "black", "ls": ""}
        (best,) = ax.plot(
            self.gamma[column], self.C[row], "s", ms=9, mfc=COLORS[5], label="best of grid", **look
        )
        handles = [best]
        self.path_ = None
        if self.path is not None and len(self.path):
            handles += self._draw_path(look)
        if self.chosen is not None:
            C, gamma = self.chosen
            handles += ax.plot(gamma, C, "*", ms=15, mfc=COLORS[1], label="its choice", **look)
        ax.set(xscale="log", yscale="log", xlabel="gamma", ylabel="C")
        self.legend_ = _legend_below(ax, handles) if legend else None
        return self

    def _draw_path(self, look: dict[str, Any]) -> list[Any]:
        from matplotlib.patheffects import Normal, Stroke

        assert self.path is not None
        C, gamma = self.path.T
        # A dark seam keeps the line visible on the bright parts of the surface.
        seam = [Stroke(linewidth=3.2, foreground="black"), Normal()]
        (self.path_,) = self.ax_.plot(
            gamma, C, "-", color="white", lw=1.6, path_effects=seam, zorder=3
        )
        dots = {"ms": 5, "mfc": "white", "zorder": 4}
        (steps,) = self.ax_.plot(
            gamma, C, "o", **dots, **look, label="steps of the gradient search"
        )
        ring = {"ms": 11, "mfc": "none", "mec": "white", "mew": 2.0, "zorder": 4}
        starts = np.flatnonzero(np.isnan(np.concatenate([[np.nan], C[:-1]])))
        marks = self.ax_.plot(gamma[starts], C[starts], "o", **ring, ls="", path_effects=seam)
        marks[0].set_label("its start" if len(starts) == 1 else "its starts")
        return [steps, *marks]


def _surface(search: Any) -> tuple[Floats, Floats, Floats]:
    """Return the grid of a search over C and gamma, and the least error at each of its points."""
    results = search.cv_results_
    names = [_column(results, name) for name in ("C", "gamma")]
    try:
        C, gamma = (np.asarray(results[name], dtype=np.float64) for name in names)
    except (TypeError, ValueError):
        raise ValueError("C and gamma must be numbers at all points of the grid.") from None
    scores = results.get("mean_test_score")
    if scores is None:
        raise ValueError("The search must have one score, 'mean_test_score'.")
    levels = [np.unique(values) for values in (C, gamma)]
    if min(map(len, levels)) < 2:
        raise ValueError("A surface needs at least two values of C and two of gamma.")
    errors = np.full([len(values) for values in levels], np.nan)
    for c, g, score in zip(C, gamma, scores):
        place = tuple(np.searchsorted(level, value) for level, value in zip(levels, (c, g)))
        errors[place] = np.fmin(errors[place], 1.0 - score)
    return levels[0], levels[1], errors


def _column(results: Any, name: str) -> str:
    found = [key for key in results if key.split("__")[-1].removeprefix("param_") == name]
    if len(found) != 1:
        raise ValueError(f"The search must go over one parameter {name!r}; it has {len(found)}.")
    return str(found[0])


def _steps(path: Any) -> Floats:
    """Return C and gamma of the evaluations with one width, nan between the starts."""
    if not hasattr(path, "history_"):
        raise TypeError(f"A fitted GradientSearch is needed; got {type(path).__name__}.")
    points: list[tuple[float, float]] = []
    start = 0
    for step in path.history_:
        gamma = _width(step["kernel"])
        if step["stage"] in STAGES and gamma is not None:
            if step["start"] != start:
                start = step["start"]
                points.append((np.nan, np.nan))
            points.append((step["C"], gamma))
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def _width(kernel: Any) -> float | None:
    """Return gamma where there is one for all features."""
    gamma = getattr(kernel, "gamma", None)
    return None if gamma is None or np.ndim(gamma) else float(gamma)


def _legend_below(ax: Any, handles: list[Any]) -> Any:
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16)}
    # Two a line: a longer one would take the place of the panels beside this one.
    return ax.legend(handles=handles, ncols=2, frameon=False, **place)
