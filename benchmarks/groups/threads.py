"""What further threads bring: seconds, speed-up and efficiency of mercer by their number."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from mercer import SVC, KernelRFE, PathSearchCV, PlattClassifier
from mercer.gram import available_threads

from .. import catalogue
from ..crew import PREPARATION_LIMIT, progress
from ..machine import THREAD_VARIABLES, cores
from ..measure import Timing, interleave
from ..peers import OURS, PEERS
from ..problems import Data, Problem
from ..report import GroupResult, Ratio, Table, number, ratio, seconds_text
from ..tasks import WARM_UP, timed
from ..worker import Worker
from .options import Options
from .tuning import FOLDS, GRID

COUNTS = (1, 2, 4, 8, 16)
TOL_OF_ELIMINATION = 1e-6


class Work(NamedTuple):
    """What is timed: ``ready`` makes a call of no arguments of a problem and its data."""

    name: str
    problem: Problem
    ready: Callable[[Problem, Data], Callable[[], Any]]


def run(options: Options) -> GroupResult:
    """Time each work with all numbers of threads, interleaved, each in a process of its own."""
    counts = [count for count in COUNTS if count <= cores()]
    notes = [
        f"each number of threads has a process of its own, in which {', '.join(THREAD_VARIABLES)} "
        "are set to it: they limit mercer and linear algebra alike",
        f"PathSearchCV: {len(GRID['C'])}×{len(GRID['gamma'])} grid, {FOLDS.n_splits} folds; "
        f"KernelRFE: linear, C=1, tol={TOL_OF_ELIMINATION:g}, down to one feature",
    ]
    meaning = "speed-up over one thread, and in brackets the share of it in the number of threads"
    seconds = Table("threads: seconds", ["work", *map(str, counts)], notes=notes)
    gains = Table("threads: speed-up", ["work", *map(str, counts)], notes=[meaning])
    result = GroupResult("threads", [seconds, gains])
    workers = {count: _worker(count) for count in counts}
    try:
        for work in works(options.quick):
            if options.match is None or options.match.lower() in work.name.lower():
                _add(result, work.name, _race(workers, work, options))
    finally:
        for worker in workers.values():
            worker.stop()
    return result


def works(quick: bool) -> list[Work]:
    """Return fits, searches, probabilities, eliminations and predictions."""
    n = 300 if quick else None
    fits = [
        catalogue.gaussians(n or 10_000, 100),
        catalogue.clustered(n or 20_000),
        catalogue.gaussians(n or 100_000, 20),
    ]
    searched = [catalogue.gaussians(n or 2000, 20), catalogue.clustered(n or 2000)]
    calibrated = [catalogue.gaussians(n or 5000, 20), catalogue.clustered(n or 5000)]
    eliminated = catalogue.elimination(quick)
    predicted = catalogue.predict(quick)[0]
    rows = 500 if quick else 20_000
    return [
        *(Work(f"fit, {p.name}, C={p.C:g}", p, fit) for p in fits),
        *(Work(f"PathSearchCV, {p.name}", p, search) for p in searched),
        *(Work(f"PlattClassifier, {p.name}, C={p.C:g}", p, calibrate) for p in calibrated),
        *(Work(f"KernelRFE, {p.name}", p, partial(eliminate, step)) for p, step in eliminated),
        Work(f"decision values of {rows} rows, {predicted.name}", predicted, decide),
    ]


def fit(problem: Problem, data: Data) -> Callable[[], Any]:
    """Fit an SVC."""
    model = PEERS[OURS].estimator(problem, data.gamma)
    return lambda: model.fit(data.X, data.y)


def search(problem: Problem, data: Data) -> Callable[[], Any]:
    """Search C and gamma over the grid of the group ``tuning``."""
    X = data.X / data.X.std(axis=0)
    return lambda: PathSearchCV(SVC(), GRID, cv=FOLDS).fit(X, data.y)


def calibrate(problem: Problem, data: Data) -> Callable[[], Any]:
    """Fit an SVC with probabilities."""
    model = PlattClassifier(PEERS[OURS].estimator(problem, data.gamma))
    return lambda: model.fit(data.X, data.y)


def eliminate(step: int, problem: Problem, data: Data) -> Callable[[], Any]:
    """Rank the features by elimination."""
    machine = SVC(kernel="linear", C=problem.C)
    search = KernelRFE(machine, tol=TOL_OF_ELIMINATION, n_features_to_select=1, step=step)
    return lambda: search.fit(data.X, data.y)


def decide(problem: Problem, data: Data) -> Callable[[], Any]:
    """Compute the decision values of rows not seen before."""
    model = fit(problem, data)()
    return lambda: model.decision_function(data.X_test)


_state: dict[str, Any] = {}


def prepare(work: Work, threads: int) -> None:
    """Make the work ready in this process, which must have the right number of threads."""
    warnings.simplefilter("ignore")
    if available_threads() != threads:
        raise RuntimeError(f"{available_threads()} threads in the place of {threads}")
    if "name" not in _state:
        fit(WARM_UP, WARM_UP.load())()
    if _state.get("name") != work.name:
        _state.clear()
        _state.update(name=work.name, call=work.ready(work.problem, work.problem.load()))


def measure() -> float:
    """Return the seconds of the work that is ready."""
    return timed(_state["call"])[0]


def _worker(count: int) -> Worker:
    """Start a process with so many threads; libraries read the variables when they are loaded."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(count)))
    try:
        return Worker()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _race(workers: dict[int, Worker], work: Work, options: Options) -> dict[str, Timing]:
    """Time one work in all processes, interleaved."""
    progress(work.name)

    def attempt(count: int) -> float:
        if not workers[count].alive:
            workers[count] = _worker(count)
        workers[count].call(prepare, work, count, timeout=PREPARATION_LIMIT)
        return float(workers[count].call(measure, timeout=options.plan.time_limit))

    timings = interleave({str(count): partial(attempt, count) for count in workers}, options.plan)
    for count, timing in timings.items():
        progress(f"  {count:>2s} threads {seconds_text(timing)} {timing.reason}")
    return timings


def _add(result: GroupResult, name: str, timings: dict[str, Timing]) -> None:
    gains = {count: ratio(timing, timings["1"]) for count, timing in timings.items()}
    result.tables[0].add(name, *map(seconds_text, timings.values()))
    result.tables[1].add(name, *(_gain_text(gain, int(count)) for count, gain in gains.items()))
    for timing in timings.values():
        if timing.status == "failed" and timing.reason not in result.tables[0].notes:
            result.tables[0].notes.append(timing.reason)
    result.records.append(
        {
            "work": name,
            "seconds": {count: timing.seconds for count, timing in timings.items()},
            "status": {count: timing.status for count, timing in timings.items()},
            "speed-up": {count: gain.value for count, gain in gains.items() if gain},
            "efficiency": {count: gain.value / int(count) for count, gain in gains.items() if gain},
        }
    )


def _gain_text(gain: Ratio | None, count: int) -> str:
    return "-" if gain is None else f"{gain} ({number(100 * gain.value / count, 2)} %)"
