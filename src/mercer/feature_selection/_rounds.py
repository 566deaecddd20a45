"""The rounds of an elimination, whatever machine tells the importances."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection._units import Units
from mercer.feature_selection.steps import RoundState, n_dropped
from mercer.feature_selection.trace import EliminationTrace

Floats = NDArray[np.float64]
Features = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RoundResult:
    """What a machine on some of the features says.

    Parameters
    ----------
    importances : ndarray
        Of these features.
    accuracy : float
        On the rows that it was trained on.
    gap : float
        NaN where it is not known.
    n_rows : int
        Rows that it was trained on.
    """

    importances: Floats
    accuracy: float
    gap: float
    n_rows: int


class Ranker(Protocol):
    """Trains machines on fewer and fewer features."""

    n_fits: int
    chance: float

    def look(self, features: Features) -> RoundResult:
        """Train on some of the features."""

    def forget(self, features: Features) -> None:
        """Take features away for good."""


@dataclass
class Log:
    """The rounds so far."""

    sizes: list[int] = field(default_factory=list)
    removed: list[Features] = field(default_factory=list)
    importances: list[Floats] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(
        self, result: RoundResult, size: int, gone: Features, values: Floats, seconds: float
    ) -> None:
        """Append a round."""
        self.sizes.append(size)
        self.removed.append(gone)
        self.importances.append(values)
        self.accuracy.append(result.accuracy)
        self.gap.append(result.gap)
        self.n_rows.append(result.n_rows)
        self.seconds.append(seconds)

    def trace(self, selected: Features, values: Floats, ranker: Ranker) -> EliminationTrace:
        """Return the finished record."""
        return EliminationTrace(
            sizes=np.array(self.sizes, dtype=np.intp),
            removed=tuple(self.removed),
            importances=tuple(self.importances),
            train_accuracy=np.array(self.accuracy),
            gap=np.array(self.gap),
            n_rows=np.array(self.n_rows, dtype=np.intp),
            seconds=np.array(self.seconds),
            selected=selected,
            selected_importances=values,
            chance=ranker.chance,
            n_fits=ranker.n_fits,
        )


def eliminate(
    ranker: Ranker,
    units: Units,
    step: Callable[[RoundState], int],
    least: int,
    report: Callable[[int], None],
    log: Log | None = None,
    left: Features | None = None,
) -> EliminationTrace:
    """Drop groups of features until ``least`` are left.

    Parameters
    ----------
    ranker : Ranker
    units : Units
    step : callable
    least : int
        Groups to keep.
    report : callable
        Called with the number of features at the beginning of every round.
    log, left
        What was done before, and the groups that are left; nothing and all if None.
    """
    log = Log() if log is None else log
    left = np.arange(units.n) if left is None else left
    start = time.perf_counter() - (log.seconds[-1] if log.seconds else 0.0)
    while True:
        features = np.sort(units.members(left))
        report(features.size)
        result = ranker.look(features)
        values = units.totals(features, result.importances, left)
        by_feature = dict(zip(features.tolist(), result.importances.tolist()))
        if left.size <= least:
            break
        state = RoundState(
            left.size, units.n, len(log.sizes), values, result.accuracy, ranker.chance
        )
        weakest = least_important(values, units.protected[left], n_dropped(step, state, least))
        gone = units.members(left[weakest])
        dropped = np.array([by_feature[feature] for feature in gone.tolist()])
        log.add(result, features.size, gone, dropped, time.perf_counter() - start)
        left = np.delete(left, weakest)
        ranker.forget(gone)
    nothing = np.empty(0, dtype=np.intp)
    log.add(result, features.size, nothing, np.empty(0), time.perf_counter() - start)
    best_first = left[np.lexsort((left, -values))]
    selected = units.members(best_first)
    return log.trace(selected, np.array([by_feature[f] for f in selected.tolist()]), ranker)


def least_important(values: Floats, protected: NDArray[np.bool_], count: int) -> Features:
    """Return the positions of the smallest values, smallest first; the first of equal ones."""
    candidates = np.flatnonzero(~protected)
    if count < candidates.size // 4:  # no need to sort them all
        edge = np.partition(values[candidates], count - 1)[count - 1]
        candidates = candidates[values[candidates] <= edge]
    return candidates[np.argsort(values[candidates], kind="stable")[:count]]
