"""Kernel machines, end to end: one solver, scikit-learn's interface.

The names that are used every day are loaded when they are first asked for, so that
``import mercer`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "SVC": "mercer.svm",
    "SVR": "mercer.svm",
    "SVDD": "mercer.spheres",
    "OneClassSVM": "mercer.spheres",
    "NearestHypersphereClassifier": "mercer.spheres",
    "OneClassSearch": "mercer.spheres",
    "KernelPerceptron": "mercer.perceptron",
    "GradientSearch": "mercer.model_selection",
    "KernelRFE": "mercer.feature_selection",
    "KernelRFECV": "mercer.feature_selection",
    "feature_sensitivity": "mercer.inspection",
    "PlattClassifier": "mercer.calibration",
    "PathSearchCV": "mercer.model_selection",
    "BoundaryDisplay": "mercer.plotting",
    "GramDisplay": "mercer.plotting",
    "MarginDisplay": "mercer.plotting",
    "MultipliersDisplay": "mercer.plotting",
    "SupportFractionDisplay": "mercer.plotting",
    "SupportRegionDisplay": "mercer.plotting",
    "ReliabilityDisplay": "mercer.plotting",
    "is_mercer": "mercer.kernels",
    "explicit_map": "mercer.kernels",
}
_MODULES = (
    "calibration",
    "datasets",
    "feature_selection",
    "gram",
    "inspection",
    "kernels",
    "model_selection",
    "perceptron",
    "plotting",
    "problems",
    "solvers",
    "spheres",
    "studies",
    "svm",
)

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "BoundaryDisplay",
    "GradientSearch",
    "GramDisplay",
    "KernelPerceptron",
    "KernelRFE",
    "KernelRFECV",
    "MarginDisplay",
    "MultipliersDisplay",
    "NearestHypersphereClassifier",
    "OneClassSVM",
    "OneClassSearch",
    "PathSearchCV",
    "PlattClassifier",
    "ReliabilityDisplay",
    "SupportFractionDisplay",
    "SupportRegionDisplay",
    "__version__",
    "calibration",
    "datasets",
    "explicit_map",
    "feature_selection",
    "feature_sensitivity",
    "gram",
    "inspection",
    "is_mercer",
    "kernels",
    "model_selection",
    "perceptron",
    "plotting",
    "problems",
    "solvers",
    "spheres",
    "studies",
    "svm",
]

if TYPE_CHECKING:
    from mercer import (
        calibration,
        datasets,
        feature_selection,
        gram,
        inspection,
        kernels,
        model_selection,
        perceptron,
        plotting,
        problems,
        solvers,
        spheres,
        studies,
        svm,
    )
    from mercer.calibration import PlattClassifier
    from mercer.feature_selection import KernelRFE, KernelRFECV
    from mercer.inspection import feature_sensitivity
    from mercer.kernels import explicit_map, is_mercer
    from mercer.model_selection import GradientSearch, PathSearchCV
    from mercer.perceptron import KernelPerceptron
    from mercer.plotting import (
        BoundaryDisplay,
        GramDisplay,
        MarginDisplay,
        MultipliersDisplay,
        ReliabilityDisplay,
        SupportFractionDisplay,
        SupportRegionDisplay,
    )
    from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSearch, OneClassSVM
    from mercer.svm import SVC, SVR


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
