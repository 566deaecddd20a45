"""Machines of many sets of rows, whose programs are solved together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
from mercer.machines.kernel_machine import TrainingRows
from mercer.machines.training import Begun
from mercer.problems import Programs
from mercer.solvers import Options, solve_all

Indices = NDArray[np.int64]


class SomeRows:
    """Some rows of an array, copied only where they are asked for.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rows : ndarray of int of shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> some = SomeRows(np.arange(10.0).reshape(5, 2), np.array([4, 0, 1]))
    >>> some.shape, some[np.array([0])]
    ((3, 2), array([[8., 9.]]))
    """

    def __init__(self, X: Any, rows: Indices) -> None:
        self.X, self.rows = X, rows
        self.shape = (len(rows), X.shape[1])

    def __getitem__(self, places: Any) -> Any:
        return self.X[self.rows[places]]


def shared_rows(X: Any, weights: Any, gram: Gram, kernel: Any, rows: Indices) -> TrainingRows:
    """Return some rows of a kernel matrix as the rows of a fit.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        All points.
    weights : ndarray of shape (n,) or None
        Above 0; None stands for 1 each.
    gram : Gram
        The kernel matrix of all points.
    kernel : Kernel
        A resolved kernel.
    rows : ndarray of int of shape (m,)
        Those of the fit.
    """
    own = np.ones(len(rows)) if weights is None else weights[rows]
    some: Any = SomeRows(X, rows)
    return TrainingRows(some, np.arange(len(rows)), own, some, kernel, gram.subset(rows))


def solve_together(
    begun: Sequence[Begun], rows: Sequence[Indices], gram: Gram, options: Options
) -> None:
    """Solve the programs of all fits in one call, and let each store its own.

    Parameters
    ----------
    begun : sequence of Begun
    rows : sequence of ndarray of int
        The rows of each fit among those of the kernel matrix.
    gram : Gram
        The kernel matrix of all of them.
    options : Options
        Limits hold for all of them together.
    """
    counts = [len(one.programs) for one in begun]
    found = solve_all(
        Programs.joined([one.programs for one in begun]),
        gram,
        options,
        rows=np.concatenate(
            [own if one.rows is None else own[one.rows] for one, own in zip(begun, rows)]
        ),
        tol=np.repeat([one.tol for one in begun], counts),
    )
    for one, (first, last) in zip(begun, pairwise(np.cumsum([0, *counts]))):
        one.store(found.part(first, last))
