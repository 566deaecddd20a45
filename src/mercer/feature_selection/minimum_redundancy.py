"""Features that say much about the target and little of what others have said already."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context
from mercer._sklearn import Interval, RealNotInt, StrOptions
from mercer._threads import holds_blas
from mercer.feature_selection.correlation import as_target, standardised
from mercer.feature_selection.scores import pearson_score

Floats = NDArray[np.float64]


class MinimumRedundancySelector(SelectorMixin, BaseEstimator):
    r"""Relevance minus redundancy (mRMR).

    Features are added one by one, each time the one with the largest difference between its
    correlation with the target and its mean correlation with the features added before:

    .. math:: \max_{j \notin S} \; r(x_j, y) - \lambda\,\frac{1}{|S|}\sum_{s \in S} |r(x_j, x_s)|

    Unlike `CorrelationFeatureSelector`, which judges sets, it always ranks all features. The
    first reference takes the mutual information for r, which correlations stand for here.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        A number, a share, or half of the features.
    correlation : {"pearson", "spearman"}, default="pearson"
        That of values or of ranks; see `pearson_score` and `spearman_score`.
    redundancy : float, default=1.0
        The factor λ of the redundancy. 0 ranks by relevance alone.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    order_ : ndarray of int of shape (n_features,)
        All features in the order in which they came, the first of equals first.
    criteria_ : ndarray of shape (n_features,)
        Relevance minus redundancy of each of them when it came.
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.feature_selection.CorrelationFeatureSelector : Judges whole sets of features.
    mercer.KernelRFE : Asks a machine.

    References
    ----------
    H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy", IEEE PAMI 27 (2005).

    P. A. Mundra, J. C. Rajapakse, "SVM-RFE with relevancy and redundancy criteria for gene
    selection", Pattern Recognition in Bioinformatics (2007), named by R. Planas, *Analysis of the
    SVM-RFE algorithm for feature selection*, UPC Barcelona 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import MinimumRedundancySelector
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 200))
    >>> X = np.column_stack([a, a + 0.5 * noise, b, noise])
    >>> MinimumRedundancySelector().fit(X, 1.5 * a + b > 0).order_
    array([0, 2, 1, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "correlation": [StrOptions({"pearson", "spearman"})],
        "redundancy": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: float | None = None,
        correlation: str = "pearson",
        redundancy: float = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.correlation = correlation
        self.redundancy = redundancy

    @fit_context(prefer_skip_nested_validation=True)
    @holds_blas
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features and choose the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, or numbers (floating point).

        Returns
        -------
        MinimumRedundancySelector
            The fitted selector.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y, count = as_target(y), self._count(X.shape[1])
        if self.correlation == "spearman":
            X, y = rankdata(X, axis=0), rankdata(y) if y.dtype.kind == "f" else y
        scores = pearson_score(X, y)
        order, criteria = self._ranked(standardised(X), scores)
        self.order_, self.criteria_, self.scores_ = order, criteria, scores
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[order[:count]] = True
        return self

    def _count(self, n_features: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if not isinstance(wanted, Integral):
            return max(1, int(wanted * n_features))
        if wanted > n_features:
            raise ValueError(f"n_features_to_select={wanted} is more than there are, {n_features}.")
        return int(wanted)

    def _ranked(self, units: Floats, scores: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return all features in the order in which they come, and what speaks for each then."""
        order = np.empty(scores.size, dtype=np.intp)
        criteria = np.empty(scores.size)
        with_set = np.zeros(scores.size)  # correlations with the features added, summed
        is_free = np.ones(scores.size, dtype=bool)
        for step in range(scores.size):
            worth = scores - self.redundancy * with_set / max(1, step)
            worth[~is_free] = -np.inf
            chosen = int(np.argmax(worth))
            order[step], criteria[step] = chosen, worth[chosen]
            is_free[chosen] = False
            with_set += np.abs(units[:, chosen] @ units)
        return order, criteria

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
