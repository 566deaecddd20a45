"""Features that correlate with the target and not with each other."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context
from mercer._sklearn import Interval
from mercer._threads import holds_blas
from mercer.feature_selection.scores import pearson_score

Floats = NDArray[np.float64]


class CorrelationFeatureSelector(SelectorMixin, BaseEstimator):
    r"""Correlation-based feature selection (CFS).

    Features are added one by one, each time the one that raises the merit most:

    .. math:: M_S = \frac{k\,\overline{r_{cf}}}{\sqrt{k + k(k-1)\,\overline{r_{ff}}}}

    with the mean absolute correlations of the k features with the target and with each other. The
    set with the highest merit on the way is taken, after ``patience`` features that did not raise
    it.

    Use it as a fast first look, where features repeat each other and count one by one: no machine
    is trained, so that it costs one pass over the rows for each feature chosen. What only counts
    together it does not see; `KernelRFE` does.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        None stops where the merit is highest.
    patience : int, default=5
        Features to add in vain before the search ends.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    order_ : ndarray of int
        The features in the order in which they came; the others after them, by their own
        correlation with the target.
    merits_ : ndarray
        Merit after each feature that was tried.
    scores_ : ndarray of shape (n_features,)
        Absolute correlation of each feature with the target.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.feature_selection.MinimumRedundancySelector : Adds features one by one.
    mercer.KernelRFE : Asks a machine.

    References
    ----------
    M. A. Hall, *Correlation-based Feature Selection for Machine Learning*, University of Waikato
    1999.

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.1.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import CorrelationFeatureSelector
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 200))
    >>> X = np.column_stack([a, a + 0.5 * noise, b, noise])
    >>> CorrelationFeatureSelector().fit(X, a + b > 0).get_support(indices=True)
    array([0, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [None, Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, *, n_features_to_select: int | None = None, patience: int = 5) -> None:
        self.n_features_to_select = n_features_to_select
        self.patience = patience

    @fit_context(prefer_skip_nested_validation=True)
    @holds_blas
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes, or numbers (floating point).

        Returns
        -------
        CorrelationFeatureSelector
            The fitted selector.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        wanted = self.n_features_to_select
        if wanted is not None and wanted > X.shape[1]:
            raise ValueError(f"n_features_to_select={wanted} is more than there are, {X.shape[1]}.")
        scores = pearson_score(X, as_target(y))
        added, merits = self._search(X, scores)
        count = int(np.argmax(merits)) + 1 if wanted is None else wanted
        others = np.setdiff1d(np.arange(X.shape[1]), added)
        self.order_ = np.concatenate([added, others[np.argsort(-scores[others], kind="stable")]])
        self.merits_ = merits
        self.scores_ = scores
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[added[:count]] = True
        return self

    def _search(self, X: Floats, scores: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Add features until the merit has not risen for a while; return them and the merits."""
        units = standardised(X)
        added: list[int] = []
        merits: list[float] = []
        with_target, among = 0.0, 0.0  # sums over the set, and over its pairs
        with_set = np.zeros(X.shape[1])  # correlations of each feature with those of the set
        best = -np.inf
        while len(added) < X.shape[1] and not self._is_done(merits, best):
            k = len(added) + 1
            merit = (with_target + scores) / np.sqrt(k + 2.0 * (among + with_set))
            merit[added] = -np.inf
            chosen = int(np.argmax(merit))
            added.append(chosen)
            merits.append(float(merit[chosen]))
            best = max(best, merits[-1])
            with_target += float(scores[chosen])
            among += float(with_set[chosen])
            with_set += np.abs(units[:, chosen] @ units)
        return np.array(added, dtype=np.intp), np.array(merits)

    def _is_done(self, merits: list[float], best: float) -> bool:
        if self.n_features_to_select is not None:
            return len(merits) >= self.n_features_to_select
        return len(merits) - (merits.index(best) if merits else 0) > self.patience + 1

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def as_target(y: Any) -> Any:
    """Return classes that came as floating point numbers as whole ones, and others as they are."""
    if y.dtype.kind == "f" and type_of_target(y) != "continuous":
        return y.astype(np.int64)
    return y


def standardised(X: Floats) -> Floats:
    """Return the columns with mean 0 and length 1; constant ones are 0."""
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    rounding = 1e-12 * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))
    return np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > rounding)
