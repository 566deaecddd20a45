"""Choosing parameters: bounds and estimates of the error, with gradients, and searches."""

from mercer.model_selection._criterion import Criterion
from mercer.model_selection.evidence import evidence
from mercer.model_selection.gacv import gacv
from mercer.model_selection.gradient_search import GradientSearch
from mercer.model_selection.leave_one_out import leave_one_out
from mercer.model_selection.modified_radius_margin import modified_radius_margin
from mercer.model_selection.one_standard_error import one_standard_error
from mercer.model_selection.path_search import PathSearchCV
from mercer.model_selection.press import press
from mercer.model_selection.radius_margin import radius_margin
from mercer.model_selection.span import span
from mercer.model_selection.span_bound import span_bound
from mercer.model_selection.support_vector_count import support_vector_count
from mercer.model_selection.validation_error import posterior_error, smoothed_validation_error
from mercer.model_selection.xi_alpha import xi_alpha

__all__ = [
    "Criterion",
    "GradientSearch",
    "PathSearchCV",
    "evidence",
    "gacv",
    "leave_one_out",
    "modified_radius_margin",
    "one_standard_error",
    "posterior_error",
    "press",
    "radius_margin",
    "smoothed_validation_error",
    "span",
    "span_bound",
    "support_vector_count",
    "xi_alpha",
]
