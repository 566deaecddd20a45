"""How good a solution is, recomputed in float64 in the same way for every solver.

The dual of the soft margin machine with signed variables beta_i = y_i alpha_i is

    minimise  1/2 beta' K beta - y' beta   subject to  sum(beta) = 0,
    0 <= y_i beta_i <= C.

With the gradient G = K beta - y, the KKT gap is max_{up} -G - min_{low} -G, where "up" are the rows
whose beta may grow and "low" those whose beta may fall (Keerthi et al., Neural Computation 13,
2001). The primal objective at w = sum_j beta_j phi(x_j), together with the dual one, bounds the
distance to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .peers import Dual
from .problems import Array

# A coefficient this near to a bound, relative to C, counts as at the bound: eight units in the last
# place of float32, since some solvers work in it.
BOUND_TOLERANCE = 1e-6
BLOCK_BYTES = 2**27


@dataclass(frozen=True)
class Quality:
    """What a solution is worth.

    Attributes
    ----------
    gap : float
        KKT gap; solvers stop when *their* value of it is below ``tol``.
    objective : float
        Dual objective, lower is better.
    duality_gap : float
        (primal + dual) / primal, an upper bound of the relative distance to the optimum.
    infeasibility : float
        The larger of abs(sum(beta)) and the largest excess over the box, both relative to C.
    n_support, n_bound : int
        Support vectors, and those at the upper bound.
    """

    gap: float
    objective: float
    duality_gap: float
    infeasibility: float
    n_support: int
    n_bound: int


def decision_sums(
    X: Array, vectors: Array, coef: Array, *, kernel: str, gamma: float, block: int = BLOCK_BYTES
) -> Array:
    """Return sum_j coef_j k(x_i, v_j) for all rows, with at most ``block`` bytes of kernel values.

    >>> decision_sums(np.eye(2), np.eye(2), np.array([1.0, 3.0]), kernel="linear", gamma=1.0)
    array([1., 3.])
    """
    if kernel == "linear":
        return X @ (vectors.T @ coef)
    if kernel != "rbf":
        raise ValueError(f"The kernel must be 'rbf' or 'linear', not {kernel!r}.")
    norms = np.einsum("ij,ij->i", vectors, vectors)
    step = max(1, block // (8 * max(1, len(vectors))))
    sums = np.empty(len(X))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        distances = rows @ vectors.T
        distances *= -2.0
        distances += norms
        distances += np.einsum("ij,ij->i", rows, rows)[:, None]
        np.maximum(distances, 0.0, out=distances)
        distances *= -gamma
        sums[start : start + step] = np.exp(distances, out=distances) @ coef
    return sums


def assess(
    X: Array,
    y: NDArray[np.int64],
    dual: Dual,
    *,
    C: float | Array,
    gamma: float = 1.0,
    kernel: str = "rbf",
    block: int = BLOCK_BYTES,
    summed: Callable[..., Array] = decision_sums,
) -> Quality:
    """Judge the solution of a problem with two classes, the larger label being positive.

    Parameters
    ----------
    X, y : ndarray
        Training rows, and labels of two kinds.
    dual : Dual
        The solver's support vectors and coefficients.
    C : float or ndarray
        Price of slack, of each row where weights differ.
    gamma, kernel
        Further parameters of the problem.
    block : int
        Bytes of kernel values held at once.
    summed : callable
        Computes what `decision_sums` does, in float64.

    Returns
    -------
    Quality
    """
    sign = np.where(y == np.max(y), 1.0, -1.0)
    beta = np.zeros(len(sign))
    beta[dual.support] = dual.coef.reshape(-1)
    used = np.flatnonzero(beta)
    sums = summed(X, X[used], beta[used], kernel=kernel, gamma=gamma, block=block)
    low_bound, high_bound = np.minimum(0.0, C * sign), np.maximum(0.0, C * sign)
    edge = BOUND_TOLERANCE * C
    up, low = beta < high_bound - edge, beta > low_bound + edge
    scores = sign - sums  # -G
    highest, lowest = _extreme(scores, up, np.max), _extreme(scores, low, np.min)
    # Any offset between the two gives a primal point; the middle is as good as any.
    slack = np.maximum(0.0, 1.0 - sign * (sums + (highest + lowest) / 2))
    norm = float(beta @ sums)
    objective = 0.5 * norm - float(sign @ beta)
    primal = 0.5 * norm + float((C * slack).sum())
    excess = np.maximum(beta - high_bound, low_bound - beta).max()
    return Quality(
        gap=max(0.0, highest - lowest),
        objective=objective,
        duality_gap=(primal + objective) / primal if primal > 0 else 0.0,
        infeasibility=float(max(abs(beta.sum()), excess, 0.0) / np.max(C)),
        n_support=len(used),
        n_bound=int(np.sum(np.abs(beta) >= C - edge)),
    )


def assess_regression(
    X: Array,
    y: Array,
    dual: Dual,
    *,
    C: float,
    epsilon: float,
    gamma: float = 1.0,
    kernel: str = "rbf",
    block: int = BLOCK_BYTES,
) -> Quality:
    """Judge the solution of a regression with the epsilon-insensitive loss.

    With beta_i = alpha_i - alpha*_i the dual is to minimise 1/2 beta' K beta - y' beta +
    epsilon sum |beta|, with sum(beta) = 0 and |beta_i| <= C. The slopes of row i to the right and
    to the left take the place of one gradient: they differ by 2 epsilon where beta_i is 0.

    Parameters
    ----------
    X, y : ndarray
        Training rows and targets.
    dual : Dual
        The solver's support vectors and coefficients.
    C, epsilon, gamma, kernel
        Parameters of the problem.
    block : int
        Bytes of kernel values held at once.

    Returns
    -------
    Quality
    """
    beta = np.zeros(len(y))
    beta[dual.support] = dual.coef.reshape(-1)
    used = np.flatnonzero(beta)
    sums = decision_sums(X, X[used], beta[used], kernel=kernel, gamma=gamma, block=block)
    edge = BOUND_TOLERANCE * C
    residual = y - sums
    rise = residual - np.where(beta < -edge, -epsilon, epsilon)  # minus the slope to the right,
    fall = residual - np.where(beta > edge, epsilon, -epsilon)  # and to the left
    highest = _extreme(rise, beta < C - edge, np.max)
    lowest = _extreme(fall, beta > -C + edge, np.min)
    slack = np.maximum(0.0, np.abs(residual - (highest + lowest) / 2) - epsilon)
    norm = float(beta @ sums)
    objective = 0.5 * norm - float(y @ beta) + epsilon * float(np.abs(beta).sum())
    primal = 0.5 * norm + C * float(slack.sum())
    return Quality(
        gap=max(0.0, highest - lowest),
        objective=objective,
        duality_gap=(primal + objective) / primal if primal > 0 else 0.0,
        infeasibility=float(max(abs(beta.sum()), np.abs(beta).max(initial=0.0) - C, 0.0) / C),
        n_support=len(used),
        n_bound=int(np.sum(np.abs(beta) >= C - edge)),
    )


def assess_pairs(
    X: Array,
    y: NDArray[np.int64],
    dual: Dual,
    *,
    C: float,
    gamma: float,
    kernel: str = "rbf",
    summed: Callable[..., Array] = decision_sums,
) -> float:
    """Return the largest KKT gap of all one-vs-one pairs.

    In ``dual.coef`` the support vectors are ordered by class, and those of class a hold their
    coefficient against class b in row b - 1 when a < b and in row b otherwise.
    """
    classes = list(dict.fromkeys(y[dual.support]))
    ends = np.cumsum(dual.n_support)
    spans = [slice(end - count, end) for end, count in zip(ends, dual.n_support, strict=True)]
    gaps = []
    for a, first in enumerate(classes):
        for b, second in enumerate(classes[a + 1 :], a + 1):
            rows = np.flatnonzero((y == first) | (y == second))
            support = np.concatenate([dual.support[spans[a]], dual.support[spans[b]]])
            first_coef, second_coef = dual.coef[b - 1, spans[a]], dual.coef[a, spans[b]]
            turn = 1.0 if first_coef.sum() >= second_coef.sum() else -1.0  # either sign is in use
            coef = turn * np.concatenate([first_coef, second_coef])
            part = Dual(np.searchsorted(rows, support), coef[None], dual.n_support)
            positive = (y[rows] == first).astype(np.int64)
            settings = {"C": C, "gamma": gamma, "kernel": kernel, "summed": summed}
            gaps.append(assess(X[rows], positive, part, **settings).gap)
    return max(gaps)


def _extreme(scores: Array, chosen: NDArray[np.bool_], choose: Callable[[Array], float]) -> float:
    return float(choose(scores[chosen])) if chosen.any() else float(np.mean(scores))
