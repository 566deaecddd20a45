"""The file that points are of: how the code reads it, so that it has the rows of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mercer.play._catalogue import MOST_POINTS
from mercer.play._question import number_of
from mercer.tables import InputError

READERS = {".parquet": "read_parquet", ".pq": "read_parquet", ".xlsx": "read_excel"}
"""Of pandas, by the ending of the file; other files are text."""

ALL_READERS = {*READERS.values(), "read_csv", "read_unlabelled"}

SEPARATORS = (",", ";", "\t", "|")
FORMS = ("", "text", "place")
"""A class as it stands in the table, as text, or as the place of its number among the others."""

OPTIONS = {"sep": SEPARATORS, "decimal": (",",), "encoding": ("cp1252",)}
"""What the code may tell the reader."""

LONGEST = 1000
"""Characters of a name."""


@dataclass(frozen=True)
class Axis:
    """A column, and what it is less its mean in units of its deviation.

    Parameters
    ----------
    name : str
    center, scale : float
    """

    name: str
    center: float
    scale: float


@dataclass(frozen=True)
class Source:
    """A file and what of it the points are.

    Parameters
    ----------
    file : str
        Its name, or the way to it.
    reader : str
        A function of pandas, or "read_unlabelled" of `mercer.tables`.
    across, up : Axis
    target : str or None
        The column of the class.
    form : {"", "text", "place"}
        What is done to it before it is learned.
    first : str, int, float, bool or None
        The class with the label 0.
    gaps, sampled : bool
        Whether rows with gaps are left out, and many rows drawn from.
    whole : bool
        Whether the points are those of the file, and none was moved.
    options : dict of str to str
        For the reader.
    """

    file: str
    reader: str
    across: Axis
    up: Axis
    target: str | None
    form: str
    first: Any
    gaps: bool
    sampled: bool
    whole: bool
    options: dict[str, str]


def find_source(path: Path, frame: Any, across: str, up: str, target: str | None) -> dict[str, Any]:
    """Return the plainest way to read a file that gives the same rows, for the page to keep.

    Parameters
    ----------
    path : Path
    frame : DataFrame
        The columns in question, as the page has them.
    across, up, target : str
        Their names.
    """
    kept = frame.dropna()
    for reader, options, read in chain(
        _readings(path, list(frame)), [("read_unlabelled", dict[str, str](), frame)]
    ):
        rows = read.dropna()
        form = _form_of(rows, kept, target) if _has_numbers(rows, kept, (across, up)) else None
        if form is not None:
            return {
                **{"file": str(path), "reader": reader, "options": options, "target": target},
                **{"form": form[0], "first": form[1], "gaps": len(rows) < len(read)},
                "sampled": len(rows) > MOST_POINTS,
            }
    raise RuntimeError("A table is not what it was read as.")


def _readings(path: Path, names: list[str]) -> Iterator[tuple[str, dict[str, str], Any]]:
    """Yield what pandas makes of a file, by the ways to read it that find all columns."""
    import pandas as pd

    reader = READERS.get(path.suffix.lower(), "read_csv")
    ways: list[dict[str, str]] = [{}]
    if reader == "read_csv":
        ways = [{}, *({"sep": sep} for sep in SEPARATORS[1:])]
        ways += [way | {"encoding": "cp1252"} for way in ways]
    for way in ways:
        for more in ({}, {"decimal": ","}) if way.get("sep") == ";" else ({},):
            with suppress(ValueError, OSError, ImportError, KeyError):
                yield reader, way | more, _read(pd, reader, path, names, way | more)


def _read(pd: Any, reader: str, path: Path, names: list[str], options: dict[str, str]) -> Any:
    if reader != "read_csv":
        return getattr(pd, reader)(path)[names]
    if not set(names) <= set(pd.read_csv(path, nrows=0, **options).columns):
        raise KeyError(names)
    return pd.read_csv(path, usecols=names, low_memory=False, **options)[names]


def _has_numbers(rows: Any, kept: Any, columns: tuple[str, str]) -> bool:
    """Return whether rows have the numbers that are wanted, in the same order."""
    if len(rows) != len(kept) or any(rows[name].dtype.kind not in "iuf" for name in columns):
        return False
    return all(np.allclose(rows[name], kept[name], rtol=1e-12, atol=0) for name in columns)


def _form_of(rows: Any, kept: Any, target: str | None) -> tuple[str, Any] | None:
    """Return in which form a class is the one of the page, and what the first of them is."""
    if target is None:
        return "", None
    codes = np.unique(kept[target].to_numpy(), return_inverse=True)[1]
    for form in FORMS:
        with suppress(TypeError, ValueError):
            values = classes_in(rows[target], form).to_numpy()
            found, own = np.unique(values, return_inverse=True)
            is_amount = found.dtype.kind == "f" and bool((found % 1 != 0).any())
            if np.array_equal(own, codes) and not is_amount:
                first = found[0]
                return form, first.item() if hasattr(first, "item") else first
    return None


def classes_in(column: Any, form: str) -> Any:
    """Return a column in one of the forms; the code that does the same stands beside it."""
    if form == "text":
        return column.astype(str)
    return column.rank(method="dense").astype(int) - 1 if form == "place" else column


def code_of_classes(source: Source) -> str:
    """Return the code for the classes in a table."""
    code = f"table[{source.target!r}]"
    more = {"": "", "text": ".astype(str)", "place": '.rank(method="dense").astype(int) - 1'}
    return code + more[source.form]


def source_of(given: Any) -> Source | None:
    """Return the file in what a page has sent, or refuse it in a sentence."""
    if given is None:
        return None
    sentence = "The file that points are of must be told as the table was."
    if not isinstance(given, Mapping):
        raise InputError(sentence)
    options = given.get("options")
    if not isinstance(options, Mapping) or not all(
        isinstance(value, str) and value in OPTIONS.get(name, ()) for name, value in options.items()
    ):
        raise InputError(sentence)
    text = [given.get(key) for key in ("file", "reader", "form")]
    texts = [*text, given.get("target") or ""]
    flags = [given.get(key) for key in ("gaps", "sampled", "whole")]
    first = given.get("first")
    plain = all(isinstance(one, str) and len(one) <= LONGEST for one in texts)
    plain = plain and all(isinstance(one, bool) for one in flags)
    plain = plain and isinstance(first, str | int | float | None)
    if not plain or text[1] not in ALL_READERS or text[2] not in FORMS:
        raise InputError(sentence)
    axes = [_axis(given.get(key), sentence) for key in ("across", "up")]
    told: dict[str, Any] = dict(zip(("file", "reader", "form"), text))
    told |= dict(zip(("gaps", "sampled", "whole"), flags)) | dict(zip(("across", "up"), axes))
    target = given.get("target") or None
    return Source(**told, target=target, first=first, options=dict(options))


def _axis(given: Any, sentence: str) -> Axis:
    name = given.get("name") if isinstance(given, Mapping) else None
    if not isinstance(name, str) or len(name) > LONGEST:
        raise InputError(sentence)
    center, scale = (
        number_of(given.get(key), lambda: sentence[:-1]) for key in ("center", "scale")
    )
    return Axis(name, center, scale)
