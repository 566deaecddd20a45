"""The radius/margin bound of a regression with squared slack."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.machines import TubeMachine
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, tube_machine_of
from mercer.model_selection.criteria.radius_margin import enclosing_ball
from mercer.model_selection.criteria.solution_sensitivity import through_solution


@holds_blas
def regression_radius_margin(model: Any, X: Any, y: Any, *, gradient: bool = True) -> Criterion:
    r"""Bound on the mean absolute leave-one-out error of a regression with squared slack.

    .. math:: \frac1n\sum_i |f^{(-i)}(x_i) - y_i| \le T
              = \frac{4 R^2}{n}\sum_i(\alpha_i + \alpha_i^*) + \varepsilon

    with the radius R of the smallest ball around the rows in the feature space of
    :math:`\tilde K = K + I/C`, as in `radius_margin`. The gradient of the sum of multipliers
    follows from the optimality conditions; it is exact as long as no row enters or leaves the tube.

    Parameters
    ----------
    model : SVR
        Fitted, with ``loss="squared_epsilon_insensitive"`` and a finite C.
    X, y : array-like
        The training data.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    M.-W. Chang, C.-J. Lin, "Leave-one-out bounds for support vector regression model selection",
    Neural Computation 17 (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> from mercer.model_selection import regression_radius_margin
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = SVR(loss="squared_epsilon_insensitive", tol=1e-6).fit(X, y)
    >>> bound = regression_radius_margin(model, X, y)
    >>> bound.value > float(np.abs(model.predict(X) - y).mean())
    True
    """
    machine = tube_machine_of(model, X, y)
    return average(lambda one: regression_radius_margin_of(one, gradient), [machine])


def regression_radius_margin_of(machine: TubeMachine, gradient: bool = True) -> Rated:
    """Return the bound of one machine."""
    price = machine.price
    if not price.squared or np.isinf(price.C):
        raise ValueError(
            "regression_radius_margin needs loss='squared_epsilon_insensitive' and a finite C."
        )
    refuse_weights([machine], "regression_radius_margin")
    beta, ball = machine.beta, enclosing_ball(machine)
    total = float(np.abs(beta).sum())
    value = 4.0 * ball.squared_radius * total / machine.n + price.epsilon
    if not gradient:
        return value, None
    # The radius is an optimal value: its derivative is that at fixed coefficients.
    rows = np.flatnonzero(ball.z)
    z = ball.z[rows]
    weights = np.diag(z) - np.outer(z, z)
    in_log_C = -float(weights.diagonal() @ machine.ridge[rows])
    of_radius = machine.gradient(in_log_C, machine.contract(weights, rows, rows))
    of_sum = through_solution(machine, np.sign(beta[machine.support]), 0.0)
    slope = 4.0 * (total * of_radius + ball.squared_radius * of_sum) / machine.n
    if "epsilon" in machine.names:
        slope[machine.names.index("epsilon")] += price.epsilon
    return value, slope
