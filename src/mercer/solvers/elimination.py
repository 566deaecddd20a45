"""Eliminating features from a linear kernel matrix, in the engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer import _engine
from mercer.gram.base import Floats, finite
from mercer.problems import QuadraticProgram
from mercer.solvers.solve import Options


@dataclass(frozen=True, eq=False)
class Elimination:
    """What happened in some rounds of an elimination.

    Parameters
    ----------
    dropped, importances : ndarray
        Features in the order in which they went, and their squared weights then.
    gaps, fitted, seconds : ndarray
        One entry a round: KKT gap of the machine, total weight of the rows on their side of the
        boundary, and the time since the start.
    status : str
        "converged", or why it ended before.
    n_rounds : int
        Rounds completed.
    """

    dropped: NDArray[np.int64]
    importances: Floats
    gaps: Floats
    fitted: Floats
    seconds: Floats
    status: str
    n_rounds: int


def eliminate_features(
    columns: Floats,
    counts: NDArray[np.int64],
    kernel: Floats,
    problem: QuadraticProgram,
    beta: Floats,
    gradient: Floats,
    options: Options,
    *,
    fixed: NDArray[np.uint8],
    row_weights: Floats,
) -> Elimination:
    r"""Solve a linear machine, drop the features with the smallest squared weights, and repeat.

    A feature x less changes the kernel matrix by :math:`-xx^\top`. The solution follows by an
    active-set method with the inverse of its equations kept up to date, so that a round costs
    :math:`O(n^2)` and the few weights that can be the smallest.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        The features, contiguous.
    counts : ndarray of int
        How many to drop in each round.
    kernel : ndarray of shape (n, n)
        Their dot products; changed in place.
    problem : QuadraticProgram
    beta, gradient : ndarray of shape (n,)
        A feasible point of it; changed in place.
    options : Options
    fixed : ndarray of bool as uint8
        Features that stay.
    row_weights : ndarray of shape (n,)
        What each row counts in ``fitted``.

    Returns
    -------
    Elimination

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems import hinge_svc
    >>> X, y = np.array([[1.0, 0.2], [-1.0, 0.1]]), np.array([1.0, -1.0])
    >>> found = eliminate_features(np.ascontiguousarray(X.T), np.array([1]), X @ X.T,
    ...                            hinge_svc(y, C=1.0), np.zeros(2), -y, Options(tol=1e-6),
    ...                            fixed=np.zeros(2, np.uint8), row_weights=np.ones(2))
    >>> found.dropped, found.fitted
    (array([1]), array([2.]))
    """
    dropped, importances = np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum())
    gaps, fitted, seconds = np.empty((3, counts.size))
    report = (dropped, importances, gaps, fitted, seconds)
    diagonal = finite(kernel.diagonal().copy())
    end = _engine.eliminate_features(
        columns,
        fixed,
        counts,
        row_weights,
        kernel,
        (problem.p, problem.lower, problem.upper, problem.ridge, diagonal),
        (diagonal, beta, gradient),
        options,
        1,
        report,
    )
    return Elimination(*report, end["status"], end["n_rounds"])
