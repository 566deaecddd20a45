"""Machines as graphs of ONNX operators: an index of the label, and values or probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.calibration import PairSigmoids
from mercer.exchange._affine import without_scalers
from mercer.exchange._dual import NAMES
from mercer.exchange._expansion import Expansion
from mercer.exchange._onnx_graph import Graph
from mercer.exchange._onnx_kernels import kernel_diagonal, kernel_values
from mercer.kernels import Linear
from mercer.machines import pairs_of
from mercer.svm import SVC

Floats = NDArray[np.float64]

SINGLE = 1e-5
"""Share of the largest value, or of 1, by which float32 may change values of LIBSVM's operators."""

PROBED = 256
"""Points at which that is measured."""

ML = "ai.onnx.ml"


@dataclass(frozen=True)
class Rows:
    """The rows that a graph predicts.

    Parameters
    ----------
    double : str
        Name of the rows in double precision.
    single : str or None
        Name of the rows in float32, where they are given so.
    """

    double: str
    single: str | None


def machine_values(
    graph: Graph, model: Any, rows: Rows, sigmoids: PairSigmoids | None = None
) -> str:
    """Add the values of all machines of a model, (n, n_machines), in double precision.

    Where sigmoids come after, probabilities must be exact and not the values.
    """
    found = Expansion.of(model)
    slope = None if sigmoids is None else float(np.abs(sigmoids.A).max())
    if rows.single is not None and _single_will_do(found, slope):
        values = _by_svm_operator(graph, model, found, rows.single)
        if values is not None:
            return graph.cast(values, "f8")
    X = graph("Sub", rows.double, found.origin) if found.origin.any() else rows.double
    sums = graph(
        "MatMul",
        kernel_values(graph, found.kernel, X, found.points),
        np.ascontiguousarray(found.coefficients.T),
    )
    values = graph("Add", sums, found.constants)
    if found.diagonal_factor:
        diagonal = kernel_diagonal(graph, found.kernel, X)
        values = graph("Add", values, graph("Mul", diagonal, found.diagonal_factor))
    return values


def _single_will_do(found: Expansion, slope: float | None) -> bool:
    """Say whether numbers and sums in float32 change the values at some points little enough.

    A slope is that of what the values are put into, and is counted along.
    """
    if found.rounding:
        return False  # rows on the boundary of one class could not be told
    short = [
        np.asarray(part, dtype=np.float32).astype(np.float64)
        for part in (found.points, found.coefficients, found.constants)
    ]
    if not all(np.isfinite(part).all() for part in short):
        return False
    rounded = replace(found, points=short[0], coefficients=short[1], constants=short[2])
    some = short[0][np.unique(np.linspace(0, len(found.points) - 1, PROBED).astype(int))]
    exact = found.values(some)
    error = np.abs(rounded.values(some) - exact).max()
    terms = np.abs(found.kernel(some, found.points)) @ np.abs(found.coefficients.T)
    error += 2.0 * float(np.finfo(np.float32).eps) * terms.max()
    if slope is not None:
        return bool(slope * error <= SINGLE)
    return bool(error <= SINGLE * max(1.0, np.abs(exact).max()))


def _by_svm_operator(graph: Graph, model: Any, found: Expansion, X: str) -> str | None:
    """Add LIBSVM's operator of ONNX, or nothing where it does not fit."""
    form = found.kernel.pairwise_form()
    pairs = isinstance(model, SVC) and model._one_vs_one
    if form is None or form.family not in NAMES or found.diagonal_factor:
        return None
    if (form.scales is not None and form.is_stationary) or (len(found.constants) > 1 and not pairs):
        return None
    points = found.points if form.scales is None else found.points * form.scales**2
    coefficients = form.factor * (model.dual_coef_ if pairs else found.coefficients)
    if pairs and (isinstance(found.kernel, Linear) or not model.support_.size):
        return None  # the points are weights of pairs, and no support vectors
    attributes: dict[str, Any] = {
        "kernel_type": NAMES[form.family].upper(),
        "kernel_params": [float(form.gamma), float(form.coef0), float(form.degree)],
        "support_vectors": points.ravel().astype(np.float32),
        "coefficients": coefficients.ravel().astype(np.float32),
        "rho": found.constants.astype(np.float32),
        "post_transform": "NONE",
        "domain": ML,
    }
    if not pairs:
        return graph("SVMRegressor", X, n_supports=len(points), **attributes)
    counts = model.n_support_.tolist()
    labels = list(range(len(counts)))
    outputs = graph.several(
        "SVMClassifier", 2, X, vectors_per_class=counts, classlabels_ints=labels, **attributes
    )
    return outputs[1]


