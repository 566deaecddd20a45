"""A joint step in the logarithms of all precisions, uphill in the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from mercer.relevance._likelihood import Gaussian
from mercer.relevance._model import SparseModel

Floats = NDArray[np.float64]

LONGEST = 3.0
"""Largest change of a logarithm in one step."""

LENGTHS = (1.0, 0.3, 0.1)
"""Shares of a step that are tried, one after the other."""

DAMPINGS = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


@dataclass(frozen=True, eq=False)
class NewtonStep:
    r"""A direction in :math:`\ln\alpha`, and last in :math:`\ln\beta` where noise is estimated.

    Parameters
    ----------
    direction : ndarray
    gain : float
        By how much the log evidence is expected to rise.
    """

    direction: Floats
    gain: float


def evidence_slope(model: SparseModel) -> Floats:
    r"""Return the derivatives of the log evidence in :math:`\ln\alpha` (and :math:`\ln\beta`).

    .. math::

        \frac{\partial L}{\partial\ln\alpha_i} = \tfrac12\bigl(\gamma_i - \alpha_i w_i^2\bigr),
        \qquad
        \frac{\partial L}{\partial\ln\beta} = \tfrac12\bigl(N - \textstyle\sum_i\gamma_i
            - \beta\lVert t - \Phi w\rVert^2\bigr)

    The curvature B of the likelihood is held fixed, as in Tipping's updates. For normal noise it is
    constant. For classes it moves with the most probable weights, and evidence is to be had by
    weights so large that B vanishes; to follow it there is to trust Laplace's approximation where
    it is worst, and overfits where classes are nearly separable.
    """
    p = model.posterior
    slope = 0.5 * (p.well_determined - p.alpha * p.mean**2)
    if isinstance(p.likelihood, Gaussian):
        error = p.likelihood.precision * p.likelihood.squared_error(p.f)
        noise = 0.5 * (p.likelihood.count - float(p.well_determined.sum()) - error)
        slope = np.append(slope, noise)
    return slope


def propose(model: SparseModel, held: Any = ()) -> NewtonStep:
    """Return a Newton step, damped where the evidence is not concave.

    Parameters
    ----------
    model : SparseModel
    held : array-like of int
        Coordinates that stay as they are; -1 is the noise of a regression.
    """
    slope = evidence_slope(model)
    curvature = _evidence_curvature(model)
    held = np.asarray(held, dtype=np.int64)
    slope[held], curvature[held], curvature[:, held] = 0.0, 0.0, 0.0
    curvature[held, held] = 1.0
    if slope.size == 0:
        return NewtonStep(slope, 0.0)
    for damping in DAMPINGS:
        matrix = curvature.copy()
        matrix[np.diag_indices(slope.size)] += damping + 1e-9
        lower, failed = lapack.dpotrf(matrix, lower=1, clean=1)
        if failed:
            continue
        direction = np.clip(lapack.dpotrs(lower, slope, lower=1)[0], -LONGEST, LONGEST)
        if slope @ direction > 0:
            break
    else:
        direction = np.clip(slope, -LONGEST, LONGEST)
    return NewtonStep(direction, 0.5 * float(slope @ direction))


def follow(model: SparseModel, step: NewtonStep, most_precision: float) -> SparseModel | None:
    """Return the model after as much of a step as raises the evidence, None where nothing does."""
    p = model.posterior
    for length in LENGTHS:
        change = np.exp(length * step.direction)
        precision = None
        if isinstance(p.likelihood, Gaussian):
            precision = min(p.likelihood.precision * float(change[-1]), most_precision)
        alpha = p.alpha * change[: model.size]
        # To first order the weights follow the precisions so.
        start = p.mean - p.solve(p.alpha * p.mean * length * step.direction[: model.size])
        trial = model.with_alpha(alpha, precision, start)
        if trial.log_evidence > model.log_evidence:
            return trial
    return None


def _evidence_curvature(model: SparseModel) -> Floats:
    r"""Return the second derivatives times -1, with the curvature of the likelihood held fixed.

    They follow from :math:`dw = \Sigma A (w\,d\ln\beta - w\,d\ln\alpha)` and
    :math:`d\Sigma = -\Sigma\,(\beta\Phi^\top\Phi\,d\ln\beta + A\,d\ln\alpha)\Sigma`, and are exact
    for normal noise.
    """
    p = model.posterior
    scaled = p.alpha[:, None] * p.covariance  # A Sigma
    pull = p.alpha * p.mean  # A w
    mixed = scaled * scaled.T + 2.0 * np.outer(pull, pull) * p.covariance
    mixed[np.diag_indices(model.size)] -= scaled.diagonal() + pull * p.mean
    curvature = -0.5 * mixed
    if not isinstance(p.likelihood, Gaussian):
        return curvature
    # With the noise as last coordinate.
    traces = scaled.diagonal() - np.einsum("ij,ji->i", scaled, scaled)
    spread = p.covariance @ pull
    border = 0.5 * traces - pull * spread
    error = p.likelihood.precision * p.likelihood.squared_error(p.f)
    corner = 0.5 * (-float(traces.sum()) - error + 2.0 * float(pull @ spread))
    return np.block([[curvature, -border[:, None]], [-border[None], np.array([[-corner]])]])
