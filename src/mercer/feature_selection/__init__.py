"""Choosing features: elimination, scaling, filters, and curves of what they are worth."""

from mercer.feature_selection.correlation import CorrelationFeatureSelector
from mercer.feature_selection.elimination import EliminationTrace
from mercer.feature_selection.kernel_rfe import KernelRFE
from mercer.feature_selection.kernel_rfe_cv import KernelRFECV
from mercer.feature_selection.kernel_sequential_selector import KernelSequentialSelector
from mercer.feature_selection.minimum_redundancy import MinimumRedundancySelector
from mercer.feature_selection.pareto import pareto_set
from mercer.feature_selection.ranking_curve import RankingCurve, ranking_curve
from mercer.feature_selection.scaled import ScaledFeatureSelector
from mercer.feature_selection.scores import (
    fisher_score,
    golub_score,
    kendall_score,
    pearson_score,
    spearman_score,
)
from mercer.feature_selection.stability import kuncheva_index
from mercer.feature_selection.steps import (
    RoundState,
    annealing,
    around,
    constant,
    entropy,
    halving,
    percent,
    square_root,
    step_sizes,
)
from mercer.feature_selection.stop_condition import estimated_accuracy, optimal_size
from mercer.feature_selection.zero_norm import ZeroNormSelector

__all__ = [
    "CorrelationFeatureSelector",
    "EliminationTrace",
    "KernelRFE",
    "KernelRFECV",
    "KernelSequentialSelector",
    "MinimumRedundancySelector",
    "RankingCurve",
    "RoundState",
    "ScaledFeatureSelector",
    "ZeroNormSelector",
    "annealing",
    "around",
    "constant",
    "entropy",
    "estimated_accuracy",
    "fisher_score",
    "golub_score",
    "halving",
    "kendall_score",
    "kuncheva_index",
    "optimal_size",
    "pareto_set",
    "pearson_score",
    "percent",
    "ranking_curve",
    "spearman_score",
    "square_root",
    "step_sizes",
]
