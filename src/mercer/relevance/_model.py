"""The state of a fit: which functions are chosen, with which precisions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram.base import physical_memory
from mercer.relevance._basis import Basis
from mercer.relevance._likelihood import Gaussian, Likelihood
from mercer.relevance._posterior import (
    SMALLEST_DECREMENT,
    Posterior,
    find_posterior,
    projections,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

WIDE = 1e-8
"""Precision of a wide prior, as a share of what the data say about the function."""

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class SparseModel:
    """Chosen functions and the posterior of their weights.

    Parameters
    ----------
    indices : ndarray of int of shape (m,)
        The function of each weight, as the basis numbers them.
    posterior : Posterior
    """

    indices: Indices
    posterior: Posterior

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence."""
        return self.posterior.log_evidence

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.indices.size)

    def with_alpha(
        self,
        alpha: Floats,
        precision: float | None = None,
        start: Floats | None = None,
        decrement: float = SMALLEST_DECREMENT,
    ) -> SparseModel:
        """Return the model with other precisions of the prior, and of the noise."""
        likelihood, products = self._with_noise(precision)
        old = self.posterior
        first = old.mean if start is None else start
        posterior = find_posterior(
            likelihood, old.rows, old.outputs, alpha, first, products, decrement
        )
        return replace(self, posterior=posterior)

    def with_function(
        self, basis: Basis, index: int, output: int, alpha: float, weight: float
    ) -> SparseModel:
        """Return the model with one more weight: one row and column more in all that it holds."""
        old = self.posterior
        at = int(np.searchsorted(old.outputs, output, side="right"))
        others = np.delete(np.arange(self.size + 1), at)
        rows = np.insert(old.rows, at, basis.rows(np.array([index]))[0], axis=0)
        outputs = np.insert(old.outputs, at, output)
        border = projections(rows, outputs, old.curvature[:, output] * rows[at])
        products = np.empty((self.size + 1, self.size + 1))
        products[others[:, None], others] = old.products
        products[at] = products[:, at] = border
        # To first order the other weights make room for the new one so.
        moved = old.mean - weight * old.solve(border[others])
        posterior = find_posterior(
            old.likelihood,
            rows,
            outputs,
            np.insert(old.alpha, at, alpha),
            np.insert(moved, at, weight),
            products,
        )
        return SparseModel(np.insert(self.indices, at, index), posterior)

    def only(
        self,
        kept: Any,
        alpha: Floats | None = None,
        precision: float | None = None,
        decrement: float = SMALLEST_DECREMENT,
    ) -> SparseModel:
        """Return the model with some of the weights, and other precisions if they are given."""
        likelihood, products = self._with_noise(precision)
        old = self.posterior
        posterior = find_posterior(
            likelihood,
            old.rows[kept],
            old.outputs[kept],
            old.alpha[kept] if alpha is None else alpha,
            old.mean[kept],
            products[kept][:, kept],
            decrement,
        )
        return SparseModel(self.indices[kept], posterior)

    def _with_noise(self, precision: float | None) -> tuple[Likelihood, Floats]:
        """Return the likelihood with other noise, and the products that belong to it."""
        likelihood, products = self.posterior.likelihood, self.posterior.products
        if precision is None or not isinstance(likelihood, Gaussian):
            return likelihood, products
        changed = products * (precision / likelihood.precision)
        return likelihood.with_precision(precision), changed


@dataclass(eq=False)
class Fit:
    """A model on its way to the maximum of the evidence, and the way so far."""

    model: SparseModel
    history: list[dict[str, Any]] = field(default_factory=list)
    converged: bool = False
    gain_left: float = np.inf

    def move(self, model: SparseModel, action: str, index: int = -1) -> None:
        """Take a step and write it down."""
        self.model = model
        self.history.append(
            {
                "action": action,
                "index": index,
                "log_evidence": model.log_evidence,
                "n_weights": model.size,
            }
        )

    def jump(self, other: Fit, action: str) -> None:
        """Go on as another fit that got higher; of its steps only those count that are higher."""
        height = self.model.log_evidence
        higher = [dict(step) for step in other.history if step["log_evidence"] > height]
        if not higher:
            self.move(other.model, action)
        else:
            self.history += [higher[0] | {"action": action, "index": -1}, *higher[1:]]
        self.model = other.model
        self.converged, self.gain_left = other.converged, other.gain_left


def first_model(likelihood: Likelihood, basis: Basis) -> SparseModel:
    """Return a model of one function for each output, with a wide prior.

    It is the constant, or else the function that resembles the targets of the output most.
    """
    n_outputs = likelihood.n_outputs
    nothing = np.zeros((n_outputs, basis.n))
    if basis.constant:
        indices = np.full(n_outputs, basis.count)
    else:
        _, residual = likelihood.value_and_residual(nothing)
        resemblance = [
            np.abs(residual @ values.T) / np.sqrt(np.maximum(values**2 @ likelihood.weights, TINY))
            for _, values in basis.blocks()
        ]
        indices = np.concatenate(resemblance, axis=1).argmax(axis=1)
    rows, outputs = basis.rows(indices), np.arange(n_outputs)
    curvature = likelihood.curvature(nothing)[outputs, outputs]
    lengths = np.einsum("mn,mn->m", curvature, rows**2)
    useful = lengths > TINY  # none is, where all functions are 0
    indices, outputs, rows = indices[useful], outputs[useful], rows[useful]
    alpha = WIDE * lengths[useful]
    posterior = find_posterior(likelihood, rows, outputs, alpha, np.zeros(alpha.size))
    return SparseModel(indices, posterior)


def full_model(likelihood: Likelihood, basis: Basis) -> SparseModel:
    """Return the model with every function for every output, if there is memory for it."""
    needed = 8.0 * likelihood.n_outputs * basis.size * likelihood.weights.size
    if needed > physical_memory():
        raise MemoryError(
            f"method='classic' begins with all {basis.size} functions, whose values at "
            f"{likelihood.weights.size} rows take {needed / 1e9:.3g} GB, and this machine has "
            f"{physical_memory() / 1e9:.3g} GB; use method='fast' or centers."
        )
    indices = np.tile(np.arange(basis.size), likelihood.n_outputs)
    outputs = np.repeat(np.arange(likelihood.n_outputs), basis.size)
    rows = basis.rows(np.arange(basis.size))
    rows = np.tile(rows, (likelihood.n_outputs, 1)) if likelihood.n_outputs > 1 else rows
    nonzero = rows.any(axis=1)
    return even_model(likelihood, indices[nonzero], outputs[nonzero], rows[nonzero])


def even_model(
    likelihood: Likelihood,
    indices: Indices,
    outputs: Indices,
    rows: Floats,
    start: Floats | None = None,
) -> SparseModel:
    """Return the model of some functions, none of which is 0, whose scales set the precisions."""
    order = np.argsort(outputs, kind="stable")
    indices, outputs, rows = indices[order], outputs[order], rows[order]
    weights = likelihood.weights
    alpha = likelihood.n_outputs * float(weights.sum()) / (indices.size * (rows**2 @ weights))
    if isinstance(likelihood, Gaussian):
        alpha *= likelihood.precision
    first = np.zeros(alpha.size) if start is None else start[order]
    return SparseModel(indices, find_posterior(likelihood, rows, outputs, alpha, first))
