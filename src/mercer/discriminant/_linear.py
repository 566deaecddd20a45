"""What the linear classifiers share: labels to signs, weights to decisions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import classes_of

Floats = NDArray[np.float64]


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers with a plane for two classes, or one for each class against the rest."""

    coef_: Floats
    intercept_: Floats
    classes_: Any

    def _signs(self, X: Any, y: Any) -> tuple[Floats, Floats]:
        """Check the data; return the rows and +1 or -1 for each row and machine."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = classes_of(y)
        n_classes = len(self.classes_)
        machines = np.array([1]) if n_classes == 2 else np.arange(n_classes)
        return X, np.where(codes[:, None] == machines, 1.0, -1.0)

    def _keep(self, weights: Floats) -> Self:
        """Keep weights of shape (n_features + 1, n_machines), whose last row is the bias."""
        self.coef_, self.intercept_ = weights[:-1].T.copy(), weights[-1].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return w'x + b, for two classes in favour of the second.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = X @ self.coef_.T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Return the class of the largest decision value.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[codes]


def with_constant(X: Floats) -> Floats:
    """Return the rows with one more component, 1, whose weight is the bias."""
    return np.column_stack([X, np.ones(len(X))])
