"""Fits on a GPU: how long, how good, how much memory, and how they agree with the processor's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVDD, SVR, NearestHypersphereClassifier, OneClassSVM

from .. import card
from ..card import Measured, card_sums, measure
from ..crew import progress
from ..gpu_problems import Agreement, GpuProblem, easy, hard, largest, many_classes, of_agreement
from ..gpu_problems import of_fits as problems_of_fits
from ..peers import Dual
from ..quality import Quality, assess, assess_pairs
from ..report import GroupResult, Table, number
from .options import Options

ON_PROCESSOR = 100_000
"""Rows up to which the processor fits the problem as well."""

REFERENCE_TOL = 1e-6
"""Gap of the processor's solutions that those of the card are compared with."""

TIMES = "best of the runs, from arrays on the host to a fitted estimator, process and data warm"
TRUTH = "gap: the largest violation of the optimality conditions, by torch in float64 on all rows"


def fits(options: Options) -> GroupResult:
    """Fit the problems that others have been measured on."""
    columns = ["problem", "s", "runs", "gap", "SV %", "GiB card", "GiB host", "processor s"]
    others = ["prototype, path", "prototype, SMO", "× best", "ThunderSVM", "×", "earlier", "×"]
    notes = [
        TIMES,
        TRUTH,
        "prototype, ThunderSVM: seconds for the same data on one H200 (true gaps up to 6.4e-4 and "
        "1.13e-3), earlier: ThunderSVM on other draws; ×: their time over ours",
        f"processor: one fit with all cores, up to {ON_PROCESSOR:,} rows",
    ]
    result = GroupResult("gpu_fits", [Table("gpu: fits", columns + others, notes=notes)])
    for problem in _chosen(problems_of_fits(options.quick), options):
        record = _fit_record(problem, options, with_processor=problem.n <= ON_PROCESSOR)
        result.records.append(record)
        result.tables[0].add(*_cells(record), *_reference_cells(problem, record))
    return result


def large(options: Options) -> GroupResult:
    """Fit three million rows."""
    columns = ["problem", "s", "runs", "gap", "SV %", "GiB card", "GiB host", "processor s"]
    result = GroupResult("gpu_large", [Table("gpu: many rows", columns, notes=[TIMES, TRUTH])])
    for problem in _chosen([largest(options.quick)], options):
        record = _fit_record(problem, options, with_processor=False)
        result.records.append(record)
        result.tables[0].add(*_cells(record))
    return result


def _chosen(problems: list[Any], options: Options) -> list[Any]:
    match = (options.match or "").lower()
    return [problem for problem in problems if match in problem.name.lower()]


def _fit_record(problem: GpuProblem, options: Options, with_processor: bool) -> dict[str, Any]:
    """Fit a problem on the card, and by the processor where that does not take long."""
    X, y = problem.draw()
    settings = {"C": problem.C, "gamma": problem.gamma, "time_limit": options.plan.time_limit}
    _warm_up(X, y, settings)
    found = _fitted(SVC(device="cuda", **settings), X, y, options.plan.repeats)
    truth = _truth(found.returned, X, y, problem.C, problem.gamma)
    record = {
        "problem": problem,
        **_told(found),
        "truth": truth,
        "converged": found.returned.converged_,
        "own gap": float(found.returned.gap_.max()),
        "iterations": int(found.returned.n_iter_.sum()),
        "reference": problem.reference,
    }
    progress(f"{problem.name}: {found.best:.3f} s, gap {truth.gap:.2g}")
    if with_processor:
        own = _fitted(SVC(**settings), X, y, 1)
        record["processor"] = {
            "seconds": own.best,
            "converged": own.returned.converged_,
            "objective": float(own.returned.objective_[0]),
        }
        progress(f"{problem.name}, processor: {own.best:.3f} s")
    return record


def _warm_up(X: Any, y: Any, settings: dict[str, Any]) -> None:
    """Fit some of the rows, so that nothing is loaded or compiled in the fit that counts."""
    some = slice(0, min(len(X), 5000))
    _fitted(SVC(device="cuda", **settings), X[some], y[some], 1)


