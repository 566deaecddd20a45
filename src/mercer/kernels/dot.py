"""Kernels of the dot product: linear, polynomial, sigmoid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from . import _checks as checks
from ._checks import Floats, as_coefficients, as_contraction, as_dense, as_pair, as_points
from ._distances import dot_products, squared_norms
from ._left_out import (
    as_left_out_weights,
    contracted,
    polynomial_left_out,
    with_the_rest,
)
from .base import Kernel, PairwiseForm, integer_power
from .width import resolve_gamma

DOMINATED = 1e-4
"""A row of which one feature leaves less than this share is computed again, not downdated."""

LARGEST_DEGREE = 12
"""Beyond, the terms of the binomial theorem cost too many digits."""


class DotProductKernel(Kernel):
    """A kernel k(x, y) = f(<x, y>); a subclass gives f and its slope."""

    @abstractmethod
    def from_dot_products(self, G: Floats) -> Floats:
        """Return the kernel values for dot products G."""

    @abstractmethod
    def _slope(self, G: Floats) -> Floats:
        """Return the derivative of the kernel values in the dot products."""

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return self.from_dot_products(dot_products(*as_pair(X, Y)))

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return self.from_dot_products(squared_norms(as_points(X)))

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        left, right = as_pair(as_dense(X), None if Y is None else as_dense(Y))
        W = as_contraction(W, len(left), len(right))
        slopes = W * self._slope(dot_products(left, right))
        return 2.0 * np.einsum("ik,ik->k", left, slopes @ right)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs: each z_j times its coefficient times the slope."""
        left, right = as_pair(X, Z)
        slopes = self._slope(dot_products(left, right))
        slopes *= as_coefficients(V, *slopes.shape)
        return slopes @ right

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column, by a rank-one downdate."""
        for G in dot_products_without_features(as_dense(X)):
            yield self.from_dot_products(G)


class Linear(DotProductKernel):
    r"""Linear kernel, the dot product itself.

    .. math:: k(x, y) = \langle x, y \rangle

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def from_dot_products(self, G: Floats) -> Floats:
        """Return the dot products as they are."""
        return G

    def _slope(self, G: Floats) -> Floats:
        return np.ones_like(G)

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Return an empty array: there are no parameters."""
        return np.empty(0)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs, the same everywhere for the same coefficients."""
        left, right = as_pair(X, Z)
        V = as_coefficients(V, left.shape[0], right.shape[0])
        return np.broadcast_to(V @ right, left.shape).copy()

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`, by one matrix product.

        Feature k contributes x_k' W x_k; the sum over the others is taken from both ends, since
        subtracting one from the total would cancel where it dominates.
        """
        X = as_dense(X)
        W = as_left_out_weights(W, len(X))
        terms = (W @ X) ** 2 if W.ndim == 1 else np.einsum("ik,ik->k", X, W @ X)
        return _sums_of_others(terms)

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine."""
        return PairwiseForm("linear")

    is_known_mercer = True
    """True: it is a dot product."""


class _GammaKernel(DotProductKernel):
    """A function of gamma <x, y> + coef0."""

    def __init__(self, gamma: Any = "scale", coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the same kernel with gamma as a number."""
        if isinstance(self.gamma, str):
            checks.choice(self, "gamma", self.gamma, ("scale", "auto"))
        resolved = self._replace(gamma=resolve_gamma(self.gamma, X, sample_weight))
        resolved._numbers()
        return resolved

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return gamma and coef0; coef0 is free where it is above 0."""
        gamma, coef0 = self._numbers()
        return {"gamma": gamma, "coef0": coef0}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivatives in ln gamma and, where it is free, ln coef0 with `W`."""
        gamma, coef0 = self._numbers()
        left, right = as_pair(X, Y)
        G = dot_products(left, right)
        # The slope is gamma f'(gamma <x, y> + coef0): in ln gamma the derivative is slope <x, y>.
        slopes = as_contraction(W, *G.shape) * self._slope(G)
        return self._gradient(
            {"gamma": np.vdot(slopes, G), "coef0": slopes.sum() * (coef0 / gamma)}
        )

    def _numbers(self) -> tuple[float, float]:
        gamma = checks.resolved_gamma(self, self.gamma)
        return gamma, checks.number(self, "coef0", self.coef0)


class Polynomial(_GammaKernel):
    r"""Polynomial kernel.

    .. math:: k(x, y) = (\gamma \langle x, y \rangle + c)^q

    It is the dot product of all monomials of degree q (up to q where c > 0), suitably weighted;
    `explicit_map` writes them out. It is a Mercer kernel for c >= 0.

    Parameters
    ----------
    degree : int, default=3
        Power q, at least 0.
    gamma : float, "scale" or "auto", default="scale"
        Positive factor of the dot product. "scale" is 1 / (d var(X)), "auto" is 1 / d; both
        become numbers in `resolve`.
    coef0 : float, default=0.0
        Constant c. It is a free parameter where it is above 0.

    References
    ----------
    A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, equation (5.9).

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 3, gamma: Any = "scale", coef0: float = 0.0) -> None:
        super().__init__(gamma, coef0)
        self.degree = degree

    @property
    def is_known_mercer(self) -> bool:
        """Whether coef0 is not negative."""
        return self.coef0 >= 0

    def from_dot_products(self, G: Floats) -> Floats:
        """Return (gamma G + coef0)^degree."""
        gamma, coef0 = self._numbers()
        return integer_power(gamma * G + coef0, self._degree())

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine."""
        gamma, coef0 = self._numbers()
        return PairwiseForm("polynomial", gamma, coef0, self._degree())

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`, by the binomial theorem."""
        X = as_dense(X)
        W = as_left_out_weights(W, len(X))
        gamma, coef0 = self._numbers()
        if coef0 < 0 or self._degree() > LARGEST_DEGREE:
            return super().leave_feature_out(X, W)
        sums = polynomial_left_out(X, W, gamma, coef0, self._degree())
        return with_the_rest(
            sums,
            lambda k: contracted(W, self(np.delete(X, k, axis=1))),
            lambda: super(Polynomial, self).leave_feature_out(X, W),
        )

    def _slope(self, G: Floats) -> Floats:
        gamma, coef0 = self._numbers()
        degree = self._degree()
        return degree * gamma * integer_power(gamma * G + coef0, max(degree - 1, 0))

    def _degree(self) -> int:
        return checks.integer(self, "degree", self.degree, least=0)

    def _numbers(self) -> tuple[float, float]:
        self._degree()
        return super()._numbers()


class Sigmoid(_GammaKernel):
    r"""Sigmoid kernel.

    .. math:: k(x, y) = \tanh(\gamma \langle x, y \rangle + c)

    It is not positive semi-definite in general; `is_mercer` tells for given data.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Positive factor of the dot product, as in `Polynomial`.
    coef0 : float, default=0.0
        Constant c. It is a free parameter where it is above 0.

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.7616]])
    """

    def from_dot_products(self, G: Floats) -> Floats:
        """Return tanh(gamma G + coef0)."""
        gamma, coef0 = self._numbers()
        return np.tanh(gamma * G + coef0)

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine."""
        gamma, coef0 = self._numbers()
        return PairwiseForm("sigmoid", gamma, coef0)

    def _slope(self, G: Floats) -> Floats:
        gamma, _ = self._numbers()
        return gamma * (1.0 - self.from_dot_products(G) ** 2)


def dot_products_without_features(X: Floats) -> Iterator[Floats]:
    """Yield, for each column, X X' without that column; the array is overwritten for the next.

    A rank-one downdate would leave only rounding of rows that hold nearly all their length in
    one feature; they are computed again. A row has at most one such feature, so that all of it
    costs no more than one further product X X'.
    """
    whole = dot_products(X, X)
    squares = X * X
    lengths = _sums_of_others(squares)
    rest = np.empty_like(whole)
    for k, column in enumerate(X.T):
        np.multiply(column[:, None], column, out=rest)
        np.subtract(whole, rest, out=rest)
        dominated = np.flatnonzero(lengths[:, k] < DOMINATED * squares[:, k])
        if len(dominated):
            rows = X[dominated]
            rows[:, k] = 0.0
            rest[dominated] = rows @ X.T
            rest[:, dominated] = rest[dominated].T
        np.fill_diagonal(rest, lengths[:, k])
        yield rest


def _sums_of_others(values: Floats) -> Floats:
    """Return, along the last axis, for each entry the sum of all others."""
    before = np.zeros_like(values)
    after = np.zeros_like(values)
    np.cumsum(values[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(values[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after
