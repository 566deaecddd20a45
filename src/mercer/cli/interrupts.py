"""Ctrl-C that is never lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130
"""What a command returns that Ctrl-C has ended."""


@contextmanager
def noting_interrupts() -> Iterator[list[int]]:
    """Note Ctrl-C besides raising it: an exception raised in a callback of C code is lost."""
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
