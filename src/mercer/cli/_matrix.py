"""The features of a table as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mercer.cli._screen import cell

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import Table

PREFIXES = ("numbers__", "others__")
"""What features are called by where names would otherwise clash."""

MOST_CAUSES = 2
"""Columns that are named for each unusual row."""

MOST_NAMES = 2
"""Columns that name the rows, shown beside their numbers."""

COUNTED = "Rows are counted from 1; the line with the names of the columns does not count."
"""What must be known to find a row that is listed by its number."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The rows of a table as numbers of unit variance.

    Parameters
    ----------
    values : ndarray of shape (n, d)
    unscaled : ndarray of shape (n, d)
        The same in the units of the table.
    features : list of str
        Their names, such as "colour_red".
    columns : list of str
        The column of the table that each of them comes from, such as "colour".
    steps : list of (str, transformer)
        What has made them of the frame, fitted.
    """

    values: Any
    unscaled: Any
    features: list[str]
    columns: list[str]
    steps: list[tuple[str, Any]]

    @classmethod
    def of(cls, table: Table) -> Matrix:
        """Return the matrix of a table.

        Examples
        --------
        >>> from mercer.tables import named_table
        >>> Matrix.of(named_table("moons")).columns
        ['x', 'y']
        """
        from sklearn.preprocessing import StandardScaler

        from mercer.tables import vectorizer

        steps = [("vectorizer", vectorizer(table)), ("scaler", StandardScaler())]
        unscaled = steps[0][1].fit_transform(table.frame)
        values = steps[1][1].fit_transform(unscaled)
        features = [str(name) for name in steps[0][1].get_feature_names_out()]
        return cls(values, unscaled, features, columns_of(features, table.frame), steps)


def columns_of(features: Iterable[str], frame: pd.DataFrame) -> list[str]:
    """Return the columns of a frame that features come from."""
    known = [str(name) for name in frame.columns]
    return [_column(name, known) for name in features]


def causes(frame: pd.DataFrame, values: Any, columns: list[str], row: int) -> str:
    """Return the columns in which a row is farthest from the mean, with its values.

    Parameters
    ----------
    frame : DataFrame
    values : ndarray of shape (n, d)
        Its features, of unit variance.
    columns : list of str
        The column that each feature comes from.
    row : int
        Its position.
    """
    import numpy as np

    order = np.argsort(-np.abs(values[row]), kind="stable")
    chosen = list(dict.fromkeys(columns[k] for k in order))[:MOST_CAUSES]
    return ", ".join(f"{name} = {cell(frame[name].iloc[row])}" for name in chosen)


def _column(feature: str, known: list[str]) -> str:
    """Return the column that a feature comes from: the longest name that it begins with."""
    bare = feature
    for prefix in PREFIXES:
        if feature not in known:
            bare = bare.removeprefix(prefix)
    own = [name for name in known if bare == name or bare.startswith(f"{name}_")]
    return max(own, key=len, default=feature)


def distance_in_radii(ball: Any, points: Any) -> Any:
    """Return how far rows are from the centre of a description, as shares of its radius."""
    import numpy as np

    return np.asarray(ball.distance(points)) / (ball.radius_ or 1.0)
