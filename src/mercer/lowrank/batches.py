"""Rows that come in batches, from files that are larger than memory or from anywhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.lowrank.given import Sample
from mercer.lowrank.rows import Part
from mercer.lowrank.targets import Targets

Floats = NDArray[np.float64]

Batch = tuple[Any, Any, Floats | None]
"""Rows, what is known of them, and weights where there are any."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What one look through all batches has shown.

    Parameters
    ----------
    n_rows : int
        Those that have weight.
    X : ndarray or sparse matrix of shape (n, n_features)
        Some of them, in random order.
    y : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    labels : Counter
        What each label weighs, where they are counted.
    """

    n_rows: int
    X: Any
    y: Any
    weights: Floats | None
    labels: Counter[Any]


def survey(
    batches: Iterable[Batch], wanted: int, random: np.random.RandomState, *, counts: bool
) -> Survey:
    """Look through all batches, and keep some rows: those with the least of random numbers.

    Parameters
    ----------
    batches : iterable of Batch
    wanted : int
        Rows to keep.
    random : RandomState
    counts : bool
        Whether to count labels.

    Returns
    -------
    Survey
    """
    kept: list[Any] = []
    labels: Counter[Any] = Counter()
    n_rows = 0
    for X, y, weights in batches:
        usable = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        n_rows += usable.size
        if counts and usable.size:
            labels.update(_weighed(y[usable], None if weights is None else weights[usable]))
        lots = random.random_sample(usable.size)
        first = np.argsort(lots)[:wanted]
        rows = usable[first]
        kept.append((lots[first], X[rows], y[rows], None if weights is None else weights[rows]))
        if sum(part[0].size for part in kept) > 2 * wanted:
            kept = [_least(kept, wanted)]
    if len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError("Some labels of the batches are text and some are not; make all alike.")
    if n_rows == 0:
        raise ValueError("The batches hold no rows with weight above 0; a machine needs some.")
    _, X, y, weights = _least(kept, wanted)
    return Survey(n_rows, X.astype(np.float64, copy=False), y, weights, labels)


def _weighed(y: Any, weights: Floats | None) -> dict[Any, float]:
    """Return the labels and what each weighs."""
    try:
        known, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        raise ValueError(f"y holds labels of several kinds ({kinds}); make all of one.") from None
    return dict(zip(known.tolist(), np.bincount(codes, weights=weights).tolist()))


def _least(kept: list[Any], wanted: int) -> Any:
    lots = np.concatenate([part[0] for part in kept])
    first = np.argsort(lots)[:wanted]
    stack: Any = sp.vstack if any(sp.issparse(part[1]) for part in kept) else np.concatenate
    X = stack([part[1] for part in kept])
    X = X.tocsr() if sp.issparse(X) else X
    y = np.concatenate([part[2] for part in kept])
    given = [part[3] for part in kept]
    if all(weights is None for weights in given):
        return lots[first], X[first], y[first], None
    pairs = zip(given, kept)
    weights = [np.ones(part[0].size) if some is None else some for some, part in pairs]
    return lots[first], X[first], y[first], np.concatenate(weights)[first]


@dataclass(frozen=True, eq=False)
class GivenBatches:
    """Rows in batches, which are read again for each pass.

    Parameters
    ----------
    read : callable
        Yields batches, from the beginning whenever it is called.
    targets_of : callable
        From what is known of rows and weights to targets.
    seen : Survey
    """

    read: Callable[[], Iterator[Batch]]
    targets_of: Callable[[Any, Floats | None], Targets]
    seen: Survey

    @property
    def n_rows(self) -> int:
        """Return their number."""
        return self.seen.n_rows

    def parts(self) -> Iterator[Part]:
        """Yield all of them, which must be as many in each pass."""
        n_rows = 0
        for X, y, weights in self.read():
            n_rows += X.shape[0] if weights is None else int(np.count_nonzero(weights))
            yield X, self.targets_of(y, weights)
        if n_rows != self.n_rows:
            raise ValueError(
                f"The batches held {self.n_rows:,} rows with weight at first, and {n_rows:,} when "
                "gone through again; they must be the same each time."
            )

    def sample(self, n_rows: int, random: np.random.RandomState) -> Sample:
        """Return those that the survey kept."""
        seen = self.seen
        targets = self.targets_of(seen.y, seen.weights)
        return Sample(seen.X, targets, seen.X.shape[0] / seen.n_rows)


def checked(batches: Any, check: Callable[[Any, Any, Any], Batch]) -> Callable[[], Iterator[Batch]]:
    """Return what reads batches, each of which is checked.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight)
    check : callable
        From X, y and weights to a batch.

    Returns
    -------
    callable
    """
    if isinstance(batches, Iterator) or not isinstance(batches, Iterable):
        raise TypeError(
            "batches must be something that can be gone through several times, such as a list or "
            f"ArrowBatches; got {type(batches).__name__}. Write what comes only once to a file."
        )

    def read() -> Iterator[Batch]:
        for batch in batches:
            if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
                raise TypeError(
                    "Each batch must be a pair of X and y, or X, y and sample_weight; got "
                    f"{type(batch).__name__}."
                )
            X, y, *weights = batch
            if len(y):
                yield check(X, y, weights[0] if weights else None)

    return read
