"""One class: balls and hyperplanes against scikit-learn, and 26 balls against a general solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import svm

from mercer import SVDD, NearestHypersphereClassifier, OneClassSVM

from .. import catalogue
from ..crew import progress
from ..machine import GIB, cache_megabytes, peak_memory
from ..measure import Timing, interleave
from ..problems import Array, Data, Problem
from ..quality import decision_sums
from ..report import GroupResult, Table, number, ratio, seconds_text
from ..worker import TaskError, TimeLimitError, Worker
from .options import Options

NU = 0.1
MEMORY = 4 * GIB


def run(options: Options) -> GroupResult:
    """Time one class of growing size, one large set in little memory, and 26 classes."""
    result = GroupResult("spheres", [_fit_table(), _memory_table(), _letter_table()])
    for problem, data in options.load(_fits, result):
        progress(problem.name)
        _add_fits(result, options, problem, data)
    for problem, _ in options.load(_large, result):
        progress(f"{problem.name}, limited memory")
        _add_memory(result, options, problem)
    for problem, data in options.load(_letters, result):
        progress(f"{problem.name}, a ball for each class")
        _add_letters(result, options, problem, data)
    return result


def _fits(quick: bool) -> list[Problem]:
    sizes = (300,) if quick else (5000, 10000, 20000)
    return [
        Problem(f"normal {n}×20", "gaussians", (("n", n), ("d", 20), ("separation", 0.0)))
        for n in sizes
    ]


def _large(quick: bool) -> list[Problem]:
    arguments: tuple[tuple[str, object], ...] = (("file", "anomaly/shuttle.npz"),)
    if quick:
        arguments += (("rows", 500),)
    return [Problem("shuttle", "standardised", arguments)]


def _letters(quick: bool) -> list[Problem]:
    return [replace(problem, name="letter") for problem in catalogue.multiclass(quick)[:1]]


def _machines(gamma: float) -> dict[str, Any]:
    usual = {"nu": NU, "gamma": gamma, "cache_size": cache_megabytes()}
    return {
        "OneClassSVM": OneClassSVM(**usual),
        "SVDD": SVDD(**usual),
        "scikit-learn": svm.OneClassSVM(**usual),
    }


def _timed(action: Callable[[], Any]) -> Callable[[], float]:
    def run_once() -> float:
        start = time.perf_counter()
        action()
        return time.perf_counter() - start

    return run_once


def _add_fits(result: GroupResult, options: Options, problem: Problem, data: Data) -> None:
    machines = _machines(data.gamma)
    actions = {
        name: _timed(lambda machine=machine: machine.fit(data.X))  # type: ignore[misc]
        for name, machine in machines.items()
    }
    timings = interleave(actions, options.plan)
    theirs = timings["scikit-learn"]
    for name, machine in machines.items():
        result.tables[0].add(
            problem.name,
            name if name == "scikit-learn" else f"mercer {name}",
            seconds_text(timings[name]),
            ratio(timings[name], theirs),
            f"{one_class_gap(data.X, machine, data.gamma):.1e}",
            number(100 * len(machine.support_) / len(data.X)),
        )
    result.records.append(
        {
            "problem": problem,
            "gamma": data.gamma,
            "timings": {name: vars(timing) for name, timing in timings.items()},
        }
    )


def one_class_gap(X: Array, machine: Any, gamma: float) -> float:
    """Return the violation of the optimality conditions, with multipliers from 0 to 1."""
    multipliers = np.zeros(len(X))
    coefficients = np.ravel(machine.dual_coef_)
    multipliers[machine.support_] = coefficients * (NU * len(X) / coefficients.sum())
    used = np.flatnonzero(multipliers)
    sums = decision_sums(X, X[used], multipliers[used], kernel="rbf", gamma=gamma)
    can_rise, can_fall = multipliers < 1 - 1e-9, multipliers > 1e-9
    return float(max(0.0, sums[can_fall].max() - sums[can_rise].min()))


def fit_shuttle(problem: Problem) -> tuple[float, int, int, float]:
    """Fit in the worker's process; return seconds, peak memory, support vectors and the gap."""
    data = problem.load()
    machine = _machines(data.gamma)["SVDD"].set_params(cache_size=200)
    seconds = _timed(lambda: machine.fit(data.X))()
    return seconds, peak_memory(), len(machine.support_), float(machine.gap_[0])


