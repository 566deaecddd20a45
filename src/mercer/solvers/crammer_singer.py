r"""All classes in one program: the dual of Crammer and Singer.

With one function :math:`f_k(x) = \langle w_k, \phi(x)\rangle` for each class, the machine is

.. math::

    \min_{w, \xi} \tfrac12\sum_k\lVert w_k\rVert^2 + \sum_i C_i\xi_i \quad\text{subject to}\quad
    f_{y_i}(x_i) - f_k(x_i) \ge e_{ik} - \xi_i \;\text{ for all } k, \qquad
    e_{ik} = 1 - [k = y_i]

(the inequality of :math:`k = y_i` says :math:`\xi_i \ge 0`). With multipliers
:math:`\eta_{ik} \ge 0`, :math:`\sum_k\eta_{ik} = C_i`, and
:math:`\alpha_{ik} = C_i[k = y_i] - \eta_{ik}`, the Lagrangian is stationary at
:math:`w_k = \sum_i\alpha_{ik}\phi(x_i)`, and what is left is

.. math::

    \min_\alpha \tfrac12\sum_{ij} K_{ij}\langle\alpha_i, \alpha_j\rangle
    + \sum_{ik} e_{ik}\alpha_{ik} \quad\text{subject to}\quad
    \sum_k\alpha_{ik} = 0,\; \alpha_{ik} \le C_i[k = y_i]

This is the one quadratic program of all machines but for its constraints: the matrix is
:math:`K \otimes I`, p = e, and there is one sum, of :math:`\Delta = 0`, for each row in place of
one for all. Rows are therefore solved one after the other, each exactly [1]_. The gradient is
:math:`G = K\alpha + e`; the point is optimal where :math:`G_{ik}` of all :math:`\alpha_{ik}` below
their bounds equals :math:`\max_k G_{ik}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer import _engine
from mercer.gram import Gram, StoredGram
from mercer.gram.base import finite
from mercer.solvers._limits import Limits
from mercer.solvers.solution import Status
from mercer.solvers.solve import BEYOND_NUMBERS, Options

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BLOCK = 512
"""Rows that are solved together, on the part of the matrix that they share."""

STEPS = 20
"""Steps for each row of a block before the gradient of all rows is brought up to date."""

SHARE = 0.1
"""A block is left when its own gap is this share of what it was."""

PATIENCE = 1000
"""Blocks after which the gap must have been halved."""

NO_CURVATURE = 1e-200
"""In place of what is not above zero, so that a row may be divided by its own kernel value."""


@dataclass(frozen=True, eq=False)
class MultiClassSolution:
    r"""A point of the program, and how good it is.

    Parameters
    ----------
    alpha : ndarray of shape (n, n_classes)
        The variables; feasible.
    gradient : ndarray of shape (n, n_classes)
        :math:`K\alpha + e`.
    objective : float
    gap : float
        Largest violation of the optimality conditions.
    n_iter : int
        Rows solved, each as often as it was.
    converged : bool
        Whether the gap is at most the tolerance.
    status : str
        Why the work ended.
    """

    alpha: Floats
    gradient: Floats
    objective: float
    gap: float
    n_iter: int
    converged: bool
    status: Status


def solve_crammer_singer(
    gram: Gram,
    codes: Rows,
    C: Floats,
    options: Options,
    *,
    constant: float = 0.0,
    warm_start: Floats | None = None,
) -> MultiClassSolution:
    r"""Solve the program of all classes.

    Blocks of the rows that violate the optimality conditions most are solved on their own part of
    the matrix, a row at a time; then the gradient of all rows is brought up to date.

    Parameters
    ----------
    gram : Gram
        The matrix K.
    codes : ndarray of int of shape (n,)
        The class of each row, 0, 1, ...
    C : ndarray of shape (n,)
        Price of slack of each row, finite.
    options : Options
        Of which ``tol``, ``max_iter``, ``time_limit``, ``callback`` and ``cache_bytes`` count.
    constant : float, default=0.0
        Added to every entry of the matrix, for functions with an offset.
    warm_start : ndarray of shape (n, n_classes) or None, default=None
        Where to start; brought within the bounds.

    Returns
    -------
    MultiClassSolution

    References
    ----------
    .. [1] S. S. Keerthi, S. Sundararajan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, "A sequential dual
       method for large scale multi-class linear SVMs", KDD 2008.
    .. [2] K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based
       vector machines", JMLR 2 (2001).

    Examples
    --------
    Three points of three classes, a corner of a triangle each: all margins are met.

    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [-0.5, 0.866], [-0.5, -0.866]])
    >>> gram = make_gram(Linear(), X)
    >>> found = solve_crammer_singer(gram, np.arange(3), np.full(3, 10.0), Options(tol=1e-8))
    >>> (X @ (X.T @ found.alpha)).round(3) + 0.0
    array([[ 0.667, -0.333, -0.333],
           [-0.333,  0.667, -0.333],
           [-0.333, -0.333,  0.667]])
    """
    n, k = gram.n, int(codes.max()) + 1
    limits = Limits(options.max_iter, options.time_limit, options.callback)
    diagonal = finite(gram.diag()) + constant
    if 8.0 * n * n <= options.cache_bytes and not isinstance(gram, StoredGram):
        gram = StoredGram(gram.matrix())
    upper = np.zeros((n, k))
    upper[np.arange(n), codes] = C
    costs = np.ones((n, k))
    costs[np.arange(n), codes] = 0.0
    alpha = np.zeros((n, k)) if warm_start is None else _feasible(warm_start, upper)
    gradient = _product(gram, alpha, constant) + costs
    diagonal = np.maximum(diagonal, NO_CURVATURE)
    best, since = np.inf, 0
    while True:
        violations = row_gaps(alpha, gradient, upper)
        gap = float(violations.max())
        if np.isnan(gap):
            raise ValueError(BEYOND_NUMBERS)
        since = 0 if gap <= 0.5 * best else since + 1
        best = gap if since == 0 else best
        if gap <= options.tol or since > PATIENCE or limits.stop(gap):
            break
        block = _worst(violations, np.flatnonzero(alpha.any(axis=1)), options.tol)
        matrix = gram.block(block, block) + constant
        before = alpha[block]
        point = (before, gradient[block], upper[block])
        after, steps = _solve_block(matrix, diagonal[block], point, limits, options.tol)
        alpha[block] = after
        limits.n_iter += steps
        moved = np.flatnonzero((after != before).any(axis=1))
        change = (after - before)[moved]
        gradient += gram.rows(block[moved]).T @ change + constant * change.sum(axis=0)
    gradient = _product(gram, alpha, constant) + costs
    gap = float(row_gaps(alpha, gradient, upper).max())
    if not np.isfinite(gradient).all():
        raise ValueError(BEYOND_NUMBERS)
    objective = 0.5 * float(np.vdot(alpha, gradient + costs))
    converged = gap <= options.tol
    status: Status = "converged" if converged else limits.reason or "stalled"
    return MultiClassSolution(alpha, gradient, objective, gap, limits.n_iter, converged, status)


def row_gaps(alpha: Floats, gradient: Floats, upper: Floats) -> Floats:
    """Return how far each row is from its optimum: 0 where no shift between classes would help."""
    can_grow = np.where(alpha < upper, gradient, np.inf).min(axis=1)
    return gradient.max(axis=1) - np.minimum(can_grow, gradient.max(axis=1))


def _solve_block(
    matrix: Floats,
    diagonal: Floats,
    point: tuple[Floats, Floats, Floats],
    limits: Limits,
    tol: float,
) -> tuple[Floats, int]:
    """Return the multipliers of some rows after steps on them alone, and the number of steps."""
    alpha, gradient, upper = point
    goal = max(SHARE * float(row_gaps(alpha, gradient, upper).max()), 0.5 * tol)
    most = STEPS * len(alpha)
    if limits.max_iter >= 0:
        most = min(most, limits.max_iter - limits.n_iter)
    alpha, gradient = alpha.copy(), gradient.copy()
    steps = _engine.solve_class_rows(matrix, diagonal, upper, alpha, gradient, goal, most)
    return alpha, steps


def _worst(violations: Floats, support: Rows, tol: float) -> Rows:
    """Return the rows of the next block: those that violate most, then support vectors.

    These are at their optimum now but not any more when their neighbours have moved.
    """
    size = min(BLOCK, violations.size)
    wanted = violations.copy()
    wanted[support] += 0.25 * tol
    return np.sort(np.argpartition(-wanted, size - 1)[:size])


def _product(gram: Gram, alpha: Floats, constant: float) -> Floats:
    """Return K alpha."""
    return np.column_stack([gram.times(column) for column in alpha.T]) + constant * alpha.sum(
        axis=0
    )


def _feasible(start: Floats, upper: Floats) -> Floats:
    """Return a point near the given one with all sums zero and below the bounds."""
    own, room = upper.argmax(axis=1), upper.max(axis=1)
    others = np.minimum(start, 0.0)
    others[np.arange(len(start)), own] = 0.0
    total = -others.sum(axis=1)  # what the multiplier of the row's class must be
    kept = np.divide(room, total, out=np.ones_like(room), where=total > room)
    alpha = others * kept[:, None]
    alpha[np.arange(len(start)), own] = -alpha.sum(axis=1)
    return alpha
