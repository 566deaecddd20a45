"""Text of a file to Python's objects, unless they would take much memory for its length."""

from __future__ import annotations

import json
import re
from typing import Any

from mercer.persistence.errors import RefusalError

FEWEST_BYTES = 6
"""Bytes for each value; ours have sixteen. Empty lists would take 25 times their length."""

PLAN_GROWS = 13
"""Bytes of memory for each byte of a plan of objects, until all of them are built."""

FREE = 2**29
"""Bytes that a plan may take, however short the file is that it stands in."""

TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""Never steps back, so that a crafted text is gone through once."""


def read_json(text: bytes) -> Any:
    """Return what a text stands for, or raise RefusalError if it has many values for its length.

    Examples
    --------
    >>> read_json(b'{"names": [",,,,,,,,,,,,"]}')
    {'names': [',,,,,,,,,,,,']}
    """
    if _values(text) * FEWEST_BYTES > len(text) and (
        _values(TEXT.sub(b"", text)) * FEWEST_BYTES > len(text)
    ):
        raise RefusalError("its plan has too many parts for its length")
    return json.loads(text)


def check_plan(length: int, file_size: int) -> None:
    """Raise RefusalError if a plan would take more than is free, and more than its file is long.

    Examples
    --------
    >>> check_plan(2**20, 2**20)  # 13 MiB
    """
    if length * PLAN_GROWS > max(FREE, file_size):
        taken = length * PLAN_GROWS / 2**20
        raise RefusalError(
            f"its plan of objects has {length:,} bytes, and would take {taken:,.0f} MiB of memory"
        )


def _values(text: bytes) -> int:
    return sum(text.count(sign) for sign in (b",", b"{", b"["))
