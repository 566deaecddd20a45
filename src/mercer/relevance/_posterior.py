"""The weights of chosen functions: their most probable values, covariance and evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mercer.relevance._likelihood import Likelihood, parts_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_STEPS = 60
SMALLEST_DECREMENT = 1e-18
"""Newton's method stops where a step would raise the log posterior by less than half of this
share of it: the error that is left is far below rounding in the evidence."""

COSTLY = 20
"""Weights beyond which the second derivatives are not computed anew in each step. The number of
rows does not count, so that repeated rows and rows with a weight go the same way."""

CONTRACTION = 0.1
"""Steps with old second derivatives go on while each reduces the decrement to this share."""

ROUNDING = 1e-13
"""Share of the log posterior that a step may lose to rounding."""

NO_POSTERIOR = (
    "The functions of the basis are so nearly dependent or of such size that their posterior "
    "cannot be computed; scale the features, or choose another kernel width."
)

JITTERS = (0.0, *10.0 ** np.arange(-15.0, -3.0))


@dataclass(frozen=True, eq=False)
class Posterior:
    r"""Laplace's approximation for given precisions :math:`\alpha` of the prior.

    With :math:`A = \mathrm{diag}\,\alpha`, the values :math:`\Phi` of the functions and the
    curvature B of the likelihood, the posterior is taken as normal with covariance
    :math:`\Sigma = (\Phi^\top B \Phi + A)^{-1}` around the most probable weights w, and

    .. math:: \ln p(t \mid \alpha) = \ln p(t \mid w) - \tfrac12 w^\top A w
              + \tfrac12 \ln|A| + \tfrac12 \ln|\Sigma|,

    which is exact where the noise is normal.

    Parameters
    ----------
    likelihood : Likelihood
    rows : ndarray of shape (m, n)
        Values of the function of each weight.
    outputs : ndarray of int of shape (m,)
        The output to which each weight belongs, rising: those of one output lie side by side.
    alpha : ndarray of shape (m,)
    mean : ndarray of shape (m,)
        w.
    f : ndarray of shape (n_outputs, n)
    whitening : ndarray of shape (m, m)
        Lower triangular U with :math:`\Sigma = U^\top U`.
    log_evidence : float
    products : ndarray of shape (m, m)
        :math:`\Phi^\top B \Phi`.
    """

    likelihood: Likelihood
    rows: Floats
    outputs: Indices
    alpha: Floats
    mean: Floats
    f: Floats
    whitening: Floats
    log_evidence: float
    products: Floats

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the weights."""
        return self.whitening.T @ self.whitening

    @cached_property
    def well_determined(self) -> Floats:
        r"""How far the data determine each weight, :math:`\gamma_i = 1 - \alpha_i \Sigma_{ii}`."""
        variances = np.einsum("ij,ij->j", self.whitening, self.whitening)
        return np.clip(1.0 - self.alpha * variances, 0.0, 1.0)

    @cached_property
    def residual(self) -> Floats:
        """First derivatives of the log likelihood at w."""
        return self.likelihood.value_and_residual(self.f)[1]

    @cached_property
    def curvature(self) -> Floats:
        """Second derivatives of the log likelihood at w, times -1."""
        return self.likelihood.curvature(self.f)

    @cached_property
    def skew(self) -> Floats:
        """How the determinant in the evidence changes with f, through the curvature."""
        if self.likelihood.is_quadratic or not self.alpha.size:
            return np.zeros_like(self.f)
        covariance = latent_covariance(
            self.whitening, self.rows, self.outputs, self.likelihood.n_outputs
        )
        return self.likelihood.skew(self.f, covariance)

    @cached_property
    def drift(self) -> Floats:
        r"""How w answers to the skew: :math:`\Sigma\Phi^\top` times it."""
        if self.likelihood.is_quadratic:
            return np.zeros_like(self.mean)
        return self.solve(projections(self.rows, self.outputs, self.skew))

    def solve(self, vector: Floats) -> Floats:
        """Return the covariance times a vector."""
        return np.asarray(self.whitening.T @ (self.whitening @ vector))

    def curved(self, weights: Floats) -> Floats:
        """Return B times the values of the functions with these weights."""
        f = combine(self.rows, self.outputs, weights, self.likelihood.n_outputs)
        return np.asarray(np.einsum("kln,ln->kn", self.curvature, f))


def find_posterior(
    likelihood: Likelihood,
    rows: Floats,
    outputs: Indices,
    alpha: Floats,
    start: Floats,
    products: Floats | None = None,
    decrement: float = SMALLEST_DECREMENT,
) -> Posterior:
    r"""Return the posterior, by Newton's method from some weights.

    Parameters
    ----------
    likelihood, rows, outputs, alpha
        As in `Posterior`.
    start : ndarray of shape (m,)
        Weights to start from; it starts from 0 where these are less probable.
    products : ndarray of shape (m, m) or None
        :math:`\Phi^\top B \Phi` at weights nearby, or anywhere if B is constant. Where it is costly
        to compute, steps are taken with this one until it has to be known at the end.
    decrement : float
        Where to stop; see `SMALLEST_DECREMENT`.
    """
    at = _Place.at(likelihood, rows, outputs, alpha, start)
    if not likelihood.is_quadratic and not at.height >= likelihood.of_nothing:
        # So far away the curvature may have vanished, and Newton's steps would be useless.
        at = _Place.at(likelihood, rows, outputs, alpha, np.zeros_like(start))
        products = None
    if likelihood.is_quadratic:  # one step leads there
        decrement = SMALLEST_DECREMENT
    is_fresh = likelihood.is_quadratic and products is not None
    if products is None or not (is_fresh or alpha.size > COSTLY):
        products, is_fresh = at.curved_products(), True
    whitening, log_determinant = _factor(products, alpha)
    last = np.inf
    for _ in range(MOST_STEPS):
        scaled = whitening @ at.slope()
        squared = float(scaled @ scaled)
        is_there = squared <= decrement * (1.0 + abs(at.height))
        if is_there and is_fresh:
            break
        if not is_fresh and (is_there or squared > CONTRACTION * last):
            products, is_fresh, last = at.curved_products(), True, np.inf
            whitening, log_determinant = _factor(products, alpha)
            continue
        moved = at.towards(whitening.T @ scaled, squared)
        if moved is None:  # rounding allows no further step
            if is_fresh:
                break
            last = 0.0  # try again with products of this place
            continue
        at, last = moved, squared
        if likelihood.is_quadratic:
            break
        is_fresh = False
        if alpha.size <= COSTLY:
            products, is_fresh = at.curved_products(), True
            whitening, log_determinant = _factor(products, alpha)
    log_evidence = at.height + 0.5 * float(np.log(alpha).sum() - log_determinant)
    return Posterior(
        likelihood, rows, outputs, alpha, at.weights, at.f, whitening, log_evidence, products
    )


