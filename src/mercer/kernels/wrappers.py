"""A constant kernel, and kernels on scaled features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from . import _checks as checks
from ._checks import (
    Floats,
    Points,
    as_coefficients,
    as_contraction,
    as_dense,
    as_pair,
    as_points,
    count_rows,
)
from ._distances import centred_pair, scale_columns
from .base import Kernel, PairwiseForm, makes


@makes("constant")
class Constant(Kernel):
    r"""The same value for every pair.

    .. math:: k(x, y) = v

    Adding it to a kernel adds a constant feature; a number in a sum stands for it.

    Parameters
    ----------
    value : float, default=1.0
        v, above 0; a free parameter.

    Examples
    --------
    >>> from mercer.kernels import Constant
    >>> Constant(2.0)([[0.0], [1.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return np.full((count_rows(X), count_rows(X if Y is None else Y)), self._value())

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return np.full(count_rows(X), self._value())

    @property
    def is_stationary(self) -> bool:
        """True: nothing of the points counts."""
        return True

    is_known_mercer = True
    """True: a positive constant is a dot product."""

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return the value."""
        return {"value": self._value()}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of the value with `W`."""
        W = as_contraction(W, count_rows(X), count_rows(X if Y is None else Y))
        return np.array([self._value() * W.sum()])

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Return zeros: no feature matters."""
        return np.zeros(as_points(X).shape[1])

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return zeros: the inputs do not count."""
        as_coefficients(V, count_rows(X), count_rows(Z))
        return np.zeros(as_points(X).shape)

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the same matrix for each column."""
        values = self(X)
        for _ in range(as_points(X).shape[1]):
            yield values

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine: a multiple of a polynomial of degree 0."""
        return PairwiseForm("polynomial", coef0=1.0, degree=0, factor=self._value())

    def _value(self) -> float:
        return checks.positive(self, "value", self.value)


class Weighted(Kernel):
    r"""A kernel on features that are scaled beforehand.

    .. math:: k(x, y) = k_0(x \odot s, y \odot s)

    The scales are free parameters, so that learning them weighs the features; a scale of 0
    leaves a feature out and stays 0.

    Parameters
    ----------
    kernel : Kernel
        Or whatever `as_kernel` takes.
    scales : array-like of shape (d,)
        s, not negative.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, chapter 4 (feature scaling).

    Examples
    --------
    >>> from mercer.kernels import Linear, Weighted
    >>> Weighted(Linear(), [2.0, 0.0])([[1.0, 5.0]])
    array([[4.]])
    """

    part_names = ("kernel",)
    takes_after_parts = True

    def __init__(self, kernel: Any, scales: Any) -> None:
        self.kernel = kernel
        self.scales = scales

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return self._part()(*self._scaled(X, Y))

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return self._part().diag(self._scale(X))

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the same kernel, the inner one resolved on the scaled data."""
        inner = self._part().resolve(self._scale(X), sample_weight)
        return self._replace(kernel=inner, scales=self._scales())

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return the scales."""
        return {"scales": self._scales()}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`."""
        kernel = self._part()
        X, Y = self._scaled(X, Y)
        own = kernel.contract_scale_gradient(X, W, Y)
        return self._gradient({"scales": own}, kernel.contract_gradient(X, W, Y))

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        X, Y = self._scaled(X, Y)
        return self._part().contract_scale_gradient(X, W, Y)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        """Return the gradients in the inputs of kernel expansions, by the chain rule."""
        left, right = self._scaled(X, Z)
        return self._scales() * self._part().contract_input_gradient(left, right, V)

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`."""
        return self._part().leave_feature_out(self._scale(X), W)

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        return self._part().without_features(as_dense(self._scale(X)))

    def pairwise_form(self) -> PairwiseForm | None:
        """Return the formula for the compiled engine, or None where it has none."""
        form = self._part().pairwise_form()
        return None if form is None else form.scaled(self._scales())

    def _scales(self) -> Floats:
        return checks.vector(self, "scales", self.scales, zero_allowed=True)

    def _scale(self, X: Any) -> Points:
        points, scales = as_points(X), self._scales()
        if self._part().is_pairwise:
            raise ValueError(
                "Weighted scales features, and a precomputed kernel has none; "
                "use a kernel on the data themselves."
            )
        checks.fits_columns(self, "scales", scales, points.shape[1])
        return scale_columns(points, scales)

    def _scaled(self, X: Any, Y: Any) -> tuple[Points, Points | None]:
        left, right = as_pair(X, Y)
        if self._part().is_stationary:
            left, right = centred_pair(left, right)
        return self._scale(left), None if Y is None else self._scale(right)
