"""Relevance vector regression."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._inputs import checked_data, fit_context
from mercer.relevance._likelihood import Gaussian
from mercer.relevance._machine import RelevanceMachine

FIRST_NOISE = 0.1
"""Noise variance to start from, as a share of that of the targets."""

LEAST_NOISE = 1e-8
"""Smallest noise variance, as a share of that of the targets: without noise the evidence has no
maximum."""


class RVR(RegressorMixin, RelevanceMachine):
    r"""Relevance vector machine for regression.

    .. math:: t_n = \sum_m w_m \phi_m(x_n) + \varepsilon_n, \qquad
              \varepsilon_n \sim N(0, 1/\beta), \qquad w_m \sim N(0, 1/\alpha_m)

    Every weight has a precision :math:`\alpha_m` of its own. Those that maximise the evidence
    :math:`p(t \mid \alpha, \beta)` are infinite for most functions, which thereby vanish; the noise
    is estimated with them. The few rows whose functions remain are the relevance vectors. The
    prediction is normal, with the variance of the noise and that of the weights,

    .. math:: y(x) = \phi(x)^\top \mu, \qquad
              \sigma^2(x) = 1/\beta + \phi(x)^\top \Sigma\, \phi(x).

    Use it for predictions with a deviation, from very few vectors, on up to some thousand rows. Far
    from the data the deviation is that of the noise and the intercept only, which is too small.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel from
        `mercer.kernels`, a scikit-learn Gaussian-process kernel, or a function of X and Y. It need
        not be positive semi-definite.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Width of "rbf", "laplacian", "poly" and "sigmoid".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    basis : {"kernel", "columns"}, default="kernel"
        The functions to choose from: the kernel at the training rows (each distinct row once) or
        at `centers`; or the columns of X themselves, which makes a sparse Bayesian linear model
        that tells which columns are relevant. The kernel then does not matter.
    centers : array-like of shape (n_centers, n_features) or None, default=None
        Where the kernel functions sit; None means at the training rows.
    fit_intercept : bool, default=True
        Whether the constant function is one of those to choose from.
    method : {"fast", "classic"}, default="fast"
        "fast" starts with no function and adds, re-estimates and deletes; the evidence never
        decreases. "classic" starts with all of them, which takes time of the order of their number
        cubed, and prunes. See the notes.
    tol : float, default=1e-2
        Stop where no step promises to raise the log evidence by more than this. A smaller one
        brings functions that hardly matter.
    max_iter : int, default=10000
        Most steps.
    cache_size : float, default=500
        Megabytes up to which the values of all functions are kept. Beyond, they are computed anew
        in each pass.
    n_jobs : int or None, default=None
        Threads of the linear algebra in a fit; None is one, since most products are small, and -1
        all processors.
    verbose : bool, default=False
        Whether to print a line after the fit.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevance,)
        Rows of the relevance vectors in the training data; with `centers` rows of these, with
        ``basis="columns"`` columns of X.
    relevance_vectors_ : ndarray or sparse matrix of shape (n_relevance, n_features)
        These rows; empty for columns and for a precomputed kernel.
    mu_ : ndarray of shape (n_weights,)
        Mean of the weights: those of the relevance vectors, then the intercept if it was chosen.
    sigma_ : ndarray of shape (n_weights, n_weights)
        Covariance of the weights.
    alpha_ : ndarray of shape (n_weights,)
        Precisions of the prior.
    well_determined_ : ndarray of shape (n_weights,)
        :math:`\gamma_i = 1 - \alpha_i \Sigma_{ii}`, from 0 (by the prior) to 1 (by the data).
    weight_vector_ : ndarray of int of shape (n_weights,)
        The relevance vector to which each weight belongs, -1 for the intercept.
    weight_output_ : ndarray of int of shape (n_weights,)
        0 for every weight.
    dual_coef_ : ndarray of shape (1, n_relevance)
        Weights of the relevance vectors.
    intercept_ : ndarray of shape (1,)
        The weight of the constant function, 0 if it was not chosen.
    coef_ : ndarray of shape (1, n_features)
        Weights of the columns, for ``basis="columns"`` and the linear kernel.
    noise_ : float
        Standard deviation of the noise, :math:`1/\sqrt\beta`. It is kept above
        :math:`10^{-4}` of that of the targets.
    log_evidence_ : float
        :math:`\ln p(t \mid \alpha, \beta)`.
    history_ : list of dict
        Every step: "action" ("start", "add", "re-estimate", "delete", "widen" or "prune"), "index"
        of the function, "log_evidence" and "n_weights" after it.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether `tol` was reached.
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.RVC : The same for classes.
    mercer.SVR : For more rows, and for targets some of which are wrong.

    Notes
    -----
    The evidence has many local maxima. "classic" comes from the side of all functions. "fast" comes
    from that of few, then looks a second time from the side of the hundred that promise most, and
    keeps what is better. On twenty problems with up to 100 rows their log evidence differed by less
    than 0.1 % on eighteen and by 0.9 % at most, in favour of "classic"; with more rows they end in
    different maxima, of which either may be the higher. With ``basis="columns"`` both find the
    same.

    References
    ----------
    M. E. Tipping, "Sparse Bayesian learning and the relevance vector machine", JMLR 1 (2001).

    M. E. Tipping, A. C. Faul, "Fast marginal likelihood maximisation for sparse Bayesian models",
    AISTATS (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RVR
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> rng = np.random.default_rng(0)
    >>> y = np.sinc(X.ravel() / np.pi) + 0.1 * rng.normal(size=100)
    >>> model = RVR(gamma=0.1).fit(X, y)
    >>> model.relevance_.size < 10, round(model.noise_, 1)
    (True, 0.1)
    >>> mean, deviation = model.predict([[0.0], [100.0]], return_std=True)
    >>> bool(deviation.min() >= model.noise_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = RelevanceMachine._shared_constraints

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        basis: str = "kernel",
        centers: Any = None,
        fit_intercept: bool = True,
        method: str = "fast",
        tol: float = 1e-2,
        max_iter: int = 10_000,
        cache_size: float = 500,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.basis = basis
        self.centers = centers
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        RVR
            The fitted regression.
        """
        X, y = checked_data(self, X, y, y_numeric=True, **self._data_format())
        self._check_square(X)
        weights = self._counts(sample_weight, X)
        kept = np.flatnonzero(weights)
        target, weights = np.asarray(y, dtype=np.float64)[kept], weights[kept]
        choice = self._choice(X, kept, weights)
        variance = _spread(target, weights)
        start = Gaussian(target, weights, 1.0 / (FIRST_NOISE * variance))
        fit = self._maximise(start, choice.basis, 1.0 / (LEAST_NOISE * variance))
        likelihood = fit.model.posterior.likelihood
        assert isinstance(likelihood, Gaussian)
        self.noise_ = float(1.0 / np.sqrt(likelihood.precision))
        self._store(X, choice, [fit])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of the prediction, and its standard deviation if asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.
        return_std : bool, default=False
            Whether to return the standard deviation, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        deviation : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        mean, covariance = self._latent(X, spread=return_std)
        if covariance is None:
            return mean[0]
        return mean[0], np.sqrt(self.noise_**2 + covariance[0, 0])


def _spread(target: Any, weights: Any) -> float:
    """Return the variance of the targets, or a number above 0 where all are equal."""
    with np.errstate(over="ignore"):
        mean = np.average(target, weights=weights)
        variance = float(np.average((target - mean) ** 2, weights=weights))
        square = float(mean * mean)
        total = float(np.sum(weights)) * (variance + square)  # of which errors are a part
    if np.any(target) and not (LEAST_SQUARE <= variance + square and total < np.inf):
        raise ValueError(
            f"The squares of y must be finite and at least {LEAST_SQUARE:g}; multiply y by a "
            "constant."
        )
    return variance if variance > 1e-12 * square else square or 1.0


LEAST_SQUARE = 1e-280
"""Variances and squared means of y below this leave no room for a noise that is smaller still."""
