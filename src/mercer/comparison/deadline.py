"""Work that ends when its time is over."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AGAIN = 0.5
"""Seconds until a stop is repeated: an exception raised in a callback of C code is lost."""

LEAST, MOST = 1e-3, 1e9
"""Seconds that a timer can be set to; the most of them are thirty years."""


class TimeIsOverError(BaseException):
    """The time for a piece of work is over.

    No `Exception`, since searches take those for the failure of one candidate and go on.
    """


def can_stop() -> bool:
    """Tell whether work can be stopped here: in the main thread, where there are timers.

    Examples
    --------
    >>> with within(60.0 if can_stop() else None):
    ...     print("done")
    done
    """
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise `TimeIsOverError` inside where the work takes longer.

    Loops in Python and our engine notice it at once, other compiled code when it returns. It needs
    a timer of the system and the main thread; on Windows, or in another thread, nothing is stopped.

    Parameters
    ----------
    seconds : float or None
        None lets it take as long as it will.

    Examples
    --------
    >>> with within(60.0):
    ...     print("done")
    done
    """
    if seconds is None or not can_stop():
        yield
        return

    is_running = True

    def stop(number: int, frame: Any) -> None:
        if is_running:
            raise TimeIsOverError

    begun, before = time.monotonic(), signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, min(max(LEAST, seconds), MOST), AGAIN)
    try:
        try:
            yield
        finally:  # twice: the time may be over at this very place
            is_running = False
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        # None stands for a handler that was not set from Python, which cannot be given back.
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
        if left:  # someone else's timer goes on
            rest = max(LEAST, left - (time.monotonic() - begun))
            signal.setitimer(signal.ITIMER_REAL, rest, interval)
