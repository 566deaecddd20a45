"""What a model says of rows of dask: block by block, when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.distributed._rows import checked_block


def lazy_values(model: Any, method: str, X: Any) -> Any:
    """Return the values of a method, as an array or series of dask.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        "predict", "decision_function" or another that takes rows.
    X : dask array or data frame
    """
    from dask import delayed

    n_columns, wanted = X.shape[1], model.n_features_in_
    if n_columns != wanted:
        raise ValueError(
            f"X has {n_columns} features, but {type(model).__name__} is expecting {wanted} "
            "features as input."
        )
    known, rows = delayed(model), np.zeros((1, wanted))
    if hasattr(X, "columns"):
        empty = getattr(model, method)(_as_frame(rows, columns=X.columns))[:0]
        return X.map_partitions(_frame_values, known, method, empty, meta=_as_frame(empty))
    X, empty = X.rechunk({1: -1}), getattr(model, method)(rows)[:0]
    changes: dict[str, Any] = {"drop_axis": 1}
    if empty.ndim == 2:
        changes = {"chunks": (X.chunks[0], (empty.shape[1],))}
    return X.map_blocks(
        _array_values, known, method, empty, dtype=empty.dtype, meta=empty, **changes
    )


def _array_values(rows: Any, model: Any, method: str, empty: Any) -> Any:
    if rows.shape[0] == 0:
        return empty
    return getattr(model, method)(checked_block(rows))


def _frame_values(frame: Any, model: Any, method: str, empty: Any) -> Any:
    values = empty if len(frame) == 0 else getattr(model, method)(frame)
    return _as_frame(values, index=frame.index)


def _as_frame(values: Any, **labels: Any) -> Any:
    from pandas import DataFrame, Series

    return (Series if values.ndim == 1 else DataFrame)(values, **labels)
