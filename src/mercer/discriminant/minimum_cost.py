"""Decisions that cost least."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from mercer._inputs import fit_context
from mercer._sklearn import HasMethods, Interval, check_sample_weight
from mercer._threads import holds_blas
from mercer.discriminant._costs import Floats, checked_costs, checked_priors, mean_cost


class MinimumCostClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""The rule of least expected cost, for any classifier with probabilities.

    With posterior probabilities :math:`P(i \mid x)` and costs :math:`c(j \mid i)` of deciding for
    class j where i is true, it decides for

    .. math:: \hat y(x) = \arg\min_j \sum_i c(j \mid i)\, P(i \mid x),

    which minimises the expected cost of misclassification :math:`\sum_i p_i \sum_j c(j \mid i)
    P(j \mid i)` [1]_. For two normal classes with a common covariance matrix this is the linear
    discriminant: decide for the first class where

    .. math:: (\mu_1 - \mu_2)' \Sigma^{-1} x - \tfrac12 (\mu_1 - \mu_2)' \Sigma^{-1} (\mu_1 + \mu_2)
              \ge \ln \frac{c(1 \mid 2)\, p_2}{c(2 \mid 1)\, p_1},

    with unequal ones the quadratic discriminant with the same right-hand side. With equal costs
    and the classifier's own priors it is the rule of largest posterior, for
    ``LinearDiscriminantAnalysis`` and ``QuadraticDiscriminantAnalysis`` their own prediction.

    Other priors :math:`p'` replace those that the classifier has learned with, :math:`p`, by
    :math:`P'(i \mid x) \propto P(i \mid x)\, p'_i / p_i`. Those are ``priors_`` or ``class_prior_``
    of the classifier where it has them, else the (weighted) shares of the classes, with
    ``class_weight`` counted.

    With more features than rows, give the discriminants scikit-learn's shrinkage:
    ``LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")`` for LDA, and from scikit-learn
    1.8 on ``QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto")`` for QDA.

    Use it where errors are not equally bad, or classes not as frequent as in the data. It costs the
    fit of the classifier inside; its decisions are as good as the probabilities of that.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``.
    costs : array-like of shape (n_classes, n_classes), default=None
        Row i, column j: what it costs to decide for class j where i is true, in the order of
        ``classes_``; 0 on the diagonal. None is 1 for every mistake.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the rows to be judged; None keeps those of the training rows.
    reject_cost : float, default=None
        Cost of not deciding. A row whose cheapest decision is expected to cost more is rejected.
    reject_label : label, default=None
        What `predict` returns for rejected rows; None is -1 for numbers, "rejected" for texts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_ : classifier
        Fitted to all rows.
    costs_ : ndarray of shape (n_classes, n_classes)
    training_priors_, priors_ : ndarray of shape (n_classes,)
        Priors that the classifier has learned with, and those used now.
    expected_cost_ : float
        (2.2) on the training rows, with the shares of decisions among the rows of each class. It
        is too low, as every error on training rows; use `cost_scorer` in cross-validation.
    reject_label_ : label
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where the classifier has them.

    See Also
    --------
    mercer.cost_scorer : A score of the same costs.
    mercer.PlattClassifier : Probabilities for machines.

    References
    ----------
    .. [1] S. van der Westhuizen, thesis, Stellenbosch University, 2014, chapter 2.

    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
    Information Theory 16 (1970).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from mercer import MinimumCostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 1], [1, 20, 0]]  # a virginica must not be called versicolor
    >>> model = MinimumCostClassifier(LinearDiscriminantAnalysis(), costs).fit(X, y)
    >>> round(model.expected_cost_, 3)
    0.027
    >>> int((model.predict(X) == 2).sum()), int((model.estimator_.predict(X) == 2).sum())
    (54, 51)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "costs": ["array-like", None],
        "priors": ["array-like", None],
        "reject_cost": [Interval(Real, 0, None, closed="left"), None],
        "reject_label": "no_validation",  # type: ignore[dict-item]
    }

    def __init__(
        self,
        estimator: Any,
        costs: Any = None,
        *,
        priors: Any = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.priors = priors
        self.reject_cost = reject_cost
        self.reject_label = reject_label

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and find its priors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the classifier, and counted in the priors.

        Returns
        -------
        MinimumCostClassifier
        """
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes = np.unique(y)
        costs = checked_costs(self.costs, classes.size)
        priors = None if self.priors is None else checked_priors(self.priors, classes.size)
        label = self._reject_label(classes)
        model = clone(self.estimator)
        if sample_weight is None:
            weight = np.ones(y.size)
            model.fit(X, y)
        elif has_fit_parameter(model, "sample_weight"):
            weight = check_sample_weight(sample_weight, X)
            model.fit(X, y, sample_weight=weight)
        else:
            raise ValueError(f"{type(model).__name__}.fit takes no sample_weight.")
        self.estimator_ = model
        self.classes_ = np.asarray(model.classes_)
        if self.classes_.size != classes.size:
            raise ValueError(
                f"The classifier knows {self.classes_.size} of the {classes.size} classes in y; "
                "leave rows of weight 0 out."
            )
        self.costs_ = costs
        self.reject_label_ = label
        codes = np.searchsorted(self.classes_, y)
        self.training_priors_ = _training_priors(model, codes, weight)
        self.priors_ = self.training_priors_ if priors is None else priors
        if (self.priors_ > 0)[self.training_priors_ == 0].any():
            raise ValueError("priors must be 0 for classes whose prior was 0 in training.")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        decided, all_costs = self._decide(X), self._costs_with_rejection()
        self.expected_cost_ = mean_cost(codes, decided, all_costs, weight, priors)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior probabilities under the priors of this model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        posterior = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        if self.priors is None:
            return posterior
        known = np.where(self.training_priors_ > 0, self.training_priors_, 1.0)
        changed = posterior * (self.priors_ / known)
        total = changed.sum(axis=1, keepdims=True)
        # A row that can only be of classes now excluded tells nothing but the priors.
        return np.where(total > 0, changed / np.where(total > 0, total, 1.0), self.priors_)

    def expected_costs(self, X: Any) -> Floats:
        r"""Return what each decision is expected to cost.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            :math:`\sum_i c(j \mid i) P(i \mid x)` in column j.
        """
        return self.predict_proba(X) @ self.costs_

    def decision_function(self, X: Any) -> Floats:
        """Return minus the expected costs; for two classes what the second saves over the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        costs = self.expected_costs(X)
        return costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else -costs

    def predict(self, X: Any) -> Any:
        """Return the class of least expected cost, or the label of rejection.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decided = self._decide(X)
        if self.reject_cost is None:
            return self.classes_[decided]
        label, classes = np.asarray(self.reject_label_), self.classes_
        if (label.dtype.kind in "US") != (classes.dtype.kind in "US"):
            classes = classes.astype(object)  # or numbers would become texts
        return np.append(classes, label)[decided]

    def _decide(self, X: Any) -> Any:
        """Return the position of the class; one beyond the last is rejection."""
        costs = self.expected_costs(X)
        if costs.shape[1] == 2:
            # As the sign of the decision function says, ties to the first class.
            decided = (costs[:, 0] - costs[:, 1] > 0).astype(np.int64)
        else:
            decided = costs.argmin(axis=1)
        if self.reject_cost is not None:
            decided[costs.min(axis=1) > self.reject_cost] = costs.shape[1]
        return decided

    def _costs_with_rejection(self) -> Floats:
        last = np.full((len(self.costs_), 1), self.reject_cost or 0.0)
        return np.hstack([self.costs_, last])

    def _reject_label(self, classes: Any) -> Any:
        if self.reject_cost is None:
            return None
        label = self.reject_label
        if label is None:
            label = "rejected" if classes.dtype.kind in "OSUT" else -1
        if label in classes.tolist():
            raise ValueError(
                f"{label!r} is one of the classes and cannot stand for rejection; set reject_label."
            )
        return label

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _training_priors(model: Any, codes: Any, weight: Floats) -> Floats:
    """Return the priors that a fitted classifier works with."""
    last = model[-1] if hasattr(model, "steps") else model
    for name in ("priors_", "class_prior_"):
        if hasattr(last, name):
            return np.asarray(getattr(last, name), dtype=np.float64)
    counts = np.bincount(codes, weights=weight, minlength=len(model.classes_))
    given = getattr(last, "class_weight", None)
    if given == "balanced":
        return np.full(counts.size, 1.0 / counts.size)
    if isinstance(given, dict):
        classes = np.asarray(model.classes_)
        counts = counts * compute_class_weight(given, classes=classes, y=classes[codes])
    return counts / counts.sum()
