"""Relevance vector classification."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import checked_data, classes_of, fit_context
from mercer._sklearn import StrOptions
from mercer.relevance._basis import Basis
from mercer.relevance._likelihood import Bernoulli, Softmax
from mercer.relevance._machine import RelevanceMachine
from mercer.relevance._model import Fit

Floats = NDArray[np.float64]


class RVC(ClassifierMixin, RelevanceMachine):
    r"""Relevance vector machine for classification: sparse, probabilistic, no C to tune.

    For two classes

    .. math:: P(t = 1 \mid x) = \sigma(f(x)), \qquad f(x) = \sum_m w_m \phi_m(x), \qquad
              w_m \sim N(0, 1/\alpha_m)

    with :math:`\sigma(f) = 1/(1 + e^{-f})`. The evidence :math:`p(t \mid \alpha)`, by Laplace's
    approximation at the most probable weights :math:`\mu`, is maximised over the precisions
    :math:`\alpha_m`. Most of them become infinite, and their functions vanish; the rows whose
    functions remain are the relevance vectors.

    The posterior of the weights, :math:`N(\mu, \Sigma)`, gives mean and variance of f(x). With
    ``output="moderated"`` probabilities are averages over it, in MacKay's approximation

    .. math:: P(t = 1 \mid x) \approx \sigma\bigl(f / \sqrt{1 + \pi v / 8}\bigr), \qquad
              v = \phi(x)^\top \Sigma\, \phi(x).

    More than two classes are one model, :math:`P(t = k) \propto e^{f_k}`, in which every class has
    weights and precisions of its own and one evidence is maximised, or one machine for each class
    against the rest. Moderated probabilities of the first are

    .. math:: P(t = k \mid x) \propto \Bigl[\sum_l \exp\bigl(-(f_k - f_l)
              / \sqrt{1 + \pi v_{kl} / 8}\bigr)\Bigr]^{-1}, \qquad v_{kl} = \mathrm{var}(f_k - f_l),

    which for two classes is the formula above.

    Use it for probabilities and very few vectors from up to some thousand rows. Time grows with the
    rows times all functions that ever take part, faster than that of `SVC`; predictions are the
    fastest of all.

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
    multi_class : {"softmax", "ovr"}, default="softmax"
        More than two classes: one model, or one for each class against the rest, whose
        probabilities are scaled to the sum 1.
    output : {"moderated", "map"}, default="moderated"
        Probabilities averaged over the posterior, or at the most probable weights.
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
    classes_ : ndarray of shape (n_classes,)
        Labels.
    relevance_ : ndarray of shape (n_relevance,)
        Rows of the relevance vectors in the training data; with `centers` rows of these, with
        ``basis="columns"`` columns of X.
    relevance_vectors_ : ndarray or sparse matrix of shape (n_relevance, n_features)
        These rows; empty for columns and for a precomputed kernel.
    mu_ : ndarray of shape (n_weights,)
        Most probable weights: for each output those of its relevance vectors, then its intercept
        if it was chosen. Two classes have one output, more have one each.
    sigma_ : ndarray of shape (n_weights, n_weights)
        Covariance of the weights.
    alpha_ : ndarray of shape (n_weights,)
        Precisions of the prior.
    well_determined_ : ndarray of shape (n_weights,)
        :math:`\gamma_i = 1 - \alpha_i \Sigma_{ii}`, from 0 (by the prior) to 1 (by the data).
    weight_vector_ : ndarray of int of shape (n_weights,)
        The relevance vector to which each weight belongs, -1 for the intercept.
    weight_output_ : ndarray of int of shape (n_weights,)
        The output to which each weight belongs.
    dual_coef_ : ndarray of shape (n_outputs, n_relevance)
        Weights of the relevance vectors, 0 where an output does not use one.
    intercept_ : ndarray of shape (n_outputs,)
        Weights of the constant function, 0 where it was not chosen.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the columns, for ``basis="columns"`` and the linear kernel.
    log_evidence_ : float
        :math:`\ln p(t \mid \alpha)` in Laplace's approximation; one against the rest: the sum.
    history_ : list of dict
        Every step: "action" ("start", "add", "re-estimate", "delete", "widen" or "prune"), "index"
        of the function, "log_evidence" and "n_weights" after it.
        One against the rest: a list of such lists.
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
    mercer.RVR : The same for numbers.
    mercer.PlattClassifier : Probabilities for machines of more rows.
    mercer.GradientSearch : Chooses the kernel by the evidence.

    Notes
    -----
    Both methods aim at the fixed point of :math:`\alpha_i = \gamma_i/\mu_i^2`, which holds the
    curvature of the likelihood fixed. That is not quite a maximum of the approximate evidence,
    which would go on to rise with weights so large that the approximation fails. "fast" takes
    only steps that raise the evidence.

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

    D. J. C. MacKay, "The evidence framework applied to classification networks", Neural
    Computation 4 (1992): moderated outputs.

    A. Verikas, *Some other techniques*, lecture, Halmstad 2013, equations (2) to (9); its sum over
    the prior leaves out the bias, which has a precision here as in Tipping.

    Examples
    --------
    >>> from mercer import RVC
    >>> from mercer.datasets import make_ripley
    >>> X, y = make_ripley(random_state=0)
    >>> model = RVC(gamma=4.0).fit(X, y)
    >>> model.relevance_.size < 13
    True
    >>> model.predict_proba([[-0.7, 0.3], [0.4, 0.8]]).argmax(axis=1)
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RelevanceMachine._shared_constraints,
        "multi_class": [StrOptions({"softmax", "ovr"})],
        "output": [StrOptions({"moderated", "map"})],
    }

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
        multi_class: str = "softmax",
        output: str = "moderated",
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
        self.multi_class = multi_class
        self.output = output
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        RVC
            The fitted classifier.
        """
        X, y = checked_data(self, X, y, ensure_min_samples=2, **self._data_format())
        check_classification_targets(y)
        self._check_square(X)
        weights = self._counts(sample_weight, X)
        kept = np.flatnonzero(weights)
        classes, codes = classes_of(y[kept])
        choice = self._choice(X, kept, weights[kept])
        fits = self._fit_outputs(choice.basis, codes, weights[kept], classes.size)
        self.classes_ = classes
        self._one_vs_rest = len(fits) > 1
        self._store(X, choice, fits)
        return self

    def _fit_outputs(self, basis: Basis, codes: Any, weights: Any, n_classes: int) -> list[Fit]:
        """Return the only model, or one for each class against the rest."""
        if n_classes > 2 and self.multi_class == "softmax":
            return [self._maximise(Softmax(codes, weights, n_classes), basis)]
        positive = [1] if n_classes == 2 else range(n_classes)
        return [
            self._maximise(Bernoulli(np.where(codes == code, 1.0, -1.0), weights), basis)
            for code in positive
        ]

    def decision_function(self, X: Any) -> Floats:
        """Return the values that `predict_proba` turns into probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: the logarithm of the odds of ``classes_[1]``. More: the logarithms of the
            probabilities; one against the rest: the logarithm of the odds of each class.
        """
        means, covariance = self._latent(X, spread=self.output == "moderated")
        if len(means) == 1:
            return _moderate(means, covariance)[0]
        if self._one_vs_rest:
            return np.ascontiguousarray(_moderate(means, covariance).T)
        if covariance is None:
            return np.asarray(log_softmax(means.T, axis=1))
        return _log_averages(means, covariance)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.stack([expit(-values), expit(values)], axis=1)
        if not self._one_vs_rest:
            return np.exp(values)
        shares = np.maximum(expit(values), np.finfo(float).tiny)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        return self.classes_[values.argmax(axis=1)]


def _moderate(means: Floats, covariance: Floats | None) -> Floats:
    """Return the log odds of each output alone, averaged over the posterior where it is given."""
    if covariance is None:
        return means
    variance = np.einsum("kkn->kn", covariance)
    return means / np.sqrt(1.0 + np.pi / 8.0 * variance)


def _log_averages(means: Floats, covariance: Floats) -> Floats:
    """Return the logarithms of averaged probabilities of many classes, from all differences."""
    variance = np.einsum("kkn->kn", covariance)
    of_difference = variance[:, None] + variance[None] - 2.0 * covariance
    scale = np.sqrt(1.0 + np.pi / 8.0 * np.maximum(of_difference, 0.0))
    values = -logsumexp((means[None] - means[:, None]) / scale, axis=1)
    return np.asarray(log_softmax(values.T, axis=1))
