"""How probable the labels are under the least-squares machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from mercer._threads import holds_blas
from mercer.machines import TubeMachine, TwoClassMachine
from mercer.machines.bordered_system import LeastSquares, NoSolutionError
from mercer.model_selection.criteria.criterion import (
    Criterion,
    Rated,
    average,
    least_squares_machines_of,
)

Floats = NDArray[np.float64]


@holds_blas
def evidence(
    model: Any, X: Any, y: Any, *, gradient: bool = True, sample_weight: Any = None
) -> Criterion:
    r"""Negative log evidence of the least-squares machine, for each row.

    Labels, or the targets of a regression, are taken as values
    :math:`y_i = f(x_i) + b + \varepsilon_i` of a Gaussian process f with covariance
    :math:`s^2 K`, noise of variance :math:`s^2/C` and an offset of which nothing is known.
    Integrating over f, b and the scale s (with density 1/s) leaves, up to a constant,

    .. math::

        T = \frac1n \Bigl(\tfrac{n-1}{2} \ln y^\top\beta + \tfrac12\ln|\tilde K|
            + \tfrac12\ln 1^\top\tilde K^{-1}1\Bigr), \qquad \tilde K = K + I/C

    with :math:`\beta` of the least-squares machine. It needs no training of the classifier, one
    Cholesky factor for the value and one inverse for the gradient:

    .. math::

        dT = \frac1n\bigl\langle \tfrac12 P - \tfrac{n-1}{2\,y^\top\beta}\,\beta\beta^\top,
             d\tilde K\bigr\rangle

    where P belongs to the rows in the inverse of the bordered matrix.

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
        The weights it was fitted with. A row of weight 2 counts as two rows.

    Returns
    -------
    Criterion

    References
    ----------
    T. Van Gestel et al., "Bayesian framework for least-squares support vector machine classifiers",
    Neural Computation 14 (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import evidence
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> models = [SVC(gamma=gamma, loss="squared_hinge").fit(X, y) for gamma in (0.01, 1.0)]
    >>> near, far = (evidence(model, X, y).value for model in models)
    >>> near < far
    True
    """
    machines = least_squares_machines_of(model, X, y, sample_weight)
    return average(lambda machine: evidence_of(machine, gradient), machines)


def evidence_of(machine: TwoClassMachine | TubeMachine, gradient: bool = True) -> Rated:
    """Return the criterion of one machine."""
    solved, weights, slope = LeastSquares.of(machine), machine.weights, None
    system, beta = solved.system, solved.beta
    count, fit, determinant = weights.sum(), machine.targets @ beta, system.log_determinant()
    if not fit > 0:
        raise NoSolutionError(
            "The targets do not differ, or their squares vanish beside the kernel values: there is "
            "nothing to choose parameters by; multiply y by a constant or scale the features."
        )
    if gradient:
        # From the lower triangle alone, which counts twice off the diagonal.
        inverse = system.lower_inverse
        lower = blas.dsyr(-(count - 1) / fit, beta, lower=1, a=inverse, overwrite_a=1)
        diagonal = lower.diagonal().copy()
        lower *= 2.0
        np.fill_diagonal(lower, diagonal)
        in_log_C = -float(diagonal @ solved.ridge) + float((1.0 - weights).sum())
        slope = machine.gradient(in_log_C, machine.contract(lower.T)) / (2 * count)
    value = (count - 1) * np.log(fit) + determinant + _merging(weights, machine.penalties)
    return float(value / (2 * count)), slope


def _merging(weights: Floats, penalties: Floats) -> float:
    """Return what the determinant loses where rows that count several times are merged."""
    several = weights != 1.0
    w = weights[several]
    return float(((1.0 - w) * np.log(penalties[several]) + np.log(w)).sum())
