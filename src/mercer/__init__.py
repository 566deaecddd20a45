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
    "RVC": "mercer.relevance",
    "RVR": "mercer.relevance",
    "SVR": "mercer.svm",
    "CrammerSingerSVC": "mercer.svm",
    "CellOneClassSVM": "mercer.cells",
    "CellSVC": "mercer.cells",
    "CellSVR": "mercer.cells",
    "Distributed": "mercer.distributed",
    "NystroemSVC": "mercer.lowrank",
    "NystroemSVR": "mercer.lowrank",
    "SVDD": "mercer.spheres",
    "OneClassSVM": "mercer.spheres",
    "NearestHypersphereClassifier": "mercer.spheres",
    "OneClassSearch": "mercer.spheres",
    "KernelPerceptron": "mercer.perceptron",
    "FuzzyRuleClassifier": "mercer.fuzzy",
    "MinimumCostClassifier": "mercer.discriminant",
    "cost_scorer": "mercer.discriminant",
    "PrunedTreeClassifier": "mercer.trees",
    "ProximityImputer": "mercer.trees",
    "GradientSearch": "mercer.model_selection",
    "KernelRFE": "mercer.feature_selection",
    "KernelRFECV": "mercer.feature_selection",
    "KernelSequentialSelector": "mercer.feature_selection",
    "feature_sensitivity": "mercer.inspection",
    "PlattClassifier": "mercer.calibration",
    "PathSearchCV": "mercer.model_selection",
    "BoundaryDisplay": "mercer.plotting",
    "CriterionDisplay": "mercer.plotting",
    "ErrorSurfaceDisplay": "mercer.plotting",
    "EvidenceDisplay": "mercer.plotting",
    "GramDisplay": "mercer.plotting",
    "MarginDisplay": "mercer.plotting",
    "MembershipsDisplay": "mercer.plotting",
    "MultipliersDisplay": "mercer.plotting",
    "SupportFractionDisplay": "mercer.plotting",
    "SupportRegionDisplay": "mercer.plotting",
    "RankingCurveDisplay": "mercer.plotting",
    "ReliabilityDisplay": "mercer.plotting",
    "SimilarityMapDisplay": "mercer.plotting",
    "WidthsDisplay": "mercer.plotting",
    "compare": "mercer.comparison",
    "from_libsvm": "mercer.exchange",
    "from_sklearn": "mercer.exchange",
    "to_c": "mercer.exchange",
    "to_libsvm": "mercer.exchange",
    "to_onnx": "mercer.exchange",
    "to_sklearn": "mercer.exchange",
    "describe": "mercer.persistence",
    "load": "mercer.persistence",
    "save": "mercer.persistence",
    "is_mercer": "mercer.kernels",
    "explicit_map": "mercer.kernels",
    "show_versions": "mercer._versions",
}
_MODULES = (
    "calibration",
    "cells",
    "comparison",
    "datasets",
    "discriminant",
    "distributed",
    "exchange",
    "feature_selection",
    "fuzzy",
    "gram",
    "inspection",
    "kernels",
    "lowrank",
    "model_selection",
    "perceptron",
    "persistence",
    "plotting",
    "problems",
    "relevance",
    "report",
    "solvers",
    "spheres",
    "studies",
    "svm",
    "tables",
    "trees",
)

__all__ = [
    "RVC",
    "RVR",
    "SVC",
    "SVDD",
    "SVR",
    "BoundaryDisplay",
    "CellOneClassSVM",
    "CellSVC",
    "CellSVR",
    "CrammerSingerSVC",
    "CriterionDisplay",
    "Distributed",
    "ErrorSurfaceDisplay",
    "EvidenceDisplay",
    "FuzzyRuleClassifier",
    "GradientSearch",
    "GramDisplay",
    "KernelPerceptron",
    "KernelRFE",
    "KernelRFECV",
    "KernelSequentialSelector",
    "MarginDisplay",
    "MembershipsDisplay",
    "MinimumCostClassifier",
    "MultipliersDisplay",
    "NearestHypersphereClassifier",
    "NystroemSVC",
    "NystroemSVR",
    "OneClassSVM",
    "OneClassSearch",
    "PathSearchCV",
    "PlattClassifier",
    "ProximityImputer",
    "PrunedTreeClassifier",
    "RankingCurveDisplay",
    "ReliabilityDisplay",
    "SimilarityMapDisplay",
    "SupportFractionDisplay",
    "SupportRegionDisplay",
    "WidthsDisplay",
    "__version__",
    "calibration",
    "cells",
    "compare",
    "comparison",
    "cost_scorer",
    "datasets",
    "describe",
    "discriminant",
    "distributed",
    "exchange",
    "explicit_map",
    "feature_selection",
    "feature_sensitivity",
    "from_libsvm",
    "from_sklearn",
    "fuzzy",
    "gram",
    "inspection",
    "is_mercer",
    "kernels",
    "load",
    "lowrank",
    "model_selection",
    "perceptron",
    "persistence",
    "plotting",
    "problems",
    "relevance",
    "report",
    "save",
    "show_versions",
    "solvers",
    "spheres",
    "studies",
    "svm",
    "tables",
    "to_c",
    "to_libsvm",
    "to_onnx",
    "to_sklearn",
    "trees",
]

if TYPE_CHECKING:
    from mercer import (
        calibration,
        comparison,
        datasets,
        discriminant,
        distributed,
        exchange,
        feature_selection,
        fuzzy,
        gram,
        inspection,
        kernels,
        lowrank,
        model_selection,
        perceptron,
        persistence,
        plotting,
        problems,
        relevance,
        report,
        solvers,
        spheres,
        studies,
        svm,
        tables,
        trees,
    )
    from mercer._versions import show_versions
    from mercer.calibration import PlattClassifier
    from mercer.cells import CellOneClassSVM, CellSVC, CellSVR
    from mercer.comparison import compare
    from mercer.discriminant import MinimumCostClassifier, cost_scorer
    from mercer.distributed import Distributed
    from mercer.exchange import (
        from_libsvm,
        from_sklearn,
        to_c,
        to_libsvm,
        to_onnx,
        to_sklearn,
    )
    from mercer.feature_selection import KernelRFE, KernelRFECV, KernelSequentialSelector
    from mercer.fuzzy import FuzzyRuleClassifier
    from mercer.inspection import feature_sensitivity
    from mercer.kernels import explicit_map, is_mercer
    from mercer.lowrank import NystroemSVC, NystroemSVR
    from mercer.model_selection import GradientSearch, PathSearchCV
    from mercer.perceptron import KernelPerceptron
    from mercer.persistence import describe, load, save
    from mercer.plotting import (
        BoundaryDisplay,
        CriterionDisplay,
        ErrorSurfaceDisplay,
        EvidenceDisplay,
        GramDisplay,
        MarginDisplay,
        MembershipsDisplay,
        MultipliersDisplay,
        RankingCurveDisplay,
        ReliabilityDisplay,
        SimilarityMapDisplay,
        SupportFractionDisplay,
        SupportRegionDisplay,
        WidthsDisplay,
    )
    from mercer.relevance import RVC, RVR
    from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSearch, OneClassSVM
    from mercer.svm import SVC, SVR, CrammerSingerSVC
    from mercer.trees import ProximityImputer, PrunedTreeClassifier


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
