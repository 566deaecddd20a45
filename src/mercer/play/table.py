"""A table of two columns of numbers and a class, to points of the page."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mercer.play._catalogue import FARTHEST, MOST_CLASSES, MOST_POINTS
from mercer.play._question import Wanted, shown
from mercer.play._source import find_source
from mercer.tables import InputError, Table, TableModel, read_unlabelled, suggestion

DIGITS = 6
"""Of coordinates, in units of the deviation."""

PLACE = "table.csv"
"""Where the text of a page is put to be read; the page calls it by another name."""


def table_of(given: Mapping[str, Any], is_wanted: Wanted) -> dict[str, Any]:
    """Return the points of a table whose text the page has sent; no path comes from there."""
    text = given.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError("The table must be text with columns, and there is none.")
    name = _name(given, "name") or PLACE
    encoding = _name(given, "encoding")
    chosen = [_name(given, key) for key in ("across", "up", "target")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / PLACE
        path.write_text(text, encoding="utf-8")
        try:
            found = _points_of(path, *chosen)
        except InputError as error:
            raise InputError(str(error).replace(repr(PLACE), shown(name))) from None
    if encoding == "cp1252":  # what the page has made UTF-8 of
        found["source"]["options"]["encoding"] = encoding
    found["source"]["file"] = name
    return found


def table_in(
    path: Any, across: str | None = None, up: str | None = None, target: str | None = None
) -> dict[str, Any]:
    """Return the points of a table in a file, for the page to begin with.

    Coordinates are in units of the deviation of their column, so that a width that suits one suits
    the other; the page writes the numbers of the table beside its axes.

    Parameters
    ----------
    path : path-like
        Text with separators, Parquet, Excel (.xlsx) or svmlight, as for `mercer.tables.read_table`.
    across, up : str or None, default=None
        Columns of numbers; None takes the first two.
    target : str or None, default=None
        The column with the class, of 2 to 8 values; None takes the last one that may be it, words
        before numbers, and "" none.

    Returns
    -------
    dict
        What `serve` takes as ``start``: points, labels, names of the classes and of the columns.

    Raises
    ------
    InputError
        In one sentence, whatever is wrong with the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.play import table_in
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "irises.csv"
    ...     _ = path.write_text("length,width,kind\\n1.4,2,a\\n4.7,4,b\\n6.0,5,b\\n1.3,3,a\\n")
    ...     found = table_in(path)
    >>> found["notice"], found["labels"], found["names"]
    ("Across 'length', up 'width', class 'kind'.", [0, 1, 1, 0], ['a', 'b'])
    """
    path = Path(path)
    return _points_of(path, across, up, target) | {"title": path.name[:60]}


def _name(given: Mapping[str, Any], key: str) -> str | None:
    name = given.get(key)
    if name is not None and not isinstance(name, str):
        raise InputError(f"The column for {key} must be a name; got {shown(name)}.")
    return name


def _points_of(
    path: Path, across: str | None, up: str | None, target: str | None
) -> dict[str, Any]:
    """Return points in units of the deviation of each column, labels, names and what was taken."""
    table = read_unlabelled(path, dates=True)
    frame, first, second, choice = table.frame, *_chosen(table, across, up, target)
    numbers = _numbers(table)
    asked = frame[list(dict.fromkeys([first, second, choice or first]))]
    kept = asked.dropna()
    notices = (
        [] if len(kept) == len(frame) else [f"{len(frame) - len(kept)} rows with gaps left out."]
    )
    if len(kept) > MOST_POINTS:
        notices.append(f"{MOST_POINTS} of {len(kept)} rows, drawn at random.")
        kept = kept.sample(MOST_POINTS, random_state=0).sort_index()
    if len(kept) < 2:
        raise InputError("The table must have two rows at least that have no gaps.")
    codes, names = np.zeros(len(kept), dtype=int), None
    if choice is not None:
        values, codes = np.unique(kept[choice].to_numpy(), return_inverse=True)
        names = [f"{one:g}" if choice in numbers else str(one) for one in values]
    values = kept[[first, second]].to_numpy(dtype=np.float64)
    center, scale = values.mean(axis=0), values.std(axis=0)
    scale[scale == 0] = 1.0
    points = np.clip(((values - center) / scale).round(DIGITS), -FARTHEST, FARTHEST)
    axes = [
        {"name": str(name), "center": float(c), "scale": float(s)}
        for name, c, s in zip((first, second), center, scale)
    ]
    source = find_source(path, asked, first, second, choice)
    source |= dict(zip(("across", "up"), axes))
    axes = [axis | {"name": str(axis["name"])[:60]} for axis in axes]
    taken = f"Across {shown(first)}, up {shown(second)}"
    notices.insert(0, taken + (f", class {shown(choice)}." if choice is not None else "."))
    return {
        **{"points": points.tolist(), "labels": codes.tolist(), "names": names, "axes": axes},
        **{"notice": " ".join(notices), "across": first, "up": second, "target": choice},
        **{"columns": numbers, "targets": _candidates(frame), "title": "table"},
        "source": source,
    }


def _numbers(table: Table) -> list[str]:
    kinds = TableModel.of(None, table).columns
    return [name for name, kind in kinds.items() if kind == "number"]


def _chosen(
    table: Table, across: str | None, up: str | None, target: str | None
) -> tuple[str, str, str | None]:
    """Return the columns across, up and of the class, if there is one."""
    numbers = _numbers(table)
    choice = _chosen_target(table, numbers, target)
    free = [name for name in numbers if name not in (choice, across, up)]
    first = _known(across, numbers) if across else (free.pop(0) if free else None)
    second = _known(up, numbers) if up else (free.pop(0) if free else None)
    if first is None or second is None or first == second:
        raise InputError(
            "The table must have two columns of numbers, beside the class if there is one."
        )
    return first, second, choice


def _known(name: str, names: list[str]) -> str:
    if name not in names:
        hint = suggestion(name, names)
        hint = f"; there are {', '.join(names)}." if hint == "." else hint
        raise InputError(f"There is no column of numbers {shown(name)}{hint}")
    return name


def _candidates(frame: Any) -> list[str]:
    """Return the columns of few values, which may be classes."""
    return [name for name in frame if 2 <= frame[name].nunique() <= MOST_CLASSES]


def _chosen_target(table: Table, numbers: list[str], target: str | None) -> str | None:
    """Return the class: words before numbers, the last before the first; "" is none."""
    frame, candidates = table.frame, _candidates(table.frame)
    if target == "":
        return None
    if target is not None:
        if target not in [*frame, *table.left_out]:
            hint = suggestion(target, [*frame])
            hint = f" (there are {', '.join(map(shown, frame))})." if hint == "." else hint
            raise InputError(f"There is no column {shown(target)} for target{hint}")
        if target not in candidates:
            raise InputError(
                f"The class must be a column of 2 to {MOST_CLASSES} values; got {shown(target)}."
            )
        return target
    words = [name for name in candidates if name not in numbers]
    codes = (
        [name for name in candidates if (frame[name].dropna() % 1 == 0).all()] if not words else []
    )
    found = words or (codes if len(numbers) > 2 else [])
    return found[-1] if found else None
