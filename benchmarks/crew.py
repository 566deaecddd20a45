"""The contenders at work: one process for each, asked in turns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import tasks
from .measure import Plan, Timing, interleave
from .peers import UnavailableError
from .problems import Problem
from .worker import TaskError, TimeLimitError, Worker

# Loading and converting data is not limited by the time limit of a fit.
PREPARATION_LIMIT = 600.0


@dataclass
class Crew:
    """The peers of a run, each in its process.

    Parameters
    ----------
    peers : list of str
        Keys of :data:`benchmarks.peers.PEERS`.
    plan : Plan
        Repeats and limits.
    """

    peers: list[str]
    plan: Plan
    _workers: dict[str, Worker] = field(default_factory=dict)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers.values():
            worker.stop()

    def ask(self, peer: str, function: Callable, *arguments: object, limit: float | None) -> Any:
        """Have the peer's process run a function of :mod:`benchmarks.tasks`."""
        if peer not in self._workers or not self._workers[peer].alive:
            self._workers[peer] = Worker()
        return self._workers[peer].call(function, peer, *arguments, timeout=limit)

    def fit(self, peer: str, problem: Problem) -> float:
        """Return the seconds of one fit; preparing the data is not counted."""
        self.ask(peer, tasks.prepare, problem, limit=PREPARATION_LIMIT)
        return self.ask(peer, tasks.fit, limit=self.plan.time_limit)

    def time_fits(self, problem: Problem, plan: Plan | None = None) -> dict[str, Timing]:
        """Fit a problem with every peer, interleaved, by the crew's plan or another."""
        progress(f"{problem.name} ({problem.parameters})")
        return self.race({peer: self._fitting(peer, problem) for peer in self.peers}, plan)

    def race(
        self, contenders: dict[str, Callable[[], float]], plan: Plan | None = None
    ) -> dict[str, Timing]:
        """Time contenders, interleaved, and say what they took."""
        timings = interleave(contenders, plan or self.plan)
        for name, timing in timings.items():
            outcome = f"{timing.best:.4f} s" if timing.ok else f"{timing.status}: {timing.reason}"
            progress(f"  {name:10s} {outcome} ({len(timing.seconds)} runs)")
        return timings

    def after_fit(self, peer: str, timing: Timing, function: Callable) -> Any:
        """Ask about the model fitted last; nothing where there is none."""
        if not timing.ok:
            return None
        try:
            return self.ask(peer, function, limit=PREPARATION_LIMIT)
        except (TimeLimitError, TaskError, UnavailableError) as error:
            progress(f"  {peer}: {error}")
            return None

    def _fitting(self, peer: str, problem: Problem) -> Callable[[], float]:
        return lambda: self.fit(peer, problem)


def progress(text: str) -> None:
    """Say on the error stream what is going on."""
    print(text, file=sys.stderr, flush=True)
