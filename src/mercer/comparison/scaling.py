"""Columns in units of their own, or all in one, whichever suits."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._sklearn import InvalidParameterError
from mercer.tables import CommonScaler

ALIKE = 0.1
"""Where deviations differ by no more than this part of the common one, there is no choice."""


class ScaleChoice(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale the columns by a `StandardScaler` or a `CommonScaler`, as suits a search better.

    Where columns are of different kinds, as age and income, each needs a unit of its own: those
    that they have are an accident. Where all are of one kind, as pixels, spectra, counts or genes,
    that throws away what their deviations tell: a pixel in a corner, dark but for a few rows, is
    made as loud as one in the middle. A table does not say of which kind it is, so the rows
    decide: a small search is made with either scaler, on the same folds. Both leave a mean
    variance of 1, so that widths of kernels mean about the same. Of equals the first is taken.

    Parameters
    ----------
    search : estimator
        Has a ``best_score_`` once it is fitted, or its ``regressor_`` has one. Where it cannot be
        fitted, as for want of rows, each column keeps its own unit.

    Attributes
    ----------
    best_estimator_ : StandardScaler or CommonScaler
        The scaler that was chosen, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mercer.comparison.scaling import ScaleChoice
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 9)) * [9, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, refit=False)
    >>> ScaleChoice(search).fit(X, X[:, 0] > 0).best_estimator_
    CommonScaler()
    >>> ScaleChoice(search).fit(X, X[:, 1] + X[:, 2] > 0).best_estimator_
    StandardScaler()
    """

    def __init__(self, search: Any) -> None:
        self.search = search

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the scale.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ScaleChoice
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        own, common = StandardScaler().fit(X), CommonScaler().fit(X)
        is_choice = not np.allclose(own.scale_, common.scale_, rtol=ALIKE)
        # What has no score (NaN) is never better.
        is_better = is_choice and self._score(common, X, y) > self._score(own, X, y)
        self.best_estimator_ = common if is_better else own
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns as the scaler that was chosen has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(validate_data(self, X, dtype=np.float64, reset=False))

    def _score(self, scaler: StandardScaler, X: Any, y: Any) -> float:
        try:
            found = clone(self.search).fit(scaler.transform(X), y)
        except InvalidParameterError:
            raise
        except ValueError:
            return np.nan
        return float(getattr(found, "regressor_", found).best_score_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
