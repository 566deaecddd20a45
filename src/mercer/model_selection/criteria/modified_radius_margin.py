"""The radius/margin bound made fit for the hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.machines import TwoClassMachine
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.model_selection.criteria.radius_margin import enclosing_ball


@holds_blas
def modified_radius_margin(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 1.0,
    gradient: bool = True,
    sample_weight: Any = None,
) -> Criterion:
    r"""Modified radius/margin bound of a hinge-loss (L1) machine.

    .. math:: T = \frac1n\Bigl(R^2 + \frac{\Delta}{C}\Bigr)
              \Bigl(\lVert w\rVert^2 + 2C\sum_i\xi_i\Bigr)

    The plain product vanishes as C goes to 0; this one does not, and it is differentiable. The
    second factor is twice the optimal value of the machine, so that
    :math:`d(\lVert w\rVert^2 + 2C\sum\xi) = -\beta^\top dK\beta + 2C\sum\xi\; d\ln C`.

    Parameters
    ----------
    model : SVC
        Fitted, with ``loss="hinge"``; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    delta : float, default=1.0
        :math:`\Delta`, positive and close to 1.
    gradient : bool, default=True
        Whether the gradient is wanted.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.

    Returns
    -------
    Criterion

    References
    ----------
    K.-M. Chung, W.-C. Kao, T. Sun, L.-L. Wang, C.-J. Lin, "Radius margin bounds for support vector
    machines with the RBF kernel", Neural Computation 15 (2003).

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, equation (3.9).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.model_selection import modified_radius_margin
    >>> X, y = load_iris(return_X_y=True)
    >>> found = modified_radius_margin(SVC(tol=1e-6).fit(X, y), X, y)
    >>> found.gradient.shape
    (2,)
    """
    machines = machines_of(model, X, y, sample_weight)
    return average(
        lambda machine: modified_radius_margin_of(machine, gradient, delta=delta), machines
    )


def modified_radius_margin_of(
    machine: TwoClassMachine, gradient: bool = True, delta: float = 1.0
) -> Rated:
    """Return the bound of one machine."""
    if machine.loss != "hinge":
        raise ValueError(
            "modified_radius_margin needs loss='hinge' and a finite C; for other machines use "
            "radius_margin."
        )
    count = float(machine.weights.sum())
    ball, beta, C = enclosing_ball(machine), machine.beta, machine.penalty.C
    radius = ball.squared_radius + delta / C
    twice_optimum = -2.0 * machine.solution.objective
    slope = None
    if gradient:
        rows = np.flatnonzero((beta != 0) | (ball.z != 0))
        inner, z = beta[rows], ball.z[rows]
        weights = -(radius * inner)[:, None] * inner - (twice_optimum * z)[:, None] * z
        weights[np.diag_indices_from(weights)] += twice_optimum * z
        squared_norm = float(beta @ (machine.matrix @ beta))
        in_log_C = radius * (twice_optimum - squared_norm) - delta / C * twice_optimum
        slope = machine.gradient(in_log_C, machine.contract(weights, rows, rows)) / count
    return radius * twice_optimum / count, slope
