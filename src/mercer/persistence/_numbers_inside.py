"""Numbers that stand in a model, of which rows for it are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.persistence._sound import kept

Floats = NDArray[np.float64]

MOST_LINES = 64
"""Of one array in a model that are looked at, and arrays of a model."""

LARGEST = 1e100
"""Numbers of a model that rows are made of; beyond lie those that stand for no bound."""

CENTRES = {"mean_": "scale_", "center_": "scale_", "data_min_": "data_range_"}
"""Attributes of scalers that tell where numbers lie, and how far apart."""


VALUES = ("categories_", "bin_edges_", "bin_thresholds_")
"""Attributes that have an array of values for each column."""


class NumbersInside:
    """Numbers that stand in a model, by the columns that they belong to."""

    def __init__(self, parts: list[Any], n_columns: int, count: int) -> None:
        self._random = np.random.default_rng(0)
        self._shape = (count, n_columns)
        self._lines: dict[int, Floats] = {}  # by array, which may stand in many parts
        self._scales: list[tuple[Floats, Floats]] = []
        self._pools: dict[int, list[Floats]] = {}
        for part in parts:
            self._look_at(part)

    def _look_at(self, part: Any) -> None:
        state = kept(part)
        n = self._shape[1]
        for value in state.values():
            if is_numeric(value) and value.ndim == 2 and value.shape[1] == n and value.shape[0]:
                if id(value) not in self._lines and len(self._lines) < MOST_LINES:
                    some = value[:: -(-value.shape[0] // MOST_LINES)]
                    dense = some.toarray() if sp.issparse(some) else np.asarray(some)
                    self._lines[id(value)] = dense.astype(np.float64)
        for centre, spread in CENTRES.items():
            pair: Any = (state.get(centre), state.get(spread))
            fits = all(is_numeric(value) and value.shape == (n,) for value in pair)
            if fits and len(self._scales) < MOST_LINES:
                self._scales.append(pair)
        for name in VALUES:
            for column, known in enumerate(state.get(name, [])):
                self._add(column, known)
        if type(part).__name__ == "Tree":
            self._add_thresholds(part.feature, part.threshold)
        elif type(part).__name__ == "TreePredictor":
            self._add_thresholds(part.nodes["feature_idx"], part.nodes["num_threshold"])

    def _add_thresholds(self, features: Any, thresholds: Any) -> None:
        for column in np.unique(features[features >= 0]).tolist():
            self._add(column, thresholds[features == column])

    def _add(self, column: int, values: Any) -> None:
        if is_numeric(values) and values.size and column < self._shape[1]:
            some = np.ravel(values)[:: -(-values.size // MOST_LINES)]
            self._pools.setdefault(column, []).append(some.astype(float))

    def between(self) -> Floats:
        """Return rows of each kind in turn, none of them exactly where the model has one."""
        kinds = [self._random.normal(size=self._shape)]
        lines = self._rows_known()
        if len(lines):
            some, others = (self._random.integers(len(lines), size=self._shape[0]) for _ in "ab")
            share = self._random.uniform(0.05, 0.45, size=(self._shape[0], 1))
            kinds.append(lines[some] + share * (lines[others] - lines[some]))
        for centre, spread in self._scales:
            kinds.append(centre + self._random.normal(size=self._shape) * spread)
        if self._pools:
            known = self.known()
            kinds.append(known + 0.1 * np.abs(known) * self._random.normal(size=self._shape))
        rows = np.stack(kinds)[np.arange(self._shape[0]) % len(kinds), np.arange(self._shape[0])]
        return np.where(np.isfinite(rows), rows, 0.0)

    def near(self) -> Floats:
        """Return rows that lie beside those that stand in the model, as far as it has any."""
        lines = self._rows_known()
        if not len(lines):
            return np.zeros(self._shape)
        some = lines[self._random.integers(len(lines), size=self._shape[0])]
        return some * (1.0 + 0.01 * self._random.normal(size=self._shape))

    def _rows_known(self) -> Floats:
        lines = np.vstack([np.zeros((0, self._shape[1])), *self._lines.values()])
        return lines[np.isfinite(lines).all(axis=1)]

    def beyond(self) -> Floats:
        """Return half as many rows, at the ends of what is known of each column and outside."""
        low, high = np.full((2, self._shape[1]), np.nan)
        around = [part for centre, spread in self._scales for part in (centre - spread, centre)]
        around += [centre + spread for centre, spread in self._scales]
        for lines in (*self._lines.values(), *(np.atleast_2d(part) for part in around)):
            lines = np.where(np.abs(lines) < LARGEST, lines, np.nan)
            low, high = np.fmin(low, _fmin(lines)), np.fmax(high, -_fmin(-lines))
        for column, pool in self._pools.items():
            values = np.concatenate(pool)
            values = values[np.abs(values) < LARGEST]
            low[column] = np.fmin(low[column], values.min(initial=np.inf))
            high[column] = np.fmax(high[column], values.max(initial=-np.inf))
        known = np.isfinite(low) & np.isfinite(high)
        low, high = np.where(known, low, -1.0), np.where(known, high, 1.0)
        span = high - low
        count = max(2, self._shape[0] // 2)
        rows = self._random.uniform(low - span, high + span, size=(count, low.size))
        rows[:2] = low, high
        return rows

    def known(self) -> Floats:
        """Return rows of numbers that columns have in the model, 0 where none is known."""
        rows = np.zeros(self._shape)
        for column, values in self._pools.items():
            rows[:, column] = self._random.choice(np.concatenate(values), size=self._shape[0])
        return rows


def _fmin(lines: Floats) -> Floats:
    return np.fmin.reduce(lines, axis=0, initial=np.inf)


def is_numeric(value: Any) -> bool:
    return (isinstance(value, np.ndarray) or sp.issparse(value)) and value.dtype.kind in "fiub"
