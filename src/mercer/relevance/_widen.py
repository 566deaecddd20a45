"""A second look at the choice of functions, from the side of many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.relevance._classic import fixed_point_step
from mercer.relevance._model import SparseModel, even_model
from mercer.relevance._scores import Scorer

Floats = NDArray[np.float64]

WIDENED = 100
WIDENED_MORE = 500
MANY = 400
"""Functions that are added, and how many from so many functions on: where there are many, the few
best ones alone are too much alike."""

MOST_STEPS = 60
SETTLED = 0.1
"""Change of the logarithms of the precisions below which the rest is left to Newton's method."""

ROUGH = 1e-5
"""Decrement at which Newton's method stops on the way."""

LARGEST = 1e3
"""A function goes where its precision exceeds what the data say about it so many times."""


def widened(model: SparseModel, scorer: Scorer, tol: float, most_precision: float) -> SparseModel:
    r"""Return the model that is left of this one and many more functions.

    Those with the largest :math:`q^2/s` are added, of which few or none would raise the evidence
    alone. All start with equal precisions for their scales and go the way of the classic iteration,
    so that functions which were chosen first are not preferred. Those that contribute less than
    the tolerance go.

    Parameters
    ----------
    model : SparseModel
    scorer : Scorer
    tol, most_precision : float
        As in `fit_fast`.
    """
    p = model.posterior
    scores = scorer.score(model)
    ratio = np.divide(scores.q**2, scores.s, out=np.zeros_like(scores.q), where=scores.s > 0)
    # Rounded, so that noise in the last digits does not choose.
    count = WIDENED if ratio.size < MANY else WIDENED_MORE
    order = np.argsort(-np.round(ratio, 9), axis=None, kind="stable")[:count]
    outputs, indices = np.unravel_index(order[ratio.ravel()[order] > 0], ratio.shape)
    wide = even_model(
        p.likelihood,
        np.append(model.indices, indices),
        np.append(p.outputs, outputs),
        np.concatenate([p.rows, scorer.basis.rows(indices)]),
        np.append(p.mean, np.zeros(indices.size)),
    )
    for _ in range(MOST_STEPS):
        before = wide.size
        wide, change = fixed_point_step(wide, most_precision, LARGEST, ROUGH)
        if wide.size == before and change < SETTLED:
            break
    return _without_weak(wide.with_alpha(wide.posterior.alpha), tol)


def _without_weak(model: SparseModel, tol: float) -> SparseModel:
    while model.size:
        losses, _ = contributions(model)
        weakest = int(losses.argmin())
        if losses[weakest] >= tol:
            break
        model = model.only(np.arange(model.size) != weakest)
    return model


def contributions(model: SparseModel) -> tuple[Floats, Any]:
    """Return what each chosen function adds to the log evidence, and which would better go."""
    p = model.posterior
    variance = np.einsum("ij,ij->j", p.whitening, p.whitening)
    q2 = (p.mean / variance) ** 2
    return 0.5 * (np.log(p.alpha * variance) + q2 * variance), q2 <= 1.0 / variance - p.alpha
