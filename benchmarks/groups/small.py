"""Small data, where the share of Python decides: default settings against scikit-learn's."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from ..crew import PREPARATION_LIMIT, Crew, progress
from ..measure import Timing, interleave
from ..peers import OURS
from ..problems import Problem
from ..report import GroupResult, Ratio, Table, geometric_mean, number, ratio, smallest
from ..tasks import timed
from .options import Options
from .rivals import ABSENT, note_reasons, timing_records

REFERENCE = "sklearn"
HOMES = {OURS: "mercer", REFERENCE: "sklearn.svm"}
"""Where each library keeps the machines, which have the same names in both."""

SIZES = (20, 50, 100, 200, 500, 1000, 2000)
CLASSES = (2, 3, 5, 10, 26)
KERNELS = ("linear", "poly", "rbf")
REAL = ("iris", "wine", "breast_cancer", "digits")
PREDICTED = (1, 100)
CLASSES_PREDICTED = (2, 3, 10, 26)
ROWS_BEHIND_PREDICTIONS = 500

SHORTEST_BATCH = 0.02
"""Seconds that the calls of one turn take together at least, so that the clock does not matter."""

BUDGET_SHARE = 0.1
"""The share of the plan's budget that one of the many cells may use."""


@dataclass(frozen=True)
class Job:
    """One cell: a machine with default settings that is fitted, or that predicts some rows.

    Parameters
    ----------
    table, row, column : str
        Where the ratio stands.
    machine : str
        The class, by its name in both libraries.
    problem : Problem
        The data and the kernel; no other parameter is handed on.
    predicts : bool
        Whether the labels of the test rows are timed, not the fit.
    """

    table: str
    row: str
    column: str
    machine: str
    problem: Problem
    predicts: bool = False

    @property
    def name(self) -> str:
        """The place of the cell in words."""
        return f"{self.table}, {self.row}, {self.column}"


def jobs(quick: bool) -> Iterator[Job]:
    """Yield all cells, table by table."""
    sizes, classes = ((20, 50), (2, 3)) if quick else (SIZES, CLASSES)
    yield from _fits_of_classifiers(sizes, classes)
    yield from _fits_of_real_sets(REAL[:1] if quick else REAL)
    yield from _fits_of("SVR", "friedman", (("noise", 1.0),), sizes)
    yield from _fits_of("OneClassSVM", "blobs", (("d", 10), ("classes", 1)), sizes)
    for rows in PREDICTED:
        yield from _predictions(rows, classes if quick else CLASSES_PREDICTED)


def _blobs(n: int, classes: int, kernel: str) -> Problem:
    arguments = (("n", n), ("d", 10), ("classes", classes))
    return Problem(f"blobs {n}×10", "blobs", arguments, kernel=kernel)


def _fits_of_classifiers(sizes: tuple[int, ...], classes: tuple[int, ...]) -> Iterator[Job]:
    for kernel in KERNELS:
        for k in classes:
            for n in sizes:
                if n >= 2 * k:
                    row = f"{kernel}, {k} classes"
                    yield Job("SVC: fit", row, f"n={n}", "SVC", _blobs(n, k, kernel))


def _fits_of_real_sets(names: tuple[str, ...]) -> Iterator[Job]:
    for name in names:
        for kernel in KERNELS:
            problem = Problem(name, "shipped", (("name", name),), kernel=kernel)
            yield Job("SVC: fit of real sets", name, kernel, "SVC", problem)


def _fits_of(
    machine: str, source: str, arguments: tuple[tuple[str, object], ...], sizes: tuple[int, ...]
) -> Iterator[Job]:
    for kernel in KERNELS:
        for n in sizes:
            problem = Problem(f"{source} {n}×10", source, (("n", n), *arguments), kernel=kernel)
            yield Job(f"{machine}: fit", kernel, f"n={n}", machine, problem)


def _predictions(rows: int, classes: tuple[int, ...]) -> Iterator[Job]:
    title = f"SVC: predict {rows} row{'s' if rows > 1 else ''}"
    drawn = (("generator", "blobs"), ("n", ROWS_BEHIND_PREDICTIONS), ("test_rows", rows))
    for kernel in KERNELS:
        for k in classes:
            arguments = (*drawn, ("d", 10), ("classes", k))
            problem = Problem("blobs", "with_test_rows", arguments, kernel=kernel)
            yield Job(title, kernel, f"{k} classes", "SVC", problem, predicts=True)


def run(options: Options) -> GroupResult:
    """Time all cells with both libraries, interleaved, and put the ratios into tables."""
    result = GroupResult("small")
    reasons = Table("", [])
    plan = replace(options.plan, budget=options.plan.budget * BUDGET_SHARE)
    with Crew(options.choose(list(HOMES)), plan) as crew:
        for job in jobs(options.quick):
            if options.match is None or options.match.lower() in job.name.lower():
                timings = _race(crew, job)
                note_reasons(reasons, timings)
                result.records.append(_record(job, timings))
    for title in dict.fromkeys(record["table"] for record in result.records):
        cells = [record for record in result.records if record["table"] == title]
        result.tables.append(_pivot(title, cells))
        result.summary[title] = _summary(cells)
        result.tables[-1].notes.append(_words(cells))
    if result.tables:
        result.tables[0].notes[:0] = [*_conditions(), *reasons.notes]
    return result


