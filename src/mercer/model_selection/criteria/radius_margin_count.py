"""The radius/margin bound together with the number of support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.kernels.blocks import submatrix
from mercer.machines import TwoClassMachine
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.model_selection.criteria.radius_margin import enclosing_ball, radius_margin_of
from mercer.model_selection.criteria.solution_sensitivity import through_solution
from mercer.model_selection.criteria.support_vector_count import support_vector_count_of


@holds_blas
def radius_margin_count(
    model: Any, X: Any, y: Any, *, gradient: bool = True, sample_weight: Any = None
) -> Criterion:
    r"""Radius/margin bound plus the share of support vectors, for every loss.

    .. math:: T = \frac1n\bigl(R^2\lVert w\rVert^2 + N_{SV}\bigr)

    With the hinge loss :math:`R^2\lVert w\rVert^2` alone falls to 0 as C does and a Gaussian kernel
    widens, where the machine says nothing: all rows are support vectors then, and the second term
    says so. In that limit T is `support_vector_count`. For the hinge R and w are those of K, for
    other losses those of :math:`K + I/C`, as in `radius_margin`.

    Parameters
    ----------
    model : SVC
        Fitted; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    gradient : bool, default=True
        Whether the gradient is wanted: that of the first term, since the number of support vectors
        moves in steps. A descent along it does not see the steps.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, after lemma 3.4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.model_selection import radius_margin_count
    >>> X, y = load_iris(return_X_y=True)
    >>> useless, good = SVC(C=1e-6, gamma=1e-6).fit(X, y), SVC().fit(X, y)
    >>> round(radius_margin_count(useless, X, y).value, 3)
    1.0
    """
    machines = machines_of(model, X, y, sample_weight)
    return average(lambda machine: radius_margin_count_of(machine, gradient), machines)


def radius_margin_count_of(machine: TwoClassMachine, gradient: bool = True) -> Rated:
    """Return the sum for one machine."""
    share, _ = support_vector_count_of(machine)
    rate = _linear_slack if machine.loss == "hinge" else radius_margin_of
    value, slope = rate(machine, gradient)
    return value + share, slope


def _linear_slack(machine: TwoClassMachine, gradient: bool) -> Rated:
    """Return the first term for the hinge loss, where the norm is no optimal value."""
    count, ball = float(machine.weights.sum()), enclosing_ball(machine)
    support, beta = machine.support, machine.beta
    inner = submatrix(machine.matrix, support, support) @ beta[support]
    squared_norm = float(beta[support] @ inner)
    value = ball.squared_radius * squared_norm / count
    if not gradient:
        return value, None
    of_norm = machine.gradient(
        0.0, machine.contract(np.outer(beta[support], beta[support]), support, support)
    )
    of_norm = of_norm + through_solution(machine, 2.0 * inner, 0.0)
    rows = np.flatnonzero(ball.z)
    z = ball.z[rows]
    of_radius = machine.gradient(0.0, machine.contract(np.diag(z) - np.outer(z, z), rows, rows))
    return value, (ball.squared_radius * of_norm + squared_norm * of_radius) / count
