"""The only place that touches private parts of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.base import _fit_context as validated_fit
from sklearn.metrics import get_scorer
from sklearn.metrics._scorer import _BaseScorer as Scorer
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "RealNotInt",
    "Scorer",
    "StrOptions",
    "asks_for_probabilities",
    "check_sample_weight",
    "feature_importances",
    "fitted_rows",
    "take_rows",
    "validate_parameter_constraints",
    "validated_fit",
]


def asks_for_probabilities(scoring: Any) -> bool:
    """Return whether a score, or one of several, can be had from probabilities only.

    Examples
    --------
    >>> asks_for_probabilities("neg_log_loss"), asks_for_probabilities(["accuracy", "roc_auc"])
    (True, False)
    """
    if isinstance(scoring, dict):
        return any(map(asks_for_probabilities, scoring.values()))
    if isinstance(scoring, list | tuple | set):
        return any(map(asks_for_probabilities, scoring))
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    wanted = getattr(scorer, "_response_method", "predict")
    return wanted == "predict_proba" or (
        not isinstance(wanted, str) and {*wanted} <= {"predict_proba"}
    )


def feature_importances(model: Any, getter: Any) -> Any:
    """Return one importance for each feature as scikit-learn's ``RFE`` does: squared weights."""
    # Imported here: few need it, and it brings much with it.
    from sklearn.feature_selection._base import _get_feature_importances

    values = _get_feature_importances(model, getter, transform_func="square")
    return np.asarray(values, dtype=np.float64).ravel()  # of sparse weights it is a matrix


def fitted_rows(forest: Any) -> int:
    """Return the number of rows that a forest was fitted to."""
    return int(forest._n_samples)