def _conditions() -> list[str]:
    return [
        "scikit-learn's time over mercer's, above 1: mercer is faster; default settings but for "
        "the kernel, a new estimator for each fit; dashes: fewer than two rows a class",
        f"a turn repeats its call until {1e3 * SHORTEST_BATCH:g} ms have gone by; best turn counts",
        f"SVC, OneClassSVM: normal classes in 10 dimensions; SVR: friedman1; prediction: of models "
        f"fitted to {ROWS_BEHIND_PREDICTIONS} such rows; real sets: scikit-learn's, scaled",
    ]


_state: dict[str, Any] = {}


def prepare(peer: str, job: Job) -> None:
    """Make a job ready and find how many calls fill a turn; runs in a worker."""
    warnings.simplefilter("ignore")
    if _state.get("job") != job:
        _state.clear()
        call = ready(peer, job)
        gc.collect()
        gc.freeze()  # else what was imported would be gone through before every turn
        _state.update(job=job, call=call, count=calls_of_a_turn(call))


def ready(peer: str, job: Job) -> Callable[[], Any]:
    """Return the call that is timed."""
    data = job.problem.load()
    make = getattr(import_module(HOMES[peer]), job.machine)
    given = (data.X,) if job.machine == "OneClassSVM" else (data.X, data.y)
    kernel = job.problem.kernel
    if not job.predicts:
        return lambda: make(kernel=kernel).fit(*given)
    model = make(kernel=kernel).fit(*given)
    return lambda: model.predict(data.X_test)


def calls_of_a_turn(call: Callable[[], Any]) -> int:
    """Return the power of two of calls that takes long enough; the first ones warm up."""
    count = 1
    while timed(partial(repeat, call, count))[0] < SHORTEST_BATCH:
        count *= 2
    return count


def repeat(call: Callable[[], Any], count: int) -> None:
    """Make the same call so many times."""
    for _ in range(count):
        call()


def time_turn(peer: str) -> float:
    """Return the seconds of one call in a turn of the job that is ready; runs in a worker."""
    seconds, _ = timed(partial(repeat, _state["call"], _state["count"]))
    return seconds / int(_state["count"])


def _race(crew: Crew, job: Job) -> dict[str, Timing]:
    def turn(peer: str) -> float:
        crew.ask(peer, prepare, job, limit=PREPARATION_LIMIT)
        return float(crew.ask(peer, time_turn, limit=crew.plan.time_limit))

    timings = interleave({peer: partial(turn, peer) for peer in crew.peers}, crew.plan)
    times = ", ".join(f"{peer} {_milliseconds(timing)}" for peer, timing in timings.items())
    progress(f"{job.name}: {times}")
    return timings


def _milliseconds(timing: Timing) -> str:
    return f"{number(1e3 * timing.best)} ms" if timing.ok else timing.status


def _record(job: Job, timings: dict[str, Timing]) -> dict[str, Any]:
    ours, theirs = (timings.get(peer, ABSENT) for peer in HOMES)
    return {
        "table": job.table,
        "row": job.row,
        "column": job.column,
        "timings": timing_records(timings),
        "times": f"{_milliseconds(theirs)} against {_milliseconds(ours)}",
        "ratio": ratio(ours, theirs),
    }


def _pivot(title: str, cells: list[dict[str, Any]]) -> Table:
    """Return the ratios with the rows and columns that the records name."""
    rows, columns = (list(dict.fromkeys(cell[key] for cell in cells)) for key in ("row", "column"))
    found = {(cell["row"], cell["column"]): cell["ratio"] for cell in cells}
    table = Table(title, ["", *columns])
    for row in rows:
        table.add(row, *(found.get((row, column)) for column in columns))
    return table


def _summary(cells: list[dict[str, Any]]) -> dict[str, Any]:
    ratios: list[Ratio | None] = [cell["ratio"] for cell in cells]
    known = [cell for cell in cells if cell["ratio"] is not None]
    worst = smallest(ratios)
    slower = sorted((cell for cell in known if cell["ratio"].value < 1), key=_value)
    return {
        "geometric mean": geometric_mean(ratios),
        "smallest": worst,
        "worst cell": next((_place(cell) for cell in known if cell["ratio"] is worst), None),
        "below 1": [f"{_place(cell)}: {cell['ratio']}" for cell in slower],
    }


def _words(cells: list[dict[str, Any]]) -> str:
    summary = _summary(cells)
    if summary["smallest"] is None:
        return "no ratio"
    below = "; ".join(summary["below 1"]) or "none"
    return (
        f"geometric mean {summary['geometric mean']}, worst {summary['smallest']} "
        f"({summary['worst cell']}); below 1: {below}"
    )


def _place(cell: dict[str, Any]) -> str:
    return f"{cell['row']}, {cell['column']}, {cell['times']}"


def _value(cell: dict[str, Any]) -> float:
    return float(cell["ratio"].value)
