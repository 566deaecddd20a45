"""The only place that touches private parts of scikit-learn."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import _fit_context
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
    "check_sample_weight",
    "feature_importances",
    "fit_context",
    "fitted_rows",
    "refuse_dates",
    "take_rows",
    "validate_parameter_constraints",
]


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Any], Any]:
    """Decorate ``fit`` as scikit-learn does, which checks parameters, and refuse dates as data."""
    in_context = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(fit: Any) -> Any:
        @wraps(fit)
        def without_dates(estimator: Any, X: Any, *args: Any, **keywords: Any) -> Any:
            if not _holds_pipeline(estimator):  # which may make numbers of dates
                refuse_dates(X)
            return fit(estimator, X, *args, **keywords)

        return in_context(without_dates)

    return decorate


def _holds_pipeline(estimator: Any) -> bool:
    while estimator is not None and not hasattr(estimator, "steps"):
        estimator = getattr(estimator, "estimator", None)
    return estimator is not None


def refuse_dates(X: Any) -> None:
    """Say that dates and spans of time are no numbers; which unit to take only the user knows."""
    dtypes = getattr(X, "dtypes", None) if hasattr(X, "columns") else None
    kinds = [getattr(X, "dtype", None)] if dtypes is None else list(dtypes)
    for column, kind in enumerate(kinds):
        # A kind of NumPy and pandas, a method of polars.
        is_time = getattr(kind, "kind", "") in ("M", "m")
        if is_time or getattr(kind, "is_temporal", bool)():
            where = "X" if dtypes is None else f"Column {X.columns[column]!r} of X"
            raise ValueError(
                f"{where} holds dates or times ({kind}); turn them into numbers first, for "
                "instance days since the first of them."
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
