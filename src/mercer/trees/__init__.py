"""Trees that can be read, and what else a forest knows of the data."""

from mercer.trees._rules import Condition, Rule
from mercer.trees.oob_importance import OobImportance, oob_importance
from mercer.trees.outlier_measure import outlier_measure
from mercer.trees.proximity import proximity
from mercer.trees.proximity_imputer import ProximityImputer
from mercer.trees.pruned_tree import PrunedTreeClassifier
from mercer.trees.similarity_map import SimilarityMap, similarity_map

__all__ = [
    "Condition",
    "OobImportance",
    "ProximityImputer",
    "PrunedTreeClassifier",
    "Rule",
    "SimilarityMap",
    "oob_importance",
    "outlier_measure",
    "proximity",
    "similarity_map",
]
