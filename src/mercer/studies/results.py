"""From finished cells to a table beside the printed one."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mercer import __version__
from mercer._files import write_text_whole

from .checkpoint import Record, cell_of
from .study import Printed, Study

CLOSE = 3.0
"""Standard errors within which a printed mean counts as reproduced."""

TABLE_FILE, RESULTS_FILE, REPORT_FILE = "table.csv", "results.json", "report.md"


@dataclass
class StudyResults:
    """What is known so far of a study.

    Attributes
    ----------
    study : Study
    records : list of dict
        One for each finished cell: configuration, method, repetition, seed, seconds, values.
    failures : list of dict
        Cells that ended in an error, with its `message`. They are tried again by the next run.
    seed : int
        The base of all seeds.
    finished : bool
        Whether all cells that were asked for are done.
    dropped : int
        Half-written lines of the checkpoint that were done again.
    """

    study: Study
    records: list[Record]
    failures: list[Record] = field(default_factory=list)
    seed: int = 0
    finished: bool = True
    dropped: int = 0

    def __post_init__(self) -> None:
        order = [c.name for c in self.study.configurations]
        methods = list(self.study.methods)
        self.records = sorted(
            self.records,
            key=lambda record: (
                order.index(record["configuration"]),
                methods.index(record["method"]),
                record["repetition"],
            ),
        )

    def values(self, configuration: str, method: str, name: str | None = None) -> list[float]:
        """Return a number of all repetitions, the study's measure if no name is given."""
        name = name or self.study.measure
        pair = (configuration, method)
        return _values([record for record in self.records if cell_of(record)[:2] == pair], name)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each configuration and method of which something is done.

        `mean` and `sd` are over the repetitions. `z` is the distance from the printed mean in
        standard errors, see `z_score`; `verdict` is "reproduced" where it is at most 3, else
        "better" or "worse", "not printed" where there is nothing to compare with, and "undecided"
        where no deviation is known. With fewer than about ten repetitions z is rough. Then follow
        the median of the seconds, the means of all further numbers with what was printed of them,
        and a note.
        """
        pairs: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            pairs.setdefault(cell_of(record)[:2], []).append(record)
        return [self._row(*pair, records) for pair, records in pairs.items()]

    def _row(self, configuration: str, method: str, records: list[Record]) -> dict[str, Any]:
        study = self.study
        about = study.configuration(configuration)
        printed = about.printed.get(method)
        mean, sd = _mean_and_deviation(_values(records, study.measure))
        z = z_score(printed, mean, sd, len(records), study.printed_repetitions)
        row: dict[str, Any] = {
            "configuration": configuration,
            "method": method,
            "printed_mean": printed.mean if printed else None,
            "printed_sd": printed.sd if printed else None,
            "mean": mean,
            "sd": sd,
            "repetitions": len(records),
            "z": z,
            "verdict": verdict_on(printed, z, study.lower_is_better),
            "seconds": float(np.median([record["seconds"] for record in records])),
        }
        for name in self._extra_names():
            if name in self._printed_extra():
                row[f"printed_{name}"] = printed.extra.get(name) if printed else None
            row[name] = _mean_and_deviation(_values(records, name))[0]
        return row | {"note": about.note}

    def _extra_names(self) -> list[str]:
        names = (name for record in self.records for name in record["values"])
        return [name for name in dict.fromkeys(names) if name != self.study.measure]

    def _printed_extra(self) -> set[str]:
        return {
            name
            for configuration in self.study.configurations
            for printed in configuration.printed.values()
            for name in printed.extra
        }

    def report(self) -> str:
        """Return what the study itself says of its results, in Markdown; most say nothing."""
        module_name, _, function = self.study.report.partition(":")
        return str(getattr(import_module(module_name), function)(self)) if function else ""

    def write(self, folder: Any) -> tuple[Path, Path]:
        """Write `table.csv` and `results.json` (every repetition) into a folder."""
        table, results = Path(folder) / TABLE_FILE, Path(folder) / RESULTS_FILE
        write_text_whole(table, _as_csv(self.table()))
        about = {
            "study": self.study.name,
            "title": self.study.title,
            "citation": self.study.citation,
            "measure": self.study.measure,
            "seed": self.seed,
            "mercer": __version__,
            "finished": self.finished,
        }
        everything = {**about, "cells": self.records, "failures": self.failures}
        write_text_whole(results, json.dumps(_without_nan(everything), indent=1) + "\n")
        return table, results


def z_score(
    printed: Printed | None,
    mean: float | None,
    sd: float | None,
    repetitions: int,
    printed_repetitions: int | None = None,
) -> float | None:
    r"""Return how many standard errors a mean lies above the printed one.

    .. math:: z = (m - m_0) / \sqrt{s^2 / n + s_0^2 / n_0}

    with the printed mean and deviation :math:`m_0, s_0` over :math:`n_0` repetitions. A deviation
    that is not known is taken to be the other's; where :math:`n_0` is not known, the printed mean
    counts as exact. None where there is nothing to compare or no deviation at all.

    Examples
    --------
    >>> from mercer.studies import Printed
    >>> round(z_score(Printed(0.20, 0.03), 0.21, 0.04, 100, 100), 6)
    2.0
    """
    if printed is None or mean is None:
        return None
    ours = printed.sd if sd is None else sd
    theirs = sd if printed.sd is None else printed.sd
    if ours is None or theirs is None:
        return None
    variance = ours**2 / repetitions
    if printed_repetitions:
        variance += theirs**2 / printed_repetitions
    difference = mean - printed.mean
    if variance == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / math.sqrt(variance)


def verdict_on(printed: Printed | None, z: float | None, lower_is_better: bool = True) -> str:
    """Return the word for a distance from the printed mean.

    Examples
    --------
    >>> from mercer.studies import Printed
    >>> verdict_on(Printed(0.2), -4.0), verdict_on(Printed(0.2), 2.9), verdict_on(None, None)
    ('better', 'reproduced', 'not printed')
    """
    if printed is None:
        return "not printed"
    if z is None:
        return "undecided"
    if abs(z) <= CLOSE:
        return "reproduced"
    return "better" if (z < 0) == lower_is_better else "worse"


def _values(records: Iterable[Record], name: str) -> list[float]:
    return [record["values"][name] for record in records if name in record["values"]]


def _mean_and_deviation(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _short(value: Any) -> Any:
    return f"{value:.8g}" if isinstance(value, float) else value


def _without_nan(value: Any) -> Any:
    """JSON has no word for what is not a finite number."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
