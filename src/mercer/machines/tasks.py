"""Many classes as several two-class machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TwoClassTask:
    """One machine: which rows take part, and on which side each stands.

    Parameters
    ----------
    rows : ndarray of int
        Training rows.
    signs : ndarray of float
        +1 or -1 for each of them.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoClassTasks:
    """The machines of one classifier, laid end to end.

    Parameters
    ----------
    rows, signs : ndarray
        Of one machine after the other.
    ends : ndarray of int of shape (m + 1,)
        Machine k has the entries from ``ends[k]`` to ``ends[k + 1]``.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return self.ends.size - 1

    def __getitem__(self, k: int) -> TwoClassTask:
        part = slice(self.ends[k], self.ends[k + 1])
        return TwoClassTask(self.rows[part], self.signs[part])

    def __iter__(self) -> Iterator[TwoClassTask]:
        return (self[k] for k in range(len(self)))

    @property
    def machine(self) -> NDArray[np.int64]:
        """The machine of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.ends))


@lru_cache(maxsize=64)
def pairs_of(n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the second class of all pairs: (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.array(list(combinations(range(n_classes), 2)), dtype=np.int64).T
    return first, second


def decompose(codes: NDArray[np.int64], n_classes: int, multi_class: str) -> TwoClassTasks:
    """Return the machines for class codes 0 ... n_classes - 1.

    Two classes make one machine in which class 1 is positive. One against one has the smaller
    class positive, in the order (0, 1), (0, 2), ..., (1, 2), ... as LIBSVM; one against the rest
    has one machine for each class. The rows of a machine rise.

    Examples
    --------
    >>> import numpy as np
    >>> [task.rows.tolist() for task in decompose(np.array([0, 1, 2, 1]), 3, "ovo")]
    [[0, 1, 3], [0, 2], [1, 2, 3]]
    """
    n = codes.size
    if n_classes == 2:
        return TwoClassTasks(np.arange(n), np.where(codes == 1, 1.0, -1.0), np.array([0, n]))
    if multi_class == "ovr":
        signs = np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0).ravel()
        return TwoClassTasks(np.tile(np.arange(n), n_classes), signs, np.arange(n_classes + 1) * n)
    first, second = pairs_of(n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    ends = np.concatenate([[0], np.cumsum(counts[first] + counts[second])])
    rows = np.concatenate([members[code] for pair in zip(first, second) for code in pair])
    # Sorted within each machine, all at once.
    places = np.repeat(np.arange(first.size), np.diff(ends)) * n
    rows = np.sort(rows + places) - places
    own = codes[rows] == np.repeat(first, np.diff(ends))
    return TwoClassTasks(rows, np.where(own, 1.0, -1.0), ends)
