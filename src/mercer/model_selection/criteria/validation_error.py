"""Smooth versions of the error on rows that took no part in the training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer._threads import holds_blas
from mercer.calibration import fit_sigmoid
from mercer.model_selection.criteria.criterion import Criterion, average
from mercer.model_selection.criteria.held_out import Rate, held_out_groups, judge

Floats = NDArray[np.float64]


@holds_blas
def smoothed_validation_error(
    model: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = None,
    cv: Any = 5,
    slope: float = 5.0,
    gradient: bool = True,
) -> Criterion:
    r"""Validation error with a sigmoid in place of the step.

    .. math:: T = \frac1N\sum_{i=1}^N\frac{1}{1 + \exp(A\,y_i f(x_i))}

    over a validation set, or over all rows, each by the machine trained without its fold. The
    derivative of f in the parameters follows from the optimality conditions,
    :math:`\partial(\alpha, b)/\partial\theta = -H^{-1}(\partial H/\partial\theta)(\alpha, b)`, and
    is exact as long as no row meets or leaves a bound.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    validation : tuple (X, y) or None, default=None
        Validation set; None for folds.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of stratified, shuffled folds.
    slope : float, default=5.0
        A.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithm 6 and equations (3.17) to (3.21).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import smoothed_validation_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X[:300], y[:300])
    >>> found = smoothed_validation_error(model, X[:300], y[:300], validation=(X[300:], y[300:]))
    >>> abs(found.value - (1 - model.score(X[300:], y[300:]))) < 0.05
    True
    """
    groups = held_out_groups("smoothed_validation_error", model, X, y, validation, cv)
    rate = sigmoid_rate(slope)
    return average(lambda group: judge(group, rate, gradient), groups)


@holds_blas
def posterior_error(
    model: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = None,
    cv: Any = 5,
    gradient: bool = True,
) -> Criterion:
    r"""Probability of error by Platt's posterior probabilities.

    .. math::

        T = \frac1N\sum_{i=1}^N p_i^{1-t_i}(1 - p_i)^{t_i}, \qquad
        p_i = \frac{1}{1 + \exp(A f(x_i) + B)}, \qquad t_i = \frac{y_i + 1}{2}

    over a validation set, or over all rows, each by the machine trained without its fold. A and B
    maximise the likelihood of the labels of these rows. The gradient follows them too, as well as
    the machine.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    validation : tuple (X, y) or None, default=None
        Validation set; None for folds.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of stratified, shuffled folds.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithm 7 and equations (3.22) to (3.27); there A and
    B count as constants.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import posterior_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> 0.0 < posterior_error(SVC(C=10.0).fit(X, y), X, y).value < 0.2
    True
    """
    groups = held_out_groups("posterior_error", model, X, y, validation, cv)
    return average(lambda group: judge(group, posterior_rate, gradient), groups)


def sigmoid_rate(slope: float) -> Rate:
    """Return the mean of a sigmoid of the margins."""

    def rate(decision: Floats, signs: Floats, gradient: bool) -> tuple[float, Floats]:
        shares = expit(-slope * signs * decision)
        return float(shares.mean()), -slope * signs * shares * (1.0 - shares) / signs.size

    return rate


def posterior_rate(decision: Floats, signs: Floats, gradient: bool) -> tuple[float, Floats]:
    """Return the mean probability of error, and its derivative in the decision values."""
    n_positive = int((signs > 0).sum())
    n_negative = signs.size - n_positive
    target = np.where(signs > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    sigmoid = fit_sigmoid(decision, signs > 0)
    columns = np.stack([decision, np.ones_like(decision)])
    point = np.array([sigmoid.A, sigmoid.B])
    p = sigmoid.probability(decision)
    if sigmoid.A < 0.0:
        # One more step, for the digits that a search by values of the likelihood cannot find.
        point = point - np.linalg.solve(
            (columns * p * (1.0 - p)) @ columns.T, columns @ (target - p)
        )
        p = expit(-(point @ columns))
    value = float(np.where(signs > 0, 1.0 - p, p).mean())
    if not gradient or sigmoid.A == 0.0:
        return value, np.zeros_like(decision)
    curvature = p * (1.0 - p)
    in_exponent = signs * curvature / signs.size
    # The likelihood is stationary in A and B; that ties them to the decision values.
    through = np.linalg.solve((columns * curvature) @ columns.T, columns @ in_exponent)
    moved = through[0] * (target - p) + (through @ columns) * curvature * point[0]
    return value, point[0] * in_exponent - moved
