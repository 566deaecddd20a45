"""How many threads to use."""

from __future__ import annotations

import os


def available_threads(n_threads: int | None = None) -> int:
    """Return the number of threads: as asked for, or one for each processor this process may use.

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
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
