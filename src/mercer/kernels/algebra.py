"""Kernels made of kernels: sums, products, powers, positive multiples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _checks as checks
from ._checks import Floats, as_coefficients, as_contraction
from .base import Kernel, PairwiseForm, integer_power, makes


class _Pair(Kernel):
    """Two kernels joined."""

    part_names = ("k1", "k2")
    takes_after_parts = True

    def __init__(self, k1: Any, k2: Any) -> None:
        self.k1 = k1
        self.k2 = k2

    def _both(self) -> tuple[Kernel, Kernel]:
        """Return both kernels; refuse two that need different sorts of data."""
        first, second = self.parts().values()
        if first.is_pairwise != second.is_pairwise:
            raise ValueError(
                f"{type(self).__name__} joins a precomputed kernel, which takes a matrix of "
                "kernel values, with one that takes points; use two of the same sort."
            )
        return first, second


@makes("sum")
class Sum(_Pair):
    r"""Sum of two kernels, written ``k1 + k2``; a number stands for a constant kernel.

    .. math:: k(x, y) = k_1(x, y) + k_2(x, y)

    Parameters
    ----------
    k1, k2 : Kernel
        Or whatever `as_kernel` takes.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, property 1.2.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> kernel = RBF(0.1) + Linear()
    >>> kernel
    Sum(k1=RBF(gamma=0.1), k2=Linear())
    >>> kernel([[1.0, 2.0]])
    array([[6.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        first, second = self._both()
        return first(X, Y) + second(X, Y)

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        first, second = self._both()
        return first.diag(X) + second.diag(X)

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`."""
        return np.concatenate([part.contract_gradient(X, W, Y) for part in self._both()])

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        first, second = self._both()
        return first.contract_scale_gradient(X, W, Y) + second.contract_scale_gradient(X, W, Y)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs of kernel expansions."""
        first, second = self._both()
        return first.contract_input_gradient(X, Z, V) + second.contract_input_gradient(X, Z, V)

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`."""
        first, second = self._both()
        return first.leave_feature_out(X, W) + second.leave_feature_out(X, W)

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        first, second = self._both()
        for one, other in zip(first.without_features(X), second.without_features(X), strict=True):
            yield one + other


@makes("product")
class Product(_Pair):
    r"""Product of two kernels, written ``k1 * k2``.

    .. math:: k(x, y) = k_1(x, y) \, k_2(x, y)

    Parameters
    ----------
    k1, k2 : Kernel
        Or whatever `as_kernel` takes.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> (RBF(0.1) * Linear())([[1.0, 2.0]])
    array([[5.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        first, second = self._both()
        return first(X, Y) * second(X, Y)

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        first, second = self._both()
        return first.diag(X) * second.diag(X)

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`.

        By the product rule each factor meets `W` times the matrix of the other.
        """
        first, second = self._both()
        one = first.contract_gradient(X, _weighted(W, second(X, Y)), Y)
        other = second.contract_gradient(X, _weighted(W, first(X, Y)), Y)
        return np.concatenate([one, other])

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        first, second = self._both()
        one = first.contract_scale_gradient(X, _weighted(W, second(X, Y)), Y)
        return one + second.contract_scale_gradient(X, _weighted(W, first(X, Y)), Y)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs of kernel expansions, by the product rule."""
        first, second = self._both()
        one = first.contract_input_gradient(X, Z, _times_values(V, second(X, Z)))
        return one + second.contract_input_gradient(X, Z, _times_values(V, first(X, Z)))

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        first, second = self._both()
        for one, other in zip(first.without_features(X), second.without_features(X), strict=True):
            yield one * other


@makes("power")
class Power(Kernel):
    r"""Integer power of a kernel, written ``k ** q``.

    .. math:: k(x, y) = k_0(x, y)^q

    Parameters
    ----------
    kernel : Kernel
        Or whatever `as_kernel` takes.
    exponent : int, default=2
        q, at least 1.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> ((Linear() + 1) ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    part_names = ("kernel",)
    takes_after_parts = True

    def __init__(self, kernel: Any, exponent: int = 2) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return integer_power(self._part()(X, Y), self._exponent())

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return integer_power(self._part().diag(X), self._exponent())

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return nothing: the exponent is no free parameter."""
        self._exponent()
        return {}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`."""
        return self._part().contract_gradient(X, self._inner(X, W, Y), Y)

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        return self._part().contract_scale_gradient(X, self._inner(X, W, Y), Y)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs of kernel expansions, by the chain rule."""
        return self._part().contract_input_gradient(X, Z, _times_values(V, self._slope(X, Z)))

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        exponent = self._exponent()
        for values in self._part().without_features(X):
            yield integer_power(values, exponent)

    def pairwise_form(self) -> PairwiseForm | None:
        """Return the formula for the compiled engine, or None where it has none."""
        form = self._part().pairwise_form()
        return None if form is None else form.power(self._exponent())

    def _exponent(self) -> int:
        return checks.integer(self, "exponent", self.exponent, least=1)

    def _inner(self, X: Any, W: Any, Y: Any) -> Floats:
        """Return W times the slope: what the inner kernel is contracted with."""
        return _weighted(W, self._slope(X, Y))

    def _slope(self, X: Any, Y: Any) -> Floats:
        """Return the derivative q k^(q - 1) in the values of the inner kernel."""
        exponent = self._exponent()
        return exponent * integer_power(self._part()(X, Y), exponent - 1)


@makes("multiple")
class Scaled(Kernel):
    r"""Positive multiple of a kernel, written ``c * k``.

    .. math:: k(x, y) = c \, k_0(x, y)

    Parameters
    ----------
    kernel : Kernel
        Or whatever `as_kernel` takes.
    factor : float, default=1.0
        c, above 0; a free parameter.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (3 * Linear())([[1.0, 2.0]])
    array([[15.]])
    """

    part_names = ("kernel",)
    takes_after_parts = True

    def __init__(self, kernel: Any, factor: float = 1.0) -> None:
        self.kernel = kernel
        self.factor = factor

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return self._factor() * self._part()(X, Y)

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return self._factor() * self._part().diag(X)

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return the factor."""
        return {"factor": self._factor()}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`."""
        factor, kernel = self._factor(), self._part()
        own = factor * _weighted(W, kernel(X, Y)).sum()
        return self._gradient({"factor": own}, factor * kernel.contract_gradient(X, W, Y))

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        return self._factor() * self._part().contract_scale_gradient(X, W, Y)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs of kernel expansions."""
        return self._factor() * self._part().contract_input_gradient(X, Z, V)

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`."""
        return self._factor() * self._part().leave_feature_out(X, W)

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        factor = self._factor()
        for values in self._part().without_features(X):
            yield factor * values

    def pairwise_form(self) -> PairwiseForm | None:
        """Return the formula for the compiled engine, or None where it has none."""
        form = self._part().pairwise_form()
        return None if form is None else form.times(self._factor())

    def _factor(self) -> float:
        return checks.positive(self, "factor", self.factor)


def _weighted(W: Any, values: Floats) -> Floats:
    return as_contraction(W, *values.shape) * values


def _times_values(V: Any, values: Floats) -> Floats:
    return as_coefficients(V, *values.shape) * values
