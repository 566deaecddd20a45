"""Hyperspheres and relevance vectors as graphs of ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.exchange._expansion import Expansion, Floats, dense
from mercer.exchange._onnx_graph import Graph
from mercer.exchange._onnx_kernels import kernel_values
from mercer.exchange._onnx_machines import Rows, machine_values
from mercer.kernels import Kernel, Linear


def nearest_hypersphere(graph: Graph, model: Any, rows: Rows) -> tuple[str, str]:
    """Add the index of the nearest class, and probabilities or else minus the dissimilarities.

    Rows that are rejected have the index behind the last class.
    """
    if callable(model.dissimilarity):
        raise ValueError(
            "ONNX operators are known for the dissimilarities 'relative', 'absolute' and 'power' "
            "only; got a function."
        )
    squares = graph("Max", graph("Neg", machine_values(graph, model, rows)), 0.0)
    distances, radii = graph("Sqrt", squares), model._used_radii
    exponent = {"relative": 1.0, "absolute": 0.0}.get(model.dissimilarity, model.power)
    values = graph("Div", distances, radii**exponent)
    index = graph("ArgMin", values, axis=1, keepdims=0)
    if model.reject_threshold is not None:
        near = graph("LessOrEqual", graph("Div", distances, radii), float(model.reject_threshold))
        count = graph.sum(graph.cast(near, "i8"), 1, keepdims=False)
        is_far = graph("Equal", count, np.array(0))
        index = graph("Where", is_far, np.array(model.classes_.size), index)
    if not hasattr(model, "slope_"):
        return index, graph("Neg", values)
    return index, graph("Softmax", graph("Mul", values, float(model.slope_)), axis=1)


def relevance_classifier(graph: Graph, model: Any, rows: Rows) -> tuple[str, str]:
    """Add the index of the most probable class, and the probabilities."""
    values, spread = _latent(graph, model, rows)
    if model.classes_.size == 2 or model._one_vs_rest:
        odds = values
        if spread is not None:
            variance = graph.sum(graph("Mul", spread, spread), 2, keepdims=False)
            odds = _moderated(graph, values, variance)
        return _of_odds(graph, model, odds)
    if spread is not None:
        values = _log_averages(graph, values, spread, model.classes_.size)
    return graph("ArgMax", values, axis=1, keepdims=0), graph("Softmax", values, axis=1)


def _of_odds(graph: Graph, model: Any, odds: str) -> tuple[str, str]:
    """Add index and probabilities from the log odds of one class, or of each against the rest."""
    shares = graph("Div", 1.0, graph("Add", graph("Exp", graph("Neg", odds)), 1.0))
    if model.classes_.size == 2:
        index = graph("Squeeze", graph.cast(graph("Greater", odds, 0.0), "i8"), np.array([1]))
        others = graph("Div", 1.0, graph("Add", graph("Exp", odds), 1.0))
        return index, graph("Concat", others, shares, axis=1)
    shares = graph("Max", shares, float(np.finfo(float).tiny))
    index = graph("ArgMax", odds, axis=1, keepdims=0)
    return index, graph("Div", shares, graph.sum(shares, 1))


def _moderated(graph: Graph, values: str, variance: str) -> str:
    scale = graph("Sqrt", graph("Add", graph("Mul", variance, np.pi / 8.0), 1.0))
    return graph("Div", values, scale)


def _latent(graph: Graph, model: Any, rows: Rows) -> tuple[str, str | None]:
    """Add the means (n, k), and for moderated outputs vectors (n, k, r) with their covariances."""
    kernel, points, coefficients = _functions(model)
    functions = kernel_values(graph, kernel, rows.double, points)
    sums = graph("MatMul", functions, np.ascontiguousarray(coefficients.T))
    means = graph("Add", sums, model.intercept_)
    if model.output != "moderated":
        return means, None
    whitening, count = model._whitening, model.intercept_.size
    mixed = np.zeros((len(points) + 1, count, len(whitening)))  # the constant function is the last
    for weight, (output, vector) in enumerate(zip(model.weight_output_, model.weight_vector_)):
        mixed[vector, output] += whitening[:, weight]
    flat = mixed.reshape(len(mixed), -1)
    spread = graph("Add", graph("MatMul", functions, np.ascontiguousarray(flat[:-1])), flat[-1])
    return means, graph("Reshape", spread, np.array([-1, count, len(whitening)]))


def _functions(model: Any) -> tuple[Kernel, Floats, Floats]:
    """Return kernel and points of the functions to which the weights belong, and the weights.

    The covariances of weights need each function on its own, where `Expansion` adds up those of a
    linear kernel.
    """
    found = Expansion.of(model)  # which refuses precomputed kernels
    if not model.relevance_.size:
        return (
            found.kernel,
            np.zeros((1, model.n_features_in_)),
            np.zeros((len(model.intercept_), 1)),
        )
    if model.basis == "columns":
        return Linear(), np.eye(model.n_features_in_)[model.relevance_], model.dual_coef_
    return found.kernel, dense(model.relevance_vectors_), model.dual_coef_


def _log_averages(graph: Graph, means: str, spread: str, count: int) -> str:
    """Add logarithms of averaged probabilities up to a constant, from all differences."""
    covariance = graph("MatMul", spread, graph("Transpose", spread, perm=[0, 2, 1]))
    eye = np.eye(count)
    variance = graph.sum(graph("Mul", covariance, eye), 2)  # (n, k, 1)
    turned = graph("Transpose", variance, perm=[0, 2, 1])
    both = graph("Sub", graph("Add", variance, turned), graph("Mul", covariance, 2.0))
    rows = graph("Unsqueeze", means, np.array([1]))
    differences = graph("Sub", rows, graph("Unsqueeze", means, np.array([2])))
    scaled = _moderated(graph, differences, graph("Max", both, 0.0))
    # Differences of a class from itself are 0, and so this is minus the log of the sum of all.
    shares = graph("LogSoftmax", scaled, axis=2)
    return graph.sum(graph("Mul", shares, eye), 2, keepdims=False)
