"""The command `mercer info`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._models import need_file
from mercer.cli._options import (
    UNLABELLED,
    command,
    is_libsvm_model,
    is_model,
    read_features,
)
from mercer.cli._screen import Screen, cell

if TYPE_CHECKING:
    from mercer.tables import Table

MOST_COLUMNS = 40
MOST_EXAMPLES = 3
LONGEST = 24
HEAD = {
    "svm_type": "machine",
    "kernel_type": "kernel",
    "degree": "degree",
    "gamma": "gamma",
    "coef0": "coef0",
    "label": "labels",
    "total_sv": "vectors",
}
"""Lines at the head of a LIBSVM file that people ask for, in plain words."""

MOST_HEAD = 1 << 16


@command(UNLABELLED)
def info(
    data: Annotated[
        str,
        typer.Argument(help="A model file (.mercer, or one of LIBSVM), a table, or a data set."),
    ],
    *,
    reading: dict[str, Any],
) -> None:
    """Tell what a model file or a table holds; a model is neither loaded nor run."""
    if Path(data).suffix.lower() == ".mercer" or is_model(Path(data)):
        _show_model(Path(data), Screen())
        return
    if is_libsvm_model(Path(data)):
        _show_libsvm_model(Path(data), Screen())
        return
    table = read_features(data, reading, dates=True)
    screen = Screen()
    screen.introduce(table)
    screen.show(_columns(table))


def _columns(table: Table) -> Any:
    """Return a line for each column: its kind, its gaps, and some of its values."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    from mercer.tables import TableModel

    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("column", "kind", "gaps", "different", "values"):
        right = name in ("gaps", "different")
        shown.add_column(name, overflow="fold", justify="right" if right else "left")
    kinds = TableModel.of(None, table).columns
    for name, kind in list(kinds.items())[:MOST_COLUMNS]:
        column = table.frame[name]
        counts = str(int(column.isna().sum())), str(column.nunique())
        shown.add_row(name, kind, *counts, _values(column, kind))
    if len(kinds) > MOST_COLUMNS:
        shown.add_row(f"and {len(kinds) - MOST_COLUMNS} more", "", "", "", "")
    for name, reason in list(table.left_out.items())[:MOST_COLUMNS]:
        shown.add_row(name, "left out", "", "", reason)
    return shown


def _values(column: Any, kind: str) -> str:
    known = column.dropna()
    if not len(known):
        return ""
    if kind in ("number", "date"):
        return f"{cell(known.min())} to {cell(known.max())}"
    words = [str(word)[:LONGEST] for word in known.value_counts().index[:MOST_EXAMPLES]]
    more = ", …" if known.nunique() > MOST_EXAMPLES else ""
    return ", ".join(words) + more


def _show_model(path: Path, screen: Screen) -> None:
    import mercer

    need_file(path)
    for name, value in mercer.describe(path).rows():
        screen.out.print(f"{name + ':':<12}{value}", soft_wrap=True, markup=False)


def _show_libsvm_model(path: Path, screen: Screen) -> None:
    """Tell what stands at the head of the file, before its vectors."""
    with path.open("rb") as file:
        head = file.read(MOST_HEAD).decode("utf-8", "replace").split("\nSV")[0]
    found = dict(line.partition(" ")[::2] for line in head.splitlines())
    said = [("file", "a model file of LIBSVM")]
    said += [(word, found[name].strip()[:200]) for name, word in HEAD.items() if name in found]
    if "probA" in found:
        said.append(("besides", "sigmoids for probabilities"))
    for name, value in said:
        screen.out.print(f"{name + ':':<12}{value}", soft_wrap=True, markup=False)
    line = f"Use it in mercer: mercer convert {path} {path.with_suffix('.mercer')}"
    screen.out.print(line, soft_wrap=True, markup=False)
