"""Searches over C and gamma: time and error of ours and of the usual ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn import svm
from sklearn.experimental import enable_halving_search_cv  # noqa: F401, it adds the next class
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, StratifiedKFold

from mercer import SVC, GradientSearch, PathSearchCV
from mercer.datasets import load_ida

from ..crew import progress
from ..measure import Timing, interleave
from ..peers import UnavailableError
from ..problems import clustered, gaussians
from ..report import GroupResult, Table, number, ratio, seconds_text
from ..searches import LiquidSearch, OptunaSearch
from .options import Options

GRID = {"C": np.logspace(-2, 3, 10), "gamma": np.logspace(-4, 1, 10)}
BOUNDS = {name: (float(values[0]), float(values[-1])) for name, values in GRID.items()}
OURS, GRADIENT = "PathSearchCV", "GradientSearch"
N_FOLDS = 5
FOLDS = StratifiedKFold(N_FOLDS)
N_TEST = 4000


class Problem(NamedTuple):
    """Rows to choose parameters on, and others to judge the choice by."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def run(options: Options) -> GroupResult:
    """Time the searches interleaved and compare what they choose on rows not seen."""
    columns = ["problem", "search", "seconds", f"× {OURS}", f"× {GRADIENT}"]
    notes = [
        "10×10 grid (C from .01 to 1000, gamma from 1e-4 to 10), 5 folds, tol=1e-3, all cores; "
        "with the final fit; GradientSearch takes one width a feature where the evidence says so "
        "(on splice it takes 60)",
        f"best score by the folds; test error in %, on {N_TEST} further rows or those of the split",
        f"× {OURS}, × {GRADIENT}: the time of the search over theirs",
        "GridSearchCV, intelex: n_jobs=-1, or one fit after another with the threads of intelex",
        "Optuna: its default sampler in all cores, for the time that our search took",
        "liquidSVM: its own search on the same grid, no offset, folds vote instead of a final fit",
    ]
    table = Table("tuning: seconds", [*columns, "best score", "test error"], notes=notes)
    result = GroupResult("tuning", [table])
    for problem in _problems(options.quick):
        if options.match is None or options.match.lower() in problem.name.lower():
            progress(problem.name)
            _add(result, options, problem)
    return result


def _problems(quick: bool) -> Iterator[Problem]:
    for n in (200,) if quick else (1000, 4000):
        yield _scaled(f"Gaussians {n}×20", *gaussians(n + N_TEST, 20, 2.95), n)
        yield _scaled(f"make_classification {n}×20", *clustered(n + N_TEST, 0.05), n)
    try:
        data = load_ida("splice")
    except OSError as error:
        progress(f"splice: {error}")
        return
    train, test = data.splits[0]
    train = train[:200] if quick else train
    X, y = data.data, data.target
    yield Problem(f"splice {train.size}×60", X[train], y[train], X[test], y[test])


def _scaled(name: str, X: Any, y: Any, n: int) -> Problem:
    X = X / X[:n].std(axis=0)
    return Problem(name, X[:n], y[:n], X[n:], y[n:])


def _searches(quick: bool) -> dict[str, Callable[[], Any]]:
    grid = {name: values[::3] for name, values in GRID.items()} if quick else GRID
    n_cores = os.cpu_count() or 1
    searches: dict[str, Callable[[], Any]] = {
        OURS: lambda: PathSearchCV(SVC(), grid, cv=FOLDS),
        GRADIENT: lambda: GradientSearch(random_state=0),
        "GridSearchCV": lambda: GridSearchCV(svm.SVC(), grid, cv=FOLDS, n_jobs=-1),
        "GridSearchCV, intelex": lambda: GridSearchCV(_intelex(), grid, cv=FOLDS, n_jobs=-1),
        "GridSearchCV, intelex, its threads": lambda: GridSearchCV(_intelex(), grid, cv=FOLDS),
        "HalvingGridSearchCV": lambda: HalvingGridSearchCV(
            svm.SVC(), grid, cv=FOLDS, n_jobs=-1, random_state=0
        ),
        "liquidSVM": lambda: LiquidSearch(grid, N_FOLDS, n_cores),
    }
    if n_cores > 1:  # on small problems its threads may wait for each other
        searches["liquidSVM, 1 thread"] = lambda: LiquidSearch(grid, N_FOLDS, 1)
    return searches


def _intelex() -> Any:
    try:
        import sklearnex.svm
    except ImportError as error:
        raise UnavailableError("scikit-learn-intelex is not installed") from error
    return sklearnex.svm.SVC()


def _add(result: GroupResult, options: Options, problem: Problem) -> None:
    made: dict[str, Any] = {}

    def timed(search: str, make: Callable[[], Any]) -> Callable[[], float]:
        def fit() -> float:
            model = make()
            start = time.perf_counter()
            made[search] = model.fit(problem.X, problem.y)
            return time.perf_counter() - start

        return fit

    contenders = {key: timed(key, make) for key, make in _searches(options.quick).items()}
    timings: dict[str, Timing] = interleave(contenders, options.plan)
    for ours in (OURS, GRADIENT):
        key = f"Optuna, as long as {ours}"
        make = _optuna(timings[ours].best)
        timings |= interleave({key: timed(key, make)}, replace(options.plan, repeats=1, most=1))
    for search in timings:
        _add_row(result, problem, search, timings, made.get(search))


def _optuna(seconds: float) -> Callable[[], OptunaSearch]:
    return lambda: OptunaSearch(BOUNDS, FOLDS, seconds)


def _add_row(
    result: GroupResult, problem: Problem, search: str, timings: dict[str, Timing], model: Any
) -> None:
    timing = timings[search]
    score = None if search == GRADIENT else getattr(model, "best_score_", None)
    error = None if model is None else 100.0 * (1.0 - model.score(problem.X_test, problem.y_test))
    trials = getattr(model, "n_trials_", None)
    label = search if trials is None else f"{search} ({trials} trials)"
    result.tables[0].add(
        problem.name,
        label,
        seconds_text(timing),
        *(str(ratio(timings[ours], timing) or "-") for ours in (OURS, GRADIENT)),
        number(score),
        number(error),
    )
    result.records.append(
        {"problem": problem.name, "search": search, "seconds": timing.seconds}
        | {"status": timing.status, "score": score, "error": error, "trials": trials}
    )
