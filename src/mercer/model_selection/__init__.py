"""Choosing parameters: bounds and estimates of the error, with gradients, and searches."""

from mercer.model_selection.criteria.criterion import Criterion
from mercer.model_selection.criteria.evidence import evidence
from mercer.model_selection.criteria.gacv import gacv
from mercer.model_selection.criteria.leave_one_out import leave_one_out
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin
from mercer.model_selection.criteria.press import press
from mercer.model_selection.criteria.radius_margin import radius_margin
from mercer.model_selection.criteria.radius_margin_count import radius_margin_count
from mercer.model_selection.criteria.region_error import region_error
from mercer.model_selection.criteria.regression_error import regression_error
from mercer.model_selection.criteria.regression_radius_margin import regression_radius_margin
from mercer.model_selection.criteria.span import span
from mercer.model_selection.criteria.span_bound import span_bound
from mercer.model_selection.criteria.support_vector_count import support_vector_count
from mercer.model_selection.criteria.validation_error import (
    posterior_error,
    smoothed_validation_error,
)
from mercer.model_selection.criteria.xi_alpha import xi_alpha
from mercer.model_selection.gradient.gradient_search import GradientSearch
from mercer.model_selection.grid.one_standard_error import one_standard_error
from mercer.model_selection.grid.path_search import PathSearchCV

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
    "radius_margin_count",
    "region_error",
    "regression_error",
    "regression_radius_margin",
    "smoothed_validation_error",
    "span",
    "span_bound",
    "support_vector_count",
    "xi_alpha",
]
