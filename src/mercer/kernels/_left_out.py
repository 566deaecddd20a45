"""Kernel matrices without one feature, contracted for all features by a few matrix products."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm

from ._points import Floats, as_contraction

DIGITS = 4
"""Decimal digits that an expansion may cost; features that would cost more are done singly."""

REMAINDER = 1e-11
"""Where the exponential series ends: its terms relative to the sum of all |W_ij| K_ij."""

MOST_TERMS = 40

LARGEST_EXPONENT = 1.5
"""Features whose exponents are larger would need too many terms."""

FEW = 8
"""So many features, or one in so many, may be done one by one."""


def as_left_out_weights(W: Any, n: int) -> Floats:
    """Return `W` checked: n by n, or a vector b that stands for b b'."""
    weights = np.asarray(W, dtype=np.float64)
    return weights if weights.shape == (n,) else as_contraction(weights, n, n)


def contracted(W: Floats, K: Floats) -> float:
    """Return the sum of W_ij K_ij."""
    return float(W @ K @ W) if W.ndim == 1 else float(np.vdot(W, K))


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
    contraction = _Contraction(W)
    # From the last term on, so that one power after the other is needed and none is kept.
    monomials = [X]
    for _ in range(degree - 1):
        monomials.append(monomials[-1] * X)
    sums = np.zeros(X.shape[1])
    power = None
    for m in range(degree, 0, -1):
        terms = contraction.quadratic(power, monomials.pop())
        sums += comb(degree, m) * (-gamma) ** m * terms
        power = base if power is None else np.multiply(power, base, out=_other(power, base))
    sums += contraction.total(np.ones_like(base) if power is None else power)
    squares = X * X
    lengths = squares.sum(axis=1, keepdims=True)
    most = 1.0 - 10.0 ** (-DIGITS / max(degree, 1))
    sums[(squares > most * lengths).any(axis=0) & squares.any(axis=0)] = np.nan
    return sums


def _other(power: Floats, base: Floats) -> Floats | None:
    """Return where the next power may be written: over the last one, but never over the base."""
    return None if power is base else power


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
    rows = contraction.row_sums()
    factors = np.exp(gamma * centred * centred)
    total = contraction.quadratic(None, factors)
    for m in range(1, MOST_TERMS):
        factors *= centred
        weight = (2.0 * gamma) ** m / factorial(m)
        # |u_i u_j| <= (u_i^2 + u_j^2) / 2 bounds this term; those after it fall off like exp.
        if weight * (rows @ factors**2).max() <= REMAINDER * rows.sum():
            break
        total += (-1) ** m * weight * contraction.quadratic(None, factors)
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


class _Contraction:
    """Quadratic forms of W times a matrix entry by entry, where W may be an outer product."""

    def __init__(self, W: Floats, factor: Floats | None = None) -> None:
        self.outer = W if W.ndim == 1 else None
        self.weights = None if W.ndim == 1 else W
        self.factor = factor

    def row_sums(self) -> Floats:
        """Return the sums of the absolute entries of W o factor in each row."""
        if self.weights is not None:
            return 0.5 * (np.abs(self.weights).sum(axis=0) + np.abs(self.weights).sum(axis=1))
        assert self.outer is not None
        size = np.abs(self.outer)
        return size * (size.sum() if self.factor is None else np.abs(self.factor) @ size)

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
        return _symmetric_forms(values, self.outer[:, None] * U)


def _symmetric_forms(K: Floats, V: Floats) -> Floats:
    """Return v' K v for every column v of V, with a product by half of the symmetric K only."""
    if K.size == 0:
        return np.zeros(V.shape[1])
    half = dtrmm(1.0, K.T, V.T, side=1)
    return 2.0 * np.einsum("ki,ik->k", half, V) - K.diagonal() @ (V * V)
