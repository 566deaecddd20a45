"""Cost as n doubles: time and peak memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import catalogue, tasks
from ..crew import PREPARATION_LIMIT, Crew, progress
from ..peers import PEERS, UnavailableError
from ..problems import Problem
from ..report import GroupResult, Table, number, seconds_text
from ..worker import TaskError, TimeLimitError, Worker
from .options import Options
from .rivals import note_reasons, timing_records


def run(options: Options) -> GroupResult:
    """Time one kind of problem at doubling sizes; measure memory in a fresh process each."""
    peers = options.kernel_peers()
    labels = [PEERS[peer].label for peer in peers]
    result = GroupResult(
        "growth",
        [
            Table("growth: seconds", ["problem", *labels]),
            Table(
                "growth: peak memory of a fit beyond the data, MB",
                ["problem", *labels],
                notes=["a fresh process for each; the kernel cache is part of it"],
            ),
        ],
    )
    sizes: list[int] = []
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    with Crew(peers, options.plan) as crew:
        for problem, data in options.load(catalogue.growth, result):
            timings = crew.time_fits(problem)
            memory = {
                peer: memory_of_fit(peer, problem, options.plan.time_limit)
                for peer in peers
                if timings[peer].ok
            }
            sizes.append(len(data.y))
            for peer in peers:
                times[peer].append(timings[peer].best)
            result.tables[0].add(problem.name, *(seconds_text(timings[peer]) for peer in peers))
            result.tables[1].add(problem.name, *(number(memory.get(peer)) for peer in peers))
            note_reasons(result.tables[0], timings)
            result.records.append(
                {
                    "problem": problem,
                    "timings": timing_records(timings),
                    "megabytes": memory,
                }
            )
    _add_exponents(result, sizes, times)
    return result


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Return the slope of log time over log size, from the larger half of the sizes.

    >>> round(exponent([1, 2, 4, 8], [9.0, 9.0, 36.0, 144.0]), 6)
    2.0
    """
    points = [(n, t) for n, t in zip(sizes, seconds, strict=True) if np.isfinite(t)]
    points = points[len(points) // 2 - 1 :] if len(points) > 3 else points
    if len(points) < 2:
        return None
    n, t = np.log(np.array(points)).T
    return float(np.polyfit(n, t, 1)[0])


def memory_of_fit(peer: str, problem: Problem, limit: float) -> float | None:
    """Return the megabytes that a fit needs at its peak beyond the data, in a fresh process."""
    worker = Worker()
    try:
        worker.call(tasks.prepare, peer, problem, timeout=PREPARATION_LIMIT)
        return worker.call(tasks.fit_with_peak, peer, timeout=limit)[1] / 1e6
    except (TimeLimitError, TaskError, UnavailableError) as error:
        progress(f"  {peer}: memory not measured: {error}")
        return None
    finally:
        worker.stop()


def _add_exponents(result: GroupResult, sizes: list[int], times: dict[str, list[float]]) -> None:
    exponents = {peer: exponent(sizes, seconds) for peer, seconds in times.items()}
    cells = [number(value) for value in exponents.values()]
    result.tables[0].add("exponent of n, larger half", *cells)
    result.summary["exponents"] = exponents
