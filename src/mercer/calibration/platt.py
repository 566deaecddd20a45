"""A classifier with probabilities."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from mercer._folds import deal_folds, split_folds
from mercer._inputs import classes_of, fit_context
from mercer._sklearn import HasMethods, check_sample_weight, take_rows
from mercer._threads import holds_blas
from mercer.calibration.pair_sigmoids import PairSigmoids

Floats = NDArray[np.float64]


class PlattClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Probabilities for a classifier that has decision values, by Platt's sigmoid.

    The classifier is fitted to all rows. Beside it, decision values of every row come from
    classifiers that have not seen the row's fold, and a sigmoid

    .. math::

        P(\text{second} \mid f) = \frac{1}{1 + \exp(A f + B)}, \quad A \le 0,

    is fitted to them for each pair of classes (`fit_sigmoid`, for k classes with a prior of
    1/(k - 1)). More than two classes are put together by pairwise coupling (`couple_pairs`). The
    prediction is the class with the largest
    probability, always: it may differ from that of the bare classifier, whose threshold knows
    nothing of probabilities.

    With `mercer.SVC` the folds share one kernel matrix and start from the full solution, so that
    five of them cost little more than one fit. ``gamma="scale"`` then means the same number in all
    folds, and the folds are solved to thirty times ``tol``. Any
    other classifier with ``decision_function`` is fitted once more for each fold; put preprocessing
    into a pipeline, so that the folds do not see it.

    Use it where probabilities of a machine are wanted, and where predictions shall agree with them.
    With `mercer.SVC` it costs about two fits, with others a fit for each fold besides.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function``.
    cv : int, splitter, iterable or None, default=5
        Number of folds, at least 2, or how to make them; None is 5.
    random_state : int, RandomState or None, default=None
        Deals the rows into folds. None deals always alike.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_ : classifier
        Fitted to all rows.
    A_, B_ : ndarray of shape (n_pairs,)
        The sigmoids of the pairs (0, 1), (0, 2), ..., (1, 2), ... for the probability of the second
        class. f is the decision value in favour of the second class: that of the pair's machine, or
        the difference of the two classes' values where the classifier has one value a class.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where the classifier has them.

    See Also
    --------
    mercer.ReliabilityDisplay : Shows whether the probabilities can be trusted.
    mercer.RVC : Probabilities without folds.
    mercer.MinimumCostClassifier : Decisions from probabilities and costs.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods", in Advances in Large Margin Classifiers (1999).
    T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability estimates for multi-class classification by
    pairwise coupling", JMLR 5 (2004).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, PlattClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PlattClassifier(SVC()).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.99, 0.01, 0.  ]])
    >>> bool((model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, *, cv: Any = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and the sigmoids.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Handed to the classifier, and counted by the sigmoids. With scikit-learn's metadata
            routing the classifier gets them if it asks for them, also inside a pipeline.

        Returns
        -------
        PlattClassifier
        """
        X, y = indexable(X, y)
        if np.ndim(X) != 2:
            raise ValueError(
                f"X must have rows and columns; got an array of {np.ndim(X)} dimension(s)."
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        counted = self.cv is None or isinstance(self.cv, Integral)
        fold = None if counted else split_folds(X, y, self.cv)
        kept = np.arange(len(y))
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X)
            kept = np.flatnonzero(sample_weight)
        classes, codes = classes_of(y[kept])
        if fold is None:
            fold = np.full(len(y), -1)
            fold[kept] = deal_folds(take_rows(X, kept), codes, self.cv or 5, self.random_state)
        handed_on = self._handed_on(sample_weight)
        if not self._is_pairwise():  # rows without weight are columns of a kernel matrix
            X, y, fold = take_rows(X, kept), y[kept], fold[kept]
            handed_on = None if handed_on is None else handed_on[kept]
            sample_weight = None if sample_weight is None else sample_weight[kept]
            kept = np.arange(kept.size)
        model = clone(self.estimator)
        if hasattr(model, "_fit_out_of_fold"):
            values = model._fit_out_of_fold(X, y, handed_on, fold)[kept]
        else:
            _fit(model, X, y, handed_on)
            values = self._refit_out_of_fold(X, codes, classes, handed_on, fold, kept)
        counts = None if sample_weight is None else sample_weight[kept]
        sigmoids = PairSigmoids.fit(values, codes, counts)
        self.estimator_ = model
        self.classes_ = classes
        self.A_, self.B_ = sigmoids.A, sigmoids.B
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who gets the weights: the sigmoids, and the classifier if it asks for them.

        Returns
        -------
        MetadataRouter
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=to_fit)

    def _handed_on(self, sample_weight: Any) -> Any:
        """Return the weights that the classifier gets."""
        if sample_weight is None:
            return None
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight)
            return routed.estimator.fit.get("sample_weight")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            name = type(self.estimator).__name__
            raise ValueError(
                f"{name}.fit takes no sample_weight; where something inside it does, let "
                "scikit-learn route them: set_config(enable_metadata_routing=True)."
            )
        return sample_weight

    def _is_pairwise(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.pairwise)

    def _refit_out_of_fold(
        self, X: Any, codes: Any, classes: Any, sample_weight: Any, fold: Any, kept: Any
    ) -> Floats:
        """Return decision values of each pair by classifiers fitted without the row's fold.

        Codes and values are those of the rows ``kept``, the others of all rows.
        """
        is_pairwise = self._is_pairwise()
        pairs = list(combinations(range(classes.size), 2))
        values = np.full((codes.size, len(pairs)), np.nan)
        fold = fold[kept]
        for number in np.unique(fold[fold >= 0]):
            left_out, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            present = np.unique(codes[rest])
            scores = np.full((left_out.size, classes.size), np.nan)
            if present.size > 1:
                weight = None if sample_weight is None else sample_weight[kept[rest]]
                model, columns = clone(self.estimator), kept[rest] if is_pairwise else None
                _fit(model, _part(X, kept[rest], columns), classes[codes[rest]], weight)
                scores[:, present] = _class_scores(model, _part(X, kept[left_out], columns))
            for pair, (first, second) in enumerate(pairs):
                both = first in present and second in present
                # Without one of the classes, all that is known speaks for the other.
                only = float(second in present) - float(first in present)
                values[left_out, pair] = scores[:, second] - scores[:, first] if both else only
        return values

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
        check_is_fitted(self)
        if hasattr(self.estimator_, "_pair_decision_function"):
            values = self.estimator_._pair_decision_function(X)
        else:
            scores = _class_scores(self.estimator_, X)
            first, second = np.array(list(combinations(range(self.classes_.size), 2))).T
            values = scores[:, second] - scores[:, first]
        return PairSigmoids(self.A_, self.B_, self.classes_.size).probabilities(values)

    def predict(self, X: Any) -> Any:
        """Return the class with the largest probability.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _part(X: Any, rows: Any, columns: Any) -> Any:
    """Return some rows, and of a kernel matrix some columns."""
    return take_rows(X, rows) if columns is None else np.asarray(X)[np.ix_(rows, columns)]


def _fit(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    model.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))


def _class_scores(model: Any, X: Any) -> Floats:
    """Return one decision value for each class."""
    values = np.asarray(model.decision_function(X), dtype=np.float64)
    if values.ndim == 1:
        return np.stack([np.zeros_like(values), values], axis=1)
    if values.shape[1] != len(model.classes_) or _is_of_pairs(model):
        raise ValueError(
            f"decision_function must give one value for each of the {len(model.classes_)} classes; "
            f"got {values.shape[1]} of others (use decision_function_shape='ovr')."
        )
    return values


def _is_of_pairs(model: Any) -> bool:
    """Return whether the values are those of pairs, of which three classes have three too."""
    while hasattr(model, "steps") or hasattr(model, "best_estimator_"):
        model = model.steps[-1][1] if hasattr(model, "steps") else model.best_estimator_
    return getattr(model, "decision_function_shape", None) == "ovo"
