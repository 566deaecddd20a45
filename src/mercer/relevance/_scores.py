"""What each function that is not chosen would do for the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.relevance._basis import TINY, Basis, Short
from mercer.relevance._likelihood import Gaussian
from mercer.relevance._model import SparseModel

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

ROUNDING = 1e-4
"""Share of the squared length of a function by which s may be wrong in single precision: the
products lose about the root of their number of terms, 1e-6, once for each chosen function."""

DEPENDENT = 1e-9
"""A function of whose squared length less than this share is left beside the chosen ones is a
combination of them."""

SHORTEST = 1e-300
"""Squared lengths below this have no digits to tell one function from another."""


@dataclass(frozen=True, eq=False)
class Scores:
    r"""Sparsity and quality factors of all functions for all outputs.

    Parameters
    ----------
    s, q : ndarray of shape (n_outputs, basis.size)
        :math:`s = \phi^\top C^{-1}\phi`, :math:`q = \phi^\top C^{-1} t` with
        :math:`C = B^{-1} + \Phi A^{-1} \Phi^\top`, which is never formed.
    """

    s: Floats
    q: Floats

    def gains(self) -> Floats:
        """Return by how much the log evidence is expected to rise; 0 where it would fall."""
        gains = np.zeros_like(self.q)
        useful = (self.s > 0) & (self.q**2 > self.s)
        ratio = self.q[useful] ** 2 / self.s[useful]
        gains[useful] = 0.5 * (ratio - 1.0 - np.log(ratio))
        return gains

    def start(self, output: Any, index: Any) -> tuple[float, float]:
        """Return the best precision for a function, and its weight then."""
        s, q = float(self.s[output, index]), float(self.q[output, index])
        alpha = s / (q * q / s - 1.0)  # no fourth powers, which vanish early
        return alpha, q / (alpha + s)


class Scorer:
    """Computes the scores, with what stays the same between passes kept.

    Parameters
    ----------
    basis : Basis
    """

    def __init__(self, basis: Basis) -> None:
        self.basis = basis
        self._lengths: Floats | None = None
        self._products: dict[int, Floats] = {}

    def score(self, model: SparseModel) -> Scores:
        """Return the scores of all functions; those that are chosen already have s = 0."""
        if isinstance(model.posterior.likelihood, Gaussian):
            parts = self._with_constant_curvature(model, model.posterior.likelihood)
        else:
            weighted = _weighted(model)
            parts = _join(_compare(model, weighted, values) for _, values in self.basis.blocks())
        return _scores(model, np.arange(self.basis.size), *parts)

    def score_leading(self, model: SparseModel, count: int) -> Scores:
        """Return scores that are exact for so many functions, those that promise most.

        All are looked at in single precision, half the work, and all that may be among the first
        once more. Of the others no more is known than that they promise less.
        """
        weighted = _weighted(model)
        lengths, s, q = (
            np.concatenate(parts, axis=1)
            for parts in zip(*_roughly(model, weighted, self.basis.short_blocks()))
        )
        everything = np.arange(self.basis.size)
        doubt = ROUNDING * lengths
        at_best = Scores(_open(model, everything, np.maximum(s - doubt, TINY)), q).gains()
        at_worst = Scores(_open(model, everything, s + doubt), q).gains()
        promised, sure = at_best.max(axis=0), at_worst.max(axis=0)
        least = np.partition(sure, -count)[-count]
        leading = np.flatnonzero((promised > 0) & (promised >= least))
        exact = self.score_some(model, leading, self.basis.rows(leading), weighted)
        s = _open(model, everything, s)
        s[:, leading], q[:, leading] = exact.s, exact.q
        return Scores(s, q)

    def score_some(
        self, model: SparseModel, indices: Indices, values: Floats, weighted: Floats | None = None
    ) -> Scores:
        """Return the scores of some functions, whose values are given."""
        weighted = _weighted(model) if weighted is None else weighted
        return _scores(model, indices, *_compare(model, weighted, values))

    def _with_constant_curvature(
        self, model: SparseModel, likelihood: Gaussian
    ) -> tuple[Floats, Floats, Floats]:
        """Return what `_compare` does; products are computed once for each function ever chosen."""
        p, size = model.posterior, self.basis.size
        new = [k for k, index in enumerate(model.indices) if int(index) not in self._products]
        left = np.concatenate([p.rows[new] * likelihood.weights, p.residual])
        products = np.empty((len(left), size))
        first = self._lengths is None
        lengths = np.empty((1, size)) if self._lengths is None else self._lengths
        for part, values in self.basis.blocks():
            products[:, part] = left @ values.T
            if first:
                lengths[0, part] = (values * values) @ likelihood.weights
        self._lengths = lengths
        for k, row in zip(new, products):
            self._products[int(model.indices[k])] = row
        crossed = np.empty((1, model.size, size))
        for k, index in enumerate(model.indices):
            crossed[0, k] = self._products[int(index)]
        beta = likelihood.precision
        return beta * lengths, beta * crossed, products[len(new) :]


def _weighted(model: SparseModel) -> Floats:
    """Return the chosen functions times the curvature between each output and theirs, and then
    the residuals, all of shape (., n)."""
    p = model.posterior
    outputs = range(p.likelihood.n_outputs)
    weighted = np.empty((len(outputs) * (model.size + 1), p.rows.shape[1]))
    parts = weighted[: len(outputs) * model.size].reshape(len(outputs), *p.rows.shape)
    for k, part in enumerate(parts):
        np.multiply(p.rows, p.curvature[k][p.outputs], out=part)
    weighted[len(outputs) * model.size :] = p.residual
    return weighted


def _compare(model: SparseModel, weighted: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return squared lengths of functions, products with the chosen ones and with the residuals."""
    p = model.posterior
    outputs = np.arange(p.likelihood.n_outputs)
    own = p.curvature[outputs, outputs]
    products = weighted @ values.T
    crossed = products[: -outputs.size].reshape(outputs.size, model.size, len(values))
    return own @ (values * values).T, crossed, products[-outputs.size :]


