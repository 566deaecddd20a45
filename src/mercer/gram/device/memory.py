"""Memory of a device: what is free, and saying so before too much is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch

from mercer.gram.base import physical_memory

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def in_its_memory(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Decorate what works on a device: where memory does not do, one sentence says so.

    Other processes may take what was free when the work began.

    Examples
    --------
    >>> @in_its_memory
    ... def work():
    ...     raise RuntimeError("CUDA error: out of memory")
    >>> work()
    Traceback (most recent call last):
    ...
    MemoryError: The memory of the GPU does not do, perhaps because other processes use it; ...
    """

    @wraps(work)
    def checked(*arguments: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return work(*arguments, **named)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
        raise MemoryError(NOT_ENOUGH)

    return checked


NOT_ENOUGH = (
    "The memory of the GPU does not do, perhaps because other processes use it; use device='cpu', "
    "or cells (CellSVC)."
)


def free_memory(device: Any) -> float:
    """Return the bytes that can still be taken, those that torch keeps for reuse included.

    Examples
    --------
    >>> import torch
    >>> free_memory(torch.device("cpu")) > 1e6
    True
    """
    if device.type != "cuda":
        return 0.5 * physical_memory()
    free, _ = torch.cuda.mem_get_info(device)
    return float(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def require_memory(device: Any, needed: float, purpose: str) -> None:
    """Raise a MemoryError of one sentence where a device has less than is needed."""
    there = free_memory(device)
    if needed > there:
        raise MemoryError(
            f"{purpose} needs {needed / 1e9:.3g} GB on {device}, where {there / 1e9:.3g} GB are "
            "free; use device='cpu', or cells (CellSVC)."
        )