def regression(graph: Graph, model: Any, rows: Rows) -> str:
    """Add the predicted numbers."""
    return machine_values(graph, model, rows)


def one_class(graph: Graph, model: Any, rows: Rows) -> tuple[str, str]:
    """Add +1 or -1, and the decision values."""
    values, found = machine_values(graph, model, rows), Expansion.of(model)
    if np.isfinite(found.highest):
        values = graph("Min", values, found.highest)
    is_clear = graph("Greater", graph("Abs", values), float(found.rounding))
    values = graph("Mul", values, graph.cast(is_clear, "f8"))
    inside = graph.cast(graph("GreaterOrEqual", values, 0.0), "i8")
    labels = graph("Sub", graph("Mul", inside, np.array(2)), np.array(1))
    return graph("Squeeze", labels, np.array([1])), values


def svc(graph: Graph, model: Any, rows: Rows) -> tuple[str, str]:
    """Add the index of the label, and probabilities or else what `decision_function` gives."""
    values = machine_values(graph, model, rows, getattr(model, "sigmoids_", None))
    if not model._one_vs_one:
        index, scores = _largest(graph, model, values), values
    else:
        votes, totals = _votes(graph, model, values)
        order = _order_of_ties(model)
        best = graph("ArgMax", totals if model.break_ties else votes, axis=1, keepdims=0)
        index = graph("Gather", order, best) if (np.diff(order) < 0).any() else best
        scores = values
        if model.decision_function_shape == "ovr":
            scores = _class_values(graph, model, votes, totals)
    if hasattr(model, "sigmoids_"):
        return index, probabilities(graph, model.sigmoids_, _pair_values(graph, model, values))
    return index, scores


def platt(graph: Graph, model: Any, rows: Rows) -> tuple[str, str]:
    """Add the index of the most probable class, and the probabilities."""
    scaling, machine = without_scalers(model.estimator_)
    if not isinstance(machine, SVC):
        raise TypeError(
            "ONNX operators are known for a PlattClassifier of an SVC only, also behind scalers; "
            f"got {type(machine).__name__}."
        )
    if scaling is not None:
        centred = graph("Sub", rows.double, scaling.centre)
        rows = Rows(graph.scaled(centred, scaling.factor), None)
    sigmoids = PairSigmoids(model.A_, model.B_, model.classes_.size)
    values = machine_values(graph, machine, rows, sigmoids)
    if machine._one_vs_one and machine is not model.estimator_:
        # A pipeline hides the pairs, and differences of its values for each class stand for them.
        values = _class_values(graph, machine, *_votes(graph, machine, values))
        values = _differences(graph, values, machine.classes_.size)
    else:
        values = _pair_values(graph, machine, values)
    shares = probabilities(graph, sigmoids, values)
    return graph("ArgMax", shares, axis=1, keepdims=0), shares


def _largest(graph: Graph, model: Any, values: str) -> str:
    """Return the index of the class with the largest value, or of the sign of the only one."""
    if model.classes_.size > 2:
        return graph("ArgMax", values, axis=1, keepdims=0)
    above = graph.cast(graph("Greater", values, 0.0), "i8")
    return graph("Squeeze", above, np.array([1]))


def _order_of_ties(model: Any) -> Any:
    return np.asarray(getattr(model, "_order_of_ties", np.arange(model.classes_.size)))


def _votes(graph: Graph, model: Any, values: str) -> tuple[str, str]:
    """Return the duels that each class wins, and the same with confidences below one vote.

    The classes stand in the order in which ties are won.
    """
    first, second = pairs_of(model.classes_.size)
    places = np.eye(model.classes_.size)[:, _order_of_ties(model)]
    won = graph.cast(graph("GreaterOrEqual", values, 0.0), "f8")
    votes = graph("MatMul", won, places[first] - places[second])
    votes = graph("Add", votes, places[second].sum(axis=0))
    sums = graph("MatMul", values, places[first] - places[second])
    below = graph("Mul", graph("Add", graph("Abs", sums), 1.0), 3.0)
    return votes, graph("Add", votes, graph("Div", sums, below))


