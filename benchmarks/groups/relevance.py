"""Relevance vector machines against the other packages that install, and against our SVC."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mercer import RVC, SVC
from mercer.relevance._likelihood import Bernoulli
from mercer.relevance._posterior import find_posterior

from ..crew import PREPARATION_LIMIT, progress
from ..measure import Timing, interleave
from ..peers import UnavailableError
from ..problems import Data, Problem, gaussians
from ..report import GroupResult, Table, number, ratio, seconds_text
from ..tasks import timed
from ..worker import TaskError, TimeLimitError, Worker
from .growth import exponent
from .options import Options

OURS = "mercer RVC"
COLUMNS = ("problem", "machine", "fit s", f"time / {OURS}", "vectors", "log evidence", "error %")
SIZES = (200, 500, 1000, 2000, 5000)
TEST_ROWS = 2000
PAUSE = 1000
"""Rows beyond which sklearn-rvm and the classic iteration, of the order of n cubed, rest."""


def run(options: Options) -> GroupResult:
    """Time fits of growing size; judge evidence, vectors and error of what was found."""
    notes = [
        "RBF, gamma = 1/(d var), the same for all; each machine in a process of its own, warmed "
        "up on 60 rows; sklearn-rvm and fastrvm at their defaults, the SVC with C = 1",
        "log evidence: Laplace's approximation at the precisions found, in the same way for all",
        f"error on {TEST_ROWS} other rows",
    ]
    result = GroupResult("relevance", [Table("relevance: fit", COLUMNS, notes=notes)])
    times: dict[str, dict[str, list[float]]] = {}
    sizes: dict[str, list[int]] = {}
    for problem, data in options.load(_problems, result):
        progress(problem.name)
        timings = _add(result, options, problem, data)
        kind = problem.name.split()[0]
        sizes.setdefault(kind, []).append(len(data.y))
        for name, timing in timings.items():
            times.setdefault(kind, {}).setdefault(name, []).append(timing.best)
    for kind, found in times.items():
        result.tables[0].notes.append(
            f"{kind}: {OURS} takes time of the order of n to the power "
            f"{number(exponent(sizes[kind], found[OURS]), 2)}"
        )
    return result


def _problems(quick: bool) -> list[Problem]:
    problems = []
    for n in (100,) if quick else SIZES:
        drawn = (("n", n), ("test_rows", TEST_ROWS))
        spread = (("generator", "gaussians"), *drawn, ("d", 20), ("separation", 2.95))
        clusters = (("generator", "clustered"), *drawn, ("flipped", 0.05))
        problems += [
            Problem(f"Gaussians {n}×20", "with_test_rows", spread),
            Problem(f"make_classification {n}×20", "with_test_rows", clusters),
        ]
    return problems


def _sklearn_rvm(gamma: float) -> Any:
    from sklearn_rvm import EMRVC

    return EMRVC(kernel="rbf", gamma=gamma)


def _fastrvm(gamma: float) -> Any:
    import fastrvm

    return fastrvm.RVC(kernel="rbf", gamma=gamma)


MACHINES: dict[str, Callable[[float], Any]] = {
    OURS: lambda gamma: RVC(gamma=gamma),
    "mercer RVC classic": lambda gamma: RVC(gamma=gamma, method="classic"),
    "sklearn-rvm": _sklearn_rvm,
    "fastrvm": _fastrvm,
    "mercer SVC": lambda gamma: SVC(gamma=gamma),
}
CUBIC = ("mercer RVC classic", "sklearn-rvm")

_fitted: dict[str, Any] = {}


def fit(name: str, problem: Problem) -> float:
    """Fit in the worker's process and return the seconds."""
    warnings.simplefilter("ignore")
    try:
        if name not in _fitted:
            X, y = gaussians(60, 3, 2.0)
            _fitted[name] = MACHINES[name](0.3).fit(X, y)
        data = problem.load()
        model = MACHINES[name](data.gamma)
    except ImportError as error:
        raise UnavailableError(f"{name} does not import ({error})") from error
    seconds, _ = timed(lambda: model.fit(data.X, data.y))
    _fitted.update(model=model, data=data)
    return seconds


def judge(name: str) -> dict[str, float | None]:
    """Return what is to be known of the model fitted last in this process."""
    model, data = _fitted["model"], _fitted["data"]
    vectors = getattr(model, "relevance_", getattr(model, "support_", ()))
    return {
        "vectors": len(vectors),
        "evidence": None if "SVC" in name else log_evidence(model, data),
        "error": 100 * float(np.mean(model.predict(data.X_test) != data.y_test)),
    }


def log_evidence(model: Any, data: Data) -> float:
    """Return the log evidence at a model's precisions; other packages scale or prune the bias."""
    rows = rbf_kernel(data.X[model.relevance_], data.X, gamma=data.gamma)
    rows = rows / getattr(model, "_scale", 1.0)
    alpha = np.ravel(model.alpha_)
    if alpha.size > len(rows):
        constant = np.ones((1, len(data.y)))
        # Ours has the weight of the constant function last, sklearn-rvm first.
        rows = np.vstack([rows, constant] if isinstance(model, RVC) else [constant, rows])
    likelihood = Bernoulli(np.where(data.y == 1, 1.0, -1.0), np.ones(len(data.y)))
    outputs = np.zeros(alpha.size, dtype=np.int64)
    return find_posterior(likelihood, rows, outputs, alpha, np.zeros(alpha.size)).log_evidence


def _add(result: GroupResult, options: Options, problem: Problem, data: Data) -> dict[str, Timing]:
    names = [name for name in MACHINES if len(data.y) <= PAUSE or name not in CUBIC]
    workers = {name: Worker() for name in names}
    limit = options.plan.time_limit

    def attempt(name: str) -> float:
        if not workers[name].alive:
            workers[name] = Worker()
        return float(workers[name].call(fit, name, problem, timeout=limit))

    try:
        timings = interleave({name: partial(attempt, name) for name in names}, options.plan)
        found = {name: _judge(workers[name], name, timings[name]) for name in names}
    finally:
        for worker in workers.values():
            worker.stop()
    for name, timing in timings.items():
        result.tables[0].add(problem.name, name, *_cells(timings[OURS], timing, found[name]))
        if timing.status not in ("ok", "cut"):
            result.tables[0].notes.append(f"{name}: {timing.reason}")
    result.records.append(
        {
            "problem": problem,
            "timings": {name: vars(timing) for name, timing in timings.items()},
            "found": found,
        }
    )
    return timings


def _judge(worker: Worker, name: str, timing: Timing) -> dict[str, float | None]:
    nothing: dict[str, float | None] = dict.fromkeys(("vectors", "evidence", "error"))
    if not timing.ok or not worker.alive:
        return nothing
    try:
        return worker.call(judge, name, timeout=PREPARATION_LIMIT)
    except (TaskError, TimeLimitError) as error:
        progress(f"  {name}: {error}")
        return nothing


def _cells(ours: Timing, timing: Timing, found: dict[str, float | None]) -> Sequence[object]:
    return (
        seconds_text(timing),
        ratio(ours, timing),
        None if found["vectors"] is None else int(found["vectors"]),
        number(found["evidence"], 5),
        number(found["error"], 3),
    )
