"""Which device kernel values are computed on."""

from __future__ import annotations

import re
from typing import Any

from mercer._extras import how_to_get

AUTO_ROWS = 10_000
"""From so many rows on "auto" takes a GPU: below, the processor is done before data has moved."""

NAMES = "'cpu', 'cuda', 'cuda:' with a number, or 'auto'"
"""What a device may be called."""

CAPABILITY = (8, 0)
"""The least compute capability, that of the first cards with the instructions that are needed."""


def names_device(device: Any) -> bool:
    """Say whether this names a device, be it there or not.

    Examples
    --------
    >>> names_device("cuda:1"), names_device("gpu")
    (True, False)
    """
    return isinstance(device, str) and bool(re.fullmatch(r"cpu|auto|cuda(:\d+)?", device))


def check_device(device: Any) -> None:
    """Refuse what names no device.

    Parameters
    ----------
    device : str
        What was given for a device.

    Examples
    --------
    >>> check_device("cuda:1")
    >>> check_device("gpu")
    Traceback (most recent call last):
    ...
    ValueError: device must be 'cpu', 'cuda', 'cuda:' with a number, or 'auto'; got 'gpu'.
    """
    if not names_device(device):
        raise ValueError(f"device must be {NAMES}; got {device!r}.")


def device_for(device: str, n_rows: int) -> Any | None:
    """Return the device of torch that is meant, or None for the processor.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:<number>", "auto"}
        "auto" takes a GPU where torch sees one that will do and the rows are `AUTO_ROWS` or more.
    n_rows : int

    Returns
    -------
    torch.device or None

    Examples
    --------
    >>> device_for("cpu", 1_000_000) is None
    True
    """
    check_device(device)
    if device == "cpu" or (device == "auto" and n_rows < AUTO_ROWS):
        return None
    if device == "auto":
        return None if why_not("cuda") else _torch().device("cuda")
    reason = why_not(device)
    if reason:
        raise ValueError(f"device={device!r} cannot be used: {reason}")
    return _torch().device(device)


def nearest_device(device: str, n_rows: int) -> Any | None:
    """Return the device that is meant where it is there, else None: a model predicts anywhere."""
    check_device(device)
    return None if device == "cpu" or why_not(device) else device_for(device, n_rows)


def why_not(device: str) -> str:
    """Return a sentence that says why a GPU cannot be used, or nothing.

    Examples
    --------
    >>> why_not("cuda:900") != ""
    True
    """
    try:
        torch = _torch()
    except ImportError:
        return f"it needs torch; {how_to_get('gpu')} brings it."
    if not torch.cuda.is_available():
        return "torch sees no GPU here."
    wanted = torch.device("cuda" if device == "auto" else device).index or 0
    if wanted >= torch.cuda.device_count():
        return f"torch sees {torch.cuda.device_count()} GPU here, counted from 0."
    if torch.cuda.get_device_capability(wanted) < CAPABILITY:
        return f"this GPU is too old; compute capability {CAPABILITY[0]}.{CAPABILITY[1]} is needed."
    return ""


def _torch() -> Any:
    import torch

    return torch
