"""Searches over C and gamma: time and error of ours and of the usual ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.experimental import enable_halving_search_cv  # noqa: F401, it adds the next class
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, StratifiedKFold

from mercer import SVC, GradientSearch, PathSearchCV

from ..crew import progress
from ..measure import Timing, interleave
from ..peers import UnavailableError
from ..problems import clustered, gaussians
from ..report import GroupResult, Table, number, ratio, seconds_text
from .options import Options

GRID = {"C": np.logspace(-2, 3, 10), "gamma": np.logspace(-4, 1, 10)}
OURS = "PathSearchCV"

FOLDS = StratifiedKFold(5)


def run(options: Options) -> GroupResult:
    """Time the searches interleaved and compare what they choose on rows not seen."""
    columns = ["problem", "search", "seconds", f"× {OURS}", "best score", "test error"]
    notes = [
        "10×10 grid (C from .01 to 1000, gamma from 1e-4 to 10), 5 folds, tol=1e-3, all cores; "
        "with the final fit; GradientSearch takes one width a feature where the evidence says so",
        "test error on 4000 further rows, in %",
        f"× {OURS}: the time of the search over that of {OURS}",
    ]
    result = GroupResult("tuning", [Table("tuning: seconds", columns, notes=notes)])
    sizes = (200,) if options.quick else (1000, 4000)
    for n in sizes:
        for name, draw in (
            (f"Gaussians {n}×20", lambda n=n: gaussians(n + 4000, 20, 2.95)),
            (f"make_classification {n}×20", lambda n=n: clustered(n + 4000, 0.05)),
        ):
            progress(name)
            X, y = draw()
            scale = X[:n].std(axis=0)
            _add(result, options, name, X / scale, y, n)
    return result


def _searches(quick: bool) -> dict[str, Callable[[], Any]]:
    grid = {name: values[::3] for name, values in GRID.items()} if quick else GRID
    return {
        OURS: lambda: PathSearchCV(SVC(), grid, cv=FOLDS),
        "GradientSearch": lambda: GradientSearch(random_state=0),
        "GridSearchCV": lambda: GridSearchCV(svm.SVC(), grid, cv=FOLDS, n_jobs=-1),
        "GridSearchCV, intelex": lambda: GridSearchCV(_intelex(), grid, cv=FOLDS, n_jobs=-1),
        "HalvingGridSearchCV": lambda: HalvingGridSearchCV(
            svm.SVC(), grid, cv=FOLDS, n_jobs=-1, random_state=0
        ),
    }


def _intelex() -> Any:
    try:
        import sklearnex.svm
    except ImportError as error:
        raise UnavailableError("scikit-learn-intelex is not installed") from error
    return sklearnex.svm.SVC()


def _add(result: GroupResult, options: Options, name: str, X: Any, y: Any, n: int) -> None:
    made: dict[str, Any] = {}

    def timed(search: str, make: Callable[[], Any]) -> Callable[[], float]:
        def fit() -> float:
            model = make()
            start = time.perf_counter()
            made[search] = model.fit(X[:n], y[:n])
            return time.perf_counter() - start

        return fit

    contenders = {key: timed(key, make) for key, make in _searches(options.quick).items()}
    timings: dict[str, Timing] = interleave(contenders, options.plan)
    for search, timing in timings.items():
        times = ratio(timings[OURS], timing)
        model = made.get(search)
        score = getattr(model, "best_score_", None)
        error = None if model is None else 100.0 * (1.0 - model.score(X[n:], y[n:]))
        shown = number(score) if search != "GradientSearch" else "-"
        result.tables[0].add(
            name, search, seconds_text(timing), str(times or "-"), shown, number(error)
        )
        result.records.append(
            {"problem": name, "search": search, "seconds": timing.seconds, "error": error}
        )