def _add_memory(result: GroupResult, options: Options, problem: Problem) -> None:
    worker = Worker(memory_limit=MEMORY)
    try:
        seconds, peak, n_support, gap = worker.call(
            fit_shuttle, problem, timeout=options.plan.time_limit
        )
        cells = [number(seconds), number(peak / 1e6), n_support, f"{gap:.1e}"]
    except (TaskError, TimeLimitError) as error:
        cells = [str(error), "-", "-", "-"]
    finally:
        worker.stop()
    result.tables[1].add(problem.name, "mercer SVDD", *cells)
    result.records.append({"problem": problem, "limited": cells})


def _add_letters(result: GroupResult, options: Options, problem: Problem, data: Data) -> None:
    bare = NearestHypersphereClassifier(gamma=data.gamma, cv=None)
    timings = interleave(
        {
            "fit": _timed(lambda: bare.fit(data.X, data.y)),
            "with probabilities": _timed(
                lambda: NearestHypersphereClassifier(gamma=data.gamma).fit(data.X, data.y)
            ),
        },
        options.plan,
    )
    start = time.perf_counter()
    radii = np.array([_clarabel_radius(X, data.gamma) for X in _classes(data)])
    general = Timing([time.perf_counter() - start])
    difference = float(np.abs(bare.radii_ / radii - 1.0).max())
    for name, timing in timings.items():
        result.tables[2].add(
            problem.name,
            len(bare.classes_),
            name,
            seconds_text(timing),
            seconds_text(general),
            ratio(timing, general),
            f"{difference:.1e}",
        )
    result.records.append({"problem": problem, "seconds": general.best, "difference": difference})


def _classes(data: Data) -> list[Array]:
    return [data.X[data.y == code] for code in np.unique(data.y)]


def _clarabel_radius(X: Array, gamma: float) -> float:
    """Return the radius of the smallest ball around the images, by clarabel at its defaults."""
    import clarabel
    import scipy.sparse as sp
    from sklearn.metrics.pairwise import rbf_kernel

    n = len(X)
    K = rbf_kernel(X, gamma=gamma)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    constraints = sp.vstack([np.ones((1, n)), -sp.eye(n)], format="csc")
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
    bounds = np.concatenate([[1.0], np.zeros(n)])
    P = sp.triu(sp.csc_matrix(2.0 * K), format="csc")
    found = clarabel.DefaultSolver(P, -np.ones(n), constraints, bounds, cones, settings).solve()
    return float(np.sqrt(-found.obj_val))


def _fit_table() -> Table:
    columns = ["problem", "machine", "fit s", "scikit-learn / it", "gap", "SV %"]
    notes = [
        f"RBF, gamma = 1/(d var), nu = {NU:g}, tol = 1e-3; gap: recomputed in float64 for "
        "multipliers between 0 and 1, in the same way for all"
    ]
    return Table("spheres: one class", columns, notes=notes)


def _memory_table() -> Table:
    columns = ["problem", "machine", "fit s", "peak MB", "SV", "gap"]
    notes = [f"one fit in a process whose address space is limited to {MEMORY / GIB:g} GiB"]
    return Table("spheres: bounded memory", columns, notes=notes)


def _letter_table() -> Table:
    columns = ["problem", "classes", "mercer", "s", "clarabel s", "clarabel / mercer", "radii"]
    notes = [
        "smallest enclosing ball of every class; clarabel: one run for each class at its default "
        "accuracy, kernel matrices included; radii: largest relative difference"
    ]
    return Table("spheres: a ball for each class", columns, notes=notes)
