"""What the caller says about a table, and which columns the words mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mercer.tables.errors import InputError, listed, shown, suggestion

TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Options:
    """The keywords of `read_table` and `as_table` that are about the meaning of columns."""

    target: str | int | None = None
    task: str | None = None
    drop: Sequence[str] = field(default_factory=tuple)
    categorical: Sequence[str] = field(default_factory=tuple)
    positive: Any = None
    groups: Any = None
    time: Any = None

    @classmethod
    def checked(cls, **given: Any) -> Options:
        """Return options whose form is right; names are looked up later."""
        task = given["task"]
        if task is not None and task not in TASKS:
            hint = suggestion(str(task), TASKS)
            raise InputError(
                f"The task is 'classification' or 'regression', not {shown(task)}{hint}"
            )
        for name in ("drop", "categorical"):
            given[name] = _words(given[name], name)
        return cls(**given)

    def text_columns(self, names: list[str]) -> list[str]:
        """Return the columns whose cells must stay as they are written."""
        wanted = [self.target, *self.categorical, self.groups]
        found = (find_column(each, names) for each in wanted if isinstance(each, (str, int)))
        return [name for name in found if name is not None]


def _words(given: Any, name: str) -> tuple[Any, ...]:
    if given is None:
        return ()
    if isinstance(given, (str, int)):
        return (given,)
    if not isinstance(given, Iterable):
        raise InputError(f"`{name}` takes names of columns; got {shown(given)}.")
    return tuple(given)


def find_column(given: object, names: Sequence[str]) -> str | None:
    """Return the column of a name or a place: "age", -1 or "-1" for the last, "c2" for the second.

    A name that a column has comes before a place.
    """
    if isinstance(given, str) and given in names:
        return given
    place: int | None = None
    if isinstance(given, int) and not isinstance(given, bool):
        place = given
    elif isinstance(given, str) and re.fullmatch(r"-\d{1,6}", given):
        place = int(given)
    elif isinstance(given, str) and re.fullmatch(r"c[1-9]\d{0,5}", given):
        place = int(given[1:]) - 1
    if place is None or not -len(names) <= place < len(names):
        return None
    return names[place]


def column(given: object, names: Sequence[str], what: str) -> str:
    """Return the column that is meant, or say which one could have been meant."""
    found = find_column(given, names)
    if found is not None:
        return found
    hint = suggestion(str(given), names)
    if hint == ".":
        hint = f" (there {'is' if len(names) == 1 else 'are'} {listed(names, 6)})."
    raise InputError(f"There is no column {shown(given)} for {what}{hint}")