def _fitted(model: Any, X: Any, y: Any, repeats: int, weights: Any = None) -> Measured:
    """Time fits; those that a limit ends are told by their gaps, not by warnings."""
    given = () if isinstance(model, OneClassSVM | SVDD) else (y,)
    more = {} if weights is None else {"sample_weight": weights}
    with card.measured_device(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return measure(lambda: model.fit(X, *given, **more), repeats)


def _told(found: Measured) -> dict[str, Any]:
    return {"seconds": found.seconds, "GiB card": found.card, "GiB host": found.host}


def _truth(model: Any, X: Any, y: Any, C: Any, gamma: float) -> Quality:
    dual = Dual(model.support_, model.dual_coef_, model.n_support_)
    return assess(X, y, dual, C=C, gamma=gamma, summed=card_sums)


def _cells(record: dict[str, Any]) -> list[Any]:
    problem, truth = record["problem"], record["truth"]
    return [
        problem.name,
        number(min(record["seconds"])),
        len(record["seconds"]),
        number(truth.gap),
        number(100.0 * truth.n_support / problem.n),
        number(record["GiB card"]),
        number(record["GiB host"]),
        number(record.get("processor", {}).get("seconds")),
    ]


def _reference_cells(problem: GpuProblem, record: dict[str, Any]) -> list[Any]:
    known = problem.reference
    if known is None:
        return [None] * 7
    seconds = min(record["seconds"])
    return [
        known.path,
        known.smo,
        number(known.best / seconds),
        known.thunder,
        number(known.thunder / seconds),
        known.earlier,
        number(known.earlier / seconds),
    ]


# ---- agreement with the processor ---------------------------------------------------------------


def agreement(options: Options) -> GroupResult:
    """Compare twelve problems, at the usual gap and at a small one, with the processor's."""
    columns = ["problem", "tol", "objective", "labels %", "gap", "s", "processor s"]
    notes = [
        f"objective: largest relative difference from the processor's at tol={REFERENCE_TOL:g}, "
        "whose seconds are told; labels: equal ones of 10,000 rows not seen",
        TRUTH + ", the worst of all pairs of classes",
    ]
    result = GroupResult("gpu_agreement", [Table("gpu: agreement", columns, notes=notes)])
    for problem in _chosen(of_agreement(options.quick), options):
        _agree(result, problem, (1e-3, REFERENCE_TOL), options)
    return result


def classes(options: Options) -> GroupResult:
    """Compare problems of many classes, also with what "auto" chooses."""
    columns = ["problem", "tol", "objective", "labels %", "gap", "s", "processor s", "auto s"]
    result = GroupResult("gpu_classes", [Table("gpu: many classes", columns, notes=[TIMES])])
    for problem in _chosen(many_classes(options.quick), options):
        _agree(result, problem, (1e-3,), options, reference_tol=1e-3, with_auto=True)
    return result


def _agree(
    result: GroupResult,
    problem: Agreement,
    tols: tuple[float, ...],
    options: Options,
    reference_tol: float = REFERENCE_TOL,
    with_auto: bool = False,
) -> None:
    limit, repeats = options.plan.time_limit, options.plan.repeats
    settings = {**problem.settings, "time_limit": limit}
    data, new = (problem.X, problem.y), _new_rows(problem.X)
    own_repeats = repeats if with_auto else 1
    own = _fitted(SVC(tol=reference_tol, **settings), *data, own_repeats, problem.weights)
    for tol in tols:
        model = SVC(tol=tol, device="cuda", **settings)
        found = _fitted(model, *data, repeats, problem.weights)
        record = {
            "problem": problem.name,
            "shape": problem.X.shape,
            "settings": problem.settings,
            "tol": tol,
            **_told(found),
            "processor": {"seconds": own.seconds, "tol": reference_tol},
            "objective": _difference(model.objective_, own.returned.objective_),
            "labels": 100.0 * float(np.mean(model.predict(new) == own.returned.predict(new))),
            "gap": _worst_gap(model, problem),
            "own gap": float(model.gap_.max()),
            "converged": model.converged_,
        }
        cells = [record["objective"], record["labels"], record["gap"], found.best, own.best]
        if with_auto:
            auto = _fitted(SVC(tol=tol, device="auto", **settings), *data, repeats, problem.weights)
            record["auto"] = auto.seconds
            cells.append(auto.best)
        result.records.append(record)
        result.tables[0].add(problem.name, f"{tol:g}", *(number(cell, 5) for cell in cells))
        progress(f"{problem.name}, tol={tol:g}: {found.best:.3f} s, gap {record['gap']:.2g}")


def _difference(values: Any, expected: Any) -> float:
    return float(np.max(np.abs(np.ravel(values) - np.ravel(expected)) / np.abs(np.ravel(expected))))


def _new_rows(X: Any) -> Any:
    """Return rows between those of the fit, where the labels change."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, len(X), size=(2, 10_000))
    share = rng.random((10_000, 1))
    return share * X[first] + (1.0 - share) * X[second]


def _worst_gap(model: Any, problem: Agreement) -> float:
    C, gamma = problem.settings["C"], problem.settings["gamma"]
    if len(model.classes_) > 2:
        dual = Dual(model.support_, model.dual_coef_, model.n_support_)
        return assess_pairs(problem.X, problem.y, dual, C=C, gamma=gamma, summed=card_sums)
    prices = np.full(len(problem.y), C)
    if problem.weights is not None:
        prices *= problem.weights
    if problem.settings.get("class_weight") == "balanced":
        for label in model.classes_:
            own = problem.y == label
            prices[own] *= len(own) / (len(model.classes_) * own.sum())
    return _truth(model, problem.X, problem.y, prices, gamma).gap


def machines(options: Options) -> GroupResult:
    """Fit the machines beside the usual classifier."""
    columns = ["machine", "s", "processor s", "objective", "decision values", "gap", "SV"]
    notes = [
        TIMES,
        "objective, decision values: largest differences from the processor's, relative and as a "
        "share of their range; gap: as the machine tells it, in the units of its tol",
    ]
    result = GroupResult("gpu_machines", [Table("gpu: machines", columns, notes=notes)])
    problem = hard(400 if options.quick else 50_000)
    X, y = problem.draw()
    target = X @ np.sin(np.arange(20.0)) + 0.3 * y
    usual = {"gamma": problem.gamma, "time_limit": options.plan.time_limit}
    for machine, labels in [
        (SVC(C=10.0, loss="squared_hinge", **usual), y),
        (SVR(C=1.0, **usual), target),
        (OneClassSVM(nu=0.1, **usual), None),
        (SVDD(nu=0.1, **usual), None),
        (NearestHypersphereClassifier(nu=0.1, cv=None, **usual), y),
    ]:
        _compare(result, machine, X, labels, options)
    return result


def _compare(result: GroupResult, machine: Any, X: Any, y: Any, options: Options) -> None:
    name = type(machine).__name__
    own = _fitted(machine, X, y, 1)
    there = type(machine)(**{**machine.get_params(), "device": "cuda"})
    found = _fitted(there, X, y, options.plan.repeats)
    values, expected = (_values(model, X[:20_000]) for model in (there, machine))
    record = {
        "machine": repr(machine),
        **_told(found),
        "processor": own.seconds,
        "objective": _difference(there.objective_, machine.objective_),
        "decision values": float(np.abs(values - expected).max() / np.ptp(expected)),
        "own gap": float(np.max(there.gap_)),
        "converged": there.converged_,
        "SV": len(there.support_),
    }
    result.records.append(record)
    told = ("objective", "decision values", "own gap")
    cells = (number(value) for value in (found.best, own.best, *(record[key] for key in told)))
    result.tables[0].add(name, *cells, record["SV"])
    progress(f"{name}: {found.best:.3f} s, processor {own.best:.3f} s")


def _values(model: Any, X: Any) -> Any:
    ask = model.predict if isinstance(model, SVR) else model.decision_function
    return ask(X)


# ---- the first fit of a process -----------------------------------------------------------------


def first(options: Options) -> GroupResult:
    """Time the first fit of a fresh process, without and with kernels kept on disk."""
    columns = ["kernels on disk", "import s", "first fit s", "second fit s", "whole process s"]
    notes = ["easy, 20,000 rows; torch is imported in the first fit"]
    result = GroupResult("gpu_first", [Table("gpu: first fit", columns, notes=notes)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(sys.path)
        environment = {**os.environ, "MERCER_CACHE": folder, "PYTHONPATH": path}
        for state in ("none", "kept"):
            command = [sys.executable, "-m", "benchmarks.first_fit"]
            rows = str(easy(400 if options.quick else 20_000).n)
            done = subprocess.run(
                [*command, rows], env=environment, capture_output=True, text=True, check=True
            )
            record = {"kernels": state, **json.loads(done.stdout.splitlines()[-1])}
            result.records.append(record)
            told = ("import", "first", "second", "process")
            result.tables[0].add(state, *(number(record[key]) for key in told))
            progress(f"first fit, kernels on disk: {state}: {record['first']:.2f} s")
    return result
