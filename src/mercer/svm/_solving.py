"""Solving the machines of one classifier, several at a time where that pays."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from mercer.gram import Gram, available_threads
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution, solve
from mercer.solvers._limits import Limits

SMALL = 5000
"""Machines of fewer rows run side by side, one thread each; larger ones use all threads in turn."""

Job = tuple[QuadraticProgram, Callable[[], Gram], Any]
"""A problem, how to get its matrix, and where to start (or None)."""


def solve_all(
    jobs: Sequence[Job], *, time_limit: float | None, n_threads: int | None, **options: Any
) -> list[Solution]:
    """Solve several problems within one time limit and return their solutions in order.

    Ctrl-C ends the running solvers within a fraction of a second and goes on to the caller.
    """
    limits = Limits(time_limit=time_limit)
    threads = available_threads(n_threads)
    stopped = threading.Event()

    def run(job: Job, n_threads: int) -> Solution:
        problem, gram, start = job
        left = limits.remaining()
        return solve(
            problem,
            gram(),
            warm_start=start,
            time_limit=None if math.isinf(left) else left,
            n_threads=n_threads,
            callback=lambda n_iter, gap: stopped.is_set(),
            **options,
        )

    if threads == 1 or len(jobs) < 2 * threads or max(job[0].n for job in jobs) > SMALL:
        return [run(job, threads) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        futures: list[Future[Solution]] = [pool.submit(run, job, 1) for job in jobs]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        except BaseException:
            stopped.set()
            for future in futures:
                future.cancel()
            raise
