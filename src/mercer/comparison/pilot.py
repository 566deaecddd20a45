"""How many rows a model can learn from in a given time, found out by small fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

FIRST_ROWS = 250
"""Rows of the first small fit."""

LEAST_ROWS = 500
"""The fewest rows with which a model takes part in the comparison of many."""

STEP = 4
"""Each further one has so many times as many rows."""

LEAST_GROWING = 0.1
"""Of the time of a small fit, at least this part is taken to grow with the rows."""

MARGIN = 0.7
"""Share of the allowed time that the expected one may take."""

SHARE_OF_PILOT = 0.35
"""Share of the allowed time that a further small fit may take."""


class Pilot(NamedTuple):
    """How many rows suit, and the seconds that a fit on all of them would take."""

    n_rows: int
    seconds: float


class Trial(NamedTuple):
    """A small fit: its rows and its seconds."""

    n_rows: int
    seconds: float


def rows_in_time(
    seconds_for: Callable[[int], float],
    n_rows: int,
    allowed: float,
    growth: float,
    trial: Trial | None = None,
) -> Pilot:
    r"""Return how many of the rows a model can learn from in the time.

    The time of a fit is taken as :math:`a + b\,n^g`, through the last two small fits; they grow
    until all rows are sure to be affordable, or the next one would cost too much.

    Parameters
    ----------
    seconds_for : callable
        Fits so many rows and returns how long that took.
    n_rows : int
        All of them.
    allowed : float
        Seconds for one fit.
    growth : float
        The power g.
    trial : Trial or None
        The first small fit, where there has been one.

    Examples
    --------
    >>> rows_in_time(lambda n: 1e-4 * n, 40_000, 10.0, 1.0)
    Pilot(n_rows=40000, seconds=4.0)
    >>> rows_in_time(lambda n: 1e-3 * n, 40_000, 10.0, 1.0)
    Pilot(n_rows=7000, seconds=40.0)
    """
    size, known = FIRST_ROWS if trial is None else trial.n_rows, [(0.0, 0.0)]
    while True:
        taken = seconds_for(size) if trial is None or size > trial.n_rows else trial.seconds
        known.append((size**growth, taken))
        fixed, slope = _law(known)
        whole = fixed + slope * n_rows**growth
        if whole <= MARGIN * allowed:
            return Pilot(n_rows, whole)
        size *= STEP
        too_dear = fixed + slope * size**growth > SHARE_OF_PILOT * allowed
        if STEP * size > n_rows * 2 or too_dear:
            most = max(0.0, (MARGIN * allowed - fixed) / slope)
            return Pilot(min(n_rows, int(most ** (1 / growth) + 0.5)), whole)


def _law(known: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the fixed time and what it grows by, from the last two fits."""
    (before, shorter), (work, taken) = known[-2:]
    growing = max(taken - shorter, LEAST_GROWING * taken, 1e-9)
    slope = growing / (work - before)
    return taken - slope * work, slope
