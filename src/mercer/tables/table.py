"""Rows to learn from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to learn from, with a word for whatever was changed on the way to them.

    Parameters
    ----------
    name : str
    frame : pandas.DataFrame
        The features. Numbers are float64 with NaN where they are missing, dates are datetime64,
        anything else is text or categories. There are no infinite numbers.
    target : pandas.Series
        With the index of `frame`: class names (str) or numbers (float64), none missing.
    task : {"classification", "regression", "description"}
        "description" where there is no target, as `read_unlabelled` says.
    positive : str or None
        The class that measures for two classes speak of.
    groups : pandas.Series or None
        Rows of one group belong into one fold.
    time : pandas.Series or None
        Folds go in this order.
    notices : tuple of str
        What was done to the data, one sentence each.
    left_out : dict of str to str
        Columns that are no features, and why.
    source : str
        Python code that reads the same `table`.
    names : pandas.DataFrame or None
        Columns that are no features but tell rows apart, such as an identifier, for the rows of
        `frame`. Its index says where each row stood in what was read, counted from 0.

    Examples
    --------
    >>> from mercer.tables import as_table
    >>> table = as_table([[1.5, 7], [2.5, 7], [3.5, 7], [0.5, 7]], ["a", "b", "b", "a"])
    >>> table.task, table.class_counts(), table.left_out
    ('classification', {'a': 2, 'b': 2}, {'c2': 'the same value in every row'})
    """

    name: str
    frame: pd.DataFrame
    target: pd.Series
    task: str
    positive: str | None = None
    groups: pd.Series | None = None
    time: pd.Series | None = None
    notices: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    source: str = ""
    names: pd.DataFrame | None = None

    def part(self, rows: Any) -> Table:
        """Return the table of some rows.

        Parameters
        ----------
        rows : array of int
            Their positions.

        Examples
        --------
        >>> from mercer.tables import named_table
        >>> named_table("moons").part([0, 7, 9]).frame.shape
        (3, 2)
        """
        beside: dict[str, Any] = {
            name: None if one is None else one.iloc[rows].reset_index(drop=True)
            for name in ("frame", "target", "groups", "time")
            for one in [getattr(self, name)]
        }
        names = None if self.names is None else self.names.iloc[rows]
        return replace(self, **beside, names=names)

    def row_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of the rows in what was read, counted from 1."""
        index = range(len(self.frame)) if self.names is None else self.names.index
        return np.asarray(index, dtype=np.int64) + 1

    def class_counts(self) -> dict[str, int]:
        """Return the number of rows of each class, or nothing for numbers."""
        if self.task == "regression":
            return {}
        counts = self.target.value_counts()
        return {str(name): int(counts[name]) for name in sorted(counts.index)}
