"""The region that a ball in feature space covers in the plane of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._labels import codes_of
from mercer.plotting._plane import Features, Floats, Plane, make_plane
from mercer.plotting._response import make_grid
from mercer.plotting._style import (
    axes_for,
    class_handle,
    class_label,
    class_style,
    foreground,
    legend_beside,
    point_scale,
    point_size,
    pyplot,
    tint,
    write_note,
)
from mercer.plotting._support import SupportVectors, find_support, transform, unwrap

REGION_TINT = 0.25
SUPPORT_LABELS = {
    "margin": "support vector on the surface",
    "bound": "support vector at the bound",
    "slack": "support vector, with slack",
    "": "support vector",
}


class SupportRegionDisplay:
    r"""Support regions in input space, support vectors by kind, and lines of equal distance.

    The support region of a description is the set :math:`\{x : \lVert\phi(x) - a\rVert \le R\}`,
    the ball seen in the plane of the data. Thin lines join points of equal relative distance
    :math:`\lVert\phi(x) - a\rVert / R`. Support vectors on the surface
    (:math:`0 < \alpha_i < C`) carry a ring, those at the bound (:math:`\alpha_i = C`) an outline.
    A `NearestHypersphereClassifier` has one region for each class, in the colour of the class.
    Use `from_estimator` to make one.

    Parameters
    ----------
    grid : pair of ndarray
        Coordinates of the grid along the horizontal and the vertical axis.
    fields : list of ndarray of shape (grid[1].size, grid[0].size)
        One function for each region, at least 0 inside.
    names : sequence of str
        Names of the regions.
    levels : ndarray of shape (grid[1].size, grid[0].size), default=None
        Relative distances, or other values whose lines are to be drawn; for a single region.
    level_name : str, default=""
        What the lines join.
    points : ndarray of shape (n, 2), default=None
        Data to show.
    labels : ndarray of int of shape (n,), default=None
        The region that each point belongs to, -1 for none; None shows all points alike.
    support : SupportVectors, default=None
        Support vectors to mark.
    axis_names : pair of str, default=("", "")
        Labels of the axes.
    note : str, default=""
        What else must be known to read the picture; shown above it.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    regions_ : list of ContourSet
    boundary_ : list of ContourSet
    contours_ : ContourSet or None
        Lines of equal distance.
    points_ : list of PathCollection
    support_ : dict of PathCollection
        Signs on the support vectors by kind: "margin" on the surface, "bound", "slack".
    legend_ : Legend or None

    See Also
    --------
    mercer.BoundaryDisplay : Classes in the plane.

    References
    ----------
    S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with Other
    Classification Techniques*, Stellenbosch University 2014, (4.12), figures 4.3, 4.5 and 4.11.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD, SupportRegionDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> display = SupportRegionDisplay.from_estimator(SVDD(nu=0.1).fit(X), X)
    >>> sorted(display.support_)
    ['bound', 'margin']
    """

    def __init__(
        self,
        *,
        grid: tuple[Floats, Floats],
        fields: Sequence[Floats],
        names: Sequence[str],
        levels: Floats | None = None,
        level_name: str = "",
        points: Floats | None = None,
        labels: NDArray[np.int64] | None = None,
        support: SupportVectors | None = None,
        axis_names: Sequence[str] = ("", ""),
        note: str = "",
    ) -> None:
        self.grid = grid
        self.fields = fields
        self.names = names
        self.levels = levels
        self.level_name = level_name
        self.points = points
        self.labels = labels
        self.support = support
        self.axis_names = axis_names
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        ax: Any = None,
        features: Features = None,
        grid_resolution: int = 300,
        eps: float = 0.2,
        n_levels: int = 8,
        legend: bool = True,
        colors: Any = None,
    ) -> Self:
        """Draw the support region of a fitted description.

        Parameters
        ----------
        estimator : estimator
            Fitted `SVDD`, `OneClassSVM`, `OneClassSearch`, `NearestHypersphereClassifier` or
            another outlier detector with a decision function; a pipeline that ends in one will do.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data to show; the names of a data frame's columns label the axes.
        y : array-like of shape (n_samples,), default=None
            Their labels: 1 (target) and -1 (outlier), or the classes of a classifier.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        features : pair of int or str, or "pca", default=None
            Two columns, or "pca", the default of more than two; see `BoundaryDisplay`.
        grid_resolution : int, default=300
            Points of the grid along each axis.
        eps : float, default=0.2
            Room around the data, as a share of their range.
        n_levels : int, default=8
            About how many lines of equal distance to draw; 0 draws none.
        legend : bool, default=True
            See `plot`.
        colors : sequence of colours, default=None
            See `plot`.

        Returns
        -------
        SupportRegionDisplay
        """
        pyplot()
        machine = _checked(estimator)
        plane = make_plane(X, features)
        points = plane.project(X)
        grid = make_grid(points, grid_resolution, eps)
        fields, names, levels, level_name = _evaluate(estimator, plane, grid)
        labels = None
        if y is not None:
            classes = machine.classes_ if hasattr(machine, "radii_") else np.array([1, -1])
            labels = codes_of(y, classes, len(points))
            labels = labels if hasattr(machine, "radii_") else -labels
        display = cls(
            grid=grid,
            fields=fields,
            names=names,
            levels=levels if n_levels else None,
            level_name=level_name,
            points=points,
            labels=labels,
            support=find_support(estimator, X, plane),
            axis_names=plane.axis_names,
            note=plane.note,
        )
        return display.plot(ax, n_levels=n_levels, legend=legend, colors=colors)

    def plot(
        self, ax: Any = None, *, n_levels: int = 8, legend: bool = True, colors: Any = None
    ) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        n_levels : int, default=8
            About how many lines of equal distance to draw.
        legend : bool, default=True
            Whether to explain colours and signs at the right of the axes.
        colors : sequence of colours, default=None
            One for each region; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        SupportRegionDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.2, 4.4))
        self.figure_ = ax.figure
        self.regions_, self.boundary_ = self._draw_regions(ax, colors)
        self.contours_ = self._draw_levels(ax, n_levels)
        self.points_ = self._draw_points(ax, colors)
        self.support_ = self._draw_support(ax)
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.set(xlim=self.grid[0][[0, -1]], ylim=self.grid[1][[0, -1]])
        write_note(ax, self.note)
        self.legend_ = self._draw_legend(ax, colors) if legend else None
        return self

    def _draw_regions(self, ax: Any, colors: Any) -> tuple[list[Any], list[Any]]:
        regions, lines = [], []
        for code, field in enumerate(self.fields):
            if not field.max() >= 0:
                continue
            color = class_style(code, colors)[0]
            # Regions of several classes may overlap, so that they must let each other through.
            regions.append(
                ax.contourf(
                    *self.grid, field, levels=[0.0, np.inf], colors=[color], alpha=REGION_TINT
                )
            )
            line = foreground(ax) if len(self.fields) == 1 else color
            lines.append(ax.contour(*self.grid, field, levels=[0.0], colors=[line], linewidths=1.6))
        return regions, lines

    def _draw_levels(self, ax: Any, n_levels: int) -> Any:
        if self.levels is None or not np.ptp(self.levels) > 0:
            return None
        grey = tint(foreground(ax), ax.get_facecolor()[:3], 0.5)
        contours = ax.contour(
            *self.grid, self.levels, levels=n_levels, colors=[grey], linewidths=0.6
        )
        ax.clabel(contours, fontsize="x-small", fmt="%g")
        return contours

    def _draw_points(self, ax: Any, colors: Any) -> list[Any]:
        if self.points is None:
            return []
        n_points = len(self.points)
        rim = {"edgecolors": [ax.get_facecolor()], "linewidths": 0.5 * point_scale(n_points)}
        grey = tint(foreground(ax), ax.get_facecolor()[:3], 0.6)
        if self.labels is None:
            return [ax.scatter(*self.points.T, s=point_size(n_points), c=[grey], **rim, zorder=3)]
        drawn = []
        for code in range(-1, len(self.fields)):
            color, marker = class_style(code, colors) if code >= 0 else (grey, "X")
            rows = self.points[self.labels == code]
            style = {"c": [color], "marker": marker, "s": point_size(n_points, marker), **rim}
            drawn.append(ax.scatter(*rows.T, **style, zorder=3))
        return drawn

    def _draw_support(self, ax: Any) -> dict[str, Any]:
        """Draw a ring around vectors on the surface, an outline on all others."""
        drawn: dict[str, Any] = {}
        if self.support is None:
            return drawn
        n_points = 0 if self.points is None else len(self.points)
        for kind, label in SUPPORT_LABELS.items():
            chosen = self.support.kinds == kind
            if not chosen.any():
                continue
            ring = kind == "margin"
            drawn[kind] = ax.scatter(
                *self.support.points[chosen].T,
                s=point_size(n_points) * (3.5 if ring else 1.7 if self.labels is not None else 1.0),
                facecolors="none",
                edgecolors=[foreground(ax)],
                linewidths=(1.5 if ring else 1.2) * point_scale(n_points),
                label=label,
                zorder=4,
            )
        return drawn

    def _draw_legend(self, ax: Any, colors: Any) -> Any:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        color = foreground(ax)
        background = ax.get_facecolor()[:3]
        grey: Any = tint(color, background, 0.6)
        light: Any = tint(color, background, 0.5)
        handles: list[Any] = []
        for code, name in enumerate(self.names):
            shade: Any = tint(class_style(code, colors)[0], background, REGION_TINT)
            handles.append(Patch(color=shade, label=f"support region{name and f' of {name}'}"))
        if self.labels is not None:
            names = self.names if len(self.names) > 1 else ["target"]
            handles += [class_handle(code, name, colors) for code, name in enumerate(names)]
            if (self.labels < 0).any():
                handles.append(
                    Line2D([], [], ls="", marker="X", mew=0, color=grey, label="outlier")
                )
        for kind, collection in self.support_.items():
            style: dict[str, Any] = {"ls": "", "marker": "o", "mfc": "none", "mec": color}
            style |= {"ms": 11, "mew": 1.5} if kind == "margin" else {"ms": 6, "mew": 1.2}
            handles.append(Line2D([], [], label=collection.get_label(), **style))
        if self.contours_ is not None:
            handles.append(Line2D([], [], color=light, lw=0.6, label=self.level_name))
        return legend_beside(ax, handles)


def _checked(estimator: Any) -> Any:
    """Return the machine inside the estimator, or say why there is no region to draw."""
    check_is_fitted(estimator)
    machine = unwrap(estimator)[1]
    name = type(machine).__name__
    is_detector = get_tags(machine).estimator_type == "outlier_detector"
    if not (is_detector and hasattr(machine, "decision_function")) and not hasattr(
        machine, "radii_"
    ):
        raise ValueError(
            f"Only descriptions of one class and nearest hyperspheres have a support region; got "
            f"{name}."
        )
    if get_tags(machine).input_tags.pairwise:
        raise ValueError("With a precomputed kernel there are no features to draw a region in.")
    return machine


def _evaluate(
    estimator: Any, plane: Plane, grid: tuple[Floats, Floats]
) -> tuple[list[Floats], list[str], Floats | None, str]:
    """Return the fields, the names of their regions, and the values for lines with their name."""
    across, up = np.meshgrid(*grid)
    rows = plane.rows(np.column_stack([across.ravel(), up.ravel()]))
    steps, machine = unwrap(estimator)
    inner = transform(steps, rows)
    if hasattr(machine, "radii_"):
        inside = machine.radii_ - machine.distance(inner)
        fields = [values.reshape(across.shape) for values in inside.T]
        return fields, [class_label(name) for name in machine.classes_], None, ""
    field = np.asarray(machine.decision_function(inner), dtype=np.float64).reshape(across.shape)
    if hasattr(machine, "distance") and machine.radius_ > 0:
        relative = machine.distance(inner).reshape(across.shape) / machine.radius_
        return [field], [""], relative, "equal distance / radius"
    return [field], [""], field, "equal decision value"
