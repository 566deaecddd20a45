"""When a solver has to stop before it is done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from mercer.solvers.solution import Status

Callback = Callable[[int, float], Any]


class Limits:
    """Counts iterations and says when to stop.

    Parameters
    ----------
    max_iter : int, default=-1
        Most iterations; negative for no limit.
    time_limit : float or None, default=None
        Seconds from now.
    callback : callable or None, default=None
        Called with the number of iterations and the present gap; a true answer stops the work.
    """

    def __init__(
        self,
        max_iter: int = -1,
        time_limit: float | None = None,
        callback: Callback | None = None,
    ) -> None:
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit must be None or a number of seconds, got {time_limit}.")
        self.max_iter = max_iter
        self.deadline = math.inf if time_limit is None else time.monotonic() + time_limit
        self.callback = callback
        self.n_iter = 0
        self.reason: Status | None = None

    def remaining(self) -> float:
        """Return the seconds left."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def are_reached(self) -> bool:
        """Whether iterations or time are used up; the callback is not asked."""
        return 0 <= self.max_iter <= self.n_iter or time.monotonic() >= self.deadline

    def stop(self, gap: float = math.inf) -> bool:
        """Say whether the work must end now; once it must, it must for ever."""
        if self.reason is None:
            if 0 <= self.max_iter <= self.n_iter:
                self.reason = "max_iter"
            elif time.monotonic() >= self.deadline:
                self.reason = "time_limit"
            elif self.callback is not None and self.n_iter and self.callback(self.n_iter, gap):
                self.reason = "interrupted"
        return self.reason is not None
