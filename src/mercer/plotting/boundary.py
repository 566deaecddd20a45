"""The decision boundary of a classifier in two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._outlines import region_fields
from mercer.plotting._plane import FeaturePlane, Floats
from mercer.plotting._style import MARKERS, SIZES, class_style, pyplot, tint
from mercer.plotting._support import LABELS, SupportVectors, find_support, margin_machine

REGION_TINT = 0.25
POINT_SIZE = 36


class BoundaryDisplay:
    r"""Regions, boundary, margin and support vectors of a classifier.

    Each region has the colour of the class predicted there. For two classes the boundary is the
    line :math:`f(x) = 0`, and for machines with support vectors the lines :math:`f(x) = \pm 1`
    enclose the margin. Support vectors carry a ring where they lie on the margin
    (:math:`0 < \alpha_i < C`) and an outline where they are at the bound (:math:`\alpha_i = C`) or,
    with the squared hinge loss, have slack.
    Use `from_estimator` to make one.

    Parameters
    ----------
    grid : pair of ndarray
        Coordinates of the grid along the horizontal and the vertical axis.
    regions : ndarray of int of shape (grid[1].size, grid[0].size)
        Position in ``classes`` of the class predicted at each point of the grid.
    fields : list of ndarray of the same shape
        Functions whose zero lines are the boundary: the decision function for two classes, or one
        function for each class.
    classes : ndarray of shape (n_classes,)
        Labels.
    has_margin : bool, default=False
        Whether the only field is the f of a machine whose margin ends at 1 and -1.
    points : ndarray of shape (n, 2), default=None
        Data to show.
    labels : ndarray of int of shape (n,), default=None
        Position in ``classes`` of each point's label; None shows all points alike.
    support : SupportVectors, default=None
        Support vectors to mark: their points, classes and kinds.
    axis_names : pair of str, default=("", "")
        Labels of the axes.
    note : str, default=""
        What else must be known to read the picture; shown above it.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    regions_ : AxesImage
    boundary_ : list of ContourSet
        One for two classes, else one for each class.
    margin_ : ContourSet or None
    points_ : list of PathCollection
        The data, one collection a class.
    support_ : dict of PathCollection
        Signs on the support vectors by kind: "margin", "bound", or "slack" for the squared hinge
        loss.
    legend_ : Legend or None

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, BoundaryDisplay
    >>> X, y = make_moons(noise=0.2, random_state=0)
    >>> display = BoundaryDisplay.from_estimator(SVC(C=10.0).fit(X, y), X, y)
    >>> sorted(display.support_)
    ['bound', 'margin']
    """

    def __init__(
        self,
        *,
        grid: tuple[Floats, Floats],
        regions: NDArray[np.int64],
        fields: Sequence[Floats],
        classes: Any,
        has_margin: bool = False,
        points: Floats | None = None,
        labels: NDArray[np.int64] | None = None,
        support: SupportVectors | None = None,
        axis_names: Sequence[str] = ("", ""),
        note: str = "",
    ) -> None:
        self.grid = grid
        self.regions = regions
        self.fields = fields
        self.classes = classes
        self.has_margin = has_margin
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
        features: Sequence[int | str] | None = None,
        grid_resolution: int = 300,
        eps: float = 0.1,
        legend: bool = True,
        colors: Any = None,
    ) -> Self:
        """Draw the boundary of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted; a pipeline or a search that ends in one will do.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data to show; the names of a data frame's columns label the axes.
        y : array-like of shape (n_samples,), default=None
            Their labels; without them all points look alike.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        features : pair of int or str, default=None
            The two columns to draw, needed if there are more; the others are fixed at their median.
        grid_resolution : int, default=300
            Points of the grid along each axis.
        eps : float, default=0.1
            Room around the data, as a share of their range.
        legend, colors
            See `plot`.

        Returns
        -------
        BoundaryDisplay
        """
        pyplot()
        _check_drawable(estimator, grid_resolution, eps)
        plane = FeaturePlane(X, features)
        points = plane.project(X)
        grid = _grid(points, grid_resolution, eps)
        classes = estimator.classes_
        regions, fields, is_decision = _evaluate(estimator, plane, grid)
        display = cls(
            grid=grid,
            regions=regions,
            fields=fields,
            classes=classes,
            has_margin=is_decision and margin_machine(estimator) is not None,
            points=points,
            labels=None if y is None else _codes(y, classes, len(points)),
            support=find_support(estimator, X, plane),
            axis_names=plane.axis_names,
            note=plane.note,
        )
        return display.plot(ax, legend=legend, colors=colors)

    def plot(self, ax: Any = None, *, legend: bool = True, colors: Any = None) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to explain colours and signs, at the right of the axes.
        colors : sequence of colours, default=None
            One for each class; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        BoundaryDisplay
            The display itself.
        """
        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
        self.ax_ = ax
        self.figure_ = ax.figure
        foreground = ax.xaxis.label.get_color()
        self.regions_ = self._draw_regions(ax, colors)
        self.boundary_, self.margin_ = self._draw_lines(ax, foreground)
        self.points_ = self._draw_points(ax, colors)
        self.support_ = self._draw_support(ax, foreground)
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.set(xlim=self.grid[0][[0, -1]], ylim=self.grid[1][[0, -1]])
        if self.note:
            ax.set_title(self.note, loc="left", fontsize="small", style="italic")
        self.legend_ = self._draw_legend(ax, foreground, colors) if legend else None
        return self

    def _draw_regions(self, ax: Any, colors: Any) -> Any:
        shades = self._shades(ax, colors)
        edges = [(axis[0], axis[-1], (axis[1] - axis[0]) / 2) for axis in self.grid]
        extent = [bound for low, high, half in edges for bound in (low - half, high + half)]
        image = np.asarray(shades)[self.regions]
        return ax.imshow(
            image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )

    def _shades(self, ax: Any, colors: Any) -> list[Floats]:
        """Return the colour of each class's region."""
        background = ax.get_facecolor()[:3]
        codes = range(len(self.classes))
        return [tint(class_style(code, colors)[0], background, REGION_TINT) for code in codes]

    def _draw_lines(self, ax: Any, color: Any) -> tuple[list[Any], Any]:
        """Draw the boundary, and the margin where there is one."""
        style = {"colors": [color], "zorder": 2}
        boundary = [
            ax.contour(*self.grid, field, levels=[0.0], linewidths=1.6, linestyles="solid", **style)
            for field in self.fields
            if _cuts(field, 0.0)
        ]
        levels = [one for one in (-1.0, 1.0) if self.has_margin and _cuts(self.fields[0], one)]
        if not levels:
            return boundary, None
        style |= {"linewidths": 1.1, "linestyles": "dashed"}
        return boundary, ax.contour(*self.grid, self.fields[0], levels=levels, **style)

    def _draw_points(self, ax: Any, colors: Any) -> list[Any]:
        if self.points is None:
            return []
        rim = {"edgecolors": [ax.get_facecolor()], "linewidths": 0.5, "zorder": 3}
        if self.labels is None:
            grey = tint(ax.xaxis.label.get_color(), ax.get_facecolor()[:3], 0.6)
            return [ax.scatter(*self.points.T, s=POINT_SIZE, c=[grey], **rim)]
        drawn = []
        for code, name in enumerate(self.classes):
            color, marker = class_style(code, colors)
            rows = self.points[self.labels == code]
            style = {"c": [color], "marker": marker, "s": POINT_SIZE * SIZES[marker], **rim}
            drawn.append(ax.scatter(*rows.T, label=_class_label(name), **style))
        return drawn

    def _draw_support(self, ax: Any, color: Any) -> dict[str, Any]:
        """Draw a ring around vectors on the margin, an outline on all others."""
        drawn: dict[str, Any] = {}
        if self.support is None:
            return drawn
        for kind, label in LABELS.items():
            chosen = self.support.kinds == kind
            if not chosen.any():
                continue
            drawn[kind] = ax.scatter(
                *self.support.points[chosen].T,
                s=125 if kind == "margin" else POINT_SIZE,
                facecolors="none",
                edgecolors=[color],
                linewidths=1.5 if kind == "margin" else 1.2,
                label=label,
                zorder=4,
            )
            if kind != "margin" and self.labels is not None:
                _follow_markers(drawn[kind], self.support.codes[chosen])
        return drawn

    def _draw_legend(self, ax: Any, color: Any, colors: Any) -> Any:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = self.points_
        if self.labels is None:  # no points tell what the colours mean
            shades = [tuple(shade) for shade in self._shades(ax, colors)]
            names = [_class_label(name) for name in self.classes]
            handles = [Patch(color=c, label=name) for c, name in zip(shades, names)]
        handles = list(handles)
        if self.boundary_:
            name = "boundary, f = 0" if self.has_margin else "boundary"
            handles.append(Line2D([], [], color=color, lw=1.6, label=name))
        if self.margin_ is not None:
            handles.append(Line2D([], [], color=color, lw=1.1, ls="--", label="margin, f = ±1"))
        for kind, collection in self.support_.items():
            style: dict[str, Any] = {"ls": "", "marker": "o", "mfc": "none", "mec": color}
            style |= {"ms": 11, "mew": 1.5} if kind == "margin" else {"ms": 6, "mew": 1.2}
            handles.append(Line2D([], [], label=collection.get_label(), **style))
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        return ax.legend(handles=handles, borderaxespad=0, frameon=False, **place)


