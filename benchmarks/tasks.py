"""What a worker is asked to do: prepare, fit, predict, and say what it found.

The functions run inside a :class:`benchmarks.worker.Worker` and keep the prepared data and the
last model there, so that only small answers travel.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .machine import peak_memory, restart_peak_memory
from .peers import PEERS, Dual
from .problems import Problem

WARM_UP = Problem("warm-up", "gaussians", (("n", 100), ("d", 5), ("separation", 1.0)))

_state: dict[str, Any] = {}


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call took, with the garbage collector off, and its result."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        result = function()
        return time.perf_counter() - start, result
    finally:
        if enabled:
            gc.enable()


def prepare(peer: str, problem: Problem) -> None:
    """Load the problem, convert it for the peer, and wake the peer up on a tiny problem."""
    warnings.simplefilter("ignore")
    adapter = PEERS[peer]
    if _state.get("warm") != peer:
        tiny = WARM_UP.load()
        adapter.fit(WARM_UP, tiny, adapter.prepare(WARM_UP, tiny))
        _state["warm"] = peer
    if _state.get("problem") != problem:
        _state.pop("model", None)
        data = problem.load()
        _state.update(problem=problem, data=data, prepared=adapter.prepare(problem, data))


def fit(peer: str) -> float:
    """Fit the prepared problem; return the seconds."""
    _state.pop("model", None)
    adapter, problem = PEERS[peer], _state["problem"]
    seconds, _state["model"] = timed(
        lambda: adapter.fit(problem, _state["data"], _state["prepared"])
    )
    return seconds


def fit_with_peak(peer: str) -> tuple[float, int, int]:
    """Fit the prepared problem; return the seconds, the bytes beyond the data, and all bytes."""
    before = restart_peak_memory()
    seconds = fit(peer)
    return seconds, peak_memory() - before, peak_memory()


def solution(peer: str) -> Dual:
    """Return what the last fit found."""
    return PEERS[peer].dual(_state["model"])


def plane(peer: str) -> tuple[NDArray[np.float64], float]:
    """Return the normal vector and the offset of the last model, which is linear."""
    model = _state["model"]
    return np.asarray(model.coef_, dtype=np.float64).reshape(-1), float(model.intercept_[0])


def labels(peer: str) -> NDArray[np.int64]:
    """Return the last model's labels for the test rows."""
    adapter = PEERS[peer]
    return np.asarray(adapter.predict(_state["model"], adapter.rows(_state["data"].X_test)))


def decision_values(peer: str) -> NDArray[np.float64]:
    """Return the last model's decision values for the test rows."""
    adapter = PEERS[peer]
    rows = adapter.rows(_state["data"].X_test)
    return np.asarray(adapter.decide(_state["model"], rows), dtype=np.float64)


def time_predict(peer: str, method: str) -> float:
    """Return the seconds of ``decide`` or ``predict`` on the test rows."""
    adapter = PEERS[peer]
    rows = adapter.rows(_state["data"].X_test)
    seconds, _ = timed(lambda: getattr(adapter, method)(_state["model"], rows))
    return seconds
