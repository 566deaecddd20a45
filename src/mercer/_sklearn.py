"""The private parts of scikit-learn that we touch; `_importances` has the only other one."""

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
    "fitted_rows",
    "parts_of_svm",
    "set_parts_of_svm",
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


def fitted_rows(forest: Any) -> int:
    """Return the number of rows that a forest was fitted to."""
    return int(forest._n_samples)


def parts_of_svm(model: Any) -> dict[str, Any]:
    """Return what a fitted support vector machine of scikit-learn is made of.

    Coefficients and intercepts are those of LIBSVM, positive for the first class of each pair.
    ``points`` are the training rows, kept for kernels that are functions only.
    """
    coefficients = model._dual_coef_
    return {
        "coefficients": coefficients.toarray()
        if hasattr(coefficients, "toarray")
        else coefficients,
        "intercepts": model._intercept_,
        "gamma": model._gamma,
        "sigmoids": (model._probA, model._probB),
        "points": getattr(model, "_BaseLibSVM__Xfit", None),
    }


def set_parts_of_svm(model: Any, *, gamma: float, sigmoids: Any, **fitted: Any) -> None:
    """Make a fitted support vector machine of scikit-learn of an unfitted one.

    Parameters
    ----------
    model : sklearn.svm.SVC, SVR or OneClassSVM
    gamma : float
    sigmoids : pair of ndarray
        Empty where there are none.
    **fitted
        Public attributes; ``dual_coef_`` and ``intercept_`` in LIBSVM's sign, as from
        `parts_of_svm`.
    """
    for name, value in fitted.items():
        setattr(model, "_n_support" if name == "n_support_" else name, value)
    model._sparse = hasattr(model.support_vectors_, "toarray")
    model._gamma = gamma
    model._probA, model._probB = sigmoids
    model._effective_probability = bool(model._probA.size)
    model._dual_coef_, model._intercept_ = model.dual_coef_, model.intercept_.copy()
    if len(getattr(model, "classes_", ())) == 2:
        model.dual_coef_, model.intercept_ = -model.dual_coef_, -model.intercept_
    model._num_iter = np.atleast_1d(model.n_iter_).astype(np.int32)
