"""Kernel matrices without one feature, contracted for all features by a few matrix products."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, factorial
from typing import Any

import numpy as np

from ._points import Floats, as_contraction

DIGITS = 4
"""Decimal digits that an expansion may cost; features that would cost more are done singly."""

REMAINDER = 1e-11
"""Where the exponential series ends, relative to its first term."""

LARGEST_EXPONENT = 1.5
"""Features whose exponents are larger would need too many terms."""

FEW = 8
"""So many features, or one in so many, may be done one by one."""


def as_left_out_weights(W: Any, n: int) -> Floats:
    """Return `W` checked: n by n, or a vector b that stands for b b'."""
    weights = np.asarray(W, dtype=np.float64)
    return weights if weights.shape == (n,) else as_contraction(weights, n, n)


def whole_weights(W: Floats) -> Floats:
    """Return the matrix that the weights stand for."""
    return np.outer(W, W) if W.ndim == 1 else W


def polynomial_left_out(X: Floats, W: Floats, gamma: float, coef0: float, degree: int) -> Floats:
    r"""Return :math:`\sum_{ij} W_{ij} (\gamma\langle x_i, x_j\rangle^{(-k)} + c)^q` for all k.

    With :math:`A = \gamma XX^\top + c` the binomial theorem gives

    .. math:: \sum_m \binom{q}{m} (-\gamma)^m \, (x_k^m)^\top (W \circ A^{q-m}) \, x_k^m,

    one matrix product for each m. Entries are NaN for features that hold so much of a row's length
    that the terms would cancel.
    """
    base = gamma * (X @ X.T) + coef0
    powers = [np.ones_like(base)]
    for _ in range(degree):
        powers.append(powers[-1] * base)
    contraction = _Contraction(W)
    sums = np.full(X.shape[1], contraction.total(powers[degree]))
    monomials = np.ones_like(X)
    for m in range(1, degree + 1):
        monomials *= X
        terms = contraction.quadratic(powers[degree - m] if m < degree else None, monomials)
        sums += comb(degree, m) * (-gamma) ** m * terms
    squares = X * X
    lengths = squares.sum(axis=1, keepdims=True)
    most = 1.0 - 10.0 ** (-DIGITS / max(degree, 1))
    sums[(squares > most * lengths).any(axis=0) & squares.any(axis=0)] = np.nan
    return sums


def gaussian_left_out(X: Floats, W: Floats, gamma: float, values: Floats) -> Floats:
    r"""Return :math:`\sum_{ij} W_{ij} K_{ij} e^{\gamma (x_{ik} - x_{jk})^2}` for all k.

    With features measured from the middle of their range the factor is
    :math:`e^{\gamma x_i^2} e^{\gamma x_j^2} e^{-2\gamma x_i x_j}`, and the series of the last one
    takes one matrix product a term. Entries are NaN where it would be long.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    W : ndarray of shape (n, n) or (n,)
    gamma : float
    values : ndarray of shape (n, n)
        The kernel matrix with all features.
    """
    middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
    centred = X - middle
    exponents = 2.0 * gamma * np.abs(centred).max(axis=0) ** 2
    sums = np.full(X.shape[1], np.nan)
    easy = np.flatnonzero(exponents <= LARGEST_EXPONENT)
    if easy.size == 0:
        return sums
    centred = centred[:, easy]
    contraction = _Contraction(W if W.ndim == 1 else W * values, values if W.ndim == 1 else None)
    factors = np.exp(gamma * centred * centred)
    total = contraction.quadratic(None, factors)
    for m in range(1, _n_terms(float(exponents[easy].max()))):
        factors *= centred
        total += (-2.0 * gamma) ** m / factorial(m) * contraction.quadratic(None, factors)
    sums[easy] = total
    return sums


def with_the_rest(
    sums: Floats, one_by_one: Callable[[int], float], downdated: Callable[[], Floats]
) -> Floats:
    """Fill the entries that are NaN; many of them by downdates of the whole matrix."""
    missing = np.flatnonzero(np.isnan(sums))
    if missing.size > max(FEW, sums.size // FEW):
        return downdated()
    for k in missing:
        sums[k] = one_by_one(int(k))
    return sums


def _n_terms(exponent: float) -> int:
    """Return how many terms the series of exp needs up to an exponent."""
    for m in range(1, 60):
        if exponent**m / factorial(m) * exp(exponent) <= REMAINDER:
            return m
    return 60


class _Contraction:
    """Quadratic forms of W times a matrix entry by entry, where W may be an outer product."""

    def __init__(self, W: Floats, factor: Floats | None = None) -> None:
        self.outer = W if W.ndim == 1 else None
        self.weights = None if W.ndim == 1 else W
        self.factor = factor

    def total(self, values: Floats) -> float:
        """Return the sum of all entries of W o values."""
        if self.outer is not None:
            return float(self.outer @ values @ self.outer)
        return float(np.vdot(self.weights, values)) if self.weights is not None else 0.0

    def quadratic(self, values: Floats | None, U: Floats) -> Floats:
        """Return u' (W o values) u for every column u of U; None stands for the given factor."""
        values = self.factor if values is None else values
        if self.weights is not None:
            matrix = self.weights if values is None else self.weights * values
            return np.einsum("ik,ik->k", U, matrix @ U)
        assert self.outer is not None
        if values is None:
            return (self.outer @ U) ** 2
        scaled = self.outer[:, None] * U
        return np.einsum("ik,ik->k", scaled, values @ scaled)
