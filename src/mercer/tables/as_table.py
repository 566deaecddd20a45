"""A table from data in memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mercer.tables._assemble import assemble
from mercer.tables._dialect import unique_names
from mercer.tables._options import Options
from mercer.tables._raw import RawTable, frame_of_matrix
from mercer.tables.errors import InputError, counted
from mercer.tables.table import Table


def as_table(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    name: str = "data",
    task: str | None = None,
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    positive: Any = None,
    groups: Any = None,
    time: Any = None,
) -> Table:
    """Return a table of arrays or data frames, with the same care as for files.

    Parameters
    ----------
    X : data frame (pandas, polars), array or sparse matrix of shape (n, d)
    y : Series or array of shape (n,), default=None
        What is to be predicted, if it is no column of `X`.
    target : str or int, default=None
        Column of `X` that is to be predicted.
    name : str, default="data"
    task, drop, categorical, positive
        See `read_table`.
    groups, time : str or array of shape (n,), default=None
        See `read_table`.

    Returns
    -------
    Table

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer.tables import as_table
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> table = as_table(X, y)
    >>> table.task, table.frame.shape
    ('regression', (442, 10))
    """
    if (y is None) == (target is None):
        raise InputError("Give either `y` or the name of the target among the columns of `X`.")
    options = Options.checked(
        **{"target": target, "task": task, "drop": drop, "categorical": categorical},
        **{"positive": positive, "groups": groups, "time": time},
    )
    notices: list[str] = []
    frame = frame_of(X, notices)
    labels = None if y is None else _labels(y, len(frame))
    source = _source(y is not None, vars(options))
    return assemble(RawTable(frame, notices, labels), options, name, source, "the data")


def _source(has_labels: bool, options: dict[str, Any]) -> str:
    """Return the code for data that have no name of their own; groups and times may be arrays."""
    data = "X, y" if has_labels else "X"
    given = [
        f"{key}={one!r}" if isinstance(one, (str, int, tuple)) else f"{key}={key}"
        for key, one in options.items()
        if not (one is None or (isinstance(one, tuple) and not one))
    ]
    return (
        "from mercer.tables import as_table\n\n"
        f"{data} = ...  # the data that were passed to the comparison\n"
        f"table = as_table({', '.join([data, *given])})"
    )


def frame_of(X: Any, notices: list[str]) -> pd.DataFrame:
    """Return data in memory as a frame with rows, and columns that have different names."""
    X = _as_pandas(X)
    if isinstance(X, pd.DataFrame):
        frame = X.copy(deep=False)
        frame.columns = unique_names([str(name).strip() for name in X.columns], notices)
    else:
        frame = _from_array(X)
    if not len(frame):
        raise InputError("The data have no rows.")
    if not frame.shape[1]:
        raise InputError("The data have no columns.")
    return frame.reset_index(drop=True)


def _as_pandas(data: Any) -> Any:
    """Return data of polars as those of pandas; anything else as it is."""
    if not hasattr(data, "to_pandas"):
        return data
    try:
        return data.to_pandas()
    except ImportError:  # polars goes by way of pyarrow, which is heavy
        if hasattr(data, "get_columns"):
            return pd.DataFrame({each.name: each.to_list() for each in data.get_columns()})
        return pd.Series(data.to_list(), name=data.name)


def _from_array(X: Any) -> pd.DataFrame:
    if isinstance(X, pd.Series):
        return X.to_frame(str(X.name or "c1"))
    if not sparse.issparse(X):
        try:
            X = np.asarray(X)
        except ValueError:
            raise InputError("The rows of `X` do not all have the same length.") from None
    if X.ndim != 2:
        raise InputError(f"`X` must have rows and columns; got {counted(X.ndim, 'dimension')}.")
    frame = frame_of_matrix(X)
    return frame if frame.shape[1] == 0 else frame.infer_objects()


def _labels(y: Any, rows: int) -> pd.Series:
    y = _as_pandas(y)
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series):
        series = y.reset_index(drop=True)
    else:
        values = np.asarray(y, dtype=object if isinstance(y, (list, tuple)) else None)
        if values.ndim != 1 and values.size != max(values.shape, default=0):
            named = "; a column of `X` is named by target=" if isinstance(y, str) else ""
            raise InputError(f"`y` must have one value for each row{named}.")
        series = pd.Series(values.ravel()).infer_objects()
    if len(series) != rows:
        raise InputError(f"`y` has {len(series)} values for {counted(rows, 'row')} of `X`.")
    return series.rename(str(series.name) if series.name is not None else "target")
