"""What is done with machines on a GPU: searches over their parameters, and predictions."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, OneClassSVM, PathSearchCV

from .. import card
from ..card import Measured, measure
from ..crew import progress
from ..gpu_problems import QUICK_ROWS, hard
from ..report import GroupResult, Table, number
from .options import Options

GRID = {"C": np.logspace(-2, 3, 10), "gamma": np.logspace(-4, 1, 10)}
N_FOLDS = 5


def search(options: Options) -> GroupResult:
    """Search C and gamma on 10,000 rows: with shared work by the processor, and fit by fit."""
    columns = ["search", "s", "best score %", "C", "gamma", "test error %"]
    n = QUICK_ROWS if options.quick else 10_000
    notes = [
        f"hard, {n:,} rows, {N_FOLDS} folds, grid of {_grid(options)['C'].size}×"
        f"{_grid(options)['gamma'].size}, with the last fit; test error on as many further rows",
        "fit by fit: each candidate on one fold, time times the number of folds; at most "
        f"{options.plan.time_limit:g} s, then for as many as that allows of the grid, shuffled",
    ]
    result = GroupResult("gpu_search", [Table("gpu: search", columns, notes=notes)])
    problem = hard(n)
    data, new = problem.draw(), problem.draw(seed=1)
    for device in ("cpu", "cuda"):
        searcher = PathSearchCV(SVC(device=device), _grid(options), cv=StratifiedKFold(N_FOLDS))
        found = _measured(lambda: searcher.fit(*data), 1)  # noqa: B023, called at once
        best, score = searcher.best_params_, 100.0 * searcher.best_score_
        error = 100.0 * (1.0 - searcher.score(*new))
        _add(result, f"PathSearchCV, device={device!r}", found.best, score, best, error)
    for device in ("cpu", "cuda"):
        _fit_by_fit(result, device, data, options)
    return result


def _grid(options: Options) -> dict[str, Any]:
    return {name: values[::3] for name, values in GRID.items()} if options.quick else GRID


def _fit_by_fit(result: GroupResult, device: str, data: Any, options: Options) -> None:
    """Fit each candidate on the first fold, as a search that shares nothing would on all."""
    X, y = data
    train, test = next(StratifiedKFold(N_FOLDS).split(X, y))
    candidates = list(product(*_grid(options).values()))
    np.random.default_rng(0).shuffle(candidates)
    scores = []
    with card.measured_device():
        SVC(device=device).fit(X[train], y[train])
        start = time.perf_counter()
        for C, gamma in candidates:
            model = SVC(C=C, gamma=gamma, device=device).fit(X[train], y[train])
            scores.append(float(model.score(X[test], y[test])))
            if time.perf_counter() - start > options.plan.time_limit:
                break
        seconds = time.perf_counter() - start
    done = len(scores)
    best = dict(zip(GRID, candidates[int(np.argmax(scores))]))
    whole = N_FOLDS * seconds * len(candidates) / done
    name = f"fit by fit, device={device!r}, {done} of {len(candidates)} on one fold"
    _add(result, name, whole, 100.0 * max(scores), best, None)


def _add(
    result: GroupResult, name: str, seconds: float, score: float, best: Any, error: float | None
) -> None:
    result.records.append(
        {"search": name, "seconds": seconds, "score": score, "best": best, "error": error}
    )
    cells = (score, best["C"], best["gamma"], error)
    result.tables[0].add(name, number(seconds), *(number(cell, 4) for cell in cells))
    progress(f"{name}: {seconds:.2f} s")


def predict(options: Options) -> GroupResult:
    """Predict a million rows with some 50,000 support vectors."""
    columns = ["machine", "SV", "rows", "s", "GiB card", "processor s", "labels %", "values"]
    notes = [
        "best of the runs, rows on the host to values on the host; labels: equal to the "
        "processor's; values: largest difference as a share of the range",
    ]
    result = GroupResult("gpu_predict", [Table("gpu: prediction", columns, notes=notes)])
    n, m = (QUICK_ROWS, 2 * QUICK_ROWS) if options.quick else (100_000, 1_000_000)
    problem, (new, _) = hard(n), hard(m).draw(seed=1)
    X, y = problem.draw()
    usual = {"gamma": problem.gamma, "device": "cuda", "time_limit": options.plan.time_limit}
    with card.measured_device():
        classifier = SVC(C=problem.C, **usual).fit(X, y)
        region = OneClassSVM(nu=0.1, **usual).fit(X)
    for model in (classifier, region):
        _predict(result, model, new, options)
    return result


def _predict(result: GroupResult, model: Any, new: Any, options: Options) -> None:
    name = type(model).__name__
    found = _measured(lambda: model.decision_function(new), options.plan.repeats)
    model.set_params(device="cpu")
    own = _measured(lambda: model.decision_function(new), 1)
    values, expected = found.returned, own.returned
    record = {
        "machine": name,
        "SV": len(model.support_),
        "rows": len(new),
        "seconds": found.seconds,
        "GiB card": found.card,
        "processor": own.seconds,
        "labels": 100.0 * float(np.mean((values > 0) == (expected > 0))),
        "values": float(np.abs(values - expected).max() / np.ptp(expected)),
    }
    result.records.append(record)
    told = (found.best, record["GiB card"], own.best)
    cells = (name, record["SV"], record["rows"], *map(number, told))
    result.tables[0].add(*cells, number(record["labels"], 7), number(record["values"]))
    progress(f"{name}: {found.best:.3f} s for {len(new)} rows, processor {own.best:.2f} s")


def _measured(call: Any, repeats: int) -> Measured:
    with card.measured_device():
        return measure(call, repeats)
