"""A table from data in memory in which there is nothing to predict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mercer.tables._raw import RawTable
from mercer.tables.as_table import frame_of
from mercer.tables.read_unlabelled import features_only, unlabelled
from mercer.tables.table import Table

SOURCE = (
    "from mercer.tables import as_unlabelled\n\n"
    "X = ...  # the data that were passed\n"
    "table = as_unlabelled(X)"
)


def as_unlabelled(
    X: Any,
    *,
    name: str = "data",
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    dates: bool = False,
) -> Table:
    """Return a table without a target of a data frame, with the same care as for files.

    Parameters
    ----------
    X : data frame (pandas, polars), array or sparse matrix of shape (n, d)
    name : str, default="data"
    drop, categorical, dates
        As for `read_unlabelled`.

    Returns
    -------
    Table
        Its task is "description", and its target is missing in every row.

    See Also
    --------
    read_unlabelled : The same of a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import as_unlabelled
    >>> day = pd.date_range("2024-03-01", periods=4)
    >>> table = as_unlabelled(pd.DataFrame({"day": day, "load": [0.5, None, 0.7, 0.6]}))
    >>> list(table.frame), list(table.names)
    (['load'], ['day'])
    """
    notices: list[str] = []
    raw = RawTable(frame_of(X, notices), notices, None)
    words = name, SOURCE, "the data"
    return unlabelled(raw, features_only(drop, categorical), dates, words)
