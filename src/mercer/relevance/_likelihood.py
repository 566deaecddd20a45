"""How probable the targets are, given the values of the functions: log likelihoods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

Floats = NDArray[np.float64]

LOG_TWO_PI = float(np.log(2.0 * np.pi))


class Likelihood(Protocol):
    """What Laplace's approximation needs; all values have one row for each output.

    Every row of the data counts as often as its weight says.
    """

    @property
    def weights(self) -> Floats:
        """How often each row counts."""

    @property
    def n_outputs(self) -> int:
        """Number of functions that the likelihood is made of."""

    @property
    def is_quadratic(self) -> bool:
        """Whether the curvature is constant."""

    def value(self, f: Floats) -> float:
        """Return the log likelihood."""

    def residual(self, f: Floats) -> Floats:
        """Return its first derivatives in f, of shape (n_outputs, n)."""

    def curvature(self, f: Floats) -> Floats:
        """Return its second derivatives times -1, of shape (n_outputs, n_outputs, n)."""

    def skew(self, f: Floats, covariance: Floats) -> Floats:
        """Return the derivatives in f of -1/2 of the sum of covariance times curvature."""


@dataclass(frozen=True, eq=False)
class Gaussian:
    r"""Targets with normal noise, :math:`t \sim N(f, 1/\beta)`.

    Parameters
    ----------
    target, weights : ndarray of shape (n,)
    precision : float
        :math:`\beta`.
    """

    target: Floats
    weights: Floats
    precision: float

    n_outputs: ClassVar[int] = 1
    is_quadratic: ClassVar[bool] = True

    def with_precision(self, precision: float) -> Gaussian:
        """Return the same targets with other noise."""
        return replace(self, precision=precision)

    @property
    def count(self) -> float:
        """How many rows there are, each as often as it counts."""
        return float(self.weights.sum())

    def squared_error(self, f: Floats) -> float:
        """Return the sum of the squared residuals."""
        return float(self.weights @ (self.target - f[0]) ** 2)

    def value(self, f: Floats) -> float:
        """Return the log likelihood."""
        noise = self.count * (np.log(self.precision) - LOG_TWO_PI)
        return 0.5 * float(noise - self.precision * self.squared_error(f))

    def residual(self, f: Floats) -> Floats:
        """Return the first derivatives."""
        return self.precision * self.weights * (self.target - f)

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        return (self.precision * self.weights)[None, None]

    def skew(self, f: Floats, covariance: Floats) -> Floats:
        """Return 0: the curvature does not depend on f."""
        return np.zeros_like(f)


@dataclass(frozen=True, eq=False)
class Bernoulli:
    r"""Two classes, :math:`P(t = 1) = \sigma(f) = 1/(1 + e^{-f})`.

    Parameters
    ----------
    signs : ndarray of shape (n,)
        +1 or -1.
    weights : ndarray of shape (n,)
    """

    signs: Floats
    weights: Floats

    n_outputs: ClassVar[int] = 1
    is_quadratic: ClassVar[bool] = False

    def value(self, f: Floats) -> float:
        """Return the log likelihood."""
        return float(self.weights @ log_expit(self.signs * f[0]))

    def residual(self, f: Floats) -> Floats:
        """Return the first derivatives."""
        return self.weights * self.signs * expit(-self.signs * f)

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        return (self.weights * expit(f) * expit(-f))[None]

    def skew(self, f: Floats, covariance: Floats) -> Floats:
        """Return the derivatives of -1/2 of the sum of covariance times curvature."""
        third = self.curvature(f)[0] * (expit(-f) - expit(f))
        return -0.5 * third * covariance[0]


@dataclass(frozen=True, eq=False)
class Softmax:
    r"""Many classes, :math:`P(t = k) = e^{f_k} / \sum_l e^{f_l}`.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
    weights : ndarray of shape (n,)
    n_outputs : int
        Number of classes.
    """

    codes: Any
    weights: Floats
    n_outputs: int

    is_quadratic: ClassVar[bool] = False

    def value(self, f: Floats) -> float:
        """Return the log likelihood."""
        own = f[self.codes, np.arange(self.codes.size)]
        return float(self.weights @ (own - _log_sum(f)))

    def residual(self, f: Floats) -> Floats:
        """Return the first derivatives."""
        residual = -self._probabilities(f)
        residual[self.codes, np.arange(self.codes.size)] += 1.0
        return residual * self.weights

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        p = self._probabilities(f)
        curvature = -p[:, None] * p[None]
        own = np.arange(self.n_outputs)
        curvature[own, own] = 0.0
        # p_k times the others: 1 - p_k would have no digits where p_k is nearly 1.
        curvature[own, own] = -curvature.sum(axis=1)
        return curvature * self.weights

    def skew(self, f: Floats, covariance: Floats) -> Floats:
        """Return the derivatives of -1/2 of the sum of covariance times curvature."""
        p = self._probabilities(f)
        variances = np.einsum("kkn->kn", covariance)
        direction = variances - 2.0 * np.einsum("kln,ln->kn", covariance, p)
        return -0.5 * np.einsum("kln,ln->kn", self.curvature(f), direction)

    def _probabilities(self, f: Floats) -> Floats:
        return np.asarray(np.exp(f - _log_sum(f)))


def _log_sum(f: Floats) -> Floats:
    """Return the logarithms of the sums of exponentials over the outputs.

    SciPy's ``logsumexp`` takes ten times as long for a hundred rows, and is asked thousands of
    times in a fit.
    """
    peak = f.max(axis=0)
    with np.errstate(invalid="ignore"):  # infinite values give NaN, which no step is led by
        return np.asarray(peak + np.log(np.exp(f - peak).sum(axis=0)))