def _class_values(graph: Graph, model: Any, votes: str, totals: str) -> str:
    """Return one value for each class, of which the largest is that of the predicted class."""
    unit = np.eye(model.classes_.size)
    if not model.break_ties:  # the first of the tied classes changes its value with the best one
        winner = graph("Gather", unit, graph("ArgMax", votes, axis=1, keepdims=0), axis=0)
        leader = graph("Gather", unit, graph("ArgMax", totals, axis=1, keepdims=0), axis=0)
        ahead = graph("Sub", leader, winner)
        lead = graph.sum(graph("Mul", totals, ahead), 1)
        totals = graph("Sub", totals, graph("Mul", ahead, lead))
    back = np.argsort(_order_of_ties(model))
    return graph("Gather", totals, back, axis=1) if (np.diff(back) < 0).any() else totals


def _pair_values(graph: Graph, model: Any, values: str) -> str:
    """Return the values of each pair, positive for the second class."""
    if model.classes_.size == 2:
        return values
    if model._one_vs_one:
        return graph("Neg", values)
    return _differences(graph, values, model.classes_.size)


def _differences(graph: Graph, values: str, count: int) -> str:
    """Return the value of the second class minus that of the first, for all pairs."""
    first, second = pairs_of(count)
    unit = np.eye(count)
    return graph("MatMul", values, np.ascontiguousarray((unit[second] - unit[first]).T))


def probabilities(graph: Graph, sigmoids: PairSigmoids, values: str) -> str:
    """Add the probabilities of all classes, from values that are positive for the second one."""
    exponents = graph("Exp", graph("Add", graph("Mul", values, sigmoids.A), sigmoids.B))
    second = graph("Div", 1.0, graph("Add", exponents, 1.0))
    if sigmoids.n_classes == 2:
        return graph("Concat", graph("Sub", 1.0, second), second, axis=1)
    return _coupled(graph, second, sigmoids.n_classes)


def _coupled(graph: Graph, second: str, count: int) -> str:
    """Add what `mercer.calibration.couple_pairs` computes.

    The minimum of p'Qp over p that add up to 1 has Qp + multiplier 1 = 0. Then (Q + 11') p is a
    multiple of 1 too, and that matrix is positive definite, so that elimination needs no pivots.
    """
    least = 1e-7
    clipped = graph("Max", graph("Min", second, 1.0 - least), least)
    first_of, second_of = pairs_of(count)
    # r_ij = P(i | i or j) of all pairs: rows of a matrix that is laid out row by row.
    place = np.zeros((first_of.size, count * count))
    start = np.zeros(count * count)
    pair = np.arange(first_of.size)
    place[pair, second_of * count + first_of] = 1.0
    place[pair, first_of * count + second_of] = -1.0
    start[first_of * count + second_of] = 1.0
    flat = graph("Add", graph("MatMul", clipped, place), start)
    shape = np.array([-1, count, count])
    r = graph("Reshape", flat, shape)
    turned = graph("Transpose", r, perm=[0, 2, 1])
    squares = graph.sum(graph("Mul", r, r), 1)  # of each column
    diagonal = graph("Mul", squares, np.eye(count))
    matrix = graph("Add", graph("Sub", diagonal, graph("Mul", turned, r)), 1.0)
    answer = _solved_for_ones(graph, matrix, count)
    positive = graph("Max", answer, 0.0)
    return graph("Div", positive, graph.sum(positive, 1))


def _solved_for_ones(graph: Graph, matrix: str, count: int) -> str:
    """Add x with A x = 1 for each matrix A, by elimination in all rows at once."""
    ones = graph("Mul", graph.sum(matrix, 2), 0.0)
    system = graph("Concat", matrix, graph("Add", ones, 1.0), axis=2)
    for k in range(count):
        unit = np.zeros((1, count, 1))
        unit[0, k] = 1.0
        column = graph("Gather", system, np.array([k]), axis=2)
        row = graph("Gather", system, np.array([k]), axis=1)
        pivot = graph("Gather", column, np.array([k]), axis=1)
        steps = graph("Div", graph("Sub", column, unit), pivot)
        system = graph("Sub", system, graph("Mul", steps, row))
    return graph("Squeeze", graph("Gather", system, np.array([count]), axis=2), np.array([2]))
