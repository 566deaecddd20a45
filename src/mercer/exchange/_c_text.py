"""Numbers and names in the words of C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

NUMBERS_A_LINE = 4


def table(name: str, values: Any) -> Iterator[str]:
    """Yield the lines of a constant array of one or two dimensions.

    Examples
    --------
    >>> print("\\n".join(table("a", [1.0, 2.5])))
    static const double a[2] = {1.0, 2.5};
    """
    values = np.asarray(values, dtype=np.float64)
    sizes = "".join(f"[{size}]" for size in values.shape)
    start = f"static const double {name}{sizes} = {{"
    if values.ndim == 1 and values.size <= NUMBERS_A_LINE:
        yield f"{start}{_numbers(values)}}};"
        return
    yield start
    rows = values if values.ndim == 2 else values[None]
    for k, row in enumerate(rows):
        yield from _row(row, inner=values.ndim == 2, last=k == len(rows) - 1)
    yield "};"


def _row(row: Any, *, inner: bool, last: bool) -> Iterator[str]:
    parts = [row[at : at + NUMBERS_A_LINE] for at in range(0, row.size, NUMBERS_A_LINE)]
    for k, part in enumerate(parts):
        begin = "{" if inner and k == 0 else " " * inner
        is_end = k == len(parts) - 1
        end = "}" * (inner and is_end) + "," * (not (last and is_end))
        yield f"    {begin}{_numbers(part)}{end}"


def _numbers(values: Any) -> str:
    return ", ".join(map(number, values))


def number(value: float) -> str:
    """Return the shortest decimals that are read again as the same number."""
    return repr(float(value) + 0.0)


def commented(label: Any) -> str:
    """Return a label as a text that ends no comment and begins none."""
    return ascii(label).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
