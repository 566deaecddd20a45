"""Rows as a forest sees them, in the plane."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.plotting._labels import codes_of
from mercer.plotting._style import (
    axes_for,
    class_handle,
    class_label,
    class_style,
    foreground,
    legend_beside,
    point_size,
    pyplot,
)
from mercer.trees import SimilarityMap, outlier_measure, similarity_map


class SimilarityMapDisplay:
    r"""Rows in the plane, close together where a forest finds them alike.

    The axes are those of classical scaling of 1 − proximity (`mercer.trees.similarity_map`); their
    names say which share of the squared distances each shows. Arms of a star are classes; rows
    between arms are those that the forest confuses. Rows far from the others of their class
    (`mercer.trees.outlier_measure`) are ringed and carry their numbers. Use `from_estimator` or
    `from_map` to make one.

    Parameters
    ----------
    map : SimilarityMap
    codes : ndarray of int of shape (n,)
        Class of each row.
    classes : ndarray
        Names of the classes.
    outliers : ndarray of int
        Rows to ring.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    points_ : list of PathCollection
        One for each class.
    legend_ : Legend or None

    See Also
    --------
    mercer.trees.similarity_map : The places that it shows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mercer.plotting import SimilarityMapDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> display = SimilarityMapDisplay.from_estimator(forest, X, y, n_outliers=3)
    >>> len(display.points_), len(display.outliers)
    (3, 3)
    """

    def __init__(self, *, map: SimilarityMap, codes: Any, classes: Any, outliers: Any) -> None:
        self.map = map
        self.codes = codes
        self.classes = classes
        self.outliers = outliers

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        kind: str = "all",
        n_outliers: int = 0,
        **plot: Any,
    ) -> Self:
        """Draw the map of a fitted forest.

        Parameters
        ----------
        estimator : forest
            A fitted forest of scikit-learn.
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,), default=None
            Classes; None draws all rows alike.
        kind : {"all", "oob", "gap"}, default="all"
            See `mercer.trees.proximity`.
        n_outliers : int, default=0
            Rows to ring: those with the largest outlier measure. Needs `y`.
        **plot
            See `plot`.

        Returns
        -------
        SimilarityMapDisplay
        """
        found = similarity_map(estimator, X, kind=kind)
        far: Any = np.empty(0, dtype=np.int64)
        if n_outliers:
            if y is None:
                raise ValueError("Outliers are outliers of a class: n_outliers needs y.")
            far = np.argsort(-outlier_measure(estimator, X, y, kind=kind))[:n_outliers]
        return cls.from_map(found, y, outliers=far, **plot)

    @classmethod
    def from_map(
        cls, map: SimilarityMap, y: Any = None, *, outliers: Any = (), **plot: Any
    ) -> Self:
        """Draw a map that `mercer.trees.similarity_map` has made.

        Parameters
        ----------
        map : SimilarityMap
        y : array-like of shape (n,), default=None
            Classes.
        outliers : sequence of int, default=()
            Rows to ring.
        **plot
            See `plot`.

        Returns
        -------
        SimilarityMapDisplay
        """
        if map.coordinates.shape[1] < 2:
            raise ValueError("A picture needs a map with two axes; this one has 1.")
        n = len(map.coordinates)
        classes = np.array([""]) if y is None else np.unique(np.asarray(y))
        codes = np.zeros(n, dtype=np.int64) if y is None else codes_of(y, classes, n)
        rows = np.asarray(outliers, dtype=np.int64)
        return cls(map=map, codes=codes, classes=classes, outliers=rows).plot(**plot)

    def plot(self, ax: Any = None, *, legend: bool = True, colors: Any = None) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to name the classes at the right of the axes.
        colors : sequence of colours, default=None
            One for each class; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        SimilarityMapDisplay
            The display itself.
        """
        pyplot()
        self.ax_ = ax = axes_for(ax, (7.0, 5.2))
        self.figure_ = ax.figure
        points = self.map.coordinates
        self.points_ = []
        for code in range(len(self.classes)):
            color, marker = class_style(code, colors)
            own = points[self.codes == code]
            area = point_size(len(points), marker)
            style: dict[str, Any] = {"color": color, "marker": marker, "alpha": 0.75, "lw": 0}
            self.points_.append(ax.scatter(own[:, 0], own[:, 1], s=area, **style))
        self._ring()
        shares = 100 * self.map.explained
        ax.set(xlabel=f"axis 1: {shares[0]:.0f} %", ylabel=f"axis 2: {shares[1]:.0f} %")
        ax.set_aspect("equal", adjustable="datalim")
        ax.margins(0.08)
        handles = [
            class_handle(code, class_label(name), colors) for code, name in enumerate(self.classes)
        ]
        named = legend and len(self.classes) > 1
        self.legend_ = legend_beside(ax, handles) if named else None
        return self

    def _ring(self) -> None:
        """Ring the outliers and write their numbers beside them."""
        ax, color = self.ax_, foreground(self.ax_)
        far = self.map.coordinates[self.outliers]
        ax.scatter(far[:, 0], far[:, 1], s=130, facecolors="none", edgecolors=[color], lw=1.2)
        # From below upwards, now at the left and now at the right, not to write on each other.
        for count, which in enumerate(np.argsort(far[:, 1])):
            how: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small"}
            how |= {"va": "center", "ha": "left" if count % 2 else "right"}
            offset = (9, 0) if count % 2 else (-9, 0)
            text = str(self.outliers[which])
            ax.annotate(text, far[which, :2], xytext=offset, color=color, **how)
