"""The iteration of the first publication: from all functions downwards."""

from __future__ import annotations

import numpy as np

from mercer.relevance._basis import Basis
from mercer.relevance._likelihood import Gaussian, Likelihood
from mercer.relevance._model import Fit, SparseModel, full_model
from mercer.relevance._posterior import SMALLEST_DECREMENT

LARGEST = 1e8
"""A function is pruned where its precision exceeds what the data say about it so many times."""

TINY = float(np.finfo(np.float64).tiny)


def fit_classic(
    likelihood: Likelihood,
    basis: Basis,
    *,
    tol: float,
    max_iter: int,
    most_precision: float = np.inf,
) -> Fit:
    r"""Re-estimate all precisions again and again, and prune those that go to infinity.

    .. math:: \alpha_i \leftarrow \gamma_i / w_i^2, \qquad \gamma_i = 1 - \alpha_i \Sigma_{ii},
              \qquad \beta \leftarrow \Bigl(N - \sum_i \gamma_i\Bigr) / \lVert t - \Phi w\rVert^2

    are equations (8) and (9) of the document, and the noise of regression. Each step takes a
    Cholesky factor as large as the number of functions left. A change of the logarithms by d is
    one of the log evidence of the order of :math:`d^2`; since convergence is slow, it stops where
    none of them changes by more than a tenth of the square root of ``tol``.

    Parameters
    ----------
    likelihood : Likelihood
    basis : Basis
    tol : float
    max_iter : int
    most_precision : float
        Largest precision of the noise.

    Returns
    -------
    Fit
    """
    fit = Fit(full_model(likelihood, basis))
    for _ in range(max_iter):
        model, change = fixed_point_step(fit.model, most_precision)
        pruned = model.size < fit.model.size
        fit.move(model, "prune" if pruned else "re-estimate")
        fit.gain_left = np.inf if pruned else 0.5 * change**2
        if not pruned and change <= 0.1 * np.sqrt(tol):
            fit.converged = True
            break
    return fit


def fixed_point_step(
    model: SparseModel,
    most_precision: float,
    largest: float = LARGEST,
    decrement: float = SMALLEST_DECREMENT,
) -> tuple[SparseModel, float]:
    """Re-estimate all precisions, and prune.

    Parameters
    ----------
    model : SparseModel
    most_precision : float
        Largest precision of the noise.
    largest : float
        Functions go whose precision exceeds what the data say about them so many times.
    decrement : float
        How exact the weights have to be; see `find_posterior`.

    Returns
    -------
    model : SparseModel
    change : float
        Largest change of a logarithm.
    """
    p = model.posterior
    with np.errstate(divide="ignore", over="ignore"):
        alpha = np.maximum(p.well_determined, TINY) / p.mean**2
    kept = alpha < largest * np.maximum(p.products.diagonal(), TINY)
    change = float(np.abs(np.log(alpha[kept]) - np.log(p.alpha[kept])).max(initial=0.0))
    precision = None
    if isinstance(p.likelihood, Gaussian):
        left = max(p.likelihood.count - float(p.well_determined.sum()), 1e-12)
        error = max(p.likelihood.squared_error(p.f), left / most_precision)
        precision = left / error
        change = max(change, abs(float(np.log(precision / p.likelihood.precision))))
    if kept.all():
        return model.with_alpha(alpha, precision, decrement=decrement), change
    return model.only(kept, alpha[kept], precision, decrement), change
