"""Closed-form leave-one-out error of the least-squares machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from mercer._threads import holds_blas
from mercer.machines import TubeMachine, TwoClassMachine
from mercer.machines.bordered_system import LeastSquares
from mercer.model_selection.criteria.criterion import (
    Criterion,
    Rated,
    average,
    least_squares_machines_of,
)


@holds_blas
def press(
    model: Any, X: Any, y: Any, *, gradient: bool = True, sample_weight: Any = None
) -> Criterion:
    r"""Mean squared leave-one-out residual of the least-squares machine (PRESS).

    Without row i the least-squares machine misses :math:`y_i` by :math:`e_i = \beta_i/P_{ii}`,
    with P the part of the inverse of the bordered matrix that belongs to the rows, so that

    .. math::

        T = \frac1n\sum_i e_i^2, \qquad
        dT = \langle P\operatorname{diag}(h)P - u\beta^\top, d\tilde K\rangle, \qquad
        u = P\Bigl(\frac{g}{\operatorname{diag}P}\Bigr),\;
        h = \frac{g\beta}{\operatorname{diag}(P)^2},\; g = \frac{2e}{n}

    No machine is trained n times, nor even once.

    Parameters
    ----------
    model : SVC or SVR
        Fitted. Its kernel and C count, whatever its loss; for many classes the mean over its
        machines is returned.
    X, y : array-like
        The training data.
    gradient : bool, default=True
        Whether the gradient is wanted.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with. A row of weight 2 counts as two rows, of which one is left
        out at a time.

    Returns
    -------
    Criterion

    References
    ----------
    G. C. Cawley, N. L. C. Talbot, "Preventing over-fitting during model selection via Bayesian
    regularisation of the hyper-parameters", JMLR 8 (2007).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import press
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVC(gamma=1e-6, loss="squared_hinge").fit(X, y)
    >>> press(model, X, y).names
    ('C', 'gamma')
    """
    machines = least_squares_machines_of(model, X, y, sample_weight)
    return average(lambda machine: press_of(machine, gradient), machines)


def press_of(machine: TwoClassMachine | TubeMachine, gradient: bool = True) -> Rated:
    """Return the criterion of one machine."""
    solved = LeastSquares.of(machine)
    weights, beta, system = machine.weights, solved.beta, solved.system
    count = float(weights.sum())
    # One of w equal rows, merged into one, has this share of the diagonal of the inverse; a row
    # that counts less than once is left out as a whole.
    several = weights > 1.0
    repeats = np.zeros(machine.n)
    repeats[several] = (machine.penalties * weights * (weights - 1.0))[several]
    taken = np.minimum(weights, 1.0)
    diagonal = taken * system.lower_inverse.diagonal() + repeats
    if not diagonal.all():
        raise ValueError(
            "press leaves out a row at a time and needs two at least; got one with weight above 0."
        )
    residuals = weights * beta / diagonal
    value = float(weights @ residuals**2) / count
    slope = None
    if gradient:
        pull = 2.0 * weights**2 * residuals / (count * diagonal)
        h = pull * beta / diagonal
        inverse = system.inverse
        u = inverse @ pull
        # h is never negative: the middle term is a product of a matrix with its transpose.
        # Twice the lower triangle stands for both.
        lower = blas.dsyrk(2.0, inverse * np.sqrt(taken * h), lower=1)
        lower = blas.dsyr2(-1.0, u, beta, lower=1, a=lower, overwrite_a=1)
        in_diagonal = 0.5 * lower.diagonal()
        np.fill_diagonal(lower, in_diagonal)
        in_log_C = -float(in_diagonal @ solved.ridge) - float(h @ repeats)
        slope = machine.gradient(in_log_C, machine.contract(lower.T))
    return value, slope
