"""The only place that touches private parts of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "feature_importances",
    "fit_context",
    "fitted_rows",
    "take_rows",
    "validate_parameter_constraints",
]


def feature_importances(model: Any, getter: Any) -> Any:
    """Return one importance for each feature as scikit-learn's ``RFE`` does: squared weights."""
    # Imported here: few need it, and it brings much with it.
    from sklearn.feature_selection._base import _get_feature_importances

    values = _get_feature_importances(model, getter, transform_func="square")
    return np.asarray(values, dtype=np.float64).ravel()  # of sparse weights it is a matrix


def fitted_rows(forest: Any) -> int:
    """Return the number of rows that a forest was fitted to."""
    return int(forest._n_samples)
