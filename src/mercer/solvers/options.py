"""What a solver is told besides the problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SOLVERS = ("auto", "smo", "exact", "linear")


@dataclass(frozen=True)
class Options:
    """How to solve, how exactly, and when to give up; the engine reads it as it is.

    Parameters
    ----------
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        "smo" is block SMO; "exact" the interior-point method of clarabel (needs the ``exact``
        extra); "linear" Newton and interior-point steps that never form K, for linear kernels with
        many more rows than columns. "auto" takes "linear" where that is faster, and for a hard
        margin, where it is surer to tell whether the classes can be separated; else "smo".
    tol : float, default=1e-3
        Gap at which to stop.
    max_iter : int, default=-1
        Limit of iterations for each program; of SMO they are two-variable steps. -1 means none.
    time_limit : float or None, default=None
        Seconds for all programs together.
    callback : callable or None, default=None
        ``callback(n_iter, gap)``, about twenty times a second, of whichever program is at hand;
        True stops all of them.
    n_threads : int or None, default=None
        None uses all processors.
    cache_bytes : float, default=200e6
        Memory for kernel rows, only for "smo".
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved;
        only for "smo".
    block : int, default=2048
        Variables of a working set at most, only for "smo": the kernel matrix of so many still fits
        the processor's last cache.

    Examples
    --------
    >>> Options(tol=1e-6).solver
    'auto'
    """

    solver: str = "auto"
    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float | None = None
    callback: Callable[[int, float], Any] | None = None
    n_threads: int | None = None
    cache_bytes: float = 200e6
    shrinking: bool = True
    block: int = 2048

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            allowed = ", ".join(map(repr, SOLVERS))
            raise ValueError(f"solver must be one of {allowed}; got {self.solver!r}.")
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ValueError(
                f"time_limit must be None or a number of seconds, got {self.time_limit}."
            )
