"""Everything public that is fitted, with its defaults: what the group ``busy`` times."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from mercer import discriminant, feature_selection, kernels, model_selection, trees
from mercer import inspection as inspect
from mercer.calibration import PlattClassifier
from mercer.cells import CellOneClassSVM, CellSVC, CellSVR
from mercer.fuzzy import FuzzyRuleClassifier
from mercer.lowrank import NystroemSVC, NystroemSVR
from mercer.perceptron import KernelPerceptron
from mercer.relevance import RVC, RVR
from mercer.spheres import (
    SVDD,
    NearestHypersphereClassifier,
    OneClassSearch,
    OneClassSVM,
    TargetProbability,
)
from mercer.svm import SVC, SVR, CrammerSingerSVC

Work = Callable[[Any, Any], Callable[[], Any]]
"""From rows and labels to what is timed; what comes before the last call is not."""

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1]}
ROWS_WITH_GAPS = 300
"""The imputer grows a forest for each column; on all rows it takes minutes."""


@lru_cache(maxsize=2)
def data(name: str) -> tuple[Any, Any]:
    """Return a data set with its features scaled."""
    X, y = {"breast_cancer": load_breast_cancer, "digits": load_digits}[name](return_X_y=True)
    return scale(X), y


def _fit(make: Callable[[], Any]) -> Work:
    return lambda X, y: lambda: make().fit(X, y)


def _fit_numbers(make: Callable[[], Any]) -> Work:
    return lambda X, y: lambda: make().fit(X, y.astype(float))


def _fit_rows(make: Callable[[], Any]) -> Work:
    return lambda X, y: lambda: make().fit(X)


def _fit_kernel_matrix(make: Callable[[], Any]) -> Work:
    def prepare(X: Any, y: Any) -> Callable[[], Any]:
        K = kernels.RBF(1.0 / X.shape[1])(X)
        return lambda: make().fit(K, y)

    return prepare


def _fill_gaps(X: Any, y: Any) -> Callable[[], Any]:
    gaps = X[:ROWS_WITH_GAPS].copy()
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.02] = np.nan
    return lambda: trees.ProximityImputer(random_state=0).fit(gaps)


def _criterion(criterion: Callable[..., Any], **settings: Any) -> Work:
    def prepare(X: Any, y: Any) -> Callable[[], Any]:
        model = SVC(**settings).fit(X, y)
        return lambda: criterion(model, X, y)

    return prepare


def _forest(function: Callable[..., Any], labels: bool = False) -> Work:
    def prepare(X: Any, y: Any) -> Callable[[], Any]:
        forest = RandomForestClassifier(random_state=0).fit(X, y)
        return lambda: function(forest, X, y) if labels else function(forest, X)

    return prepare


SQUARED = {"loss": "squared_hinge"}

MACHINES: dict[str, Work] = {
    "SVC()": _fit(SVC),
    "SVC(loss='squared_hinge')": _fit(lambda: SVC(**SQUARED)),
    "SVC(kernel='linear')": _fit(lambda: SVC(kernel="linear")),
    "SVC(kernel='linear', loss='squared_hinge')": _fit(lambda: SVC(kernel="linear", **SQUARED)),
    "SVC(kernel='linear', solver='linear')": _fit(lambda: SVC(kernel="linear", solver="linear")),
    "SVC(kernel='poly')": _fit(lambda: SVC(kernel="poly")),
    "SVC(kernel='sigmoid')": _fit(lambda: SVC(kernel="sigmoid")),
    "SVC(kernel='laplacian')": _fit(lambda: SVC(kernel="laplacian")),
    "SVC(kernel=RBF() + Laplacian())": _fit(
        lambda: SVC(kernel=kernels.RBF() + kernels.Laplacian())
    ),
    "SVC(kernel=Normalized(Polynomial()))": _fit(
        lambda: SVC(kernel=kernels.Normalized(kernels.Polynomial()))
    ),
    "SVC(kernel='precomputed')": _fit_kernel_matrix(lambda: SVC(kernel="precomputed")),
    "SVC(multi_class='ovr')": _fit(lambda: SVC(multi_class="ovr")),
    "SVC(solver='exact')": _fit(lambda: SVC(solver="exact")),
    "SVC(C=inf)": _fit(lambda: SVC(C=np.inf)),
    "CrammerSingerSVC()": _fit(CrammerSingerSVC),
    "CellSVC(cell_size=100)": _fit(lambda: CellSVC(cell_size=100, random_state=0)),
    "CellSVR(cell_size=100)": _fit_numbers(lambda: CellSVR(cell_size=100, random_state=0)),
    "CellOneClassSVM(cell_size=100)": _fit_rows(
        lambda: CellOneClassSVM(cell_size=100, random_state=0)
    ),
    "NystroemSVC()": _fit(lambda: NystroemSVC(random_state=0)),
    "NystroemSVR()": _fit_numbers(lambda: NystroemSVR(random_state=0)),
    "SVR()": _fit_numbers(SVR),
    "SVR(kernel='linear')": _fit_numbers(lambda: SVR(kernel="linear")),
    "RVC()": _fit(RVC),
    "RVC(multi_class='ovr')": _fit(lambda: RVC(multi_class="ovr")),
    "RVC(basis='columns')": _fit(lambda: RVC(basis="columns")),
    "RVR()": _fit_numbers(RVR),
    "RVR(method='classic')": _fit_numbers(lambda: RVR(method="classic")),
    "SVDD()": _fit_rows(SVDD),
    "SVDD(loss='squared_hinge')": _fit_rows(lambda: SVDD(loss="squared_hinge")),
    "OneClassSVM()": _fit_rows(OneClassSVM),
    "NearestHypersphereClassifier()": _fit(NearestHypersphereClassifier),
    "TargetProbability(SVDD())": _fit_rows(lambda: TargetProbability(SVDD())),
    "KernelPerceptron()": _fit(KernelPerceptron),
    "KernelPerceptron(variant='averaged')": _fit(lambda: KernelPerceptron(variant="averaged")),
    "KernelPerceptron(kernel='linear')": _fit(lambda: KernelPerceptron(kernel="linear")),
    "PlattClassifier(SVC())": _fit(lambda: PlattClassifier(SVC())),
    "PlattClassifier(LogisticRegression())": _fit(lambda: PlattClassifier(LogisticRegression())),
    "LinearPerceptron()": _fit(discriminant.LinearPerceptron),
    "AlphaLMS()": _fit(discriminant.AlphaLMS),
    "PseudoInverseClassifier()": _fit(discriminant.PseudoInverseClassifier),
    "MinimumCostClassifier(LogisticRegression())": _fit(
        lambda: discriminant.MinimumCostClassifier(LogisticRegression())
    ),
    "PrunedTreeClassifier()": _fit(trees.PrunedTreeClassifier),
    f"ProximityImputer(), {ROWS_WITH_GAPS} rows": _fill_gaps,
    "FuzzyRuleClassifier()": _fit(lambda: FuzzyRuleClassifier(random_state=0)),
}

SEARCHES: dict[str, Work] = {
    "GradientSearch()": _fit(model_selection.GradientSearch),
    "GradientSearch(SVC())": _fit(lambda: model_selection.GradientSearch(SVC())),
    "GradientSearch(RVC())": _fit(lambda: model_selection.GradientSearch(RVC(), max_evaluations=5)),
    **{
        f"GradientSearch({loss}{criterion!r})": _fit(
            lambda criterion=criterion, settings=settings: model_selection.GradientSearch(
                SVC(**settings), criterion, max_evaluations=10
            )
        )
        for criterion, loss, settings in (
            ("press", "squared, ", SQUARED),
            ("radius_margin", "squared, ", SQUARED),
            ("span", "", {}),
            ("modified_radius_margin", "", {}),
            ("gacv", "", {}),
            ("posterior_error", "", {}),
        )
    },
    "PathSearchCV(SVC(), 4×3)": _fit(lambda: model_selection.PathSearchCV(SVC(), GRID)),
    "OneClassSearch(SVDD())": _fit_rows(lambda: OneClassSearch(SVDD())),
    "OneClassSearch(OneClassSVM(nu=0.1))": _fit_rows(lambda: OneClassSearch(OneClassSVM(nu=0.1))),
    "KernelRFE(SVC())": _fit(lambda: feature_selection.KernelRFE(SVC())),
    "KernelRFE(SVC(kernel='linear'))": _fit(
        lambda: feature_selection.KernelRFE(SVC(kernel="linear"))
    ),
    "KernelRFE(SVC(), criterion='bound')": _fit(
        lambda: feature_selection.KernelRFE(SVC(), criterion="bound")
    ),
    "KernelRFECV(SVC())": _fit(lambda: feature_selection.KernelRFECV(SVC())),
    "KernelRFECV(SVC(kernel='linear'))": _fit(
        lambda: feature_selection.KernelRFECV(SVC(kernel="linear"))
    ),
    "ScaledFeatureSelector()": _fit(feature_selection.ScaledFeatureSelector),
    "ZeroNormSelector()": _fit(feature_selection.ZeroNormSelector),
    "KernelSequentialSelector(SVC(), 3)": _fit(
        lambda: feature_selection.KernelSequentialSelector(SVC(), n_features_to_select=3)
    ),
    "MinimumRedundancySelector()": _fit(feature_selection.MinimumRedundancySelector),
    "CorrelationFeatureSelector()": _fit(feature_selection.CorrelationFeatureSelector),
}

FUNCTIONS: dict[str, Work] = {
    "evidence": _criterion(model_selection.evidence, **SQUARED),
    "press": _criterion(model_selection.press, **SQUARED),
    "radius_margin": _criterion(model_selection.radius_margin, **SQUARED),
    "modified_radius_margin": _criterion(model_selection.modified_radius_margin),
    "span": _criterion(model_selection.span),
    "span_bound": _criterion(model_selection.span_bound),
    "gacv": _criterion(model_selection.gacv),
    "xi_alpha": _criterion(model_selection.xi_alpha),
    "smoothed_validation_error": _criterion(model_selection.smoothed_validation_error),
    "posterior_error": _criterion(model_selection.posterior_error),
    "leave_one_out": _criterion(model_selection.leave_one_out),
    "feature_sensitivity": _criterion(lambda m, X, y: inspect.feature_sensitivity(m, X)),
    "proximity": _forest(trees.proximity),
    "outlier_measure": _forest(trees.outlier_measure, labels=True),
    "similarity_map": _forest(trees.similarity_map),
    "oob_importance": _forest(trees.oob_importance, labels=True),
}

WORK: dict[str, Work] = {**MACHINES, **SEARCHES, **FUNCTIONS}
