"""One convex quadratic program, and how every machine becomes one."""

from mercer.problems.formulations import (
    enclosing_radius,
    epsilon_svr,
    hard_margin_svc,
    hinge_svc,
    one_class,
    squared_epsilon_svr,
    squared_hinge_svc,
    squared_svdd,
    svdd,
    svdd_with_outliers,
)
from mercer.problems.quadratic_program import Programs, QuadraticProgram

__all__ = [
    "Programs",
    "QuadraticProgram",
    "enclosing_radius",
    "epsilon_svr",
    "hard_margin_svc",
    "hinge_svc",
    "one_class",
    "squared_epsilon_svr",
    "squared_hinge_svc",
    "squared_svdd",
    "svdd",
    "svdd_with_outliers",
]
