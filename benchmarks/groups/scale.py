"""Time, memory and error as the rows grow from ten thousand to ten million."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .. import catalogue
from ..crew import progress
from ..many_rows import WAYS, Task, measure, write_classification, write_clouds, write_problem
from ..problems import MissingDataError
from ..report import GroupResult, Table, number
from ..worker import TaskError, TimeLimitError, Worker
from .growth import exponent
from .options import Options

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
LONG = {"Nystroem(1000) + LinearSVC", "HistGradientBoosting", "HistGradientBoosting, 1000 trees"}
"""Ways that take their time with few rows, too."""

COLUMNS = (
    "problem",
    "rows",
    "by",
    "fit s",
    "processor s",
    "peak MB",
    "error %",
    "predict µs a row",
)

REST = ("megabytes", "error", "microseconds")


def run(options: Options) -> GroupResult:
    """Fit each problem once each way, a fresh process for each."""
    notes = [
        "one fit in a process of its own, rows in a file mapped into memory, megabytes beyond what "
        "the process had before (pages of the file are among them); error on rows held out",
        "all machines with the same C and gamma; clouds: 16 normal clouds of different shapes in "
        "10 of 20 columns, labels alternate, 5 % flipped, float32",
        "what is cut is not tried again with more rows",
    ]
    result = GroupResult("scale", [Table("scale", list(COLUMNS), notes=notes)])
    with tempfile.TemporaryDirectory() as folder:
        given_up: set[str] = set()
        for task in _tasks(Path(folder), options, result):
            for way in WAYS:
                if options.quick and way in LONG:
                    continue
                if options.match is None or options.match.lower() in f"{task.name} {way}".lower():
                    grows = task.name.startswith("clouds")
                    if not (grows and way in given_up) and not _add(result, options, task, way):
                        given_up.add(way)
    _add_exponents(result)
    return result


def _tasks(folder: Path, options: Options, result: GroupResult) -> Iterator[Task]:
    if not options.quick:
        for problem in catalogue.speed(False):
            if problem.name.startswith(("a9a", "ijcnn1")):
                try:
                    gamma = write_problem(folder, problem)
                except MissingDataError as error:
                    result.tables[0].notes.append(str(error))
                    continue
                rows = int(problem.name.split()[1].split("×")[0])
                yield Task(problem.name.split()[0], str(folder), rows, problem.C, gamma)
        write_classification(folder, 200_000)
        yield Task("make_classification", str(folder), 200_000, 1.0, 0.05)
    sizes = (500, 1500) if options.quick else SIZES
    write_clouds(folder, sizes[-1])
    for rows in sizes:
        yield Task("clouds", str(folder), rows, 1.0, 0.05)


def _add(result: GroupResult, options: Options, task: Task, way: str) -> bool:
    """Measure one cell; return whether it ended."""
    worker = Worker()
    try:
        found = worker.call(measure, way, task, timeout=options.plan.time_limit)
    except (TimeLimitError, TaskError) as error:
        progress(f"{task.name} {task.n_rows} {way}: {error}")
        result.tables[0].add(task.name, task.n_rows, way, str(error), "-", "-", "-", "-")
        result.records.append(
            {"problem": task.name, "rows": task.n_rows, "by": way, "reason": str(error)}
        )
        return False
    finally:
        worker.stop()
    progress(f"{task.name} {task.n_rows} {way}: {found['seconds']:.2f} s, {found['error']:.2f} %")
    cells = [number(found[key]) for key in ("seconds", "processor", *REST)]
    result.tables[0].add(task.name, task.n_rows, way, *cells)
    result.records.append({"problem": task.name, "rows": task.n_rows, "by": way, **found})
    return True


def _add_exponents(result: GroupResult) -> None:
    """Say how the time of each way grows with the rows."""
    for way in WAYS:
        cells = [
            (record["rows"], record["seconds"])
            for record in result.records
            if record["by"] == way and record["problem"] == "clouds" and "seconds" in record
        ]
        power = exponent(*zip(*cells)) if len(cells) > 1 else None
        if power is not None:
            result.summary[way] = power
            result.tables[0].notes.append(f"{way}: time grows as n to the power of {power:.2f}")
