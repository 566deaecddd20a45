"""Kernels as graphs of ONNX operators, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.exchange._onnx_graph import Graph
from mercer.kernels import (
    RBF,
    Constant,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    Weighted,
)

Floats = NDArray[np.float64]

MOST = 1e4
"""Largest exponent of a Gaussian between a point and the middle for which 1e-12 is certain."""


def kernel_values(graph: Graph, kernel: Kernel, X: str, points: Floats) -> str:
    """Add the matrix of k(x_i, z_j) for constant points z, and return its name."""
    return _known(VALUES, kernel)(graph, kernel, X, points)


def kernel_diagonal(graph: Graph, kernel: Kernel, X: str) -> str:
    """Add the column of k(x_i, x_i), which is a single number where it is the same for all."""
    return _known(DIAGONALS, kernel)(graph, kernel, X)


def _known(table: dict[Any, Callable[..., str]], kernel: Kernel) -> Callable[..., str]:
    found = table.get(type(kernel))
    if found is None:
        raise ValueError(
            "ONNX operators are known for mercer's own kernels, their sums, products and powers "
            f"only; got {kernel!r}."
        )
    return found


def _linear(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    return graph("MatMul", X, np.ascontiguousarray(points.T))


def _dot(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    return _of_products(graph, kernel, _linear(graph, kernel, X, kernel.gamma * points))


def _dot_diagonal(graph: Graph, kernel: Any, X: str) -> str:
    norms = _squared_norms(graph, X)
    if isinstance(kernel, Linear):
        return norms
    return _of_products(graph, kernel, graph("Mul", norms, float(kernel.gamma)))


def _of_products(graph: Graph, kernel: Any, G: str) -> str:
    """Return the kernel values for gamma times the dot products."""
    inner = graph("Add", G, float(kernel.coef0))
    if isinstance(kernel, Sigmoid):
        return graph("Tanh", inner)
    return graph("Pow", inner, float(kernel.degree))


def _squared_norms(graph: Graph, X: str) -> str:
    return graph.sum(graph("Mul", X, X), 1)


def _exponents(graph: Graph, gamma: float, X: str, points: Floats) -> str:
    """Add gamma times the squared Euclidean distances, none negative.

    Both are moved to the middle of the points first: far from zero the squares would cancel. Where
    they are large there too, in units of the kernel's width, the differences are squared instead.
    """
    middle = points.mean(axis=0)
    X, points = graph("Sub", X, middle), points - middle
    squares = (points**2).sum(axis=1)
    if gamma * squares.max() > MOST:
        cube = _differences(graph, X, points)
        distances = graph.sum(graph("Mul", cube, cube), 2, keepdims=False)
    else:
        cross = graph("MatMul", X, np.ascontiguousarray(-2.0 * points.T))
        rows = graph("Add", cross, _squared_norms(graph, X))
        distances = graph("Max", graph("Add", rows, squares), 0.0)
    return graph("Mul", distances, gamma)


def _differences(graph: Graph, X: str, points: Floats) -> str:
    """Add the differences of all rows and points, feature by feature."""
    return graph("Sub", graph("Unsqueeze", X, np.array([1])), points[None])


def _rbf(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    gamma = kernel.gamma
    if np.ndim(gamma):
        roots = np.sqrt(np.asarray(gamma, dtype=np.float64))
        middle = points.mean(axis=0)
        X = graph.scaled(graph("Sub", X, middle), roots)
        points, gamma = (points - middle) * roots, 1.0
    return graph("Exp", graph("Neg", _exponents(graph, float(gamma), X, points)))


def _laplacian(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    # Sums over the differences themselves: roots of small squares that cancel would be wrong.
    cube = _differences(graph, X, points)
    if kernel.metric == "euclidean":
        distances = graph("Sqrt", graph.sum(graph("Mul", cube, cube), 2, keepdims=False))
    else:
        distances = graph.sum(graph("Abs", cube), 2, keepdims=False)
    return graph("Exp", graph("Mul", distances, -float(kernel.gamma)))


def _constant(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    zeros = graph("MatMul", X, np.zeros(points.shape[::-1]))
    return graph("Add", zeros, float(kernel.value))


def _weighted(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    inner, scales = kernel.parts()["kernel"], np.asarray(kernel.scales, dtype=np.float64)
    if inner.is_stationary:
        middle = points.mean(axis=0)
        X, points = graph("Sub", X, middle), points - middle
    return kernel_values(graph, inner, graph.scaled(X, scales), points * scales)


def _weighted_diagonal(graph: Graph, kernel: Any, X: str) -> str:
    return kernel_diagonal(graph, kernel.parts()["kernel"], graph.scaled(X, kernel.scales))


def _normalized(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    inner = kernel.parts()["kernel"]
    values = kernel_values(graph, inner, X, points)
    lengths = graph("Sqrt", kernel_diagonal(graph, inner, X))
    return graph("Div", graph("Div", values, np.sqrt(inner.diag(points))), lengths)


def _one(graph: Graph, kernel: Any, X: str) -> str:
    return graph.constant(np.ones((1, 1)))


def _joined(kind: str) -> tuple[Callable[..., str], Callable[..., str]]:
    """Return values and diagonal of a sum or product."""

    def values(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
        parts = kernel.parts().values()
        return graph(kind, *(kernel_values(graph, part, X, points) for part in parts))

    def diagonal(graph: Graph, kernel: Any, X: str) -> str:
        return graph(kind, *(kernel_diagonal(graph, part, X) for part in kernel.parts().values()))

    return values, diagonal


def _power(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    inner = kernel_values(graph, kernel.parts()["kernel"], X, points)
    return graph("Pow", inner, float(kernel.exponent))


def _power_diagonal(graph: Graph, kernel: Any, X: str) -> str:
    inner = kernel_diagonal(graph, kernel.parts()["kernel"], X)
    return graph("Pow", inner, float(kernel.exponent))


def _multiple(graph: Graph, kernel: Any, X: str, points: Floats) -> str:
    inner = kernel_values(graph, kernel.parts()["kernel"], X, points)
    return graph.scaled(inner, np.full(len(points), float(kernel.factor)))


def _multiple_diagonal(graph: Graph, kernel: Any, X: str) -> str:
    inner = kernel_diagonal(graph, kernel.parts()["kernel"], X)
    return graph("Mul", inner, float(kernel.factor))


_SUM, _PRODUCT = _joined("Add"), _joined("Mul")

VALUES: dict[Any, Callable[..., str]] = {
    Linear: _linear,
    Polynomial: _dot,
    Sigmoid: _dot,
    RBF: _rbf,
    Laplacian: _laplacian,
    Constant: _constant,
    Weighted: _weighted,
    Normalized: _normalized,
    Sum: _SUM[0],
    Product: _PRODUCT[0],
    Power: _power,
    Scaled: _multiple,
}
DIAGONALS: dict[Any, Callable[..., str]] = {
    Linear: _dot_diagonal,
    Polynomial: _dot_diagonal,
    Sigmoid: _dot_diagonal,
    RBF: _one,
    Laplacian: _one,
    Normalized: _one,
    Constant: lambda graph, kernel, X: graph.constant(np.full((1, 1), float(kernel.value))),
    Weighted: _weighted_diagonal,
    Sum: _SUM[1],
    Product: _PRODUCT[1],
    Power: _power_diagonal,
    Scaled: _multiple_diagonal,
}