@dataclass(frozen=True, eq=False)
class _Place:
    """Weights on the way to the most probable ones, and the logarithm of their probability."""

    likelihood: Likelihood
    rows: Floats
    outputs: Indices
    alpha: Floats
    weights: Floats
    f: Floats
    residual: Floats
    height: float

    @classmethod
    def at(
        cls, likelihood: Likelihood, rows: Floats, outputs: Indices, alpha: Floats, weights: Floats
    ) -> _Place:
        f = combine(rows, outputs, weights, likelihood.n_outputs)
        value, residual = likelihood.value_and_residual(f)
        height = value - 0.5 * float(alpha @ weights**2)
        return cls(likelihood, rows, outputs, alpha, weights, f, residual, height)

    def slope(self) -> Floats:
        pulls = projections(self.rows, self.outputs, self.residual)
        return np.asarray(pulls - self.alpha * self.weights)

    def towards(self, step: Floats, slope: float) -> _Place | None:
        """Return the place after as much of a step, of that slope, as leads uphill.

        Shares of a step that promise less than rounding takes are not tried. A whole step may lose
        what rounding takes, as those near the end do; one that was cut has to gain.
        """
        rounding = ROUNDING * (1.0 + abs(self.height))
        length = 1.0
        while length == 1.0 or length * slope > rounding:
            weights = self.weights + length * step
            trial = self.at(self.likelihood, self.rows, self.outputs, self.alpha, weights)
            least = self.height - rounding if length == 1.0 else np.nextafter(self.height, np.inf)
            if trial.height >= least:
                return trial
            length *= 0.5
        return None

    def curved_products(self) -> Floats:
        """Return Phi' B Phi."""
        return self.likelihood.products(self.f, self.rows, self.outputs)


def combine(rows: Floats, outputs: Indices, weights: Floats, n_outputs: int) -> Floats:
    """Return the sums of the functions for each output, of shape (n_outputs, n)."""
    if n_outputs == 1:
        return np.asarray(weights @ rows)[None]
    sums = np.empty((n_outputs, rows.shape[1]))
    for k, part in enumerate(parts_of(outputs, n_outputs)):
        np.matmul(weights[part], rows[part], out=sums[k])
    return sums


def projections(rows: Floats, outputs: Indices, values: Floats) -> Floats:
    """Return the products of each function with the values of its output."""
    if len(values) == 1:
        return np.asarray(rows @ values[0])
    products = np.empty(len(rows))
    for k, part in enumerate(parts_of(outputs, len(values))):
        np.matmul(rows[part], values[k], out=products[part])
    return products


def latent_covariance(whitening: Floats, rows: Floats, outputs: Indices, n_outputs: int) -> Floats:
    """Return the covariance of the outputs in each row, of shape (n_outputs, n_outputs, n)."""
    if n_outputs == 1:
        spread = whitening @ rows
        return np.einsum("mn,mn->n", spread, spread)[None, None]
    parts = [whitening[:, part] @ rows[part] for part in parts_of(outputs, n_outputs)]
    covariance = np.empty((n_outputs, n_outputs, rows.shape[1]))
    for k in range(n_outputs):
        for other in range(k + 1):
            value = np.einsum("mn,mn->n", parts[k], parts[other])
            covariance[k, other] = covariance[other, k] = value
    return covariance


def _factor(products: Floats, alpha: Floats) -> tuple[Floats, float]:
    """Return U with (Phi' B Phi + A)^-1 = U' U, and the log determinant of the matrix.

    The matrix is scaled to a unit diagonal first, so that one jitter suits all functions.
    """
    m = alpha.size
    if m == 0:
        return np.empty((0, 0)), 0.0
    scale = 1.0 / np.sqrt(products.diagonal() + alpha)
    hessian = products * scale[:, None]
    hessian *= scale
    hessian.flat[:: m + 1] = 1.0
    lower = _cholesky(hessian.T)  # which is itself, in the order of LAPACK
    log_determinant = 2.0 * float(np.log(lower.diagonal() / scale).sum())
    whitening, _ = lapack.dtrtri(lower, lower=1, overwrite_c=1)
    whitening *= scale
    return whitening, log_determinant


def _cholesky(matrix: Floats) -> Floats:
    """Return the Cholesky factor of a matrix with unit diagonal, with as little jitter as works."""
    for jitter in JITTERS:
        if jitter:
            matrix.flat[:: len(matrix) + 1] = 1.0 + jitter
        lower, failed = lapack.dpotrf(matrix, lower=1, clean=1)
        if not failed:
            return np.asarray(lower)
    raise ValueError(NO_POSTERIOR)
