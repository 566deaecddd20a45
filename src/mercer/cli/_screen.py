"""What commands say: lines on the screen, notes beside, and how far the work is."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOBase
from typing import TYPE_CHECKING, Any

from mercer._numbers import number

if TYPE_CHECKING:
    from mercer.tables import Table

FILE_WIDTH = 110
"""Characters in a line where the output goes to a file and COLUMNS does not say otherwise."""

PAUSE = 10.0
"""Seconds between two lines of progress where there is no window for a bar."""

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Signs that move, colour or turn round what a terminal shows."""

Show = Callable[[int, int, str], None]
"""Told how much is done, of how much (0 if that is not known), and what comes next."""


def printable(text: str) -> str:
    r"""Return text with a mark for each sign by which data could steer a terminal.

    Examples
    --------
    >>> printable("age\x1b[31m")
    'age�[31m'
    """
    return STEERING.sub("\ufffd", text)


def echo(text: str, *, err: bool = False) -> None:
    """Print a line as it is, where no console of rich is needed."""
    import typer

    typer.echo(printable(text), err=err)


class Screen:
    """Where the answer goes (`out`), and where notes and progress go (`side`)."""

    def __init__(self) -> None:
        from mercer.cli._console import PlainConsole

        self.out, self.side = PlainConsole(), PlainConsole(stderr=True)
        if not self.out.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
            self.out.width = FILE_WIDTH

    def say(self, sentence: str) -> None:
        """Print a sentence of the answer, broken between words in a window only."""
        self.out.print(sentence, soft_wrap=not self.out.is_terminal, markup=False)

    def show(self, table: Any) -> None:
        """Print a table of rich."""
        self.out.print(table)

    def answer(self, table: Any, sentences: Iterable[str]) -> None:
        """Print a table of rich, if there is one, and what there is to say of it."""
        if table is not None:
            self.show(table)
        for sentence in sentences:
            self.say(sentence)

    def note(self, text: str) -> None:
        """Print what was done to the data, or must be known."""
        from rich.text import Text

        self.side.print(Text.assemble(("note: ", "yellow"), text), soft_wrap=True)

    def written(self, *paths: Any) -> None:
        """Tell which files there are now."""
        names = ", ".join(str(path) for path in paths if path is not None)
        self.out.print(f"Written: {names}", soft_wrap=True, markup=False)

    def introduce(self, table: Table, *, folds: bool = True) -> None:
        """Tell what a table holds, and what was done to it, in the folds or beforehand."""
        for notice in table.notices:
            self.note(notice if folds else without_folds(notice))
        self.out.print(headline(table), soft_wrap=True, markup=False)


def without_folds(notice: str) -> str:
    """Return a note on gaps for where they are filled once, on all rows.

    Examples
    --------
    >>> without_folds("2 gaps: they become, fold by fold, the median of the training rows.")
    '2 gaps: they become the median of their column.'
    """
    in_folds = "become, fold by fold, the median of the training rows"
    return notice.replace(in_folds, "become the median of their column")


def headline(table: Table) -> str:
    """Return rows, columns and target of a table in a line.

    Examples
    --------
    >>> from mercer.tables import named_table
    >>> headline(named_table("moons"))
    'moons: 300 rows, 2 columns, 2 classes (A 150, B 150)'
    """
    rows, columns = table.frame.shape
    start = f"{table.name}: {rows} rows, {columns} column{'s' * (columns != 1)}"
    if table.task == "regression":
        low, high = table.target.min(), table.target.max()
        return f"{start}, {table.target.name or 'target'} from {number(low)} to {number(high)}"
    counts = table.class_counts()
    if not counts:
        return start
    shown = [f"{name} {count}" for name, count in list(counts.items())[:6]]
    more = ", …" if len(counts) > 6 else ""
    return f"{start}, {len(counts)} classes ({', '.join(shown)}{more})"


def cell(value: Any) -> str:
    """Return a value of a table as it is read, with a word for a gap.

    Examples
    --------
    >>> import pandas as pd
    >>> cell(0.123456), cell(float("nan")), cell(pd.Timestamp("2024-05-06")), cell("x")
    ('0.1235', 'missing', '2024-05-06', 'x')
    """
    import pandas as pd

    if pd.isna(value):
        return "missing"
    if isinstance(value, pd.Timestamp):
        return str(value.date()) if value == value.normalize() else str(value)
    return number(value) if isinstance(value, float) else str(value)


@contextmanager
def progress(side: Any, minutes: float | None = None) -> Iterator[Show]:
    """Yield what shows progress: a bar in a window, now and then a line elsewhere.

    Parameters
    ----------
    side : Console
    minutes : float or None, default=None
        What the work keeps to: the time left is no more than what is left of it, nor than what
        the pace so far promises.
    """
    begun = last = time.monotonic()

    def left(done: int, total: int) -> str:
        passed = time.monotonic() - begun
        limits = [] if minutes is None else [max(0.0, 60 * minutes - passed)]
        if done:
            limits.append(passed / done * (total - done))
        return f", about {_span(min(limits))} left" if limits else ""

    if not side.is_terminal:

        def line(done: int, total: int, text: str) -> None:
            nonlocal last
            if time.monotonic() - last >= PAUSE:
                last = time.monotonic()
                count = f"{done} of {total} done, " if total else ""
                side.print(f"{count}{text}{left(done, total)}", soft_wrap=True, markup=False)

        yield line
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*parts, console=side, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(done: int, total: int, text: str) -> None:
            said = f"{text}{left(done, total)}"
            bar.update(task, completed=done, total=total or None, description=said)

        yield show


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


@contextmanager
def told_by_lines(show: Show) -> Iterator[None]:
    """Take what estimators print with ``verbose`` for progress; "3 of 5" moves the bar."""
    with redirect_stdout(_Lines(show)):
        yield


class _Lines(TextIOBase):
    """A file whose lines are progress."""

    def __init__(self, show: Show) -> None:
        self._show, self._done, self._total, self._rest = show, 0, 0, ""

    def write(self, text: str) -> int:
        """Tell each whole line."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            found = re.search(r"\b(\d+) of (\d+)\b", line)
            if found:
                self._done, self._total = int(found[1]), int(found[2])
            self._show(self._done, self._total, line.partition(": ")[2] or line)
        return len(text)
