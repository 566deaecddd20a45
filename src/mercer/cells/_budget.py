"""What machines in cells will cost, from two small fits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

PILOTS = (2500, 10_000)
"""Rows of the two fits."""

SMALLEST_SIZE = 500
"""Cells are not made smaller for the sake of time."""

LEAST_POWER, LARGEST_POWER = 1.0, 3.0
"""How fits may grow with their rows; what the clock says of small ones may be anything."""


@dataclass(frozen=True)
class Cost:
    """The seconds of one fit as a power of its rows.

    Parameters
    ----------
    rows : int
    seconds : float
        What a fit of so many rows takes.
    power : float

    Examples
    --------
    >>> cost = Cost(rows=1000, seconds=0.1, power=2.0)
    >>> cost.of_cells(100_000, 2000, 0.0, n_threads=2)
    10.0
    >>> 1000 < cost.size_within(10.0, 100_000, 0.0, n_threads=2) <= 2000
    True
    """

    rows: int
    seconds: float
    power: float

    @classmethod
    def measured(
        cls,
        fit: Callable[[int], object],
        n_rows: int,
        clock: Callable[[], float] = perf_counter,
    ) -> Cost:
        """Return the cost that two fits show.

        Parameters
        ----------
        fit : callable
            Fits a machine to the given number of rows.
        n_rows : int
            All rows.
        clock : callable
            Returns seconds.

        Returns
        -------
        Cost
        """
        few, many = (min(rows, max(2, n_rows // part)) for rows, part in zip(PILOTS, (4, 1)))
        times = []
        for rows in (few, few, many):  # what is loaded with the first fit is none of its cost
            start = clock()
            fit(rows)
            times.append(max(clock() - start, 1e-6))
        grown = math.log(times[2] / times[1]) / math.log(many / few) if many > few else 1.0
        return cls(many, times[2], min(max(grown, LEAST_POWER), LARGEST_POWER))

    def of_cells(self, n_rows: int, size: int, overlap: float, n_threads: int) -> float:
        """Return the seconds of all cells of a size."""
        shared = size * (1.0 + overlap)
        one: float = self.seconds * (shared / self.rows) ** self.power
        return one * max(1.0, n_rows / size / n_threads)

    def size_within(self, budget: float, n_rows: int, overlap: float, n_threads: int) -> int:
        """Return the largest size of cells that the seconds allow."""
        size = n_rows
        while size > SMALLEST_SIZE and self.of_cells(n_rows, size, overlap, n_threads) > budget:
            size = max(SMALLEST_SIZE, math.floor(size * 0.8))
        return size
