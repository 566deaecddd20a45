"""Many classes as several two-class machines."""

from __future__ import annotations

from dataclasses import dataclass
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


def decompose(codes: NDArray[np.int64], n_classes: int, multi_class: str) -> list[TwoClassTask]:
    """Return the machines for class codes 0 ... n_classes - 1.

    Two classes make one machine in which class 1 is positive. One against one has the smaller
    class positive, in the order (0, 1), (0, 2), ..., (1, 2), ... as LIBSVM; one against the rest
    has one machine for each class.

    Examples
    --------
    >>> import numpy as np
    >>> [task.rows.tolist() for task in decompose(np.array([0, 1, 2, 1]), 3, "ovo")]
    [[0, 1, 3], [0, 2], [1, 2, 3]]
    """
    everything = np.arange(codes.size)
    if n_classes == 2:
        return [TwoClassTask(everything, np.where(codes == 1, 1.0, -1.0))]
    if multi_class == "ovr":
        signs = (np.where(codes == c, 1.0, -1.0) for c in range(n_classes))
        return [TwoClassTask(everything, sign) for sign in signs]
    members = [np.flatnonzero(codes == c) for c in range(n_classes)]
    tasks = []
    for first, second in combinations(range(n_classes), 2):
        rows = np.sort(np.concatenate([members[first], members[second]]))
        tasks.append(TwoClassTask(rows, np.where(codes[rows] == first, 1.0, -1.0)))
    return tasks
