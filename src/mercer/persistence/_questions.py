"""Rows about which a model is asked when it is saved, and again when it is loaded.

They are made of the numbers of the model itself, so that they lie where its answers vary: between
rows that it holds, around the means of its columns, beside the thresholds of its trees. They have
three digits, since they stand in the header of a file as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import get_tags

from mercer.persistence._sound import kept
from mercer.persistence.errors import RefusalError

Floats = NDArray[np.float64]

MOST_ROWS, FEWEST_ROWS = 32, 4
MOST_NUMBERS = 2000
"""In the rows of a model of many columns, if these are no more than the fewest."""

FREE = 2**22
"""Bytes of a file times rows; kernel values of all rows of a large model would outgrow it."""

SHAKEN = 1e-13
"""Share by which numbers are changed to see whether an answer depends on rounding."""

MOST_LINES = 64
"""Of one array in a model that are looked at, and arrays of a model."""

TEXTS = ("one more line of text", "a second text: the model may know none of its words", "x")
"""For models that read text. None of them comes from a file, which could name other files."""

CENTRES = {"mean_": "scale_", "center_": "scale_", "data_min_": "data_range_"}
"""Attributes of scalers that tell where numbers lie, and how far apart."""


@dataclass(frozen=True)
class Question:
    """Rows in the form of a header, as a model takes them, and with the last digits changed."""

    record: Any
    rows: Any
    shaken: Any


def rows_allowed(file_size: int) -> int:
    """Return how many rows a model of so many bytes is asked about.

    Examples
    --------
    >>> [rows_allowed(size) for size in (10_000, 500_000, 10**9)]
    [32, 8, 4]
    """
    return min(MOST_ROWS, max(FEWEST_ROWS, FREE // max(1, file_size)))


def questions(model: Any, parts: list[Any], file_size: int) -> Iterator[Question]:
    """Yield rows of all kinds that a model might take, the likeliest first."""
    n_columns = _told(model, "n_features_in_")
    if isinstance(n_columns, int | np.integer) and n_columns > 0:
        count = min(rows_allowed(file_size), max(FEWEST_ROWS, MOST_NUMBERS // int(n_columns)))
        source = _Source(parts, int(n_columns), count)
        between = _three_digits(source.between())
        with_gaps = [_with_gaps(between)] if _takes_gaps(model) else []
        names = _names(model)
        if names is not None and find_spec("pandas"):
            columns = _columns(names, parts, between)
            if not all("number" in described for described in columns.values()):
                yield _of_columns(columns)
            for numbers in (*with_gaps, between):
                yield _of_numbers(numbers, SHAKEN, names)
        for numbers in (*with_gaps, between, np.abs(between)):
            yield _of_numbers(numbers, SHAKEN)
        yield _of_numbers(source.known(), 0.0)
    yield Question("texts", list(TEXTS), list(TEXTS))


def asked(record: Any, model: Any, file_size: int) -> Any:
    """Return the rows of a header as a model takes them; RefusalError if they are none.

    None for a frame where there are no frames: pandas, with which they were made, is not needed to
    predict from arrays.
    """
    most = 2 * rows_allowed(file_size)  # the header is a part of the file now
    try:
        if record == "texts":
            return list(TEXTS)
        if isinstance(record, list):
            return _of_text(record, most)
        ((kind, content),) = record.items()
        if not find_spec("pandas"):
            return None
        if kind == "named":
            return _named(_of_text(content, most), _names(model))
        return _frame(content, most)
    except (TypeError, ValueError, AttributeError, KeyError):
        raise RefusalError("the rows to try it on are none") from None


class _Source:
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
            if _is_numeric(value) and value.ndim == 2 and value.shape[1] == n and value.shape[0]:
                if id(value) not in self._lines and len(self._lines) < MOST_LINES:
                    some = value[:: -(-value.shape[0] // MOST_LINES)]
                    dense = some.toarray() if sp.issparse(some) else np.asarray(some)
                    self._lines[id(value)] = dense.astype(np.float64)
        for centre, spread in CENTRES.items():
            pair: Any = (state.get(centre), state.get(spread))
            fits = all(_is_numeric(value) and value.shape == (n,) for value in pair)
            if fits and len(self._scales) < MOST_ROWS:
                self._scales.append(pair)
        for column, known in enumerate(state.get("categories_", [])):
            self._add(column, known)
        if type(part).__name__ == "Tree":
            self._add_thresholds(part.feature, part.threshold)
        elif type(part).__name__ == "TreePredictor":
            self._add_thresholds(part.nodes["feature_idx"], part.nodes["num_threshold"])

    def _add_thresholds(self, features: Any, thresholds: Any) -> None:
        for column in np.unique(features[features >= 0]).tolist():
            self._add(column, thresholds[features == column])

    def _add(self, column: int, values: Any) -> None:
        if _is_numeric(values) and values.size and column < self._shape[1]:
            self._pools.setdefault(column, []).append(np.ravel(values)[:MOST_LINES].astype(float))

    def between(self) -> Floats:
        """Return rows of each kind in turn, none of them exactly where the model has one."""
        kinds = [self._random.normal(size=self._shape)]
        lines = np.vstack([np.zeros((0, self._shape[1])), *self._lines.values()])
        lines = lines[np.isfinite(lines).all(axis=1)]
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

    def known(self) -> Floats:
        """Return rows of numbers that columns have in the model, 0 where none is known."""
        rows = np.zeros(self._shape)
        for column, values in self._pools.items():
            rows[:, column] = self._random.choice(np.concatenate(values), size=self._shape[0])
        return rows


def _is_numeric(value: Any) -> bool:
    return (isinstance(value, np.ndarray) or sp.issparse(value)) and value.dtype.kind in "fiub"


def _told(model: Any, name: str) -> Any:
    try:
        return getattr(model, name)
    except Exception:  # a search or pipeline that is not fitted asks what is not there
        return None


def _takes_gaps(model: Any) -> bool:
    try:
        return bool(get_tags(model).input_tags.allow_nan)
    except Exception:  # not all that can be saved has tags
        return False


def _with_gaps(numbers: Floats) -> Floats:
    """Return a copy in which every fourth row lacks a number."""
    numbers = numbers.copy()
    rows = np.arange(3, len(numbers), 4)
    numbers[rows, rows // 4 % numbers.shape[1]] = np.nan
    return numbers


def _three_digits(numbers: Floats) -> Floats:
    return np.array([[float(f"{value:.3g}") for value in row] for row in numbers])


def _shaken(numbers: Floats, share: float) -> Floats:
    signs = np.random.default_rng(1).choice([-share, share], size=numbers.shape)
    return numbers * (1.0 + signs)


def _of_numbers(numbers: Floats, share: float, names: list[str] | None = None) -> Question:
    """Return rows of numbers, in a frame if the columns have names."""
    lines = [" ".join(map(repr, row)) for row in numbers.tolist()]
    if names is None:
        return Question(lines, numbers, _shaken(numbers, share))
    shaken = _named(_shaken(numbers, share), names)
    return Question({"named": lines}, _named(numbers, names), shaken)


def _names(model: Any) -> list[str] | None:
    names = _told(model, "feature_names_in_")
    if not isinstance(names, np.ndarray) or not all(isinstance(name, str) for name in names):
        return None
    return list(names.tolist())


def _named(numbers: Floats, names: list[str] | None) -> Any:
    import pandas as pd

    if names is None:
        raise ValueError
    return pd.DataFrame(numbers, columns=names)


def _of_text(lines: list[str], most: int) -> Floats:
    if not 0 < len(lines) <= most or not all(isinstance(line, str) for line in lines):
        raise ValueError
    return np.array([[float(word) for word in line.split()] for line in lines])


def _of_columns(columns: dict[str, dict[str, Any]]) -> Question:
    shaken = {
        name: {"number": _shaken(np.array(kind["number"]), SHAKEN)} if "number" in kind else kind
        for name, kind in columns.items()
    }
    return Question({"columns": columns}, _frame(columns, MOST_ROWS), _frame(shaken, MOST_ROWS))


def _columns(names: list[str], parts: list[Any], numbers: Floats) -> dict[str, dict[str, Any]]:
    """Return numbers, words and dates for columns, as far as the parts tell which they are."""
    kinds: dict[str, dict[str, Any]] = {}
    days = [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(len(numbers))]
    for state in map(kept, parts):
        for kind, found in dict(state.get("kind_to_columns_", {})).items():
            if kind != "numeric":
                rows = {"date": days} if kind == "datetime" else {"word": _words([], len(days))}
                kinds |= {name: rows for name in found if name not in kinds or kind == "datetime"}
        known = state.get("feature_names_in_", [])
        for name, words in zip(known, state.get("categories_", []), strict=False):
            if getattr(words, "dtype", np.dtype(float)).kind in "OU":
                kinds[name] = {"word": _words(words.tolist(), len(days))}
    return {
        name: kinds.get(name, {"number": numbers[:, column].tolist()})
        for column, name in enumerate(names)
    }


def _words(known: list[Any], count: int) -> list[str]:
    some = [word for word in known if isinstance(word, str)] or list(TEXTS)
    return [some[k % len(some)] for k in range(count)]


TYPES = {"number": np.float64, "date": "datetime64[us]", "word": object}


def _frame(columns: dict[str, dict[str, Any]], most: int) -> Any:
    import pandas as pd

    found = {}
    for name, described in columns.items():
        ((kind, values),) = described.items()
        words = kind == "number" or all(isinstance(value, str) for value in values)
        if not 0 < len(values) <= most or not words:
            raise ValueError
        found[name] = np.array(values, dtype=TYPES[kind])  # type: ignore[call-overload]
    return pd.DataFrame(found)
