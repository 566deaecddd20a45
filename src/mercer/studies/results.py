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
from .study import Study
from .verdicts import Comparison, Moments, compare, share_deviations

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

    def moments(self, configuration: str, method: str, name: str | None = None) -> Moments:
        """Return mean and deviation of a number over the repetitions, and how many there are."""
        return _moments(self.values(configuration, method, name))

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each configuration and method of which something is done.

        `mean` and `sd` are over the repetitions. `z` is the distance from the printed mean in
        standard errors, see `mercer.studies.verdicts.compare`; `verdict` is "reproduced" where it
        is at most 3 (more where few draws tell the deviation), else "better" or "worse", "not
        printed" where there is nothing to compare with, "not reproducible" where it is known why,
        and "undecided" with fewer than ten repetitions, unless configurations share a deviation,
        or where none is known. Then follow the median of the seconds, the means of all further
        numbers, each with what was printed of it, z and verdict, and a note.
        """
        pairs: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            pairs.setdefault(cell_of(record)[:2], []).append(record)
        names = [self.study.measure, *self._extra_names()]
        moments = share_deviations(
            self.study,
            {
                (*pair, name): _moments(_values(records, name))
                for pair, records in pairs.items()
                for name in names
            },
        )
        return [self._row(*pair, records, moments) for pair, records in pairs.items()]

    def _row(
        self,
        configuration: str,
        method: str,
        records: list[Record],
        moments: dict[tuple[str, str, str], Moments],
    ) -> dict[str, Any]:
        study = self.study
        about = study.configuration(configuration)

        def compared(name: str) -> Comparison:
            return compare(study, about, method, name, moments[configuration, method, name])

        found = compared(study.measure)
        row: dict[str, Any] = {
            "configuration": configuration,
            "method": method,
            "printed_mean": found.printed,
            "printed_sd": found.printed_sd,
            "mean": found.ours.mean,
            "sd": found.ours.sd,
            "repetitions": len(records),
            "z": found.z,
            "verdict": found.verdict,
            "seconds": float(np.median([record["seconds"] for record in records])),
        }
        printed_names = self._printed_extra()
        for name in self._extra_names():
            other = compared(name)
            if name in printed_names:
                row[f"printed_{name}"] = other.printed
                row[f"z_{name}"], row[f"verdict_{name}"] = other.z, other.verdict
            row[name] = other.ours.mean
        return row | {"note": about.note}

    @property
    def partial(self) -> str:
        """Say what is missing of the whole study, in a few words; empty where nothing is."""
        study = self.study
        whole = {cell[:2] for cell in study.cells()}
        done: dict[tuple[str, str], int] = dict.fromkeys(whole, 0)
        for record in self.records:
            pair = cell_of(record)[:2]
            done[pair] = done.get(pair, 0) + 1
        begun = [pair for pair in whole if done[pair]]
        parts = []
        if len(begun) < len(whole):
            parts.append(f"{len(begun)} of {len(whole)} configurations and methods")
        limits = {
            c.name: min(study.repetitions, c.repetitions or study.repetitions)
            for c in study.configurations
        }
        if any(done[pair] < limits[pair[0]] for pair in begun):
            least = min(done[pair] for pair in begun)
            parts.append(f"{least} of {study.repetitions} repetitions")
        return "partial: " + ", ".join(parts) if parts else ""

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


def _values(records: Iterable[Record], name: str) -> list[float]:
    return [record["values"][name] for record in records if name in record["values"]]


def _moments(values: Sequence[float]) -> Moments:
    if not values:
        return Moments(None, None, 0)
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Moments(float(np.mean(values)), sd, len(values))


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