def _check_drawable(estimator: Any, grid_resolution: int, eps: float) -> None:
    if not is_classifier(estimator):
        raise ValueError(f"Only classifiers have a boundary; got {type(estimator).__name__}.")
    check_is_fitted(estimator)
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError("With a precomputed kernel there are no features to draw the boundary in.")
    if grid_resolution < 2:
        raise ValueError(f"grid_resolution must be at least 2; got {grid_resolution}.")
    if not (np.isfinite(eps) and eps >= 0):
        raise ValueError(f"eps must be a number from 0 upwards; got {eps}.")


def _grid(points: Floats, resolution: int, eps: float) -> tuple[Floats, Floats]:
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    span = high - low
    low, high = low - eps * span, high + eps * span
    flat = span == 0
    low[flat], high[flat] = low[flat] - 1.0, high[flat] + 1.0
    first, second = (np.linspace(a, b, resolution) for a, b in zip(low, high))
    return first, second


def _evaluate(
    estimator: Any, plane: FeaturePlane, grid: tuple[Floats, Floats]
) -> tuple[NDArray[np.int64], list[Floats], bool]:
    """Return the class predicted at each point of the grid, the functions whose zero lines are the
    boundary, and whether the only one of them is the decision function.
    """
    classes = estimator.classes_

    def predict(points: Floats) -> NDArray[np.int64]:
        return _codes(estimator.predict(plane.rows(points)), classes, len(points))

    across, up = np.meshgrid(*grid)
    points = np.column_stack([across.ravel(), up.ravel()])
    regions = predict(points).reshape(across.shape)
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        values = np.asarray(estimator.decision_function(plane.rows(points)), dtype=np.float64)
        # A classifier with a threshold of its own does not change its mind at f = 0.
        if np.array_equal(values > 0, regions.ravel() == 1):
            return regions, [values.reshape(across.shape)], True
    return regions, region_fields(grid, regions, predict, len(classes)), False


def _codes(labels: Any, classes: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the position of each label in the classes."""
    labels = np.asarray(labels).ravel()
    if labels.size != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {labels.size}.")
    order = np.argsort(classes, kind="stable")
    places = np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)
    codes = order[places]
    unknown = np.unique(labels[np.asarray(classes)[codes] != labels])
    if unknown.size:
        raise ValueError(f"y holds the label {unknown[0]}, which the classifier was not fitted on.")
    return codes


def _class_label(name: Any) -> str:
    """Return the name of a class; a bare number would say nothing in a legend."""
    text = str(name)
    return f"class {text}" if text.replace(".", "", 1).lstrip("-").isdigit() else text


def _follow_markers(collection: Any, codes: NDArray[np.int64]) -> None:
    """Give each point of a collection the shape and size of its class."""
    from matplotlib.markers import MarkerStyle

    shapes = [MARKERS[code % len(MARKERS)] for code in codes]
    styles = [MarkerStyle(shape) for shape in shapes]
    collection.set_paths([style.get_path().transformed(style.get_transform()) for style in styles])
    collection.set_sizes([POINT_SIZE * SIZES[shape] for shape in shapes])


def _cuts(field: Floats, level: float) -> bool:
    return bool(field.min() < level < field.max())
