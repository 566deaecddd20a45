"""The evidence of a relevance vector machine as a function of its kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import checked_rows, checked_weights, class_codes
from mercer._threads import holds_blas
from mercer.relevance._likelihood import Bernoulli, Gaussian, Likelihood, Softmax
from mercer.relevance._posterior import Posterior, find_posterior
from mercer.relevance.rvc import RVC
from mercer.relevance.rvr import RVR

Floats = NDArray[np.float64]


class Evidence(NamedTuple):
    """Logarithm of the evidence and its slope in the logarithms of the kernel's parameters.

    Attributes
    ----------
    value : float
        Larger is better.
    gradient : ndarray of shape (p,) or None
        None where it was not asked for.
    names : tuple of str
        The parameters, as in ``kernel.theta_names``.
    """

    value: float
    gradient: Floats | None
    names: tuple[str, ...]


@holds_blas
def relevance_evidence(
    model: RVC | RVR,
    X: Any,
    y: Any,
    *,
    kernel: Any = None,
    gradient: bool = True,
    sample_weight: Any = None,
) -> Evidence:
    r"""Log evidence of a fitted machine, and how it changes with the kernel.

    The relevance vectors, the precisions :math:`\alpha` and the noise are held fixed; the weights
    and, for classes, the curvature B of the likelihood follow the kernel. With residuals r (the
    slope of the log likelihood), :math:`\Sigma = (\Phi^\top B\Phi + A)^{-1}`,
    :math:`z = -\tfrac12\,\partial\,\mathrm{tr}(\Phi\Sigma\Phi^\top B)/\partial f` and
    :math:`d = \Sigma\Phi^\top z`,

    .. math::

        dL = \bigl\langle r w^\top - B\Phi\Sigma + (z - B\Phi d)\,w^\top + r d^\top,
             \; d\Phi \bigr\rangle .

    For normal noise z and d are 0, and where the fit is a maximum of the evidence this is the
    slope of the maximum itself. The matrix on the left has as many columns as there are relevance
    vectors, so that a gradient costs little even for one width a feature.

    Parameters
    ----------
    model : RVC or RVR
        Fitted, with kernel functions.
    X, y : array-like
        The training data.
    kernel : Kernel or None, default=None
        Where to evaluate; None is the kernel of the model.
    gradient : bool, default=True
        Whether the gradient is wanted.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights it was fitted with.

    Returns
    -------
    Evidence
        One against the rest: the sum over the machines.

    References
    ----------
    M. E. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 1 (2001),
    appendix C. C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*,
    MIT Press 2006, section 5.5.1, for the part of the curvature.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RVR
    >>> from mercer.relevance import relevance_evidence
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X.ravel() / np.pi) + 0.1 * np.random.default_rng(0).normal(size=100)
    >>> model = RVR(gamma=0.05).fit(X, y)
    >>> evidence = relevance_evidence(model, X, y)
    >>> bool(np.isclose(evidence.value, model.log_evidence_))
    True
    >>> evidence.names, bool(evidence.gradient[0] > 0)  # a larger gamma is better
    (('gamma',), True)
    """
    check_is_fitted(model)
    if model.basis == "columns" or model.kernel_.is_pairwise:
        raise ValueError(
            "The evidence is a function of the kernel only where the basis consists of kernel "
            "functions of points; this model has columns of a matrix."
        )
    X = checked_rows(model, X, **model._data_format())
    weights = checked_weights(sample_weight, X)
    kept = np.flatnonzero(weights)
    kernel = model.kernel_ if kernel is None else kernel
    rows = model._functions(X[kept], kernel)
    value, slopes = 0.0, np.zeros((model.relevance_.size + 1, kept.size))
    for likelihood, own, outputs in _machines(model, np.asarray(y)[kept], weights[kept]):
        posterior = find_posterior(
            likelihood, rows[own], outputs, model.alpha_[own], model.mu_[own]
        )
        value += posterior.log_evidence
        if gradient:
            np.add.at(slopes, model.weight_vector_[own], _slope_in_functions(posterior))
    slope = None
    if gradient:  # the last row is that of the constant function, which no parameter moves
        slope = kernel.contract_gradient(X[kept], slopes[:-1].T, model.relevance_vectors_)
    return Evidence(value, slope, tuple(kernel.theta_names))


def _slope_in_functions(p: Posterior) -> Floats:
    """Return the derivatives of the log evidence in the values of each weight's function."""
    slope = np.empty_like(p.rows)
    turned = p.skew - p.curved(p.drift)
    for k in range(p.likelihood.n_outputs):
        own = p.outputs == k
        slope[own] = np.outer(p.mean[own], p.residual[k] + turned[k])
        slope[own] += np.outer(p.drift[own], p.residual[k])
        slope[own] -= p.covariance[own] @ (p.rows * p.curvature[p.outputs, k])
    return slope


def _machines(model: RVC | RVR, y: Any, weights: Floats) -> list[tuple[Likelihood, Any, Any]]:
    """Return the likelihood of each machine, which weights are its own, and their outputs."""
    everything = np.full(model.mu_.size, True)
    if isinstance(model, RVR):
        target = np.asarray(y, dtype=np.float64)
        likelihood = Gaussian(target, weights, model.noise_**-2)
        return [(likelihood, everything, model.weight_output_)]
    codes, n_classes = class_codes(y, model.classes_), model.classes_.size
    if n_classes > 2 and not model._one_vs_rest:
        return [(Softmax(codes, weights, n_classes), everything, model.weight_output_)]
    machines: list[tuple[Likelihood, Any, Any]] = []
    for k, code in enumerate([1] if n_classes == 2 else range(n_classes)):
        own = model.weight_output_ == k
        likelihood_of_class = Bernoulli(np.where(codes == code, 1.0, -1.0), weights)
        machines.append((likelihood_of_class, own, np.zeros(own.sum(), dtype=np.int64)))
    return machines
