"""The decision boundary of a classifier or a one-class machine, in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_outlier_detector

from mercer.plotting._labels import codes_of
from mercer.plotting._plane import Features, Floats, make_plane
from mercer.plotting._response import check_drawable, classes_of, evaluate, make_grid
from mercer.plotting._style import (
    ROOMY,
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
from mercer.plotting._support import SupportVectors, find_support, has_margin

REGION_TINT = 0.3
WEAKEST_TINT, STRONGEST_TINT = 0.04, 0.55
"""Shares of colour where all classes are equally probable, and where one is certain."""

SUPPORT_LABELS = {
    "margin": "support vector on the margin",
    "bound": "support vector at the bound C",
    "slack": "support vector, with slack",
    "relevance": "relevance vector",
    "": "support vector",
}
RINGED = ("margin", "relevance")
ONE_CLASS_LABELS = SUPPORT_LABELS | {
    "margin": "support vector on the boundary",
    "bound": "support vector at the bound",
}


class BoundaryDisplay:
    r"""Regions, boundary, margin and support vectors of a classifier or a one-class machine.

    Each region has the colour of the class predicted there; with probabilities, the colour of the
    most probable class, the stronger the more probable it is. For two classes the boundary is the
    line :math:`f(x) = 0`, and for machines with a margin the lines :math:`f(x) = \pm 1` enclose it.
    Support vectors carry a ring where they lie on the margin (:math:`0 < \alpha_i < C`) and an
    outline where they are at the bound (:math:`\alpha_i = C`), have slack (squared hinge loss), or
    do not tell their kind (scikit-learn's machines). Of a one-class machine the boundary is
    :math:`f(x) = 0` too, and rings lie on it.
    Use `from_estimator` to make one.

    Parameters
    ----------
    grid : pair of ndarray
        Coordinates of the grid along the horizontal and the vertical axis.
    regions : ndarray of int of shape (grid[1].size, grid[0].size)
        Position in ``classes`` of the class predicted at each point of the grid; their number where
        the classifier rejects, which has no colour.
    fields : list of ndarray of the same shape
        Functions whose zero lines are the boundary: the decision function for two classes, or one
        function for each class.
    classes : ndarray of shape (n_classes,)
        Names of the classes.
    probabilities : ndarray of shape (grid[1].size, grid[0].size, n_classes), default=None
        Probabilities of the classes at each point of the grid, to be shown as shading.
    has_margin : bool, default=False
        Whether the only field is the f of a machine whose margin ends at 1 and -1.
    points : ndarray of shape (n, 2), default=None
        Data to show.
    labels : ndarray of int of shape (n,), default=None
        Position in ``classes`` of each point's label; None shows all points alike.
    support : SupportVectors, default=None
        Support vectors to mark: their points, kinds and classes.
    support_labels : dict of str, default=None
        What the legend says of each kind of support vector.
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
        Signs on the support vectors by kind: "margin", "bound", "slack" for the squared hinge loss,
        "relevance" for relevance vectors, "" where the kind is not known.
    legend_ : Legend or None
    colorbar_ : Colorbar or None
        The scale of the probabilities.

    See Also
    --------
    mercer.MarginDisplay : Decision values of any number of features.
    mercer.SupportRegionDisplay : The region of one class.

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
        probabilities: Floats | None = None,
        has_margin: bool = False,
        points: Floats | None = None,
        labels: NDArray[np.int64] | None = None,
        support: SupportVectors | None = None,
        support_labels: dict[str, str] | None = None,
        axis_names: Sequence[str] = ("", ""),
        note: str = "",
    ) -> None:
        self.grid = grid
        self.regions = regions
        self.fields = fields
        self.classes = classes
        self.probabilities = probabilities
        self.has_margin = has_margin
        self.points = points
        self.labels = labels
        self.support = support
        self.support_labels = SUPPORT_LABELS if support_labels is None else support_labels
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
        response_method: str = "predict",
        features: Features = None,
        grid_resolution: int = 300,
        eps: float = 0.1,
        legend: bool = True,
        colors: Any = None,
    ) -> Self:
        """Draw the boundary of a fitted estimator.

        Parameters
        ----------
        estimator : classifier or one-class machine
            Fitted; a pipeline or a search that ends in one will do.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data to show; the names of a data frame's columns label the axes.
        y : array-like of shape (n_samples,), default=None
            Their labels, for a one-class machine 1 (inlier) and -1 (outlier); without them all
            points look alike.
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        response_method : {"predict", "predict_proba"}, default="predict"
            Whether regions are plain or shaded by probability.
        features : pair of int or str, or "pca", default=None
            Two columns to draw: the others are fixed at their median (numbers) or most frequent
            value. Or "pca", the plane through the mean along the first two principal components of
            the standardised columns, which is what more than two columns get by default.
        grid_resolution : int, default=300
            Points of the grid along each axis.
        eps : float, default=0.1
            Room around the data, as a share of their range.
        legend : bool, default=True
            See `plot`.
        colors : sequence of colours, default=None
            See `plot`.

        Returns
        -------
        BoundaryDisplay
        """
        pyplot()
        check_drawable(estimator, response_method)
        plane = make_plane(X, features)
        points = plane.project(X)
        grid = make_grid(points, grid_resolution, eps)
        classes = classes_of(estimator)
        codes = None if y is None else codes_of(y, classes.labels, len(points))
        response = evaluate(estimator, classes, plane, grid, response_method)
        one_class = is_outlier_detector(estimator)
        display = cls(
            grid=grid,
            regions=response.regions,
            fields=response.fields,
            classes=classes.names,
            probabilities=response.probabilities,
            has_margin=response.is_decision and not one_class and has_margin(estimator),
            points=points,
            labels=codes,
            support=find_support(estimator, X, plane),
            support_labels=ONE_CLASS_LABELS if one_class else SUPPORT_LABELS,
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
            Whether to explain colours and signs at the right of the axes, and probabilities by a
            colour bar below them.
        colors : sequence of colours, default=None
            One for each class; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        BoundaryDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.2, 4.4))
        self.figure_ = ax.figure
        self.regions_ = self._draw_regions(ax, colors)
        self.boundary_, self.margin_ = self._draw_lines(ax)
        self.points_ = self._draw_points(ax, colors)
        self.support_ = self._draw_support(ax)
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.set(xlim=self.grid[0][[0, -1]], ylim=self.grid[1][[0, -1]])
        write_note(ax, self.note)
        self.legend_ = self._draw_legend(ax, colors) if legend else None
        self.colorbar_ = self._draw_scale(ax, colors) if legend else None
        return self

    def _n_points(self) -> int:
        return 0 if self.points is None else len(self.points)

    def _draw_regions(self, ax: Any, colors: Any) -> Any:
        edges = [(axis[0], axis[-1], (axis[1] - axis[0]) / 2) for axis in self.grid]
        extent = [bound for low, high, half in edges for bound in (low - half, high + half)]
        if self.probabilities is None:
            shades = self._shades(ax, colors, REGION_TINT)
            image = shades[np.minimum(self.regions, len(shades) - 1)]
        else:
            image = self._shade_probabilities(ax, colors, self.probabilities)
        image[self._rejected()] = ax.get_facecolor()[:3]
        return ax.imshow(
            image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )

    def _rejected(self) -> NDArray[np.bool_]:
        return self.regions == len(self.classes)

    def _shades(self, ax: Any, colors: Any, share: ArrayLike) -> Floats:
        """Return the colour of each class in shares of any shape, on the axes' background."""
        background = ax.get_facecolor()[:3]
        codes = range(len(self.classes))
        return np.array([tint(class_style(c, colors)[0], background, share) for c in codes])

    def _shade_probabilities(self, ax: Any, colors: Any, probabilities: Floats) -> Floats:
        """Return the colour of the most probable class, the stronger the more probable it is."""
        shades = self._shades(ax, colors, _share(probabilities.max(axis=-1), len(self.classes)))
        winner = probabilities.argmax(axis=-1)
        return np.take_along_axis(shades, winner[None, ..., None], axis=0)[0]

    def _draw_lines(self, ax: Any) -> tuple[list[Any], Any]:
        """Draw the boundary, and the margin where there is one."""
        # Under the points, unless these are so many that they would hide the lines.
        style: dict[str, Any] = {
            "colors": [foreground(ax)],
            "zorder": 2 if self._n_points() <= ROOMY else 3.5,
        }
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
        n_points = len(self.points)
        rim = {"edgecolors": [ax.get_facecolor()], "linewidths": 0.5 * point_scale(n_points)}
        if self.labels is None:
            grey = tint(foreground(ax), ax.get_facecolor()[:3], 0.6)
            return [ax.scatter(*self.points.T, s=point_size(n_points), c=[grey], **rim, zorder=3)]
        drawn = []
        for code, name in enumerate(self.classes):
            color, marker = class_style(code, colors)
            rows = self.points[self.labels == code]
            style = {"c": [color], "marker": marker, "s": point_size(n_points, marker), **rim}
            drawn.append(ax.scatter(*rows.T, label=class_label(name), **style, zorder=3))
        return drawn

    def _draw_support(self, ax: Any) -> dict[str, Any]:
        """Draw a ring around relevance vectors and those on the margin, an outline on all others.

        Where there are many, the signs go under the points: the colours of the classes are worth
        more than each single sign.
        """
        drawn: dict[str, Any] = {}
        if self.support is None:
            return drawn
        n_points = self._n_points()
        crowded = len(self.support.points) > ROOMY
        codes = None if self.labels is None else self.support.codes
        # A circle around a shape that is not known must be large enough for each.
        outline = 1.7 if codes is None and self.labels is not None else 1.0
        for kind, label in self.support_labels.items():
            chosen = self.support.kinds == kind
            if not chosen.any():
                continue
            ring = kind in RINGED
            drawn[kind] = ax.scatter(
                *self.support.points[chosen].T,
                s=point_size(n_points) * (3.5 if ring else outline),
                facecolors="none",
                edgecolors=[foreground(ax)],
                linewidths=(1.5 if ring else 2.4 if crowded else 1.2) * point_scale(n_points),
                label=label,
                zorder=2.5 if crowded else 4,
            )
            if codes is not None and not ring:
                _follow_markers(drawn[kind], codes[chosen], n_points)
        return drawn

    def _draw_legend(self, ax: Any, colors: Any) -> Any:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        color = foreground(ax)
        names = [class_label(name) for name in self.classes]
        if self.labels is None:  # no points tell what the colours mean
            tint_shown = REGION_TINT if self.probabilities is None else STRONGEST_TINT
            shades = self._shades(ax, colors, tint_shown)
            handles: list[Any] = [Patch(color=c, label=name) for c, name in zip(shades, names)]
        else:
            handles = [class_handle(code, name, colors) for code, name in enumerate(names)]
        if self._rejected().any():
            handles.append(Patch(facecolor=ax.get_facecolor(), edgecolor=color, label="rejected"))
        if self.boundary_:
            name = "boundary, f = 0" if self.has_margin else "boundary"
            handles.append(Line2D([], [], color=color, lw=1.6, label=name))
        if self.margin_ is not None:
            handles.append(Line2D([], [], color=color, lw=1.1, ls="--", label="margin, f = ±1"))
        for kind, collection in self.support_.items():
            style: dict[str, Any] = {"ls": "", "marker": "o", "mfc": "none", "mec": color}
            style |= {"ms": 11, "mew": 1.5} if kind in RINGED else {"ms": 6, "mew": 1.2}
            handles.append(Line2D([], [], label=collection.get_label(), **style))
        return legend_beside(ax, handles)

    def _draw_scale(self, ax: Any, colors: Any) -> Any:
        """Draw the colours of all probabilities: of the second of two classes, or of the winner."""
        if self.probabilities is None:
            return None
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        n_classes = len(self.classes)
        if n_classes == 2:
            p = np.linspace(0.0, 1.0, 256)
            scale = self._shade_probabilities(ax, colors, np.column_stack([1 - p, p]))
            label = f"probability of {class_label(self.classes[1])}"
        else:
            p = np.linspace(1 / n_classes, 1.0, 256)
            background = ax.get_facecolor()[:3]
            scale = tint(foreground(ax), background, _share(p, n_classes))
            label = "probability of the most probable class (strength of its colour)"
        mappable = ScalarMappable(Normalize(p[0], p[-1]), ListedColormap(scale))
        place: dict[str, Any] = {"location": "bottom", "aspect": 40}
        return ax.figure.colorbar(mappable, ax=ax, label=label, **place)


def _share(probability: Floats, n_classes: int) -> Floats:
    """Return how strong a colour shows the probability of the most probable class."""
    certainty = (probability - 1 / n_classes) / max(1 - 1 / n_classes, 1e-9)
    return WEAKEST_TINT + (STRONGEST_TINT - WEAKEST_TINT) * certainty


def _follow_markers(collection: Any, codes: NDArray[np.int64], n_points: int) -> None:
    """Give each point of a collection the shape and size of its class."""
    from matplotlib.markers import MarkerStyle

    shapes = [class_style(code)[1] for code in codes]
    styles = [MarkerStyle(shape) for shape in shapes]
    collection.set_paths([style.get_path().transformed(style.get_transform()) for style in styles])
    collection.set_sizes([point_size(n_points, shape) for shape in shapes])


def _cuts(field: Floats, level: float) -> bool:
    return bool(field.min() < level < field.max())
