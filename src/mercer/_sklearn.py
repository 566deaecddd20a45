"""The only place that touches private parts of scikit-learn."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function as ovr_decision_function
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Interval",
    "Options",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "ovr_decision_function",
]
