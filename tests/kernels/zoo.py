"""Every kind of kernel, each with a slow reference: a formula for two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process import kernels as gp

from mercer.kernels import (
    RBF,
    Constant,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Sigmoid,
    Weighted,
    as_kernel,
)

WIDTHS = np.array([0.3, 0.05, 0.8, 0.2])
SCALES = np.array([0.5, 2.0, 1.0, 0.1])


class RationalQuadratic(Kernel):
    """A kernel of a user: two methods, and the names of its positive parameters."""

    def __init__(self, width: float = 1.0, shape: float = 1.0) -> None:
        self.width = width
        self.shape = shape

    def __call__(self, X, Y=None):
        Y = X if Y is None else Y
        squares = ((np.asarray(X)[:, None] - np.asarray(Y)[None]) ** 2).sum(axis=2)
        return (1 + squares / (self.shape * self.width)) ** -self.shape

    def diag(self, X):
        return np.ones(len(X))

    def free_parameters(self):
        return {"width": self.width, "shape": self.shape}


def cosine_matrix(X, Y):
    """A kernel as a function of two sets of points."""
    return (X @ Y.T) / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))


@dataclass
class Entry:
    kernel: Kernel
    formula: Callable[[np.ndarray, np.ndarray], float]
    mercer: bool = True
    exact: bool = True
    """Whether derivatives are formulas rather than differences."""


def _square(x, y):
    return ((x - y) ** 2).sum()


def _poly(x, y, degree, gamma, coef0):
    return (gamma * (x @ y) + coef0) ** degree


def _nested(x, y):
    first = 2.0 * np.exp(-0.3 * _square(x, y)) + _poly(x, y, 2, 0.1, 1.0)
    return first**2 * np.exp(-0.2 * np.abs(x - y).sum())


def _normalized(formula):
    return lambda x, y: formula(x, y) / np.sqrt(formula(x, x) * formula(y, y))


def _scaled_inputs(formula):
    return lambda x, y: formula(x * SCALES, y * SCALES)


def _rbf(x, y):
    return np.exp(-0.4 * _square(x, y))


def _euclidean(x, y):
    return np.exp(-0.4 * np.sqrt(_square(x, y)))


def _city_block(x, y):
    return np.exp(-0.4 * np.abs(x - y).sum())


def _cubic(x, y):
    return _poly(x, y, 3, 0.2, 0.7)


ZOO: dict[str, Entry] = {
    "linear": Entry(Linear(), lambda x, y: x @ y),
    "polynomial": Entry(Polynomial(3, 0.2, 0.7), _cubic),
    "monic": Entry(Polynomial(2, 0.5), lambda x, y: _poly(x, y, 2, 0.5, 0.0)),
    "degree_zero": Entry(Polynomial(0, 0.5), lambda x, y: 1.0),
    "rbf": Entry(RBF(0.4), _rbf),
    "rbf_widths": Entry(RBF(WIDTHS), lambda x, y: np.exp(-(WIDTHS * (x - y) ** 2).sum())),
    "laplacian": Entry(Laplacian(0.4), _city_block),
    "euclidean_laplacian": Entry(Laplacian(0.4, metric="euclidean"), _euclidean),
    "sigmoid": Entry(Sigmoid(0.3, 0.2), lambda x, y: np.tanh(0.3 * (x @ y) + 0.2), mercer=False),
    "sigmoid_negative": Entry(
        Sigmoid(0.3, -0.5), lambda x, y: np.tanh(0.3 * (x @ y) - 0.5), mercer=False
    ),
    "constant": Entry(Constant(1.7), lambda x, y: 1.7),
    "normalized": Entry(Normalized(Polynomial(3, 0.2, 0.7)), _normalized(_cubic)),
    "normalized_sum": Entry(
        Normalized(RBF(0.4) + Linear()), _normalized(lambda x, y: _rbf(x, y) + x @ y)
    ),
    "weighted_linear": Entry(
        Weighted(Linear(), SCALES), lambda x, y: ((x * SCALES) * (y * SCALES)).sum()
    ),
    "weighted_polynomial": Entry(Weighted(Polynomial(3, 0.2, 0.7), SCALES), _scaled_inputs(_cubic)),
    "weighted_rbf": Entry(Weighted(RBF(0.4), SCALES), _scaled_inputs(_rbf)),
    "weighted_laplacian": Entry(Weighted(Laplacian(0.4), SCALES), _scaled_inputs(_city_block)),
    "weighted_euclidean": Entry(
        Weighted(Laplacian(0.4, metric="euclidean"), SCALES), _scaled_inputs(_euclidean)
    ),
    "weighted_sigmoid": Entry(
        Weighted(Sigmoid(0.3, 0.2), SCALES),
        _scaled_inputs(lambda x, y: np.tanh(0.3 * (x @ y) + 0.2)),
        mercer=False,
    ),
    "weighted_zero": Entry(
        Weighted(RBF(0.4), [1.0, 0.0, 2.0, 0.5]),
        lambda x, y: _rbf(*(np.array([1.0, 0.0, 2.0, 0.5]) * p for p in (x, y))),
    ),
    "weighted_normalized": Entry(
        Weighted(Normalized(Polynomial(3, 0.2, 0.7)), SCALES),
        _scaled_inputs(_normalized(_cubic)),
    ),
    "weighted_nested": Entry(
        Weighted((2.0 * RBF(0.3) + Polynomial(2, 0.1, 1.0)) ** 2 * Laplacian(0.2), SCALES),
        _scaled_inputs(_nested),
    ),
    "sum": Entry(RBF(0.4) + Linear(), lambda x, y: _rbf(x, y) + x @ y),
    "sum_number": Entry(1.5 + Linear(), lambda x, y: 1.5 + x @ y),
    "product": Entry(RBF(0.4) * Polynomial(3, 0.2, 0.7), lambda x, y: _rbf(x, y) * _cubic(x, y)),
    "power": Entry((Linear() + 1) ** 3, lambda x, y: (x @ y + 1) ** 3),
    "scaled": Entry(2.5 * RBF(0.4), lambda x, y: 2.5 * _rbf(x, y)),
    "nested": Entry((2.0 * RBF(0.3) + Polynomial(2, 0.1, 1.0)) ** 2 * Laplacian(0.2), _nested),
    "gaussian_process": Entry(
        as_kernel(gp.ConstantKernel(2.0) * gp.RBF([1.0, 2.0, 0.5, 3.0]) + gp.DotProduct(0.7)),
        lambda x, y: (
            2.0 * np.exp(-0.5 * (((x - y) / [1.0, 2.0, 0.5, 3.0]) ** 2).sum()) + 0.49 + x @ y
        ),
    ),
    "gaussian_process_fixed": Entry(
        as_kernel(gp.Matern(1.5, length_scale_bounds="fixed", nu=0.5)),
        lambda x, y: np.exp(-np.sqrt(_square(x, y)) / 1.5),
    ),
    "callable": Entry(
        as_kernel(cosine_matrix), lambda x, y: x @ y / np.sqrt((x @ x) * (y @ y)), exact=False
    ),
    "custom": Entry(
        2.0 * RationalQuadratic(1.5, 0.8) + Linear(),
        lambda x, y: 2.0 * (1 + _square(x, y) / 1.2) ** -0.8 + x @ y,
        exact=False,
    ),
}
