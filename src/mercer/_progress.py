"""Lines that tell how far something has come."""

from __future__ import annotations

from typing import Any


def say(model: Any, line: str) -> None:
    """Print a line under the name of an estimator, if its ``verbose`` asks for it.

    Parameters
    ----------
    model : estimator
        With ``verbose``.
    line : str

    Examples
    --------
    >>> class Machine:
    ...     verbose = True
    >>> say(Machine(), "stage 1 of 2")
    Machine: stage 1 of 2
    """
    if model.verbose:
        print(f"{type(model).__name__}: {line}", flush=True)
