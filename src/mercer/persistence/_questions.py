"""Rows about which a model is asked when it is saved, and again when it is loaded.

They are made of the numbers of the model itself, so that they lie where its answers vary: between
rows that it holds, around the means of its columns, beside the thresholds of its trees, and some
beyond all of these; words are those that it knows, others, and gaps. They have three digits, since
they stand in the header of a file as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from mercer.persistence._header import plain
from mercer.persistence._numbers_inside import Floats, NumbersInside, is_numeric
from mercer.persistence._words import TEXTS, Described, described_columns, is_short, texts_of
from mercer.persistence.errors import RefusalError

MOST_ROWS, FEWEST_ROWS = 32, 4
MOST_NUMBERS = 2000
"""In the rows of a model of many columns, if these are no more than the fewest."""

FREE = 2**22
"""Bytes of a file times rows; kernel values of all rows of a large model would outgrow it."""

SHAKEN = 1e-13
"""Share by which numbers are changed to see whether an answer depends on rounding."""


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
        source = NumbersInside(parts, int(n_columns), count)
        between = _three_digits(source.between())
        wide = np.vstack([between, _three_digits(source.beyond())])
        names = _names(model) if find_spec("pandas") else None
        yield from _of_described(names, parts, wide, between)
        kinds = [*([_with_gaps(wide)] if _takes_gaps(model) else []), wide, np.abs(wide)]
        kinds += [between, np.abs(between), _three_digits(source.near())]
        for form in [None] if names is None else [names, None]:
            for numbers in kinds:
                yield _of_numbers(numbers, SHAKEN, form)
        yield _of_numbers(source.known(), 0.0)
    texts = texts_of(parts)
    of_texts = Question({"texts": texts}, texts, texts)
    reads_texts = any("decode_error" in vars(p) for p in parts if hasattr(p, "__dict__"))
    yield from [of_texts] if reads_texts else _of_other_forms(model, parts)


def _of_described(
    names: list[str] | None, parts: list[Any], wide: Floats, between: Floats
) -> Iterator[Question]:
    """Yield rows with words, codes or dates, if the parts of a model know any."""
    if not find_spec("pandas"):
        return
    for numbers, strange in ((_with_gaps(wide), True), (wide, True), (between, False)):
        count, n = numbers.shape
        described = described_columns(names, n, parts, count, strange)
        columns = {
            names[k] if names is not None else str(k): described.get(
                k, {"number": numbers[:, k].tolist()}
            )
            for k in range(n)
        }
        if described:
            yield _of_columns(columns, "objects" if names is None else "columns")


def _of_other_forms(model: Any, parts: list[Any]) -> Iterator[Question]:
    """Yield what takes no rows of columns: numbers in a line, labels, dictionaries."""
    ends = _told(model, "X_thresholds_")
    if is_numeric(ends) and ends.ndim == 1 and ends.size:
        line = _three_digits(np.linspace(ends.min(), ends.max(), MOST_ROWS)[:, None])
        words = " ".join(map(repr, line.ravel().tolist()))
        yield Question({"line": words}, line.ravel(), _shaken(line, SHAKEN).ravel())
    for kind, known in (("labels", _told(model, "classes_")), ("names", _names_inside(parts))):
        if isinstance(known, list | np.ndarray) and len(known):
            some = [plain(value) for value in known[: 2 * MOST_ROWS]]
            with suppress(ValueError):  # of several outputs
                yield Question({kind: some}, _of_values(kind, some), _of_values(kind, some))


def _names_inside(parts: list[Any]) -> Any:
    """Return the names that the dictionaries of a model may have, wherever they are read in it."""
    states = [vars(part) for part in parts if hasattr(part, "__dict__")]
    known = [state["feature_names_"] for state in states if "feature_names_" in state]
    # A hasher takes any names, and knows none.
    return [*known, *(list(TEXTS) for state in states if "input_type" in state), None][0]


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
        if kind == "line":
            return _of_text(content.split(), MOST_ROWS).ravel()
        if kind in ("texts", "labels", "names"):
            return _of_values(kind, content)
        if not find_spec("pandas"):
            return None
        if kind == "named":
            return _named(_of_text(content, most), _names(model))
        return {"columns": _frame, "objects": _objects}[kind](content, most)
    except (TypeError, ValueError, AttributeError, KeyError):
        raise RefusalError("the rows to try it on are none") from None


def _of_values(kind: str, values: Any) -> Any:
    """Return texts, labels, or dictionaries with one name each."""
    known = all(is_short(v) or (kind == "labels" and isinstance(v, int | float)) for v in values)
    if not 0 < len(values) <= 2 * MOST_ROWS or not known:
        raise ValueError
    return [{name: 1.0} for name in values] if kind == "names" else list(values)


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


def _of_columns(columns: dict[str, Described], kind: str) -> Question:
    shaken = {
        name: {"number": _shaken(np.array(held["number"]), SHAKEN)} if "number" in held else held
        for name, held in columns.items()
    }
    form = _frame if kind == "columns" else _objects
    return Question({kind: columns}, form(columns, 2 * MOST_ROWS), form(shaken, 2 * MOST_ROWS))


TYPES = {"number": np.float64, "code": np.float64, "date": "datetime64[us]", "word": object}


def _frame(columns: dict[str, Any], most: int) -> Any:
    import pandas as pd

    found = {}
    for name, described in columns.items():
        ((kind, values),) = described.items()
        gaps = kind == "word"
        words = kind in ("number", "code") or all(
            is_short(value) or (gaps and value is None) for value in values
        )
        if not 0 < len(values) <= most or not words:
            raise ValueError
        found[name] = np.array(values, dtype=TYPES[kind])  # type: ignore[call-overload]
    return pd.DataFrame(found)


def _objects(columns: dict[str, Any], most: int) -> Any:
    """Return a matrix of numbers and words, as of a table without names."""
    return _frame(columns, most).to_numpy(dtype=object)
