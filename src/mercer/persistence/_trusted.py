"""The types and functions that a file may name.

A file names types; it holds no code. Ours are listed one by one, so that a file cannot make the
program import a module that nobody thought of. Functions are only referred to, never called while
a file is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from sklearn import feature_selection, gaussian_process, metrics, model_selection
from sklearn.utils import all_estimators

_OURS = {
    "calibration": "pair_sigmoids.PairSigmoids platt.PlattClassifier sigmoid.PlattSigmoid",
    "cells": "_given.OnlyClass cell_one_class_svm.CellOneClassSVM cell_svc.CellSVC "
    "cell_svr.CellSVR partition.Partition",
    "comparison": "discriminant.WideDiscriminant",
    "discriminant": "alpha_lms.AlphaLMS linear_perceptron.LinearPerceptron "
    "minimum_cost.MinimumCostClassifier pseudo_inverse.PseudoInverseClassifier scorer.CostScorer",
    "feature_selection": "correlation.CorrelationFeatureSelector elimination.EliminationTrace "
    "kernel_rfe.KernelRFE kernel_rfe_cv.KernelRFECV "
    "kernel_sequential_selector.KernelSequentialSelector "
    "minimum_redundancy.MinimumRedundancySelector ranking_curve.Ranking "
    "ranking_curve.RankingCurve scaled.ScaledFeatureSelector steps.annealing steps.around "
    "steps.constant steps.entropy steps.halving steps.percent steps.square_root "
    "zero_norm.ZeroNormSelector",
    "fuzzy": "fuzzy_rules.FuzzyRuleClassifier",
    "gram": "pairwise.KernelSums",
    "kernels": "adapters.CallableKernel adapters.GaussianProcessKernel adapters.Precomputed "
    "algebra.Power algebra.Product algebra.Scaled algebra.Sum dot.Linear dot.Polynomial "
    "dot.Sigmoid normalization.Normalized radial.Laplacian radial.RBF wrappers.Constant "
    "wrappers.Weighted",
    "lowrank": "nystroem_svc.NystroemSVC nystroem_svr.NystroemSVR",
    "model_selection": "gradient.gradient_search.GradientSearch grid.path_search.PathSearchCV",
    "perceptron": "_memory.History _memory.MistakeMemory kernel_perceptron.KernelPerceptron",
    "relevance": "rvc.RVC rvr.RVR",
    "spheres": "_balls.Balls nearest_hypersphere.NearestHypersphereClassifier "
    "one_class_search.OneClassSearch one_class_svm.OneClassSVM svdd.SVDD "
    "target_probability.Monotone target_probability.TargetProbability",
    "svm": "crammer_singer_svc.CrammerSingerSVC svc.SVC svr.SVR",
    "tables": "_number_columns.NumberColumns common_scaler.CommonScaler table_model.TableModel",
    "trees": "_columns.Columns _rules.Condition _rules.Rule proximity_imputer.ProximityImputer "
    "pruned_tree.PrunedTreeClassifier",
}

_SKLEARN_PARTS = {
    "_loss.link": "HalfLogitLink IdentityLink Interval LogitLink LogLink MultinomialLogit",
    "_loss.loss": "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss "
    "HalfMultinomialLoss HalfPoissonLoss HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity "
    "HuberLoss PinballLoss",
    "calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "cluster._bisect_k_means": "_BisectingTree",
    "compose._column_transformer": "make_column_selector",
    "ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "impute._iterative": "IterativeImputer",  # which all_estimators lists once it is asked for
    "metrics._scorer": "_CurveScorer _MultimetricScorer _PassthroughScorer _Scorer",
    "model_selection._search_successive_halving": "HalvingGridSearchCV HalvingRandomSearchCV",
    "multiclass": "_ConstantPredictor",
    "neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}

_SKRUB = {
    "_apply_to_each_col": "ApplyToEachCol",
    "_check_input": "CheckInputDataFrame",
    "_clean_categories": "CleanCategories",
    "_clean_null_strings": "CleanNullStrings",
    "_datetime_encoder": "DatetimeEncoder",
    "_drop_uninformative": "DropUninformative",
    "_duration_to_float": "DurationToFloat",
    "_string_encoder": "StringEncoder",
    "_table_vectorizer": "PassThrough ShortReprDict TableVectorizer",
    "_to_datetime": "ToDatetime",
    "_to_float": "ToFloat",
    "_to_str": "ToStr",
    "selectors._base": "All And Cols Filter Sub",
}

LOSSES = frozenset(
    f"sklearn._loss._loss.Cy{name}"
    for name in "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss "
    "HalfPoissonLoss HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity HuberLoss "
    "PinballLoss".split()
) | frozenset(
    f"sklearn.linear_model._sgd_fast.{name}"
    for name in "EpsilonInsensitive Hinge ModifiedHuber SquaredEpsilonInsensitive "
    "SquaredHinge".split()
)

KEYS = frozenset(
    ["builtins.str", "builtins.int", "builtins.float", "builtins.bool"]
    + [f"numpy.{name}" for name in "str_ int32 int64 uint64 float32 float64 bool bool_".split()]
)
"""Types of keys of a dictionary; they are called with the text of the key."""

SCALARS = frozenset(
    f"numpy.{name}"
    for name in "bool bool_ int8 int16 int32 int64 intc longlong uint8 uint16 uint32 uint64 "
    "uintc ulonglong float16 float32 float64 str_ datetime64 timedelta64".split()
)
"""Numbers of NumPy, which are kept as arrays of no dimension."""

DICTS = frozenset(["builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"])

TUPLES = {"builtins.tuple": None, "sklearn.impute._iterative._ImputerTriplet": 3}
"""Tuples, with the number of their entries where they have names."""

FOLDS = frozenset(f"sklearn.model_selection._split.{name}" for name in ("KFold", "StratifiedKFold"))
"""Types that cross-validators which repeat themselves refer to."""

REFERRED = frozenset(SCALARS | {"builtins.int", "builtins.float", "builtins.str", "builtins.bool"})
"""Types that stand for themselves, as in ``dtype=np.float64``."""

_SKRUB_FUNCTIONS = (
    "_dataframe._common.is_any_date",
    "_dataframe._common.is_categorical",
    "_dataframe._common.is_numeric",
    "_table_vectorizer._created_by_predicate",
    "selectors._selectors._cardinality_below",
)

_SCORES = "chi2 f_classif f_regression mutual_info_classif mutual_info_regression".split()

_OUR_FUNCTIONS = (
    "mercer.tables.vectorizer.words_as_categories",
    "mercer.feature_selection.scores.fisher_score",
    "mercer.feature_selection.scores.golub_score",
    "mercer.feature_selection.scores.kendall_score",
    "mercer.feature_selection.scores.pearson_score",
    "mercer.feature_selection.scores.spearman_score",
)

_OTHER_FUNCTIONS = (
    *(f"numpy.{name}" for name in "asarray mean median min max".split()),
    *(f"sklearn.cluster._kmeans._kmeans_single_{name}" for name in ("elkan", "lloyd")),
)


@cache
def trusted_objects() -> frozenset[str]:
    """Return the names of all types whose objects a file may hold."""
    names = {f"mercer.{name}" for name in _spelled(_OURS)}
    names |= {f"sklearn.{name}" for name in _spelled(_SKLEARN_PARTS)}
    names |= {f"skrub.{name}" for name in _spelled(_SKRUB)}
    splitters = [kind for kind in vars(model_selection).values() if hasattr(kind, "get_n_splits")]
    kernels = vars(gaussian_process.kernels).values()
    classes = [kind for _, kind in all_estimators()] + splitters + list(kernels)
    names |= {_name(kind) for kind in classes if inspect.isclass(kind)}
    return frozenset(name for name in names if name.startswith(("mercer.", "sklearn.", "skrub.")))


@cache
def trusted_functions() -> frozenset[str]:
    """Return the names of functions that a file may refer to: measures, kernels, predicates."""
    public = [getattr(metrics, name) for name in metrics.__all__]
    public += [f for name, f in vars(metrics.pairwise).items() if name.endswith("_kernel")]
    public += [getattr(feature_selection, name) for name in _SCORES]
    names = {_name(function) for function in public if inspect.isfunction(function)}
    ufuncs = {f"numpy.{name}" for name, f in vars(np).items() if isinstance(f, np.ufunc)}
    others = {f"skrub.{name}" for name in _SKRUB_FUNCTIONS} | {*_OUR_FUNCTIONS, *_OTHER_FUNCTIONS}
    return frozenset(name for name in names if name.startswith("sklearn.")) | ufuncs | others


def _spelled(names: dict[str, str]) -> Iterable[str]:
    return (f"{home}.{name}" for home, some in names.items() for name in some.split())


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__name__}"
