"""Rows of dask: one worker and two, more rows than memory, one exact machine by a cascade."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..crew import progress
from ..dask_rows import Waves, measured, workers
from ..report import GroupResult, Table, number
from .options import Options

MEMORY = 2e9
LITTLE = 1e9
"""Bytes of a worker, a quarter of the rows that it is given."""

FITS = (
    "problem",
    "workers",
    "fit s",
    "processor s",
    "longest s",
    "peak MB",
    "client MB",
    "error %",
)
KEYS = ("seconds", "processor", "longest", "megabytes", "client", "error")
EXACT = ("rows", "SVC s", "cascade s", "objective, relative difference", "gap", "client MB")


def run(options: Options) -> GroupResult:
    """Fit on clusters of this computer, a fresh one each time."""
    notes = [
        "workers are processes with one thread each, begun anew for each fit; rows are made by "
        "them block by block; error on rows held out; of several runs the best",
        "processor: seconds of each worker; longest: of the worker with most to do in each step, "
        "summed, which is what the clock would say if every worker had a core to itself; peak: of "
        "each worker, libraries included; client: beyond what it had",
    ]
    fits, exact = Table("cells on workers", [*FITS], notes=notes), Table("cascade", [*EXACT])
    result = GroupResult("distributed", [fits, exact])
    few = options.quick
    if _wanted(options, "speed"):
        rows = Waves(4000, 20, 1000) if few else Waves(400_000, 20, 50_000)
        _cells(result, rows, (1, 2), MEMORY, options.plan.repeats)
    if _wanted(options, "memory") and not few:
        _cells(result, Waves(5_000_000, 100, 20_000), (2,), LITTLE, 1)
    if _wanted(options, "cascade"):
        _cascade(result, Waves(2000, 20, 500) if few else Waves(30_000, 20, 5000))
    return result


def _wanted(options: Options, name: str) -> bool:
    return options.match is None or options.match.lower() in name


def _machine(rows: Waves) -> Any:
    from mercer import SVC

    return SVC(C=1.0, gamma=1.0 / rows.n_columns)


def _cells(
    result: GroupResult, rows: Waves, counts: tuple[int, ...], memory: float, repeats: int
) -> None:
    """Fit cells with each number of workers in turns, and add what was seen."""
    from mercer import CellSVC
    from mercer.distributed import Distributed

    name = f"{rows.n_rows:,}×{rows.n_columns}, {memory / 1e9:g} GB a worker"
    best: dict[int, dict[str, Any]] = {}
    for _ in range(repeats):
        for count in counts:
            model = Distributed(CellSVC(_machine(rows), random_state=0))
            with workers(count, memory) as client:
                found = measured(client, model, *rows.collections())
            X, y = rows.part(-1)
            found["error"] = 100.0 * float(np.mean(model.predict(X) != y))
            found.update(problem=name, by="cells", workers=count)
            result.records.append(found)
            progress(f"{name}, {count} workers: {found}")
            if count not in best or found["seconds"] < best[count]["seconds"]:
                best[count] = found
    for count, found in best.items():
        each = [
            " + ".join(f"{one:.3g}" for one in found[key]) for key in ("processor", "megabytes")
        ]
        sizes = [number(found[key]) for key in ("seconds", "longest", "client", "error")]
        result.tables[0].add(name, count, sizes[0], each[0], sizes[1], each[1], *sizes[2:])
        if found["restarts"]:
            result.tables[0].notes.append(f"{name}: {found['restarts']} workers began anew")
    if len(best) > 1:
        _add_ratios(result, name, best)


def _text(value: Any) -> str:
    """Return a number, or those of all workers."""
    return " + ".join(f"{one:.3g}" for one in value) if isinstance(value, list) else number(value)


def _add_ratios(result: GroupResult, name: str, best: dict[int, dict[str, Any]]) -> None:
    """Say how much faster two workers are than one."""
    one, two = (best[count] for count in sorted(best))
    ratios = {key: one[key] / two[key] for key in ("seconds", "longest") if two[key]}
    result.summary[name] = ratios
    told = ", ".join(f"{key} {value:.2f}" for key, value in ratios.items())
    result.tables[0].notes.append(f"{name}: one worker over two: {told}")


def _cascade(result: GroupResult, rows: Waves) -> None:
    """Fit one exact machine on one computer and by a cascade on two workers."""
    from mercer.distributed import Distributed

    X, y = rows.here()
    start = time.perf_counter()
    one = _machine(rows).fit(X, y)
    seconds = time.perf_counter() - start
    model = Distributed(_machine(rows))
    with workers(2, MEMORY) as client:
        found = measured(client, model, *rows.collections())
    exact, other = float(one.objective_[0]), float(model.model_.objective_[0])
    name = f"{rows.n_rows:,}×{rows.n_columns}"
    difference, gap = abs(other / exact - 1.0), float(model.model_.gap_.max())
    found.update(problem=name, by="cascade", alone=seconds, difference=difference, gap=gap)
    result.records.append(found)
    cells = [seconds, found["seconds"], difference, gap, found["client"]]
    result.tables[1].add(name, *map(number, cells))
