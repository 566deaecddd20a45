"""What each function that is not chosen would do for the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.relevance._basis import Basis
from mercer.relevance._likelihood import Gaussian
from mercer.relevance._model import SparseModel

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

DEPENDENT = 1e-9
"""A function of whose squared length less than this share is left beside the chosen ones is a
combination of them."""


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
        alpha = s * s / (q * q - s)
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
            parts = _join(_compare(model, values) for _, values in self.basis.blocks())
        return _scores(model, np.arange(self.basis.size), *parts)

    def score_some(self, model: SparseModel, indices: Indices, values: Floats) -> Scores:
        """Return the scores of some functions, whose values are given."""
        return _scores(model, indices, *_compare(model, values))

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


def _compare(model: SparseModel, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return squared lengths of functions, products with the chosen ones and with the residuals."""
    p = model.posterior
    outputs = np.arange(p.likelihood.n_outputs)
    own = p.curvature[outputs, outputs]
    weighted = np.concatenate([*(p.rows * p.curvature[p.outputs, k] for k in outputs), p.residual])
    products = weighted @ values.T
    crossed = products[: -outputs.size].reshape(outputs.size, model.size, len(values))
    return own @ (values * values).T, crossed, products[-outputs.size :]


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
    s[s < DEPENDENT * lengths] = 0.0
    chosen = indices == model.indices[:, None]
    s[p.outputs[chosen.nonzero()[0]], chosen.nonzero()[1]] = 0.0
    return Scores(s, q)