def _roughly(
    model: SparseModel, weighted: Floats, blocks: Iterable[tuple[Floats, float, Short]]
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield squared lengths of functions, s in single precision and q, block after block."""
    p = model.posterior
    n_outputs = p.likelihood.n_outputs
    outputs = np.arange(n_outputs)
    own = p.curvature[outputs, outputs]
    chosen = weighted[:-n_outputs].reshape(n_outputs, *p.rows.shape)
    # Whitened first, the products are no larger than the lengths, and so is their rounding. In
    # units of the largest, single precision holds them all.
    unit = np.sqrt(np.maximum(own.max(axis=1, initial=0.0), TINY))[:, None]
    own = (own / unit**2).astype(np.float32)
    whitened = np.empty(chosen.shape, dtype=np.float32)
    for k in range(n_outputs):
        np.divide(p.whitening @ chosen[k], unit[k], out=whitened[k], casting="same_kind")
    for values, largest, scaled in blocks:
        spread = whitened.reshape(-1, values.shape[1]) @ scaled.T
        squares = np.square(spread, out=spread).reshape(n_outputs, model.size, len(values))
        lengths = (own @ np.square(scaled).T).astype(np.float64)
        scale = (unit * largest) ** 2
        yield (
            scale * lengths,
            scale * (lengths - squares.sum(axis=1)),
            weighted[-n_outputs:] @ values.T,
        )


def _join(parts: Iterable[tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
    lengths, crossed, q = zip(*parts)
    joined = np.concatenate(lengths, axis=1), np.concatenate(crossed, axis=2)
    return *joined, np.concatenate(q, axis=1)


def _scores(
    model: SparseModel, indices: Indices, lengths: Floats, crossed: Floats, q: Floats
) -> Scores:
    p = model.posterior
    spread = np.matmul(p.whitening, crossed)
    s = lengths - np.einsum("kmj,kmj->kj", spread, spread)
    s[(s < DEPENDENT * lengths) | (lengths < SHORTEST)] = 0.0
    return Scores(_open(model, indices, s), q)


def _open(model: SparseModel, indices: Indices, s: Floats) -> Floats:
    """Set s to 0 for the functions that are chosen already."""
    weight, function = (indices == model.indices[:, None]).nonzero()
    s[model.posterior.outputs[weight], function] = 0.0
    return s
