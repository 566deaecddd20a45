"""A comparison as a table in the terminal, and as a CSV or JSON file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from mercer.cli.comparison import Comparison
from mercer.cli.words import UNKNOWN, duration, percent

COLUMNS = ("kernel", "loss", "library")


def terminal_table(comparison: Comparison) -> Any:
    """Return the table for a rich console, kernel by kernel, the best row in bold."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in COLUMNS:
        table.add_column(name, no_wrap=True)
    for name in ("error % ± sd", "fit", "speed", "vectors"):
        table.add_column(name, justify="right", no_wrap=True)
    records = comparison.records()
    for index, record in enumerate(records):
        last = index + 1 == len(records) or records[index + 1]["kernel"] != record["kernel"]
        repeated = index > 0 and records[index - 1]["kernel"] == record["kernel"]
        table.add_row(
            "" if repeated else record["kernel"],
            record["loss"].replace("_", " "),
            record["library"],
            f"{percent(record['error_mean'])} ± {percent(record['error_sd']):>4}",
            duration(record["fit_seconds"]),
            _speed(comparison, index),
            UNKNOWN if np.isnan(record["support_vectors"]) else f"{record['support_vectors']:.0f}",
            style="bold" if index == comparison.best else None,
            end_section=last,
        )
    return table


def _speed(comparison: Comparison, index: int) -> str:
    twin = comparison.peer_of(index)
    if twin is None:
        return ""
    return f"{comparison.fit_seconds(twin) / comparison.fit_seconds(index):.1f}x"


def write_csv(comparison: Comparison, path: Path) -> None:
    """Write one line for each candidate."""
    records = comparison.records()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(records[0]))
        writer.writeheader()
        writer.writerows(records)


def write_json(comparison: Comparison, path: Path, settings: dict[str, Any]) -> None:
    """Write the settings, and for each candidate the table's values and the error of each fold."""
    models = [
        {name: _plain(value) for name, value in record.items()}
        | {"fold_errors": comparison.errors[index].tolist()}
        for index, record in enumerate(comparison.records())
    ]
    text = json.dumps({**settings, "models": models}, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """JSON has no word for "not a number"."""
    return None if isinstance(value, float) and np.isnan(value) else value
