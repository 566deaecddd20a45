"""How many threads to use."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def available_threads(n_threads: int | None = None) -> int:
    """Return the number of threads: as asked for, or one for each processor this process may use.

    ``OMP_NUM_THREADS`` limits the latter; joblib sets it in its worker processes, so that they do
    not get in each other's way.

    Examples
    --------
    >>> available_threads(3)
    3
    >>> available_threads() >= 1
    True
    """
    if n_threads is not None:
        return max(1, n_threads)
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(processors, int(limit))) if limit.isdigit() else processors


def blas_threads(limit: int | None) -> Any:
    """Return a context in which linear algebra uses at most so many threads; None changes nothing.

    Threads of a BLAS wait busily for each other: where several solvers run side by side they take
    the processors away from them.

    Examples
    --------
    >>> with blas_threads(1):
    ...     pass
    """
    return _thread_pools().limit(limits=limit, user_api="blas")


@lru_cache(maxsize=1)
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()
