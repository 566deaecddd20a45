"""Rows in blocks: what is known of all of them, and some of them picked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from mercer._inputs import checked_weights, refuse_dates
from mercer.distributed._cluster import Cluster
from mercer.distributed._collections import Blocks


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that have weight, of one block or of several.

    Parameters
    ----------
    X : ndarray or csr_array
    y : ndarray or None
        Codes of classes, or targets.
    weights : ndarray or None
    places : ndarray of int or None, default=None
        In the block, rows without weight counted; None is all of it.
    """

    X: Any
    y: Any
    weights: Any
    places: Any = None

    def take(self, rows: Any) -> tuple[Any, Any, Any]:
        """Return some of them, as a tuple, whose size dask can tell."""
        return (
            self.X[rows],
            None if self.y is None else self.y[rows],
            None if self.weights is None else self.weights[rows],
        )

    def numbered(self, rows: Any, start: int) -> tuple[Any, Any, Any, Any]:
        """Return some of them with their numbers among all rows, of which a block has the first."""
        places = np.arange(self.X.shape[0]) if self.places is None else self.places
        return (*self.take(rows), start + places[rows])


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of all rows, and where they lie.

    Parameters
    ----------
    sizes, counts : ndarray of int of shape (n_blocks,)
        Rows of each block, and how many of them have weight.
    total : float
        Their weights.
    classes : ndarray or None
        Labels.
    class_counts : ndarray or None
        The rows of each, with their weights.
    class_rows : ndarray of int or None
        One row of each, among those that have weight.
    """

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    total: float
    classes: Any
    class_counts: Any
    class_rows: Any

    @property
    def n_rows(self) -> int:
        """All rows that have weight."""
        return int(self.counts.sum())

    @property
    def starts(self) -> list[int]:
        """The number of the first row of each block."""
        return (np.cumsum(self.sizes) - self.sizes).tolist()

    def by_block(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, Any, Any]]:
        """Yield each block that has some of the rows, their places in it, and which they are.

        Rows and places are counted among those that have weight.
        """
        ends = np.cumsum(self.counts)
        order = np.argsort(rows, kind="stable")
        start = 0
        for block, stop in enumerate(np.searchsorted(rows[order], ends).tolist()):
            if stop > start:
                own = order[start:stop]
                yield block, rows[own] - (ends[block] - self.counts[block]), own
            start = stop


def opened(blocks: tuple[Any, Any, Any], classes: Any = None) -> Part:
    """Return the rows of a block, checked; runs on a worker.

    Parameters
    ----------
    blocks : tuple
        What a block of X, y and the weights is, or None.
    classes : ndarray or None, default=None
        Labels that are turned into codes.
    """
    rows, targets, weights = blocks
    X = checked_block(rows)
    y, weights = _vector(targets), _vector(weights)
    check_consistent_length(X, y, weights)
    if classes is not None:
        y = np.searchsorted(classes, y).astype(np.int64)
    if weights is None:
        return Part(X, y, None)
    kept = np.flatnonzero(weights)
    return Part(*Part(X, y, weights).take(kept), kept)


def checked_block(rows: Any) -> Any:
    """Return the rows of a block as an array of numbers, or a sparse one."""
    refuse_dates(rows)
    if hasattr(rows, "tocsr"):  # of scipy or of sparse
        rows = sp.csr_array(rows.tocsr())
    kinds = [np.float64, np.float32]
    return check_array(rows, accept_sparse="csr", dtype=kinds, ensure_min_samples=0)


def _vector(values: Any) -> Any:
    return None if values is None else column_or_1d(np.asarray(values))


def learn_facts(blocks: Blocks, cluster: Cluster, kind: str | None) -> Facts:
    """Look once at all labels and weights; at the rows only where nobody knows how many they are.

    Parameters
    ----------
    blocks : Blocks
    cluster : Cluster
    kind : str or None
        "classifier", "regressor" or another, in the words of scikit-learn.
    """
    from dask import delayed

    look = delayed(_look)
    known: Sequence[int | None] = blocks.sizes or [None] * len(blocks.parts)
    found = cluster.values(
        [
            look(None if size is not None else rows, targets, weights, size, kind)
            for (rows, targets, weights), size in zip(blocks.parts, known)
        ]
    )
    sizes, counts = np.array([one[:2] for one in found]).T
    total = float(sum(one[2] for one in found))
    if total == 0.0:
        raise ValueError("There are no rows with weight above 0.")
    if kind != "classifier":
        return Facts(sizes, counts, total, None, None, None)
    labels = [one[3] for one in found if len(one[3])]
    classes = _different(np.concatenate(labels))
    class_counts, class_rows = np.zeros(classes.size), np.zeros(classes.size, dtype=np.int64)
    for start, (_, _, _, some, weight, first) in zip(np.cumsum(counts) - counts, found):
        codes = np.searchsorted(classes, some)
        class_counts[codes] += weight
        class_rows[codes] = start + np.asarray(first, dtype=np.int64)
    return Facts(sizes, counts, total, classes, class_counts, class_rows)


def _different(labels: Any, **how: Any) -> Any:
    """Return the different labels in order, as numpy.unique does."""
    try:
        return np.unique(labels, **how)
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise ValueError(
            f"y must have labels of one type, none of them missing; it has {kinds}."
        ) from None


def _look(rows: Any, targets: Any, weights: Any, size: int | None, kind: str | None) -> Any:
    """Return rows, those with weight, their weights, labels with theirs; runs on a worker."""
    n_rows = len(rows) if size is None else size
    y, weights = _vector(targets), _vector(weights)
    for name, values in (("y", y), ("sample_weight", weights)):
        if values is not None and len(values) != n_rows:
            raise ValueError(
                f"A block of {n_rows} rows has {len(values)} values of {name}; X, y and weights "
                "must be cut alike."
            )
    if n_rows == 0:
        return 0, 0, 0.0, [], [], []
    if weights is not None and weights.any():
        weights = checked_weights(weights, np.empty((n_rows, 1)))
    each = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = each > 0
    count, total = int(kept.sum()), float(each.sum())
    if kind == "classifier":
        labels, first, codes = _different(y[kept], return_index=True, return_inverse=True)
        check_classification_targets(y)
        return n_rows, count, total, labels, np.bincount(codes, weights=each[kept]), first
    if kind == "regressor":
        check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    return n_rows, count, total, [], [], []


def picked(blocks: Blocks, facts: Facts, rows: NDArray[np.int64]) -> Any:
    """Return some rows, in the order asked for, as a task.

    Parameters
    ----------
    blocks : Blocks
    facts : Facts
    rows : ndarray of int
        Their numbers, among those that have weight.

    Returns
    -------
    delayed tuple of X, y and weights
    """
    from dask import delayed

    parts, order = [], []
    for block, places, which in facts.by_block(rows):
        parts.append(delayed(_take)(blocks.parts[block], facts.classes, places))
        order.append(which)
    return delayed(_joined)(parts, order)


def _take(blocks: tuple[Any, Any, Any], classes: Any, rows: Any) -> Any:
    return opened(blocks, classes).take(rows)


def _joined(parts: Sequence[tuple[Any, Any, Any]], places: Sequence[Any]) -> Any:
    """Return the rows of several parts, each at its place."""
    return tuple(None if some[0] is None else _placed(some, places) for some in zip(*parts))


def _placed(values: Sequence[Any], places: Sequence[Any]) -> Any:
    """Return what several arrays have; of dense ones without a second copy of all."""
    if any(sp.issparse(some) for some in values):
        order = np.argsort(np.concatenate(places), kind="stable")
        return sp.csr_array(sp.vstack(values))[order]
    n = sum(map(len, places))
    found = np.empty((n, *values[0].shape[1:]), dtype=np.result_type(*values))
    for some, at in zip(values, places):
        found[at] = some
    return found


def together(parts: Sequence[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    """Return the rows of several parts as those of one."""
    X, y, weights = zip(*parts)
    stack = sp.vstack if any(sp.issparse(rows) for rows in X) else np.concatenate
    return (
        sp.csr_array(stack(X)) if stack is sp.vstack else stack(X),
        None if y[0] is None else np.concatenate(y),
        None if weights[0] is None else np.concatenate(weights),
    )
