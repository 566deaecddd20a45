"""A sigmoid that turns decision values into probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit

from mercer._threads import blas_threads

Floats = NDArray[np.float64]

_MOST_STEPS = 100
_ACCURACY = 1e-12
_SHORTEST = 1e-10


@dataclass(frozen=True)
class PlattSigmoid:
    r"""The map from a decision value f to the probability of the positive class.

    .. math::

        P(+1 \mid f) = \frac{1}{1 + \exp(A f + B)}

    Parameters
    ----------
    A : float
        Slope, at most 0, so that the probability never falls as f rises.
    B : float
        Shift.

    Examples
    --------
    >>> PlattSigmoid(-2.0, 0.0).probability([0.0, 1.0]).round(3)
    array([0.5  , 0.881])
    """

    A: float
    B: float

    def log_odds(self, decision: ArrayLike) -> Floats:
        """Return ln P(+1) - ln P(-1)."""
        return np.asarray(-(self.A * np.asarray(decision, dtype=np.float64) + self.B))

    def probability(self, decision: ArrayLike) -> Floats:
        """Return P(+1)."""
        return np.asarray(expit(self.log_odds(decision)))


def fit_sigmoid(
    decision: ArrayLike, positive: ArrayLike, sample_weight: Any = None, *, prior: float = 1.0
) -> PlattSigmoid:
    r"""Fit Platt's sigmoid to decision values by maximum likelihood.

    It minimises :math:`-\sum_i w_i\,[t_i \ln p_i + (1 - t_i) \ln(1 - p_i)]` with
    :math:`p_i = 1/(1 + \exp(A f_i + B))` over A ≤ 0 and B. The targets are those of Platt [1]_,
    :math:`t = (N_+ + q)/(N_+ + 2q)` for the positive rows and :math:`q/(N_- + 2q)` for the others,
    with q = 1, which keep the probabilities away from 0 and 1 where rows are few. Newton's method
    in the stable form of Lin, Lin and Weng [2]_ finds the minimum of this convex function.

    Where the decision values of positive rows are no higher than those of the others, the best
    A ≤ 0 is 0, and every row gets the same probability.

    Parameters
    ----------
    decision : array-like of shape (n,)
        Decision values of rows that took no part in the training.
    positive : array-like of shape (n,)
        Whether each row belongs to the positive class.
    sample_weight : array-like of shape (n,) or None, default=None
        How often each row counts.
    prior : float, default=1.0
        Rows of each class, q, that are imagined on the wrong side.

    Returns
    -------
    PlattSigmoid

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods", in Advances in Large Margin Classifiers (1999).
    .. [2] H.-T. Lin, C.-J. Lin, R. C. Weng, "A note on Platt's probabilistic outputs for support
       vector machines", Machine Learning 68 (2007).

    Examples
    --------
    >>> sigmoid = fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [False, False, True, True])
    >>> sigmoid.probability([-2.0, 0.0, 2.0]).round(2)
    array([0.21, 0.5 , 0.79])
    """
    f = np.asarray(decision, dtype=np.float64)
    is_positive = np.asarray(positive, dtype=bool)
    weight = np.ones_like(f) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if not (f.ndim == 1 and f.shape == is_positive.shape == weight.shape):
        raise ValueError("decision, positive and sample_weight must be vectors of one length.")
    if not np.isfinite(f).all():
        raise ValueError("Decision values must be finite.")
    n_positive, n_negative = float(weight[is_positive].sum()), float(weight[~is_positive].sum())
    high = (n_positive + prior) / (n_positive + 2.0 * prior)
    target = np.where(is_positive, high, prior / (n_negative + 2.0 * prior))
    total = n_positive + n_negative
    if total == 0:
        raise ValueError("sample_weight must be above 0 for at least one row.")
    # Centred and scaled values make the Hessian well conditioned whatever the units are.
    centre = float((weight * f).sum()) / total
    spread = float(np.sqrt((weight * (f - centre) ** 2).sum() / total))
    share = float((weight * target).sum()) / total
    if spread <= 1e-14 * max(abs(centre), np.finfo(float).tiny):
        return PlattSigmoid(0.0, _log_odds(1.0 - share))
    with blas_threads(1):  # products of vectors, for which it would wake all of its threads
        slope, shift = _maximum_likelihood((f - centre) / spread, target, weight)
    if slope >= 0.0:  # the function is convex, so the best slope allowed is the bound
        return PlattSigmoid(0.0, _log_odds(1.0 - share))
    return PlattSigmoid(slope / spread, shift - slope * centre / spread)


def _maximum_likelihood(f: Floats, target: Floats, weight: Floats) -> tuple[float, float]:
    """Minimise the negative log likelihood over the slope and the shift by Newton's method."""

    def loss(point: Floats) -> float:
        z = point[0] * f + point[1]
        return -float(weight @ (target * log_expit(-z) + (1.0 - target) * log_expit(z)))

    total = float(weight.sum())
    point = np.array([0.0, _log_odds(1.0 - float(weight @ target) / total)])
    value = loss(point)
    for _ in range(_MOST_STEPS):
        p = expit(-(point[0] * f + point[1]))
        residual = weight * (target - p)
        gradient = np.array([residual @ f, residual.sum()])
        if np.abs(gradient).max() <= _ACCURACY * total:
            break
        curvature = weight * p * (1.0 - p)
        cross = curvature @ f
        hessian = np.array([[curvature @ (f * f), cross], [cross, curvature.sum()]])
        hessian[np.diag_indices(2)] += 1e-12 * total
        step = -np.linalg.solve(hessian, gradient)
        decrease, length = float(gradient @ step), 1.0
        if -decrease <= 1e-15 * value:  # rounding hides what is left to gain
            break
        while length >= _SHORTEST:
            new_value = loss(point + length * step)
            if new_value <= value + 1e-4 * length * decrease:
                break
            length *= 0.5
        else:  # rounding allows no further decrease
            break
        point, value = point + length * step, new_value
    return float(point[0]), float(point[1])


def _log_odds(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))
