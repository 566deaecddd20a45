"""A process of :mod:`benchmarks.against`: does what the checkout in its working folder can do.

It is run as a file, so that ``benchmarks`` and ``mercer`` are those of the checkout; of two commits
only what is imported here has to agree. Commands and answers are lines of JSON: the name of a work
is answered by the seconds that it took (with ``--processor`` those of the processor), and a list
with its name by what has come of it, in numbers.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path[0] = str(Path.cwd())  # Python puts the folder of this file there

import numpy as np  # noqa: E402

from benchmarks import busy_catalogue, catalogue  # noqa: E402
from benchmarks.groups import threads  # noqa: E402
from benchmarks.peers import PEERS  # noqa: E402
from benchmarks.problems import Problem  # noqa: E402
from benchmarks.tasks import timed  # noqa: E402
from mercer import kernels  # noqa: E402

Ready = Callable[[], Callable[[], Any]]
"""Loads and converts; what it returns is timed."""

GROUPS = {
    "speed": catalogue.speed,
    "hard": catalogue.hard,
    "multiclass": catalogue.multiclass,
    "linear": catalogue.linear,
    "svr": catalogue.regression,
}


def works() -> Iterator[tuple[str, Ready]]:
    """Yield all works of this checkout by name."""
    for group, problems in GROUPS.items():
        for problem in problems(False):
            name = f"{group}: {problem.name}, {problem.loss}, C={problem.C:g}"
            yield name, partial(_fit, problem)
    for problem in catalogue.predict(False):
        yield f"predict: {problem.name}", partial(_decide, problem)
    for work in threads.works(False):
        yield f"threads: {work.name}", partial(_thread_work, work)
    for data in ("breast_cancer", "digits"):
        for name, work in busy_catalogue.WORK.items():
            yield f"{data}: {name}", partial(_public, work, data)


def _fit(problem: Problem) -> Callable[[], Any]:
    data, adapter = problem.load(), PEERS["mercer"]
    return partial(adapter.fit, problem, data, adapter.prepare(problem, data))


def _decide(problem: Problem) -> Callable[[], Any]:
    data, adapter = problem.load(), PEERS["mercer"]
    model = adapter.fit(problem, data, adapter.prepare(problem, data))
    return partial(adapter.decide, model, adapter.rows(data.X_test))


def _thread_work(work: threads.Work) -> Callable[[], Any]:
    return work.ready(work.problem, work.problem.load())


def _public(work: Any, data: str) -> Callable[[], Any]:
    return work(*busy_catalogue.data(data))


def _seconds(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    def measured() -> float:
        start = clock()
        call()
        return clock() - start

    return timed(measured)[1]


def _numbers(name: str, result: Any) -> list[float]:
    """Return what a model says of its rows, or a function of a model, as numbers."""
    for method in ("decision_function", "predict"):
        if hasattr(result, method):
            return _flat(getattr(result, method)(_rows(name, result)))
    if hasattr(result, "get_support"):
        return _flat(result.get_support())
    if hasattr(result, "gradient"):
        return [result.value, *([] if result.gradient is None else _flat(result.gradient))]
    return _flat(result)


def _flat(numbers: Any) -> list[float]:
    return np.asarray(numbers, dtype=float).ravel().tolist()


def _rows(name: str, model: Any) -> Any:
    X, _ = busy_catalogue.data(name.partition(":")[0])
    return X if model.n_features_in_ == X.shape[1] else kernels.RBF(1.0 / X.shape[1])(X)


def main() -> None:
    """List the works first; then time the one that each line names."""
    warnings.simplefilter("ignore")
    known = dict(works())
    clock = time.process_time if "--processor" in sys.argv else time.perf_counter
    answers, sys.stdout = sys.stdout, sys.stderr  # what the work prints is no answer
    print(json.dumps(list(known)), file=answers, flush=True)
    name, call = None, None
    for line in sys.stdin:
        try:
            wanted = json.loads(line)
            if isinstance(wanted, list):
                np.random.seed(0)  # what has no random_state takes it from here
                answer: dict[str, Any] = {"numbers": _numbers(wanted[0], known[wanted[0]]()())}
            else:
                if wanted != name:
                    name, call = wanted, known[wanted]()
                    call()  # imports and caches
                answer = {"seconds": _seconds(call, clock)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
