"""Large matrices a few rows at a time."""

from __future__ import annotations

IN_CACHE = 1 << 17
"""Entries that stay in the processor's cache: a megabyte."""

IN_MEMORY = 1 << 20
"""Entries that are worked on at a time where that is not needed: 8 MiB."""


def row_blocks(n_rows: int, n_columns: int, entries: int = IN_MEMORY) -> list[slice]:
    """Cut the rows of a matrix into slices of a bounded number of entries.

    Examples
    --------
    >>> row_blocks(5, 10, entries=20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, entries // max(1, n_columns))
    return [slice(start, min(n_rows, start + step)) for start in range(0, n_rows, step)]
