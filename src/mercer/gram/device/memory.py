"""Memory of a device: what is free, and saying so before too much is asked for."""

from __future__ import annotations

from typing import Any

import torch

from mercer.gram.base import physical_memory


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
