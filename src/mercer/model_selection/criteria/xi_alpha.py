"""The xi-alpha bound on the leave-one-out error."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.machines import TwoClassMachine
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of


@holds_blas
def xi_alpha(model: Any, X: Any, y: Any, *, rho: float = 2.0) -> Criterion:
    r"""Joachims' :math:`\xi\alpha` estimate of the leave-one-out error.

    .. math:: T = \frac1n \#\{i : \rho\,\alpha_i R_\Delta^2 + \xi_i \ge 1\}, \qquad
              R_\Delta^2 = \max_i K_{ii} - \min_{ij} K_{ij}

    For :math:`\rho = 2` it is an upper bound, provided that the offset is determined: that some
    row stays strictly between its bounds whichever row is left out. It needs nothing but the fitted
    machine. Squared slack counts as a hard margin on :math:`K + I/C`, where :math:`\xi = 0`.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    rho : float, default=2.0
        :math:`\rho`; 1 is closer to the error in practice but no bound.

    Returns
    -------
    Criterion
        Without a gradient.

    References
    ----------
    T. Joachims, "Estimating the generalization performance of an SVM efficiently", ICML 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import leave_one_out, xi_alpha
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:200], y[:200]
    >>> model = SVC().fit(X, y)
    >>> leave_one_out(model, X, y).value <= xi_alpha(model, X, y).value
    True
    """
    return average(lambda machine: xi_alpha_of(machine, rho), machines_of(model, X, y))


def xi_alpha_of(machine: TwoClassMachine, rho: float = 2.0) -> Rated:
    """Return the estimate for one machine."""
    refuse_weights([machine], "xi_alpha")
    largest = float((machine.matrix.diagonal() + machine.ridge).max())
    reach = largest - float(machine.matrix.min())
    ridged = machine.decision + machine.ridge * machine.beta
    slack = np.maximum(0.0, 1.0 - machine.signs * ridged)
    counted = rho * machine.alpha * reach + slack >= 1.0 - machine.tol
    return float(counted.mean()), None
