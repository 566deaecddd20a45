"""Results that are kept in the repository: a small table in each study's folder."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from mercer._files import write_text_whole

from .registry import get_study, study_folder
from .results import RESULTS_FILE, StudyResults
from .study import Printed, Study, StudyError
from .verdicts import Comparison, Moments, compare, compare_averages, share_deviations

STORED_FILE = "results.csv"
FIXED = ("configuration", "method", "repetitions", "definition")
"""Columns before those of the numbers, of which each has a mean and a deviation."""

NOTHING = Moments(None, None, 0)

Stored = dict[tuple[str, str], dict[str, str]]


def store_results(folder: Any) -> Path:
    """Keep the results of a run in the folder of its study.

    Configurations and methods that the run does not have stay as they were stored before.

    Parameters
    ----------
    folder : path-like
        Where the run has left its `results.json`.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    StudyError
        If there are no results, or if they are of another definition of the study.
    """
    try:
        found = json.loads((Path(folder) / RESULTS_FILE).read_text(encoding="utf-8"))
        name, seed, records = found["study"], found["seed"], found["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StudyError(f"There are no results of a study in {folder}: {error}.") from error
    study = get_study(name)
    for record in records:
        configuration, method = record["configuration"], record["method"]
        about = {c.name: c for c in study.configurations}.get(configuration)
        if about is None or record["definition"] != study.definition(about, method, seed):
            raise StudyError(
                f"{folder} holds results of another definition of study {name!r} "
                f"({configuration}/{method})."
            )
    path = study_folder(name) / STORED_FILE
    rows = _read(path) | _rows(StudyResults(study, records, seed=seed), seed)
    write_text_whole(path, _as_csv(study, rows))
    return path


def stored_comparisons(study: Study) -> list[Comparison]:
    """Return every printed number of a study beside what is stored.

    What is stored of another definition counts as not stored; repetitions are then 0.
    """
    moments = _stored_moments(study)
    found = []
    for configuration in study.configurations:
        for method in study.methods_of(configuration):
            printed = configuration.printed.get(method, Printed(None))
            measured = () if printed.mean is None else (study.measure,)
            for quantity in (*measured, *printed.extra):
                ours = moments.get((configuration.name, method, quantity), NOTHING)
                found.append(compare(study, configuration, method, quantity, ours))
    return found + compare_averages(study, found)


def stored_table(study: Study) -> list[dict[str, Any]]:
    """Return what is stored of a study as rows like those of `StudyResults.table`."""
    moments = _stored_moments(study)
    table = []
    for configuration in study.configurations:
        for method in study.methods_of(configuration):
            if (configuration.name, method, study.measure) not in moments:
                continue
            found = {
                name: compare(
                    study, configuration, method, name, moments[configuration.name, method, name]
                )
                for name in _quantities(study)
            }
            first = found.pop(study.measure)
            table.append(
                {
                    "configuration": configuration.name,
                    "method": method,
                    "printed_mean": first.printed,
                    "mean": first.ours.mean,
                    "sd": first.ours.sd,
                    "repetitions": first.ours.repetitions,
                    "z": first.z,
                    "verdict": first.verdict,
                    **{name: one.ours.mean for name, one in found.items()},
                    **{f"printed_{name}": one.printed for name, one in found.items()},
                }
            )
    return table


def _stored_moments(study: Study) -> dict[tuple[str, str, str], Moments]:
    """Return what is stored of the study as it is now, by configuration, method and number."""
    stored = _read(study_folder(study.name) / STORED_FILE)
    found = {}
    for configuration in study.configurations:
        for method in study.methods_of(configuration):
            row = stored.get((configuration.name, method), {})
            if row.get("definition") == study.definition(configuration, method):
                for quantity in _quantities(study):
                    found[configuration.name, method, quantity] = _moments(row, quantity)
    return share_deviations(study, found)


def _moments(row: dict[str, str], quantity: str) -> Moments:
    mean, sd = (_number(row.get(name)) for name in (quantity, f"{quantity}_sd"))
    return Moments(mean, sd, int(row.get("repetitions", 0)))


def _rows(results: StudyResults, seed: int) -> Stored:
    """Return means and deviations of the measure and of all numbers that are to be kept."""
    study, rows = results.study, {}
    for row in results.table():
        pair = row["configuration"], row["method"]
        values: dict[str, Any] = dict(zip(FIXED, (*pair, row["repetitions"])))
        values["definition"] = study.definition(study.configuration(pair[0]), pair[1], seed)
        for quantity in _quantities(study):
            mean, sd = results.moments(*pair, quantity)[:2]
            values[quantity], values[f"{quantity}_sd"] = _short(mean), _short(sd)
        rows[pair] = values
    return rows


def _quantities(study: Study) -> list[str]:
    """Return the measure, what is printed somewhere, and what the study names."""
    printed = [name for c in study.configurations for p in c.printed.values() for name in p.extra]
    return list(dict.fromkeys([study.measure, *printed, *study.kept]))


def _read(path: Path) -> Stored:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["configuration"], row["method"]): row for row in csv.DictReader(file)}


def _as_csv(study: Study, rows: Stored) -> str:
    """Write the rows in the order of the study; what it no longer has is left out."""
    names = [*FIXED, *(n for q in _quantities(study) for n in (q, f"{q}_sd"))]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for configuration in study.configurations:
        pairs = [(configuration.name, method) for method in study.methods_of(configuration)]
        writer.writerows(rows[pair] for pair in pairs if pair in rows)
    return text.getvalue()


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _number(text: str | None) -> float | None:
    return float(text) if text else None
