"""Ratios, their means, and tables that read as text and as markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .measure import Timing


@dataclass(frozen=True)
class Ratio:
    """How many times as long the other took: ``sign`` is ``">"`` or ``"<"`` for a bound."""

    value: float
    sign: str = ""

    def __str__(self) -> str:
        return f"{self.sign}{self.value:.{2 if self.value < 10 else 1}f}"


def ratio(ours: Timing, theirs: Timing) -> Ratio | None:
    """Return their best time over ours, a bound when one of the two was cut.

    >>> str(ratio(Timing([2.0, 1.0]), Timing([4.0, 5.0])))
    '4.00'
    >>> str(ratio(Timing([2.0]), Timing(status="cut", limit=120.0)))
    '>60.0'
    """
    if ours.ok and theirs.ok:
        return Ratio(theirs.best / ours.best)
    if ours.ok and theirs.status == "cut":
        return Ratio(theirs.limit / ours.best, ">")
    if ours.status == "cut" and theirs.ok:
        return Ratio(theirs.best / ours.limit, "<")
    return None


def fastest(timings: Iterable[Timing]) -> Timing:
    """Return the fastest of several, one that was cut only when no other finished."""
    order = {"ok": 0, "cut": 1}
    return min(
        timings,
        key=lambda timing: (order.get(timing.status, 2), timing.best),
        default=Timing(status="unavailable", reason="not asked for"),
    )


def geometric_mean(ratios: Iterable[Ratio | None]) -> Ratio | None:
    """Return the geometric mean of those present; a bound if any of them is one.

    >>> str(geometric_mean([Ratio(2.0), Ratio(8.0), None]))
    '4.00'
    """
    present = [each for each in ratios if each is not None]
    if not present:
        return None
    signs = {each.sign for each in present} - {""}
    mean = math.exp(sum(math.log(each.value) for each in present) / len(present))
    return Ratio(mean, signs.pop() if len(signs) == 1 else "~" if signs else "")


def smallest(ratios: Iterable[Ratio | None]) -> Ratio | None:
    """Return the smallest ratio of those present."""
    return min((r for r in ratios if r is not None), key=lambda r: r.value, default=None)


def seconds_text(timing: Timing) -> str:
    """Return the best time in three digits, or why there is none."""
    if timing.ok:
        return number(timing.best)
    return f"> {timing.limit:g}" if timing.status == "cut" else timing.status


def number(value: float | None, digits: int = 3) -> str:
    """Return a number in so many significant digits, without exponents where they only annoy.

    >>> [number(value) for value in (0.01234, 1.5, 123.4, 2.5e-7, None)]
    ['0.0123', '1.50', '123', '2.5e-07', '-']
    """
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 2}e}"
    places = digits if value == 0 else digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, places)}f}"


@dataclass
class Table:
    """A table of texts with a title and notes under it."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Append a row; ``None`` becomes a dash."""
        if len(cells) != len(self.columns):
            raise ValueError(f"A row needs {len(self.columns)} cells, not {len(cells)}.")
        self.rows.append(["-" if cell is None else str(cell) for cell in cells])

    def __str__(self) -> str:
        widths = [
            max(2, *(len(row[k]) for row in [self.columns, *self.rows]))
            for k in range(len(self.columns))
        ]
        rule = [
            "-" * width if k == 0 else "-" * (width - 1) + ":" for k, width in enumerate(widths)
        ]
        lines = [
            "| " + " | ".join(_pad(cell, width, k) for k, (cell, width) in enumerate(pairs)) + " |"
            for pairs in (zip(row, widths, strict=True) for row in [self.columns, rule, *self.rows])
        ]
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"### {self.title}", "", *lines, *([""] if notes else []), *notes, ""])


@dataclass
class GroupResult:
    """The tables of a group for people, and its records for programs."""

    name: str
    tables: list[Table] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join([f"## {self.name}", "", *map(str, self.tables)])


def head(facts: dict[str, str]) -> str:
    """Return the head of a report: what was measured, where, and how."""
    return "\n".join(["# Benchmarks", "", *(f"- {key}: {fact}" for key, fact in facts.items()), ""])


def write_json(path: Path, facts: dict[str, str], groups: Iterable[GroupResult]) -> None:
    """Write the facts and the records of all groups; infinite numbers become null."""
    content = {
        "facts": facts,
        "groups": {
            group.name: {"records": group.records, "summary": group.summary} for group in groups
        },
    }
    path.write_text(json.dumps(plain(content), indent=1, ensure_ascii=False) + "\n")


def plain(value: Any) -> Any:
    """Return the value made of what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _pad(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)
