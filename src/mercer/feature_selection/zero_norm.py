"""Linear machines with few weights that are not 0."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context
from mercer._sklearn import HasMethods, Interval
from mercer._threads import holds_blas
from mercer.svm import SVC

Floats = NDArray[np.float64]

MOST_UNSOLVED = 5
"""Rounds in a row whose machine gave up before its tolerance; more would tell nothing new."""


class ZeroNormSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Approximate minimisation of the number of weights that are not 0 (AROM).

    :math:`\lVert w\rVert_0` is replaced by :math:`\sum_i \ln(\epsilon + |w_i|)`, whose minimum is
    approached by training linear machines on rescaled features:

    .. math:: z \leftarrow z * |w|, \qquad w = \text{weights on } X * z,

    from z = 1 on. Features lose their scale, most of them all of it; those with z = 0 are left out.

    Use it where there are thousands of columns, few rows and classes that a plane divides, as for
    genes. It costs a fit of a linear machine for each round.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A linear machine with ``coef_``; None is ``SVC(kernel="linear")``. With several rows of
        weights (many classes) the length of a column counts.
    n_features_to_select : int or None, default=None
        With a number, as soon as no more than that many scales are above ``threshold``, the
        features with the largest scales are taken; None iterates until the scales settle.
    threshold : float, default=1e-6
        Scales below this share of the largest count as 0.
    max_iter : int, default=50
        Limit of the machines trained.

    Attributes
    ----------
    scales_ : ndarray of shape (n_features,)
        z, the largest 1.
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    order_ : ndarray of int of shape (n_features,)
        All features, the best first: those that lost their scale last.
    n_iter_ : int
        Machines trained.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.KernelRFE : Elimination with any kernel.

    References
    ----------
    J. Weston, A. Elisseeff, B. Schölkopf, M. Tipping, "Use of the zero-norm with linear models and
    kernel methods", JMLR 3 (2003).

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.1.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import ZeroNormSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 200))
    >>> y = X[:, 3] - X[:, 50] + X[:, 120] > 0
    >>> ZeroNormSelector().fit(X, y).get_support(indices=True)
    array([  3,  50, 120])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "n_features_to_select": [None, Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | None = None,
        threshold: float = 1e-6,
        max_iter: int = 50,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.max_iter = max_iter

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any) -> Self:
        """Find the scales and choose the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ZeroNormSelector
            The fitted selector.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        wanted = self.n_features_to_select
        if wanted is not None and wanted > X.shape[1]:
            raise ValueError(f"n_features_to_select={wanted} is more than there are, {X.shape[1]}.")
        scales, last = np.ones(X.shape[1]), np.zeros(X.shape[1], dtype=np.intp)
        n_unsolved = 0
        for n_iter in range(1, self.max_iter + 1):
            left = np.flatnonzero(scales)
            last[left] = n_iter
            before = scales.copy()
            weights, is_solved = self._weights(X[:, left] * scales[left], y)
            scales[left] *= weights
            n_unsolved = 0 if is_solved else n_unsolved + 1
            largest = scales.max()
            if largest == 0.0:  # nothing separates the classes: keep what there was
                scales = before
                break
            scales /= largest
            scales[scales < self.threshold] = 0.0
            if self._is_done(before, scales) or n_unsolved == MOST_UNSOLVED:
                break
        # Features that are gone by the time of their going, the others by their scale.
        self.order_ = np.lexsort((np.arange(scales.size), -before, -scales, -last))
        self.scales_ = scales
        self.n_iter_ = n_iter
        self.support_ = np.zeros(scales.size, dtype=bool)
        self.support_[self.order_[: wanted or max(1, np.count_nonzero(scales))]] = True
        return self

    def _weights(self, X: Floats, y: Any) -> tuple[Floats, bool]:
        """Return how much each feature counts, and whether the machine was solved."""
        model = clone(SVC(kernel="linear") if self.estimator is None else self.estimator)
        model.fit(X, y)
        if not hasattr(model, "coef_"):
            raise ValueError(f"The zero norm needs a linear machine with coef_; got {model!r}.")
        weights = np.atleast_2d(model.coef_)
        sizes = np.abs(weights[0]) if len(weights) == 1 else np.linalg.norm(weights, axis=0)
        return sizes, bool(getattr(model, "converged_", True))

    def _is_done(self, before: Floats, scales: Floats) -> bool:
        wanted = self.n_features_to_select
        if wanted is not None and np.count_nonzero(scales) <= wanted:
            return True
        return bool(np.abs(scales - before).max() <= self.threshold)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.estimator is not None:
            tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags
