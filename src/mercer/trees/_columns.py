"""Columns with gaps: numbers, and categories as codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.trees._forest import Floats

Mask = NDArray[np.bool_]


def is_missing(values: Any) -> Mask:
    """Say where a value is NaN or None; texts are present."""
    if values.dtype != object:
        return np.isnan(values)
    flat = [value is None or value != value for value in values.ravel()]
    return np.array(flat, dtype=bool).reshape(values.shape)


def categorical_mask(columns: Any, names: Any, n_features: int) -> Mask:
    """Return which columns hold categories, from positions, names or a mask."""
    mask = np.zeros(n_features, dtype=bool)
    if columns is None:
        return mask
    given = np.asarray(columns)
    if given.dtype == bool and given.shape != mask.shape:
        raise ValueError(
            f"categorical_features as a mask must have {n_features} entries; got {given.size}."
        )
    known = [] if names is None else list(names)
    for column in given.tolist() if given.dtype != bool else np.flatnonzero(given).tolist():
        place = known.index(column) if column in known else column
        if not isinstance(place, int) or not -n_features <= place < n_features:
            raise ValueError(
                f"categorical_features names {column!r}, which is no column of X; its columns are "
                f"{known or f'0 to {n_features - 1}'}."
            )
        mask[place] = True
    return mask


@dataclass(frozen=True, eq=False)
class Columns:
    """How a table becomes numbers: the categories of each column, None for a numeric one."""

    categories: Sequence[Any]

    @classmethod
    def of(cls, X: Any, mask: Mask) -> Columns:
        """Learn the categories of the columns of a mask."""
        missing = is_missing(X)
        return cls(
            [
                np.unique(X[~missing[:, j], j]) if categorical else None
                for j, categorical in enumerate(mask)
            ]
        )

    @property
    def numeric(self) -> Mask:
        """Which columns are numbers."""
        return np.array([known is None for known in self.categories])

    def encode(self, X: Any) -> Floats:
        """Return numbers and codes, NaN where a value is missing or a category unknown."""
        codes = np.full(X.shape, np.nan)
        present = ~is_missing(X)
        for j, known in enumerate(self.categories):
            rows = present[:, j]
            if known is None:
                codes[rows, j] = X[rows, j].astype(np.float64)
                continue
            seen = np.isin(X[rows, j], known)
            places = np.flatnonzero(rows)[seen]
            codes[places, j] = np.searchsorted(known, X[places, j])
        return codes

    def fill(self, X: Any, missing: Mask, codes: Floats) -> Any:
        """Return the table with its gaps filled from numbers and codes."""
        filled = X.copy()
        for j, known in enumerate(self.categories):
            values = codes[missing[:, j], j]
            filled[missing[:, j], j] = values if known is None else known[values.astype(np.int64)]
        return filled

    def spread(self, codes: Floats) -> Floats:
        """Return standardised numbers and a column of 0 and 1 for each category."""
        parts = []
        for j, known in enumerate(self.categories):
            column = codes[:, [j]]
            if known is None:
                parts.append((column - column.mean()) / (column.std() or 1.0))
            else:
                parts.append((column == np.arange(len(known))).astype(np.float64))
        return np.hstack(parts)
