"""All estimators in variants that differ in code, and what scikit-learn's checks ask of each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    RVC,
    RVR,
    SVC,
    SVR,
    CellOneClassSVM,
    CellSVC,
    CellSVR,
    CrammerSingerSVC,
    GradientSearch,
    KernelPerceptron,
    MinimumCostClassifier,
    NystroemSVC,
    NystroemSVR,
    PathSearchCV,
    PlattClassifier,
    ProximityImputer,
    PrunedTreeClassifier,
)
from mercer.discriminant import AlphaLMS, LinearPerceptron, PseudoInverseClassifier
from mercer.feature_selection import (
    CorrelationFeatureSelector,
    KernelRFE,
    KernelRFECV,
    KernelSequentialSelector,
    MinimumRedundancySelector,
    ScaledFeatureSelector,
    ZeroNormSelector,
    halving,
)
from mercer.fuzzy import FuzzyRuleClassifier
from mercer.kernels import RBF, Laplacian, Linear
from mercer.spheres import (
    SVDD,
    NearestHypersphereClassifier,
    OneClassSearch,
    OneClassSVM,
    TargetProbability,
)

NOT_A_KERNEL = "The kernel is not positive semi-definite"

VARIANTS = [
    PlattClassifier(SVC()),
    PlattClassifier(SVC(multi_class="ovr", tol=1e-10)),
    PlattClassifier(LogisticRegression(max_iter=1000)),
    PathSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2),
    CellSVC(random_state=0),
    CellSVC(SVC(tol=1e-10), cell_size=15, overlap=0.5, random_state=0),
    CellSVR(SVR(tol=1e-10), cell_size=20, random_state=0),
    CellOneClassSVM(OneClassSVM(nu=0.2, tol=1e-10), cell_size=30, random_state=0),
    NystroemSVC(tol=1e-8, random_state=0),
    NystroemSVC(loss="squared_hinge", tol=1e-8, random_state=0),
    NystroemSVR(tol=1e-8, random_state=0),
    NystroemSVR(loss="squared_epsilon_insensitive", tol=1e-8, random_state=0),
    SVC(),
    SVC(tol=1e-10),
    SVC(probability=True, tol=1e-10),
    SVC(kernel="linear", tol=1e-10),
    SVC(kernel="linear", solver="smo", tol=1e-10),
    SVC(loss="squared_hinge", tol=1e-10),
    SVC(multi_class="ovr", tol=1e-10),
    SVC(kernel=RBF(0.5), tol=1e-10),
    SVC(kernel=RBF("scale") + 0.5 * Laplacian("scale"), tol=1e-10),
    SVC(kernel="precomputed", tol=1e-10),
    SVC(warm_start=True, tol=1e-10),
    CrammerSingerSVC(tol=1e-10),
    # Of matrices that are no kernel's, a fit takes 400,000 steps and ends at a gap all the same.
    CrammerSingerSVC(kernel="precomputed", tol=1e-10, max_iter=20_000),
    # scikit-learn's check of decisions against probabilities hands points to precomputed kernels,
    # so that RVC with one is tested in tests/relevance.
    RVC(),
    RVC(multi_class="ovr"),
    RVC(basis="columns"),
    RVC(kernel="linear", output="map"),
    RVR(),
    RVR(method="classic", tol=1e-2),
    RVR(basis="columns"),
    RVR(kernel="precomputed"),
    KernelPerceptron(),
    KernelPerceptron(kernel="linear", form="primal"),
    KernelPerceptron(kernel="linear", form="dual", fit_intercept=False),
    KernelPerceptron(variant="averaged"),
    KernelPerceptron(variant="voted"),
    KernelPerceptron(kernel=RBF("scale") + Linear(), shuffle=False),
    KernelPerceptron(kernel="precomputed"),
    SVR(),
    SVR(tol=1e-10),
    SVR(kernel="linear", tol=1e-10),
    SVR(kernel="linear", solver="linear", loss="squared_epsilon_insensitive", tol=1e-10),
    SVR(loss="squared_epsilon_insensitive", epsilon=0.0, tol=1e-10),
    SVR(kernel=RBF("scale") + 0.5 * Laplacian("scale"), tol=1e-10),
    SVR(kernel="precomputed", tol=1e-10),
    SVR(warm_start=True, tol=1e-10),
    SVDD(),
    SVDD(tol=1e-10),
    SVDD(loss="squared_hinge", tol=1e-10),
    SVDD(kernel="linear", tol=1e-10),
    SVDD(kernel="poly", tol=1e-10),
    SVDD(warm_start=True, tol=1e-10),
    OneClassSVM(),
    OneClassSVM(tol=1e-10),
    OneClassSVM(kernel="linear", tol=1e-10),
    NearestHypersphereClassifier(),
    NearestHypersphereClassifier(tol=1e-10),
    NearestHypersphereClassifier(nu=0.2, dissimilarity="absolute", tol=1e-10),
    NearestHypersphereClassifier(kernel="linear", tol=1e-10),
    NearestHypersphereClassifier(kernel="precomputed", cv=None, tol=1e-10),
    OneClassSearch(SVDD(), n_widths=8),
    OneClassSearch(OneClassSVM(nu=0.1), strategy="support_plateau", n_widths=8),
    OneClassSearch(SVDD(), strategy="artificial_outliers", nus=[0.1], n_widths=4, random_state=0),
    TargetProbability(SVDD()),
    TargetProbability(OneClassSVM(nu=0.1), method="sigmoid", region="ball"),
    GradientSearch(),
    GradientSearch(SVC(tol=1e-10)),
    GradientSearch(SVC(loss="squared_hinge"), "radius_margin"),
    GradientSearch(SVC(kernel="precomputed", loss="squared_hinge"), "press"),
    # Short of the maximum, to which RVC() above is fitted under the same checks.
    GradientSearch(RVC(max_iter=10), "evidence", max_evaluations=2),
    GradientSearch(SVR(tol=1e-10), max_evaluations=4),
    GradientSearch(SVR(loss="squared_epsilon_insensitive"), "evidence", max_evaluations=4),
    GradientSearch(SVDD(tol=1e-10), max_evaluations=3),
    KernelRFE(SVC(kernel="linear")),
    KernelRFE(SVC(kernel="poly", tol=1e-10), step=0.3, criterion="gradient"),
    KernelRFE(SVC(tol=1e-10), criterion="bound"),
    KernelRFE(SVR()),
    KernelRFECV(SVC(kernel="linear"), cv=2),
    KernelRFECV(KernelRFE(SVC(), step=halving()), cv=2, rule="one_standard_error"),
    KernelSequentialSelector(SVC(), cv=2),
    KernelSequentialSelector(SVC(), cv=2, direction="backward", tol=-0.1),
    KernelSequentialSelector(SVR(), cv=2),
    CorrelationFeatureSelector(),
    MinimumRedundancySelector(),
    MinimumRedundancySelector(correlation="spearman", redundancy=0.5),
    ZeroNormSelector(),
    ScaledFeatureSelector(max_iter=5),
    ScaledFeatureSelector(SVC(kernel="linear"), penalty=0.01, space="components", max_iter=5),
    FuzzyRuleClassifier(n_generations=20),
    FuzzyRuleClassifier(t_norm="min", vote="additive", clustering="subtractive", n_generations=5),
    MinimumCostClassifier(LogisticRegression(max_iter=1000)),
    MinimumCostClassifier(GaussianNB()),
    LinearPerceptron(max_iter=50),
    AlphaLMS(),
    PseudoInverseClassifier(),
    PrunedTreeClassifier(),
    PrunedTreeClassifier(rule="best", cv=3, class_weight="balanced"),
    ProximityImputer(RandomForestClassifier(5, random_state=0)),
    ProximityImputer(RandomForestClassifier(5, random_state=0), value="mean", kind="gap"),
]


# Checks of constructors, tags and the input that is refused. What they look at is the same for all
# settings, unless these change the tags or the machine inside.
OF_THE_CLASS = {
    "check_array_api_input",
    "check_classifier_data_not_an_array",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dtype_object",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_sparse_matrix",  # the same numbers as those of the sparse array
    "check_estimator_tags_renamed",
    "check_estimators_empty_data_messages",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_partial_fit_n_features",
    "check_estimators_unfitted",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_positive_only_tag_during_fit",
    "check_regressor_data_not_an_array",
    "check_regressors_no_decision_function",
    "check_requires_y_none",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_set_params",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    "check_transformer_data_not_an_array",
    "check_transformers_unfitted",
    "check_valid_tag_types",
}


# Checks that also come with data in read-only memory, which are enough for further variants. They
# come with single precision too, to which check_estimators_dtypes fits.
ALSO_READ_ONLY = {
    "check_classifiers_train",
    "check_estimators_pickle",
    "check_outliers_train",
    "check_regressors_train",
    "check_transformer_general",
}


# What stands inside where no estimator is given.
USUAL_MACHINES: dict[type, type] = {
    GradientSearch: SVC,
    ProximityImputer: RandomForestClassifier,
    ScaledFeatureSelector: SVC,
}


def machine_inside(model: Any) -> type | None:
    """Return the class of the estimator that another one fits."""
    given = getattr(model, "estimator", None)
    return USUAL_MACHINES.get(type(model)) if given is None else type(given)


def has_the_input_of(model: Any, other: Any) -> bool:
    """Whether two variants handle input with the same code: class, tags and machine inside."""
    same_class = type(model) is type(other) and machine_inside(model) is machine_inside(other)
    return same_class and get_tags(model) == get_tags(other)


@cache
def leading_variants() -> list[Any]:
    """Return the first variant of each kind of input."""
    leaders: list[Any] = []
    for model in VARIANTS:
        if not any(has_the_input_of(model, leader) for leader in leaders):
            leaders.append(model)
    return leaders


def checks_of_each_variant() -> list[tuple[Any, Any]]:
    """Return all checks of the first variant with its input, those that look at fits of others."""
    _, pairs = parametrize_with_checks(VARIANTS).mark.args
    first = set(map(id, leading_variants()))
    return [(model, check) for model, check in pairs if id(model) in first or looks_at_fits(check)]


@contextmanager
def fewer_formats(model: Any, check: Any) -> Iterator[None]:
    """Let a check of sparse rows give one of their ten formats, where all were given already.

    All become one format before an estimator looks at them, in the same way for all settings and
    for matrices as for arrays; the first variant of each kind of input is given arrays of all.
    """
    name = check.func.__name__
    with pytest.MonkeyPatch.context() as patch:
        if name == "check_estimator_sparse_matrix" or (
            name == "check_estimator_sparse_array"
            and not any(model is leader for leader in leading_variants())
        ):
            patch.setattr(estimator_checks, "_generate_sparse_data", lambda rows: [("csr", rows)])
        yield


def looks_at_fits(check: Any) -> bool:
    """Whether a check sees something that may differ between variants with the same input."""
    name = check.func.__name__
    if name in ALSO_READ_ONLY:
        return set(check.keywords) == {"readonly_memmap"}
    return name not in OF_THE_CLASS


# What scikit-learn's data make an estimator say: they are neither separable nor scaled, their
# labels are no targets and outliers, some classes have one row, matrices are not those of a kernel.
EXPECTED_WARNINGS: dict[type, tuple[str, ...]] = {
    KernelPerceptron: ("The perceptron still made", NOT_A_KERNEL),
    LinearPerceptron: ("The classes were not separated",),
    KernelRFE: ("The solver stopped at a gap",),
    RVR: ("RVR stopped after max_iter",),
    SVC: (NOT_A_KERNEL,),
    CrammerSingerSVC: (NOT_A_KERNEL, "The solver stopped at a gap"),
    SVR: (NOT_A_KERNEL,),
    GradientSearch: (NOT_A_KERNEL, "RVC stopped after max_iter"),
    SVDD: ("y is ignored",),
    NearestHypersphereClassifier: (
        NOT_A_KERNEL,
        r"The class(es)? .* a single point",
        r"k\(x, x\) of the rows is not known",
    ),
}


@contextmanager
def only_expected_warnings(model: Any) -> Iterator[None]:
    """Make errors of all warnings of estimators but those that the data deserve."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=UserWarning)
        for message in EXPECTED_WARNINGS.get(type(model), ()):
            warnings.filterwarnings("ignore", message)
        yield
