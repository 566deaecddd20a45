"""Kernel matrices without one feature, contracted for all features by a few matrix products."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import comb, factorial
from typing import Any

import numpy as np

from ._checks import Floats, as_contraction

DIGITS = 4
"""Decimal digits that an expansion may cost; features that would cost more are done singly."""

REMAINDER = 1e-11
"""Where the exponential series ends: its terms relative to the sum of all |W_ij| K_ij."""

SINGLE = 1e-6
"""Terms so much smaller than the sum of all |W_ij| K_ij are computed in single precision."""

MOST_TERMS = 40

LARGEST_EXPONENT = 1.5
"""Features whose exponents are larger would need too many terms."""

STRIPS = 8
"""Into so many strips of rows a symmetric matrix is cut to multiply by its lower half."""

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

    With :math:`U = \sqrt\gamma X` and :math:`A = UU^\top + c` the binomial theorem gives

    .. math:: \sum_m \binom{q}{m} (-1)^m \, (u_k^m)^\top (W \circ A^{q-m}) \, u_k^m,

    one matrix product for each m. Entries are NaN for features that hold so much of a row's length
    that the terms would cancel.
    """
    X = np.sqrt(gamma) * X
    base = X @ X.T + coef0
    contraction = _Contraction(W)
    # From the last term on, so that one power after the other is needed and none is kept.
    monomials = [X]
    for _ in range(degree - 1):
        monomials.append(monomials[-1] * X)
    sums = np.zeros(X.shape[1])
    power = None
    for m in range(degree, 0, -1):
        terms = contraction.quadratic(power, monomials.pop())
        sums += comb(degree, m) * (-1) ** m * terms
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
    centred = np.sqrt(2.0 * gamma) * (X - middle)
    sums = np.full(X.shape[1], np.nan)
    easy = np.flatnonzero(np.abs(centred).max(axis=0) ** 2 <= LARGEST_EXPONENT)
    if easy.size == 0:
        return sums
    if easy.size < X.shape[1]:
        centred = centred[:, easy]
    largest = np.abs(W).max() or 1.0
    contraction = _Contraction.of_positive(W / largest, values)
    sums[easy] = largest ** (3 - W.ndim) * _series(contraction, centred)
    return sums


def _series(contraction: _Contraction, centred: Floats) -> Floats:
    """Sum exp(-u_i u_j) exp(u_i^2 / 2) exp(u_j^2 / 2) with the weights, for every column u."""
    rows = contraction.row_sums()
    rows /= rows.sum() or 1.0
    factors = np.exp(0.5 * centred * centred)
    total = contraction.quadratic(None, factors)
    for m in range(1, MOST_TERMS):
        factors *= centred
        # |u_i u_j| <= (u_i^2 + u_j^2) / 2 bounds this term; those after it fall off like exp.
        bound = (rows @ factors**2).max() / factorial(m)
        if bound <= REMAINDER:
            break
        if bound <= SINGLE and factors.dtype != np.float32:
            contraction = contraction.in_single_precision()
            rows, centred, factors = _single(rows), _single(centred), _single(factors)
        total += (-1) ** m / factorial(m) * contraction.quadratic(None, factors)
    return total


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

    @classmethod
    def of_positive(cls, W: Floats, factor: Floats) -> _Contraction:
        """Return the one with W times a matrix without negative entries in the place of W."""
        return cls(W, factor) if W.ndim == 1 else cls(W * factor)

    def in_single_precision(self) -> _Contraction:
        """Return the same in float32."""
        given = self.outer if self.weights is None else self.weights
        assert given is not None
        return _Contraction(_single(given), None if self.factor is None else _single(self.factor))

    def row_sums(self) -> Floats:
        """Return the sums of the absolute entries of W o factor in each row."""
        if self.weights is not None:
            return 0.5 * (np.abs(self.weights).sum(axis=0) + np.abs(self.weights).sum(axis=1))
        assert self.outer is not None
        size = np.abs(self.outer)
        return size * (size.sum() if self.factor is None else self.factor @ size)

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


def _single(array: Floats) -> Any:
    return array.astype(np.float32)


def _symmetric_forms(K: Floats, V: Floats) -> Floats:
    """Return v' K v for every column v of V, with products by the lower half of K only.

    In strips of rows rather than by a triangular product of SciPy: its BLAS is another one than
    NumPy's, and the threads of either go on spinning for a while when the other takes over.
    """
    forms = np.zeros(V.shape[1])
    counted = V.copy()  # rows above the strip count twice
    edges = np.linspace(0, len(V), STRIPS + 1).astype(int)
    for start, stop in pairwise(edges):
        forms += np.einsum("ik,ik->k", V[start:stop], K[start:stop, :stop] @ counted[:stop])
        counted[start:stop] *= 2.0
    return forms
