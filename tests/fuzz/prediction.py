"""Decision values are those of the coefficients and the kernel's formula."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .program import Program


def check_prediction(program: Program, model: Any) -> Iterator[str]:
    """Yield by how much values of new rows are off, for machines with one decision value."""
    if program.kind not in ("SVC", "SVR", "OneClassSVM") or model.dual_coef_.shape[0] > 1:
        return
    if model.kernel_.is_pairwise:
        values, coefficients = program.plain[:, model.support_], model.dual_coef_[0]
    else:
        vectors = model.support_vectors_
        vectors = vectors.toarray() if sp.issparse(vectors) else np.asarray(vectors)
        values = np.asarray(model.kernel_(program.plain, vectors)) if len(vectors) else None
        coefficients = model.dual_coef_[0]
    if values is None or not np.isfinite(values).all():
        return
    expected = values @ coefficients + np.ravel(model.intercept_)[0]
    if program.kind == "OneClassSVM":  # rows that rounding cannot tell from the boundary are on it
        expected = np.where(np.abs(expected) <= 2 * model._rounding, 0.0, expected)
    said = model.predict if program.kind == "SVR" else model.decision_function
    found = said(program.given)
    size = float((np.abs(values) @ np.abs(coefficients)).max(initial=0.0))
    reach = float(np.ptp(expected)) if len(expected) else 0.0
    # Float32 products may cost a millionth of the range, sums in another order the last digits.
    allowed = 2e-6 * reach + 1e-11 * (size + abs(float(np.ravel(model.intercept_)[0])))
    if model.kernel in ("rbf", "sigmoid"):  # whose gamma magnifies the rounding of sums of squares
        squared = float((program.plain**2).sum(axis=1).max(initial=0.0))
        share = min(1.0, 1e-14 * model.kernel_.gamma * squared + 1e-15)
        allowed += 2 * share * float(np.abs(coefficients).sum())
    if getattr(model.kernel_, "metric", "") == "euclidean":  # a root of such a difference
        squared = float((program.plain**2).sum(axis=1).max(initial=0.0))
        share = min(1.0, model.kernel_.gamma * float(np.sqrt(1e-15 * squared)))
        allowed += share * float(np.abs(coefficients).sum())
    if program.kind == "OneClassSVM":
        found = np.where(np.abs(found) <= 2 * model._rounding, 0.0, found)
    off = float(np.abs(found - expected).max(initial=0.0))
    if not off <= allowed + 1e-200:  # products of tiny numbers vanish
        yield f"decision values off by {off:.3g}, allowed {allowed:.3g}"
