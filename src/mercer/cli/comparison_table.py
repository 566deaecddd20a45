"""A comparison as a table in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._numbers import number as plain
from mercer.comparison.words import spread
from mercer.tables.errors import shown

if TYPE_CHECKING:
    from mercer.comparison import Comparison

MEASURES = {
    "error": "error %",
    "balanced_error": "balanced %",
    "roc_auc": "AUC",
    "log_loss": "log loss",
    "f1": "F1",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
}
SHARES = ("error", "balanced_error")
LONGEST = 8
"""Characters of a class that has room beside the name of a measure."""
WIDE = 92
"""Characters from which all measures have room."""
NARROW, WIDER = 72, 108
"""Characters from which the names for --models have room, beside one measure and beside all."""


def comparison_table(found: Comparison, width: int) -> Any:
    """Return the table for a rich console, the best model first and bold.

    Parameters
    ----------
    found : Comparison
    width : int
        Characters of a line; where they are few, only what ranks the models is shown.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    results = found.results_
    own = [name for name in MEASURES if name in results]
    shown = [found.measure, *[name for name in own if name != found.measure]]
    shown = shown if width >= WIDE else shown[:1]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model", overflow="fold")
    named = NARROW <= width < WIDE or width >= WIDER
    if named:
        table.add_column("name", no_wrap=True)
    for name in shown:
        head = MEASURES[name] + (" ± sd" if name == found.measure else "")
        if name == "f1" and found.positive_ is not None and not _is_long(found.positive_):
            head += f" {found.positive_}"
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("fit", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name, row in results.iterrows():
        cells = [_cell(one, row[one]) for one in shown]
        cells[0] += f" ± {spread(found.measure, row['error_sd'], row[found.measure]):>4}"
        table.add_row(
            str(row["title"]),
            *([str(name)] if named else []),
            *cells,
            duration(row["fit_seconds"]),
            str(row["verdict"]),
            style="bold" if name == found.best_name_ else None,
        )
    return table


def footnote(found: Comparison, width: int) -> str:
    """Return the class that F1 speaks of where it has no room in the head of its column."""
    one = found.positive_
    if one is None or not _is_long(one) or width < WIDE or "f1" not in found.results_:
        return ""
    return f"F1 is that of {shown(one)}."


def _is_long(name: str) -> bool:
    return len(name) > LONGEST


def _cell(measure: str, number: float) -> str:
    if np.isnan(number):
        return "–"
    if measure in SHARES:
        return f"{100 * number:.1f}"
    return plain(number) if measure in ("rmse", "mae") else f"{number:.3f}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    Examples
    --------
    >>> duration(0.0123), duration(2.5), duration(150.0)
    ('12.3 ms', '2.5 s', '2.5 min')
    """
    if seconds < 1:
        return f"{1e3 * seconds:.3g} ms" if seconds < 0.1 else f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:.1f} min"
