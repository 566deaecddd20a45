"""The plane that is drawn: two features with all others held fixed, or two principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA

Floats = NDArray[np.float64]
Features = Sequence[int | str] | str | None


class Plane(Protocol):
    """What a display needs to know of a plane."""

    axis_names: tuple[str, str]
    note: str

    def project(self, X: Any) -> Floats:
        """Return the points of the picture that belong to rows of data."""

    def rows(self, points: Floats) -> Any:
        """Return the rows of data at points of the picture, in the container the data came in."""


def make_plane(X: Any, features: Features) -> Plane:
    """Return the plane that `features` asks for; of more than two columns the principal one."""
    shape = getattr(X, "shape", None) or np.shape(X)
    is_wide = features is None and len(shape) == 2 and shape[1] > 2
    if is_wide and any(column.dtype != np.float64 for column in _columns(X)):
        raise ValueError(
            "X has columns that are not numbers, which cannot be projected; choose two that are "
            "with features=(i, j)."
        )
    if is_wide or (isinstance(features, str) and features == "pca"):
        return PrincipalPlane(X)
    return FeaturePlane(X, features)


class FeaturePlane:
    """Two columns of the data; every other column is at its median or most frequent value.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    features : pair of int or str, default=None
        The two columns, by position or name; None takes the only two there are.
    """

    def __init__(self, X: Any, features: Features = None) -> None:
        self._container = _Container(X)
        names = self._container.names
        columns = _columns(X)
        self.columns = _chosen_columns(features, len(columns), names)
        first, second = (str(names[c]) if names else f"feature {c}" for c in self.columns)
        self.axis_names = first, second
        others = [c for c in range(len(columns)) if c not in self.columns]
        self._fixed = [_typical(columns[c]) if c in others else 0.0 for c in range(len(columns))]
        self.note = _fixed_note([self._fixed[c] for c in others])

    def project(self, X: Any) -> Floats:
        """Return the points of the picture that belong to rows of data."""
        columns = _columns(X)
        return np.column_stack([_drawable(columns[c]) for c in self.columns])

    def rows(self, points: Floats) -> Any:
        """Return the rows of data at points of the picture, in the container the data came in."""
        columns = [np.full(len(points), value) for value in self._fixed]
        for c, values in zip(self.columns, points.T):
            columns[c] = values
        return self._container.fill(columns)


class PrincipalPlane:
    """The plane through the mean along the first two principal components.

    They are those of the standardised columns: the units in which a column happens to be measured
    do not decide which plane is seen.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data, numbers only, at least two rows and columns. Missing values count as the mean.
    """

    note = "plane through the mean; features standardised, rows projected"

    def __init__(self, X: Any) -> None:
        table = as_table(X)
        if min(table.shape) < 2:
            raise ValueError(
                "Two principal components need at least two rows and two features; got the shape "
                f"{table.shape}."
            )
        self._container = _Container(X)
        self._mean = np.nanmean(table, axis=0)
        deviation = np.nanstd(table, axis=0)
        self._scale = np.where(deviation > 0, deviation, 1.0)
        pca = PCA(2, random_state=0).fit(self._standardise(table))
        self._components = pca.components_
        first, second = (
            f"principal component {place} ({share:.1%} of variance)"
            for place, share in enumerate(np.nan_to_num(pca.explained_variance_ratio_), start=1)
        )
        self.axis_names = first, second

    def project(self, X: Any) -> Floats:
        """Return the points of the picture that belong to rows of data."""
        return self._standardise(as_table(X)) @ self._components.T

    def rows(self, points: Floats) -> Any:
        """Return the rows of data at points of the picture, in the container the data came in."""
        return self._container.fill(list((self._mean + points @ self._components * self._scale).T))

    def _standardise(self, table: Floats) -> Floats:
        return np.nan_to_num((table - self._mean) / self._scale)


class _Container:
    """Puts columns back into what the data came in: a data frame (pandas, polars) or an array."""

    def __init__(self, X: Any) -> None:
        columns = getattr(X, "columns", None)
        self.names = None if columns is None else list(columns)
        self._type = type(X)

    def fill(self, columns: list[Any]) -> Any:
        if self.names is None:
            return np.column_stack(columns)
        return self._type(dict(zip(self.names, columns)))


def as_table(X: Any) -> Floats:
    """Return the data as a two-dimensional array of numbers."""
    if sp.issparse(X):
        X = X.toarray()
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("Only numbers can be drawn; encode the other columns of X.") from error
    if table.ndim != 2 or not len(table):
        raise ValueError(f"X must be a table with at least one row; got the shape {table.shape}.")
    return table


def _columns(X: Any) -> list[Any]:
    """Return the columns; those of a data frame need not be numbers."""
    if not hasattr(X, "columns"):
        return list(as_table(X).T)
    if not len(X):
        raise ValueError(f"X must be a table with at least one row; got the shape {X.shape}.")
    return [_numbers(X[name]) for name in X.columns]


def _numbers(column: Any) -> Any:
    """Return the column as numbers, or as it is where that is not possible."""
    values = np.asarray(column)
    if values.dtype.kind not in "biuf" and any(isinstance(value, str) for value in values):
        return values
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return values


def _drawable(column: Any) -> Floats:
    if column.dtype != np.float64:
        raise ValueError("Only numbers can be drawn; choose two other columns of X.")
    return column


def _typical(column: Any) -> Any:
    """Return the median of numbers, the most frequent of other values."""
    if column.dtype == np.float64:
        return np.nanmedian(column)
    # Counted in order of appearance: the values of a column need not be comparable.
    counts: dict[Any, int] = {}
    for value in column:
        counts[value] = counts.get(value, 0) + 1
    return max(counts, key=lambda value: counts[value])


def _fixed_note(values: list[Any]) -> str:
    """Say at what the features are that cannot be seen."""
    if not values:
        return ""
    others = "1 other feature" if len(values) == 1 else f"{len(values)} other features"
    is_number = [isinstance(value, float) for value in values]
    level = "the median" if all(is_number) else "the most frequent value"
    if any(is_number) and not all(is_number):
        level = "the median or most frequent value"
    return f"{others} fixed at {level}"


def _chosen_columns(
    features: Features, n_features: int, names: list[Any] | None
) -> tuple[int, int]:
    if features is None:
        if n_features != 2:
            raise ValueError(
                f"A picture has two axes, but X has {n_features} feature{'s' * (n_features != 1)}; "
                "give it two."
            )
        return 0, 1
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must name two columns or be 'pca'; got {features!r}.")
    first, second = (_position(feature, n_features, names) for feature in features)
    if first == second:
        raise ValueError(f"features must name two different columns; got {features!r}.")
    return first, second


def _position(feature: int | str, n_features: int, names: list[Any] | None) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            raise ValueError(f"X has no column named {feature!r}.")
        return names.index(feature)
    if not -n_features <= feature < n_features:
        raise ValueError(f"X has {n_features} columns; there is no column {feature}.")
    return int(feature) % n_features
