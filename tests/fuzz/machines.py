"""The quadratic programs behind a fitted estimator, stated a second time, and its answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mercer.problems import (
    QuadraticProgram,
    epsilon_svr,
    hinge_svc,
    one_class,
    squared_epsilon_svr,
    squared_hinge_svc,
    squared_svdd,
    svdd,
)

from .program import Program


@dataclass
class Machine:
    """A program, its matrix, and the point that a fit has found."""

    name: str
    program: QuadraticProgram
    matrix: np.ndarray
    beta: np.ndarray
    offset: float | None
    """None where the fit states none."""
    allowed: float
    """How far the optimality conditions may be violated."""
    objective: float | None = None
    """What the fit says of itself."""


def machines_of(program: Program, model: Any) -> Iterator[Machine]:
    """Yield the machines of an `SVC`, `SVR`, `OneClassSVM` or `SVDD`, rows without weight left out.

    The matrix is that of the kernel's formula in NumPy, not of the engine.
    """
    kept = np.flatnonzero(program.data.weights)
    K, weights = kernel_matrix(program, model, kept), program.data.weights[kept]
    for machine in MAKERS[program.kind](program, model, kept, K, weights):
        machine.beta = _without_rounding(machine)
        yield machine


def kernel_matrix(program: Program, model: Any, kept: np.ndarray) -> np.ndarray:
    """Return the matrix of some rows by the kernel's formula in NumPy."""
    rows = program.plain[np.ix_(kept, kept)] if model.kernel_.is_pairwise else program.plain[kept]
    K = rows if model.kernel_.is_pairwise else np.asarray(model.kernel_(rows), dtype=np.float64)
    if not np.isfinite(K).all():
        raise FloatingPointError(
            "the kernel's formula gives no finite matrix, and yet there is a fit"
        )
    return K


def _without_rounding(machine: Machine) -> np.ndarray:
    """Return the point with what units have moved by the last digits moved back to the bounds."""
    lower, upper = machine.program.lower, machine.program.upper
    beta = machine.beta
    near = 1e-13 * np.abs(beta)
    beta = np.where(np.abs(beta - upper) <= near, upper, beta)
    return np.where(np.abs(beta - lower) <= near, lower, beta)


def _spread(model: Any, row: int, n: int) -> np.ndarray:
    """Return the coefficients of one machine for all rows."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[row]
    return beta


def _classifiers(
    program: Program, model: Any, kept: Any, K: Any, weights: Any
) -> Iterator[Machine]:
    codes = np.searchsorted(model.classes_, np.asarray(program.y)[kept])
    k, n = len(model.classes_), len(program.plain)
    prices = model.C * weights * class_factors(model, codes, k, weights)
    formulate = hinge_svc if model.loss == "hinge" else squared_hinge_svc
    one_vs_one = k > 2 and model.multi_class == "ovo"
    pairs: list[Any] = (
        list(combinations(range(k), 2)) if one_vs_one else [(j, None) for j in range(k)]
    )
    pairs = [(1, 0)] if k == 2 else pairs
    for number, (first, second) in enumerate(pairs):
        inside = (codes == first) | (np.full(len(codes), second is None) | (codes == second))
        part = np.flatnonzero(inside)
        if one_vs_one:
            in_first = np.isin(np.arange(n), kept[codes == first])
            beta = np.where(in_first, _spread(model, second - 1, n), _spread(model, first, n))
        else:
            beta = _spread(model, number, n)
        signs = np.where(codes[part] == first, 1.0, -1.0)
        yield Machine(
            f"machine {number}",
            formulate(signs, prices[part]),
            K[np.ix_(part, part)],
            beta[kept[part]],
            float(model.intercept_[number]),
            model.tol,
            float(model.objective_[number]),
        )


def class_factors(model: Any, codes: np.ndarray, k: int, weights: np.ndarray) -> Any:
    """Return by what the price of each row is multiplied on behalf of its class."""
    if model.class_weight is None:
        return 1.0
    totals = np.bincount(codes, weights, minlength=k)
    return (weights.sum() / (k * totals))[codes]


def _regression(program: Program, model: Any, kept: Any, K: Any, weights: Any) -> Iterator[Machine]:
    squared = model.loss == "squared_epsilon_insensitive"
    formulate = squared_epsilon_svr if squared else epsilon_svr
    beta = _spread(model, 0, len(program.plain))[kept]
    yield Machine(
        "machine",
        formulate(program.y[kept], model.C * weights, model.epsilon),
        np.tile(K, (2, 2)),
        np.concatenate([np.maximum(beta, 0), np.minimum(beta, 0)]),
        float(np.ravel(model.intercept_)[0]),
        model.tol,
        float(model.objective_[0]),
    )


def _one_class(program: Program, model: Any, kept: Any, K: Any, weights: Any) -> Iterator[Machine]:
    unit = model.nu * weights.sum()
    stated = one_class(len(kept), model.nu, weights)
    units = QuadraticProgram(stated.p, 0.0, unit * stated.upper, delta=unit, ridge=0.0)
    beta = _spread(model, 0, len(program.plain))[kept]
    yield Machine("machine", units, K, beta, float(model.intercept_[0]), model.tol)


def _balls(program: Program, model: Any, kept: Any, K: Any, weights: Any) -> Iterator[Machine]:
    allowed = model.nu * weights.sum()
    price = 1 / allowed if allowed > 1e-12 else np.inf
    bounded = model.loss == "hinge" or np.isinf(price)
    formulate = svdd if bounded else squared_svdd
    stated = formulate(np.diag(K), price * weights)
    unit = max(1.0, 1.0 / price) if bounded else 1.0
    # No estimate of the variance, in whose units tol is, can be larger than the largest distance.
    distances = np.diag(K) - 2 * K.mean(axis=1) + K.mean()
    if distances.max() <= 1e-12 * np.abs(K).max():
        return  # all rows are one point, and tol has no unit
    beta = _spread(model, 0, len(program.plain))[kept]
    yield Machine("ball", stated, K, beta, None, model.tol * float(distances.max()) / unit)


MAKERS = {
    "SVC": _classifiers,
    "SVR": _regression,
    "OneClassSVM": _one_class,
    "SVDD": _balls,
}
"""Which kinds are programs that can be stated again."""
