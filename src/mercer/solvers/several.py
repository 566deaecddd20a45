"""Solving several problems, side by side where that pays."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from mercer._threads import available_threads
from mercer.gram import Gram
from mercer.problems import QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers.solution import Solution
from mercer.solvers.solve import solve

SMALL = 5000
"""Machines of fewer rows run side by side, one thread each; larger ones use all threads in turn."""

Job = tuple[QuadraticProgram, Callable[[], Gram], Any]
"""A problem, how to get its matrix, and where to start (or how to get that, or None)."""


def solve_all(
    jobs: Sequence[Job],
    *,
    tol: float | Sequence[float],
    time_limit: float | None,
    n_threads: int | None,
    **options: Any,
) -> list[Solution]:
    """Solve several problems within one time limit and return their solutions in order.

    ``tol`` is one gap for all problems or one for each; the other options are those of `solve`.
    Ctrl-C ends the running solvers within a fraction of a second and goes on to the caller.
    """
    limits = Limits(time_limit=time_limit)
    threads = available_threads(n_threads)
    stopped = threading.Event()
    gaps = list(tol) if isinstance(tol, Sequence) else [tol] * len(jobs)

    def run(job: Job, gap: float, n_threads: int) -> Solution:
        problem, gram, start = job
        left = limits.remaining()
        return solve(
            problem,
            gram(),
            tol=gap,
            warm_start=start() if callable(start) else start,
            time_limit=None if math.isinf(left) else left,
            n_threads=n_threads,
            callback=lambda n_iter, gap: stopped.is_set(),
            **options,
        )

    if threads == 1 or len(jobs) < 2 * threads or max(job[0].n for job in jobs) > SMALL:
        return [run(job, gap, threads) for job, gap in zip(jobs, gaps)]
    with ThreadPoolExecutor(threads) as pool:
        futures: list[Future[Solution]] = [
            pool.submit(run, job, gap, 1) for job, gap in zip(jobs, gaps)
        ]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        except BaseException:
            stopped.set()
            for future in futures:
                future.cancel()
            raise
