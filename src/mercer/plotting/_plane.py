"""The plane that is drawn: two features, all others held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class FeaturePlane:
    """Two columns of the data, with every other column at its median.

    A display needs no more than this of a plane: `project` takes rows to points of the picture,
    `rows` takes points back to rows that the estimator understands, `axis_names` and `note` say
    what is seen.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    features : pair of int or str, default=None
        The two columns, by position or name; None takes the only two there are.
    """

    def __init__(self, X: Any, features: Sequence[int | str] | None = None) -> None:
        names = _column_names(X)
        table = as_table(X)
        self.columns = _chosen_columns(features, table.shape[1], names)
        self.axis_names = tuple(names[c] if names else f"feature {c}" for c in self.columns)
        self._frame = type(X) if names else None
        self._names = names
        self._fixed = np.nanmedian(table, axis=0)
        n_others = table.shape[1] - 2
        others = "1 other feature" if n_others == 1 else f"{n_others} other features"
        self.note = f"{others} fixed at the median" if n_others else ""

    def project(self, X: Any) -> Floats:
        """Return the points of the picture that belong to rows of data."""
        return as_table(X)[:, list(self.columns)]

    def rows(self, points: Floats) -> Any:
        """Return the rows of data at points of the picture, in the container the data came in."""
        rows = np.tile(self._fixed, (len(points), 1))
        rows[:, list(self.columns)] = points
        if self._frame is None or self._names is None:
            return rows
        return self._frame({name: rows[:, c] for c, name in enumerate(self._names)})


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


def _column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame (pandas, polars), or None."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def _chosen_columns(
    features: Sequence[int | str] | None, n_features: int, names: list[str] | None
) -> tuple[int, int]:
    if features is None:
        if n_features != 2:
            raise ValueError(
                f"A picture has two axes, but X has {n_features} feature"
                f"{'s' * (n_features != 1)}; choose two of them with features=(i, j)."
            )
        return 0, 1
    if isinstance(features, str) or len(features) != 2:
        raise ValueError(f"features must name two columns; got {features!r}.")
    first, second = (_position(feature, n_features, names) for feature in features)
    if first == second:
        raise ValueError(f"features must name two different columns; got {features!r}.")
    return first, second


def _position(feature: int | str, n_features: int, names: list[str] | None) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            raise ValueError(f"X has no column named {feature!r}.")
        return names.index(feature)
    if not -n_features <= feature < n_features:
        raise ValueError(f"X has {n_features} columns; there is no column {feature}.")
    return int(feature) % n_features
