"""The radius/margin bound on the leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._threads import holds_blas
from mercer.machines import RowMachine, TwoClassMachine
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.problems import QuadraticProgram

Floats = NDArray[np.float64]


@holds_blas
def radius_margin(
    model: Any, X: Any, y: Any, *, gradient: bool = True, sample_weight: Any = None
) -> Criterion:
    r"""Radius/margin bound of a hard-margin or squared-hinge (L2) machine.

    .. math:: T = \frac1n R^2 \lVert w\rVert^2, \qquad
              R^2 = \min_a\max_i\lVert\phi(x_i) - a\rVert^2

    both in the feature space of :math:`\tilde K = K + I/C`. Up to a constant factor it bounds the
    leave-one-out error; the printed constants differ (1/(4m) in (3.5), 1/m in (3.10)) and do not
    move the minimum. Radius and margin are optimal values, so that their derivatives are those at
    fixed coefficients:

    .. math::

        d\lVert w\rVert^2 = -\beta^\top d\tilde K\beta, \qquad
        dR^2 = \sum_i z_i\, d\tilde K_{ii} - z^\top d\tilde K z

    Parameters
    ----------
    model : SVC
        Fitted, with ``loss="squared_hinge"`` or ``C=inf``; for many classes the mean over its
        machines is returned.
    X, y : array-like
        The training data.
    gradient : bool, default=True
        Whether the gradient is wanted.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, equations (3.5) and (3.10) to (3.16).

    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee, "Choosing multiple parameters for support
    vector machines", Machine Learning 46 (2002).

    Examples
    --------
    Two points at distance 2: radius 1, margin 1.

    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.model_selection import radius_margin
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    >>> round(radius_margin(SVC(C=np.inf, kernel="linear").fit(X, y), X, y).value, 6)
    0.5
    """
    machines = machines_of(model, X, y, sample_weight)
    return average(lambda machine: radius_margin_of(machine, gradient), machines)


@dataclass(frozen=True, eq=False)
class EnclosingBall:
    r"""The ball :math:`R^2 = \max_z \sum z_i\tilde K_{ii} - z^\top\tilde K z`.

    Parameters
    ----------
    squared_radius : float
    z : ndarray of shape (n,)
        Weights of the rows in its centre.
    """

    squared_radius: float
    z: Floats


def enclosing_ball(machine: RowMachine) -> EnclosingBall:
    """Return the ball in the feature space in which the machine has a hard margin.

    For squared slack every row has a direction of its own there, of squared length 1/C; a row that
    counts several times has several, between which its weight is divided.
    """
    diagonal = machine.matrix.diagonal() + machine.ridge * machine.weights
    # In units of the largest entry, so that the solver's tolerance is relative to the radius.
    unit = float(diagonal.max()) or 1.0
    zero = np.zeros(machine.n)
    problem = QuadraticProgram(-0.5 * diagonal, zero, zero + np.inf, 1.0, machine.ridge)
    found = machine.solve(problem, "ball", tol=machine.tol * unit)
    return EnclosingBall(-2.0 * found.objective, found.beta)


def radius_margin_of(machine: TwoClassMachine, gradient: bool = True) -> Rated:
    """Return the bound of one machine."""
    if machine.loss == "hinge":
        raise ValueError(
            "radius_margin needs loss='squared_hinge' or C=inf; for the hinge loss use "
            "modified_radius_margin."
        )
    count = float(machine.weights.sum())
    ball, beta = enclosing_ball(machine), machine.beta
    # Twice the negative objective: at an exact solution |w|^2, and best known at others.
    squared_norm = -2.0 * machine.solution.objective
    value = ball.squared_radius * squared_norm / count
    slope = None
    if gradient:
        rows = np.flatnonzero((beta != 0) | (ball.z != 0))
        inner, z, r = beta[rows], ball.z[rows], machine.ridge[rows]
        weights = -(ball.squared_radius * inner)[:, None] * inner - (squared_norm * z)[:, None] * z
        own = weights.diagonal() + squared_norm * z * machine.weights[rows]
        weights[np.diag_indices_from(weights)] += squared_norm * z
        in_kernel = machine.contract(weights, rows, rows)
        slope = machine.gradient(-float(own @ r), in_kernel) / count
    return value, slope
