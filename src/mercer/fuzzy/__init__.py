"""Fuzzy rules: classifiers that are read as sentences."""

from mercer.fuzzy.explanation import Explanation
from mercer.fuzzy.fuzzy_rules import FuzzyRuleClassifier

__all__ = ["Explanation", "FuzzyRuleClassifier"]
