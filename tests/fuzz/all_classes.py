"""The program of all classes at once: its optimality conditions, stated a second time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .machines import class_factors, kernel_matrix
from .optimality import kernel_rounding
from .program import Program


def check_all_classes(program: Program, model: Any) -> Iterator[str]:
    """Yield what is wrong with the solution of a `CrammerSingerSVC`.

    With G = K alpha + e, e being 0 for the class of a row and 1 for others, a row is optimal where
    no multiplier below its bound has a G smaller than the largest of the row. Then by convexity so
    is the point: another is better by at most that violation times what lies between them.
    """
    if program.kind != "CrammerSingerSVC" or program.may_be_indefinite:
        return
    kept = np.flatnonzero(program.data.weights)
    codes = np.searchsorted(model.classes_, np.asarray(program.y)[kept])
    n, k = codes.size, len(model.classes_)
    own = (np.arange(n), codes)
    weights, K = program.data.weights[kept], kernel_matrix(program, model, kept)
    upper = np.zeros((n, k))
    upper[own] = model.C * weights * class_factors(model, codes, k, weights)
    alpha = np.zeros((len(program.plain), k))
    alpha[model.support_] = model.dual_coef_.T
    alpha = alpha[kept]
    yield from _feasible(alpha, upper)
    constant = model.intercept_scaling**2 if model.fit_intercept else 0.0
    costs = np.ones((n, k))
    costs[own] = 0.0
    sums = (K + constant) @ alpha
    gradient = sums + costs
    size = float(np.abs(alpha).sum(axis=0).max())
    noise = 5e-14 * ((np.abs(K).max() + constant) * size + 1.0)
    noise += kernel_rounding(program, model) * size
    _finite(noise)
    yield from _offsets(model, constant * alpha.sum(axis=0), 1e-12 * constant * size)
    if not model.converged_:
        return
    near = upper - alpha <= 1e-13 * upper.max(axis=1, keepdims=True)
    lowest = np.where(near, np.inf, gradient).min(axis=1)
    gap = float(np.maximum(0.0, gradient.max(axis=1) - lowest).max())
    if not gap <= model.tol * (1 + 1e-6) + 2 * noise:
        yield f"conditions violated by {gap:.3g}, allowed {model.tol:.3g} + {2 * noise:.2g}"
    value = 0.5 * float(np.vdot(alpha, sums)) + float(np.vdot(alpha, costs))
    slip = noise * float(np.abs(alpha).sum()) + 1e-12 * abs(value) + 1e-300
    if not abs(model.objective_ - value) <= slip:
        yield f"objective_ is {model.objective_!r}, the point's {value!r}"
    slack = np.maximum(0.0, gradient.max(axis=1) - gradient[own])
    off = float(np.abs(model.slack_[kept] - slack).max())
    if not off <= 2 * noise:
        yield f"slack_ is off by {off:.3g}, allowed {2 * noise:.2g}"


def _feasible(alpha: np.ndarray, upper: np.ndarray) -> Iterator[str]:
    """Yield how far multipliers are beyond their bounds, or rows do not sum to zero."""
    beyond = (alpha - upper) / np.maximum(upper.max(axis=1, keepdims=True), 1e-300)
    if not beyond.max() <= 1e-12:
        yield f"a multiplier is beyond its bound by {beyond.max():.3g} of it"
    off, size = np.abs(alpha.sum(axis=1)), np.abs(alpha).sum(axis=1)
    if not (off <= 1e-11 * (size + upper.max(axis=1))).all():
        yield f"the multipliers of a row sum to {off.max():.3g}"


def _offsets(model: Any, expected: np.ndarray, allowed: float) -> Iterator[str]:
    off = float(np.abs(model.intercept_ - expected).max())
    if not off <= allowed + 1e-300:
        yield f"intercept_ is off by {off:.3g}, allowed {allowed:.2g}"


def _finite(noise: float) -> None:
    if not np.isfinite(noise):
        raise FloatingPointError("kernel values times multipliers overflow, and yet there is a fit")
