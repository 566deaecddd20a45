"""Words, codes and dates of columns about which a model is asked, as far as its parts tell them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np

from mercer.persistence._sound import kept, parts

Described = dict[str, list[Any]]
"""What a column holds: a kind ("number", "code", "word" or "date") and the values."""

TEXTS = ("one more line of text", "a second text: the model may know none of its words", "x")
"""Texts that owe nothing to a file."""

MOST_TEXTS, MOST_WORDS = 13, 20
"""Lines of words that a model knows, and words in each."""

MOST_SIGNS = 200
"""Of a text; all pieces of a long one would take the square of its length."""


def reads_files(found: list[Any]) -> bool:
    """Say whether a model takes texts for names of files, which nobody should open to try it."""
    return any(vars(part).get("input") in FILES for part in found if hasattr(part, "__dict__"))


FILES = ("filename", "file")


def is_short(value: Any) -> bool:
    """Say whether this is a text that anyone may ask a model about."""
    return isinstance(value, str) and len(value) <= MOST_SIGNS


def texts_of(found: list[Any]) -> list[str]:
    """Return lines of words that a model knows, and others."""
    known = [vars(part).get("vocabulary_") for part in found if hasattr(part, "__dict__")]
    words = sorted(w for each in known if isinstance(each, dict) for w in each if type(w) is str)
    lines = [" ".join(words[k::MOST_TEXTS][:MOST_WORDS])[:MOST_SIGNS] for k in range(MOST_TEXTS)]
    return [*TEXTS, *filter(None, lines)]


def described_columns(
    names: list[str] | None, n_columns: int, found: list[Any], count: int, strange: bool
) -> dict[int, Described]:
    """Return the columns that are not just numbers.

    Parameters
    ----------
    names : list of str or None
    n_columns : int
    found : list
        The parts of a model.
    count : int
        Rows.
    strange : bool
        Whether gaps and words that the model does not know are among them.
    """
    columns: dict[int, Described] = {}
    places = {name: place for place, name in enumerate(names or [])}
    for part in found:
        state = kept(part)
        for kind, chosen in dict(state.get("kind_to_columns_", {})).items():
            for place in (places[name] for name in chosen if name in places):
                if kind == "datetime":
                    columns[place] = {"date": _days(count)}
                elif kind != "numeric":
                    columns.setdefault(place, {"word": _words([], count, strange)})
        for place, known in _known(part, state, places, n_columns):
            columns[place] = _of_known(known, count, strange)
        for place, inner in _chosen(state, places, n_columns):
            if any("vocabulary_" in kept(each) for each in inner):
                texts = texts_of(inner)
                columns[place] = {"word": [texts[k % len(texts)] for k in range(count)]}
    return columns


def _known(part: Any, state: dict[str, Any], places: Any, n: int) -> Iterator[tuple[int, Any]]:
    """Yield the columns of which an encoder knows the values."""
    known, names = state.get("categories_", []), state.get("feature_names_in_")
    if names is not None:
        yield from ((places[name], k) for name, k in zip(names, known) if name in places)
    elif len(known) == n:
        yield from enumerate(known)
    for inner, columns in _transformers(state):
        chosen = _places(columns, places, n)
        for each in parts(inner):
            some = kept(each).get("categories_", [])
            if len(some) == len(chosen) and "feature_names_in_" not in kept(each):
                yield from zip(chosen, some)


def _chosen(state: dict[str, Any], places: Any, n: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield the columns that a transformer of single columns takes, and its parts."""
    for inner, columns in _transformers(state):
        if isinstance(columns, str | int):
            for place in _places(columns, places, n):
                yield place, list(parts(inner))


def _transformers(state: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the transformers of some columns, and the columns."""
    found = state.get("transformers_")
    known = [each for each in found if len(each) == 3] if isinstance(found, list) else []
    return [(inner, columns) for name, inner, columns in known if name != "remainder"]


def _places(columns: Any, places: dict[str, int], n: int) -> list[int]:
    """Return the numbers of columns that are chosen by name, number, truth value or slice."""
    columns = [columns] if isinstance(columns, str | int) else columns
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop, columns.step)
        return list(range(n))[columns] if all(isinstance(e, int | None) for e in ends) else []
    chosen = list(columns)
    if any(isinstance(each, bool | np.bool_) for each in chosen):
        return np.flatnonzero(chosen).tolist()
    found = [places.get(each, -1) if isinstance(each, str) else int(each) for each in chosen]
    return [place for place in found if 0 <= place < n]


def _of_known(known: Any, count: int, strange: bool) -> Described:
    if getattr(known, "dtype", np.dtype(object)).kind == "M":
        return {"date": _days(count)}
    values = known.tolist() if isinstance(known, np.ndarray) else list(known)
    codes = [float(value) for value in values if isinstance(value, Real) and value == value]
    if codes:
        return {"code": [codes[k % len(codes)] for k in range(count)]}
    return {"word": _words(values, count, strange)}


def _days(count: int) -> list[str]:
    return [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(count)]


def _words(known: list[Any], count: int, strange: bool) -> list[str | None]:
    """Return known words in turn; every eighth is a gap or another word if it may be strange."""
    some = [word for word in known if is_short(word)] or list(TEXTS)
    words: list[str | None] = [some[k % len(some)] for k in range(count)]
    if strange:
        words[6::16], words[14::16] = [None] * len(words[6::16]), [TEXTS[1]] * len(words[14::16])
    return words
