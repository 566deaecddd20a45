"""How probable the targets are, given the values of the functions: log likelihoods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
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

    @property
    def of_nothing(self) -> float:
        """The log likelihood where f is 0."""

    def value_and_residual(self, f: Floats) -> tuple[float, Floats]:
        """Return the log likelihood, and its first derivatives in f, of shape (n_outputs, n)."""

    def curvature(self, f: Floats) -> Floats:
        """Return its second derivatives times -1, of shape (n_outputs, n_outputs, n)."""

    def products(self, f: Floats, rows: Floats, outputs: Any) -> Floats:
        """Return Phi' B Phi, B the curvature, of functions whose outputs rise."""

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

    @property
    def of_nothing(self) -> float:
        """The log likelihood where f is 0."""
        return self.value_and_residual(np.zeros((1, self.target.size)))[0]

    def value_and_residual(self, f: Floats) -> tuple[float, Floats]:
        """Return the log likelihood and its first derivatives."""
        noise = self.count * (np.log(self.precision) - LOG_TWO_PI)
        value = 0.5 * float(noise - self.precision * self.squared_error(f))
        return value, self.precision * self.weights * (self.target - f)

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        return (self.precision * self.weights)[None, None]

    def products(self, f: Floats, rows: Floats, outputs: Any) -> Floats:
        """Return Phi' B Phi."""
        return _squares(rows, self.curvature(f)[0, 0])

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

    @cached_property
    def of_nothing(self) -> float:
        """The log likelihood where f is 0."""
        return -float(np.log(2.0) * self.weights.sum())

    def value_and_residual(self, f: Floats) -> tuple[float, Floats]:
        """Return the log likelihood and its first derivatives."""
        margins = self.signs * f
        value = float(self.weights @ log_expit(margins[0]))
        return value, self.weights * self.signs * expit(-margins)

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        return (self.weights * expit(f) * expit(-f))[None]

    def products(self, f: Floats, rows: Floats, outputs: Any) -> Floats:
        """Return Phi' B Phi."""
        return _squares(rows, self.curvature(f)[0, 0])

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

    @cached_property
    def of_nothing(self) -> float:
        """The log likelihood where f is 0."""
        return -float(np.log(self.n_outputs) * self.weights.sum())

    def value_and_residual(self, f: Floats) -> tuple[float, Floats]:
        """Return the log likelihood and its first derivatives."""
        # Beside the own class, so that a probability of nearly 1 leaves digits of what it lacks.
        own = self.codes, np.arange(self.codes.size)
        odds = f - f[own]
        odds[own] = -np.inf
        shares, log_odds = _shares(odds)
        value = -float(self.weights @ np.logaddexp(0.0, log_odds))
        lacking = self.weights * expit(log_odds)
        residual = np.multiply(shares, -lacking, out=shares)
        residual[own] = lacking
        return value, residual

    def curvature(self, f: Floats) -> Floats:
        """Return the second derivatives times -1."""
        p = _shares(f)[0]
        curvature = -p[:, None] * (p * self.weights)
        own = np.arange(self.n_outputs)
        curvature[own, own] = p * _of_others(p) * self.weights
        return curvature

    def products(self, f: Floats, rows: Floats, outputs: Any) -> Floats:
        """Return Phi' B Phi: all of -p p' at once, and the blocks of one output on their own."""
        p = _shares(f)[0]
        own = p * _of_others(p) * self.weights
        weighted, likely = p * np.sqrt(self.weights), np.empty_like(rows)
        parts = parts_of(outputs, self.n_outputs)
        for k, part in enumerate(parts):
            np.multiply(rows[part], weighted[k], out=likely[part])
        products = likely @ likely.T
        np.negative(products, out=products)
        for k, part in enumerate(parts):
            products[part, part] = _squares(rows[part], own[k])
        return products

    def skew(self, f: Floats, covariance: Floats) -> Floats:
        """Return the derivatives of -1/2 of the sum of covariance times curvature."""
        p = _shares(f)[0]
        variances = np.einsum("kkn->kn", covariance)
        direction = variances - 2.0 * np.einsum("kln,ln->kn", covariance, p)
        return -0.5 * np.einsum("kln,ln->kn", self.curvature(f), direction)


def parts_of(outputs: Any, n_outputs: int) -> list[slice]:
    """Return where the weights of each output are, among those whose outputs rise."""
    if n_outputs == 1:
        return [slice(0, len(outputs))]
    ends = np.searchsorted(outputs, np.arange(n_outputs + 1)).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _squares(rows: Floats, curvature: Floats) -> Floats:
    """Return the products of all rows, weighted with a curvature."""
    half = rows * np.sqrt(curvature)
    return np.asarray(half @ half.T)


def _of_others(p: Floats) -> Floats:
    """Return the probability of all other classes; 1 - p would have no digits where p is nearly 1.

    It is the sum of those before and of those behind.
    """
    before, behind = np.zeros_like(p), np.zeros_like(p)
    for k in range(1, len(p)):
        np.add(before[k - 1], p[k - 1], out=before[k])
        np.add(behind[-k], p[-k], out=behind[-k - 1])
    before += behind
    return before


def _shares(f: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of the classes, and the logarithms of the sums of exponentials.

    SciPy's ``logsumexp`` takes ten times as long for a hundred rows, and is asked thousands of
    times in a fit.
    """
    peak = f.max(axis=0)
    with np.errstate(invalid="ignore"):  # infinite values give NaN, which no step is led by
        shares = np.exp(f - peak)
        total = shares.sum(axis=0)
        shares /= total
        return shares, peak + np.log(total)
