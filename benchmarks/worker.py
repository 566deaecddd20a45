"""A process that does one task at a time and can be cut short.

The peers' compiled loops heed neither signals nor limits, so each peer works in a process of its
own. That also keeps their thread pools and allocators apart.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

from .machine import limit_memory
from .peers import UnavailableError
from .problems import MissingDataError


class TimeLimitError(Exception):
    """A task took longer than it was allowed."""


class TaskError(Exception):
    """A task raised an exception, or its process died."""


class Worker:
    """A process to which functions of importable modules are sent.

    Parameters
    ----------
    memory_limit : int, optional
        Bytes of address space that the process may use.
    """

    def __init__(self, memory_limit: int | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, memory_limit), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        """Whether the process still takes tasks."""
        return self._process.is_alive()

    def call(self, function: Callable, *arguments: object, timeout: float | None = None) -> Any:
        """Return ``function(*arguments)``; after ``timeout`` seconds end the process instead."""
        try:
            self._connection.send((function, arguments))
            if not self._connection.poll(timeout):
                self.stop()
                raise TimeLimitError(f"cut after {timeout:g} s")
            kind, value = self._connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self._process.join()
            raise TaskError(f"its process ended with code {self._process.exitcode}") from error
        if kind == "result":
            return value
        raise _ERRORS.get(kind, TaskError)(value)

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


_ERRORS: dict[str, type[Exception]] = {
    "UnavailableError": UnavailableError,
    "MissingDataError": MissingDataError,
}


def _serve(connection: Any, memory_limit: int | None) -> None:
    if memory_limit is not None:
        limit_memory(memory_limit)
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = ("result", function(*arguments))
        except (UnavailableError, MissingDataError) as error:
            answer = (type(error).__name__, str(error))
        except Exception as error:
            answer = ("TaskError", f"{type(error).__name__}: {error}")
        connection.send(answer)
