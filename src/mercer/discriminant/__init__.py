"""Costs of mistakes, and the linear classifiers that came before kernel machines."""

from mercer.discriminant.alpha_lms import AlphaLMS
from mercer.discriminant.linear_perceptron import LinearPerceptron
from mercer.discriminant.minimum_cost import MinimumCostClassifier
from mercer.discriminant.pseudo_inverse import PseudoInverseClassifier
from mercer.discriminant.scorer import CostScorer, cost_scorer

__all__ = [
    "AlphaLMS",
    "CostScorer",
    "LinearPerceptron",
    "MinimumCostClassifier",
    "PseudoInverseClassifier",
    "cost_scorer",
]
