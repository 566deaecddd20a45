"""The rounds of an elimination of features, and the record of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection.steps import RoundState, n_dropped
from mercer.feature_selection.stop_condition import best_size, estimated_accuracy

Floats = NDArray[np.float64]
Features = NDArray[np.intp]
Rows = NDArray[np.intp]

LEAST_OF_CLASS = 2
"""Rows that are drawn of each class, if it has so many."""


@dataclass(frozen=True, eq=False)
class EliminationTrace:
    """The rounds of an elimination, one entry each; the last one drops nothing.

    Parameters
    ----------
    sizes : ndarray of int
        Number of features of the machine.
    removed : tuple of ndarray of int
        The features that were dropped after it, the least important first.
    importances : tuple of ndarray
        Their importances then.
    train_accuracy : ndarray
        Accuracy (or score) of the machine on the rows that it was trained on.
    gap : ndarray
        KKT gap of its solution; NaN where the estimator tells none.
    n_rows : ndarray of int
        Rows that it was trained on.
    seconds : ndarray
        Time since the start when it was done.
    selected : ndarray of int
        The features that are left in the end, the most important first.
    selected_importances : ndarray
        Their importances in the last machine.
    chance : float
        Accuracy without features: the share of the largest class.
    n_fits : int
        Machines that were trained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.feature_selection import KernelRFE
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = KernelRFE(SVC(kernel="linear"), n_features_to_select=1).fit(X, y).trace_
    >>> trace.sizes, [features.tolist() for features in trace.removed]
    (array([4, 3, 2, 1]), [[0], [1], [3], []])
    >>> trace.order
    array([2, 3, 1, 0])
    """

    sizes: NDArray[np.intp]
    removed: tuple[Features, ...]
    importances: tuple[Floats, ...]
    train_accuracy: Floats
    gap: Floats
    n_rows: NDArray[np.intp]
    seconds: Floats
    selected: Features
    selected_importances: Floats
    chance: float
    n_fits: int

    @property
    def order(self) -> Features:
        """All features, the best first."""
        return np.concatenate([self.selected, np.concatenate(self.removed)[::-1]])

    @property
    def round_of(self) -> NDArray[np.intp]:
        """The round after which each feature was dropped; the number of rounds if it was not."""
        rounds = np.full(int(self.sizes[0]), len(self.removed), dtype=np.intp)
        counts = np.append(-np.diff(self.sizes), 0)
        rounds[np.concatenate(self.removed)] = np.repeat(np.arange(counts.size), counts)
        return rounds

    def estimated_accuracy(self) -> Floats:
        """Return the accuracy with 0, 1, ..., all features as far as the rounds tell.

        Between the sizes of two rounds the importances of the features dropped say how the loss of
        accuracy is shared among them; below the last round the chance level is the lower end. See
        `mercer.feature_selection.estimated_accuracy`.

        Returns
        -------
        ndarray of shape (n_features + 1,)
        """
        lower = [*self.train_accuracy[1:], self.chance]
        dropped = [*self.importances[:-1], self.selected_importances[::-1]]
        accuracy = np.empty(int(self.sizes[0]) + 1)
        for size, high, low, values in zip(self.sizes, self.train_accuracy, lower, dropped):
            segment = estimated_accuracy(values[::-1], low, high)
            accuracy[size - values.size : size + 1] = segment
        return accuracy

    def optimal_size(self, trade_off: tuple[float, float] = (0.8, 0.2)) -> int:
        """Return the size with the least cost, w1 (1 - estimated accuracy) + w2 size / all.

        Parameters
        ----------
        trade_off : tuple of two floats, default=(0.8, 0.2)
            w1 and w2.
        """
        accuracy = self.estimated_accuracy()
        return best_size(np.arange(accuracy.size), accuracy, trade_off, int(self.sizes[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return one list for each column of a table of the rounds."""
        return {
            "size": self.sizes.tolist(),
            "removed": [gone.tolist() for gone in self.removed],
            "train_accuracy": self.train_accuracy.tolist(),
            "estimated_accuracy": self.estimated_accuracy()[self.sizes].tolist(),
            "gap": self.gap.tolist(),
            "n_rows": self.n_rows.tolist(),
            "seconds": self.seconds.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Units:
    """Features in groups.

    Parameters
    ----------
    group_of : ndarray of shape (n_features,)
        Number of the group of each feature, from 0.
    protected : ndarray of bool of shape (n_groups,)
        Groups that stay.
    """

    group_of: NDArray[np.intp]
    protected: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of groups."""
        return int(self.protected.size)

    @property
    def are_features(self) -> bool:
        """Whether every feature is a group of its own."""
        return self.n == self.group_of.size

    def members(self, groups: Features) -> Features:
        """Return the features of some groups, group by group."""
        if self.are_features:
            return groups
        found = [np.flatnonzero(self.group_of == group) for group in groups]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])

    def totals(self, features: Features, importances: Floats, groups: Features) -> Floats:
        """Return the sum of the importances of each group's features."""
        if self.are_features:
            return importances
        sums = np.bincount(self.group_of[features], weights=importances, minlength=self.n)
        return np.asarray(sums[groups], dtype=np.float64)

    @classmethod
    def of(cls, groups: Any, protected: Any, n_features: int, names: Any) -> Units:
        """Return the groups that a user gives.

        Parameters
        ----------
        groups : array-like of shape (n_features,) or None
            Any label for each feature; features with equal labels go together.
        protected : array-like or None
            Features that stay: a mask, positions, or names.
        n_features : int
        names : ndarray of str or None
            Names of the features.
        """
        group_of = np.arange(n_features)
        if groups is not None:
            labels = np.asarray(groups)
            if labels.shape != (n_features,):
                raise ValueError(
                    f"groups must hold one label for each of the {n_features} features; "
                    f"got the shape {labels.shape}."
                )
            _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
            group_of = np.argsort(np.argsort(first))[inverse]  # in the order of the features
        stays = np.zeros(int(group_of.max()) + 1, dtype=bool)
        stays[group_of[_positions(protected, n_features, names)]] = True
        return cls(group_of, stays)


def _positions(protected: Any, n_features: int, names: Any) -> Features:
    """Return the positions of features given as a mask, as positions or by name."""
    if protected is None:
        return np.empty(0, dtype=np.intp)
    given = np.atleast_1d(np.asarray(protected))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.dtype == bool and given.shape == (n_features,):
        return np.flatnonzero(given)
    if given.dtype.kind in "iu" and given.min() >= -n_features and given.max() < n_features:
        return given % n_features
    if given.dtype.kind in "OUS" and names is not None and np.isin(given, names).all():
        return np.flatnonzero(np.isin(names, given))
    raise ValueError(
        f"protected must be a mask of the {n_features} features, positions below {n_features}, or "
        f"names of columns; got {protected!r}."
    )


class RowSampler:
    """Draws rows by class, without replacement, at least two of each class.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    share : float or None
        Of the rows; None means all of them.
    until : int
        With so many features or fewer, all rows are used.
    rng : RandomState

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    algorithm 3, where the rows are drawn without regard to the class.
    """

    def __init__(
        self, codes: Rows, share: float | None, until: int, rng: np.random.RandomState
    ) -> None:
        self.members = class_members(codes)
        self.share = share
        self.until = until
        self.rng = rng

    def rows(self, n_features: int) -> Rows | None:
        """Return the rows of a round with so many features; None means all."""
        if self.share is None or n_features <= self.until:
            return None
        return stratified_rows(self.members, self.share, self.rng)


def class_members(codes: Rows) -> list[Rows]:
    """Return the rows of each class."""
    return [np.flatnonzero(codes == code) for code in np.unique(codes)]


def stratified_rows(members: list[Rows], share: float, rng: np.random.RandomState) -> Rows:
    """Return a share of the rows of each class, sorted."""
    chosen = [
        rng.choice(rows, min(rows.size, max(LEAST_OF_CLASS, round(share * rows.size))), False)
        for rows in members
    ]
    return np.sort(np.concatenate(chosen))


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
        check_importances(result.importances)
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


def check_importances(values: Floats) -> None:
    """Refuse values among which none is the smallest, such as differences of infinite ones."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The importances of some features are infinite or not a number, because the features, "
            "C or the weights are too large; scale them."
        )


def least_important(values: Floats, protected: NDArray[np.bool_], count: int) -> Features:
    """Return the positions of the smallest values, smallest first; the first of equal ones."""
    candidates = np.flatnonzero(~protected)
    if count < candidates.size // 4:  # no need to sort them all
        edge = np.partition(values[candidates], count - 1)[count - 1]
        candidates = candidates[values[candidates] <= edge]
    return candidates[np.argsort(values[candidates], kind="stable")[:count]]


def joint_order(traces: list[EliminationTrace]) -> tuple[Features, Features]:
    """Return all features, the best first, and when each one went, the larger the later."""
    if len(traces) == 1:
        return traces[0].order, traces[0].round_of
    places = np.mean([np.argsort(trace.order) for trace in traces], axis=0)
    order = np.argsort(places, kind="stable")
    rounds = np.empty(order.size, dtype=np.intp)
    rounds[order] = np.arange(order.size)[::-1]
    return order, rounds


def ranking_of(rounds: Features, selected: Features) -> Features:
    """Return 1 for the features selected, and for the others 2, 3, ... by when they went."""
    ranking = np.ones(rounds.size, dtype=np.intp)
    others = np.setdiff1d(np.arange(rounds.size), selected)
    _, ascending = np.unique(-rounds[others], return_inverse=True)
    ranking[others] = 2 + ascending
    return ranking
