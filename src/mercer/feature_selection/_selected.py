"""What a selector can do once its estimator is fitted on the features selected."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _estimator_has(name: str) -> Callable[[Any], bool]:
    def check(selector: Any) -> bool:
        return hasattr(getattr(selector, "estimator_", selector._machine()), name)

    return check


class SelectedEstimatorMixin(SelectorMixin):
    """A selector that predicts by `estimator_`, which knows only the features of `support_`."""

    estimator: Any
    estimator_: Any
    support_: Any

    def _machine(self) -> Any:
        """Return the estimator that will be fitted on the features selected."""
        return self.estimator

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> Any:
        """Return the predictions of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.predict(self.transform(X))

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the estimator on the features selected."""
        check_is_fitted(self)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(self.transform(X), y, **given)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.decision_function(self.transform(X))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._machine())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True  # half of the features need not be enough
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags
