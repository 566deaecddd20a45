"""Generalised approximate cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.machines import TwoClassMachine
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.model_selection.criteria.solution_sensitivity import through_solution


@holds_blas
def gacv(model: Any, X: Any, y: Any, *, gradient: bool = True) -> Criterion:
    r"""Generalised approximate cross-validation of a hinge-loss machine (Wahba).

    .. math::

        T = \frac1n\Bigl(\sum_i\xi_i + 2\sum_{y_i f_i < -1}\alpha_i K_{ii}
            + \sum_{|y_i f_i| \le 1}\alpha_i K_{ii}\Bigr)

    It approximates the leave-one-out value of the hinge loss from one fit. The gradient is exact
    as long as no row meets or leaves a bound or crosses :math:`y f = -1`.

    Parameters
    ----------
    model : SVC
        Fitted, with ``loss="hinge"``; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    G. Wahba, Y. Lin, H. Zhang, "Generalized approximate cross validation for support vector
    machines", in Advances in Large Margin Classifiers (2000).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.model_selection import gacv
    >>> X, y = load_iris(return_X_y=True)
    >>> gacv(SVC(tol=1e-6).fit(X, y), X, y).names
    ('C', 'gamma')
    """
    return average(lambda machine: gacv_of(machine, gradient), machines_of(model, X, y))


def gacv_of(machine: TwoClassMachine, gradient: bool = True) -> Rated:
    """Return the criterion of one machine."""
    if machine.loss != "hinge":
        raise ValueError("gacv needs loss='hinge' and a finite C.")
    refuse_weights([machine], "gacv")
    n, alpha, signs, support = machine.n, machine.alpha, machine.signs, machine.support
    margins = signs * machine.decision
    times = np.where(margins < -1.0, 2.0, 1.0)  # rows beyond the margin have no alpha
    diagonal = machine.matrix.diagonal()
    slack = np.zeros(n)
    slack[machine.bound] = 1.0 - margins[machine.bound]
    value = float((slack + times * alpha * diagonal).sum()) / n
    slope = None
    if gradient:
        outer = np.zeros(n)
        outer[machine.bound] = -signs[machine.bound] / n
        in_beta = machine.matrix[support] @ outer + (times * diagonal * signs)[support] / n
        weights = np.outer(outer[support], machine.beta[support])
        weights[np.diag_indices_from(weights)] += (times * alpha)[support] / n
        slope = machine.gradient(0.0, machine.contract(weights, support, support))
        slope = slope + through_solution(machine, in_beta, float(outer.sum()))
    return value, slope
