"""How to get the packages that mercer can do without."""

from __future__ import annotations

__all__ = ["how_to_get"]


def how_to_get(extra: str) -> str:
    """Return the command that brings the packages of an extra.

    pip finds mercer installed, from a clone as from anywhere, and fetches what is missing only.
    Double quotes are understood by all shells, those of Windows included.

    Examples
    --------
    >>> how_to_get("onnx")
    'pip install "mercer[onnx]" (in a clone, too)'
    """
    return f'pip install "mercer[{extra}]" (in a clone, too)'
