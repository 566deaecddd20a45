"""All that is public beside a busy process: its default threads against one thread of the BLAS."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from .. import machine
from ..busy_catalogue import FUNCTIONS, WORK, data
from ..crew import progress
from ..measure import Timing, interleave
from ..report import GroupResult, Ratio, Table, ratio, seconds_text
from ..tasks import timed
from ..worker import TaskError, Worker
from .options import Options

DEFAULT, ONE = "default", "one BLAS thread"

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Not OMP_NUM_THREADS, which would hold the engine's threads as well."""

WARM_UP_ROWS = 100
CHEAP = 2.0
"""Rows that take longer, in seconds, are not run again with all cores busy."""

HIGHEST = 2.0
"""What no ratio should exceed."""

QUICK = ("SVC()", "RVC()", "GradientSearch()", "evidence")

SPIN = """
import os, sys
while os.getppid() == int(sys.argv[1]):  # not for ever, should the benchmark be killed
    for _ in range(100_000):
        pass
"""

_warm: set[str] = set()


def run(options: Options) -> GroupResult:
    """Time everything with its default threads and with one BLAS thread, interleaved."""
    cores = machine.cores()
    columns = ["data", "what", "default, s", "one BLAS thread, s", "ratio", f"ratio, {cores} busy"]
    notes = [
        "beside one process that keeps a core busy, which is not pinned; last column: beside one "
        f"for each core, for what takes less than {CHEAP:g} s",
        "default: settings as they are; one BLAS thread: in a process with OPENBLAS_NUM_THREADS=1",
        f"ratio: default over one BLAS thread; above {HIGHEST:g} is a fault",
        "scaled features; searches by a named criterion have 10 evaluations, GradientSearch(RVC()) "
        "5; of functions, the fit of the model or forest that they look at is not timed",
    ]
    result = GroupResult("busy", [Table("busy: seconds beside a busy process", columns, [], notes)])
    workers = _Pair(options.plan.time_limit)
    try:
        for place, work in _rows(options):
            progress(f"{place}, {work}")
            _add(result, options, workers, place, work)
    finally:
        workers.stop()
    result.summary = _summary(result.records)
    result.tables[0].notes.append(str(result.summary["words"]))
    return result


def _rows(options: Options) -> Iterator[tuple[str, str]]:
    for place in ("breast_cancer",) if options.quick else ("breast_cancer", "digits"):
        for work in QUICK if options.quick else WORK:
            name = f"{place} {work}"
            if options.match is None or options.match.lower() in name.lower():
                yield place, work


class _Pair:
    """Two processes, one of them with one BLAS thread."""

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self.workers: dict[str, Worker] = {}

    def contender(self, key: str, place: str, work: str) -> Callable[[], float]:
        """Return a function that asks a process for the seconds of one run."""

        def ask() -> float:
            self.prepare(key, place, work)
            return self.workers[key].call(time_work, place, work, timeout=self.time_limit)

        return ask

    def prepare(self, key: str, place: str, work: str) -> None:
        """Let a process be there that has imported and prepared what it needs."""
        if key not in self.workers or not self.workers[key].alive:
            with _environment(ONE_THREAD if key == ONE else {}):
                self.workers[key] = Worker()
        self.workers[key].call(warm_up, place, work, timeout=None)

    def stop(self) -> None:
        """End both."""
        for worker in self.workers.values():
            worker.stop()


def warm_up(place: str, work: str) -> None:
    """Import and prepare on a few rows; runs in a worker."""
    warnings.simplefilter("ignore")
    if work not in _warm:
        X, y = data(place)
        with suppress(Exception):  # too few rows for some; the imports are made all the same
            WORK[work](X[:WARM_UP_ROWS], y[:WARM_UP_ROWS])()
        _warm.add(work)
        gc.freeze()  # what was imported would be gone through before every run


def time_work(place: str, work: str) -> float:
    """Return the seconds that a piece of work takes; runs in a worker."""
    return timed(WORK[work](*data(place)))[0]


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    """Set variables for processes that are started here."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many cores busy, as the system deals them out."""
    command = [sys.executable, "-S", "-c", SPIN, str(os.getpid())]
    spinners = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def _add(result: GroupResult, options: Options, workers: _Pair, place: str, work: str) -> None:
    contenders = {key: workers.contender(key, place, work) for key in (DEFAULT, ONE)}
    plan = replace(options.plan, budget=options.plan.budget / 4)
    with suppress(TaskError):  # it comes again, and is noted, where the work is timed
        for key in contenders:  # not beside a busy process, which would wait for imports only
            workers.prepare(key, place, work)
    with busy(1):
        timings = interleave(contenders, plan)
    crowded: dict[str, Timing] = {}
    cores = machine.cores()
    if cores > 1 and all(timing.ok and timing.best < CHEAP for timing in timings.values()):
        with busy(cores):
            crowded = interleave(contenders, replace(plan, budget=plan.budget / 2))
    times, times_crowded = _times(timings), _times(crowded)
    result.tables[0].add(
        place,
        f"`{work}`" if work in FUNCTIONS else work,
        *(seconds_text(timings[key]) for key in (DEFAULT, ONE)),
        times,
        times_crowded,
    )
    progress("  " + " | ".join(result.tables[0].rows[-1][2:]))
    result.records.append(
        {"data": place, "work": work, "timings": timings, "crowded": crowded}
        | {"ratio": times and times.value, "ratio_crowded": times_crowded and times_crowded.value}
        | {"bound": "" if times is None else times.sign}
    )


def _times(timings: dict[str, Timing]) -> Ratio | None:
    return ratio(timings[ONE], timings[DEFAULT]) if timings else None


def _summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    known = [record for record in records if record["ratio"] is not None]
    above = [f"{r['work']} ({r['data']})" for r in known if r["ratio"] > HIGHEST]
    words = f"{len(known)} of {len(records)} rows have a ratio; above {HIGHEST:g}: "
    highest = max((record["ratio"] for record in known), default=None)
    return {"words": words + (", ".join(above) or "none"), "highest": highest, "above": above}
