"""Whose floating-point warnings are heard: not ours, but those of functions that a user gives."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType
from typing import Any

import numpy as np

_OF_CALLER: ContextVar[Any] = ContextVar("errors of the caller", default=None)


class Silent:
    """A context in which NumPy says nothing of numbers that overflow.

    Whoever needs such numbers refuses them in a sentence. What the caller wants to hear is
    remembered for `as_outside`.

    Examples
    --------
    >>> with Silent():
    ...     print(np.geterr()["over"])
    ignore
    """

    __slots__ = ("_state", "_token")

    def __enter__(self) -> None:
        known = _OF_CALLER.get()
        self._token = _OF_CALLER.set(np.geterr() if known is None else known)
        self._state = np.errstate(over="ignore", invalid="ignore")
        self._state.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._state.__exit__(kind, error, where)
        _OF_CALLER.reset(self._token)


def as_outside() -> np.errstate:
    """Return a context in which NumPy warns as it did before any `Silent` was entered.

    Examples
    --------
    >>> with Silent(), as_outside():
    ...     print(np.geterr()["over"])
    warn
    """
    return np.errstate(**(_OF_CALLER.get() or {}))
