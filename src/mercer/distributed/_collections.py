"""Arrays and data frames of dask, as blocks of rows and back."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of rows with their targets and weights, none of them computed.

    Parameters
    ----------
    parts : list of (X, y, weights)
        Delayed each, or None.
    sizes : list of int or None
        Rows of each block, where they are known.
    n_features : int
    names : ndarray of str or None
        Of the columns.
    """

    parts: list[tuple[Any, Any, Any]]
    sizes: list[int] | None
    n_features: int
    names: Any

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any) -> Blocks:
        """Cut all of them where the rows are cut."""
        if not is_collection(X):
            raise TypeError(
                "Distributed learns from arrays and data frames of dask; X is of type "
                f"{type(X).__name__}, from which the estimator learns by itself."
            )
        if len(X.shape) != 2:
            raise ValueError(f"X must have rows and columns, but has {len(X.shape)} dimensions.")
        n_features, names = X.shape[1], None
        if hasattr(X, "columns"):
            _refuse_text(X)
            columns = list(X.columns)
            is_named = all(isinstance(name, str) for name in columns)
            names = np.array(columns, dtype=object) if is_named else None
        elif isnan(n_features):
            raise ValueError("The number of columns of X is not known; give X as known columns.")
        else:
            X = X.rechunk({1: -1})
        # Small files are read together, the more of them the fewer columns are asked for.
        frames = [one for one in (X, y, weights) if hasattr(one, "divisions")]
        optimized = len({len(one.to_delayed()) for one in frames}) < 2
        rows = _delayed(X, optimized)
        sizes = _sizes(X)
        targets, factors = (
            _cut_alike(values, name, rows, sizes, optimized)
            for values, name in ((y, "y"), (weights, "sample_weight"))
        )
        return cls(list(zip(rows, targets, factors)), sizes, int(n_features), names)


def is_collection(values: Any) -> bool:
    """Tell whether something is an array or a data frame of dask."""
    return hasattr(values, "to_delayed") and isinstance(getattr(values, "shape", None), tuple)


def _refuse_text(frame: Any) -> None:
    """Say which columns hold text or categories, before anything is read."""
    text = [
        repr(name)
        for name, kind in frame.dtypes.items()
        if getattr(kind, "kind", "O") == "O" and kind != np.dtype(object)
    ]
    if text:
        raise ValueError(
            f"X has text or categories in {', '.join(text)}; turn them into numbers first, for "
            "instance by dask.dataframe.get_dummies."
        )


def _delayed(collection: Any, optimized: bool) -> list[Any]:
    return list(np.ravel(collection.to_delayed(optimize_graph=optimized)))


def _sizes(collection: Any) -> list[int] | None:
    """Return the rows of each block of an array, if known."""
    sizes = collection.chunks[0] if hasattr(collection, "chunks") else (float("nan"),)
    return None if any(isnan(size) for size in sizes) else [int(size) for size in sizes]


def _cut_alike(
    values: Any, name: str, rows: list[Any], sizes: list[int] | None, optimized: bool
) -> list[Any]:
    """Return the block of a vector that belongs to each block of rows."""
    if values is None:
        return [None] * len(rows)
    if not is_collection(values):
        if sizes is None:
            raise TypeError(
                f"{name} must be of dask, as X is; it is of type {type(values).__name__}."
            )
        from dask.array import from_array

        values = from_array(np.asarray(values), chunks=-1)
    own = _sizes(values)
    if own is not None and sizes is not None:
        if sum(own) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows, {name} has {sum(own)}.")
        values = values.rechunk({0: tuple(sizes)})
    blocks = _delayed(values, optimized)
    if len(blocks) != len(rows):
        raise ValueError(
            f"X comes in {len(rows)} blocks and {name} in {len(blocks)}; cut both alike, or let "
            "dask count the rows (compute_chunk_sizes)."
        )
    return blocks
