"""One class described by a ball in feature space, and classes told apart by their balls."""

from mercer.spheres.artificial_outliers import artificial_outliers
from mercer.spheres.nearest_hypersphere import NearestHypersphereClassifier
from mercer.spheres.one_class_search import OneClassSearch
from mercer.spheres.one_class_svm import OneClassSVM
from mercer.spheres.preimage import preimage
from mercer.spheres.reflection import reflect
from mercer.spheres.svdd import SVDD
from mercer.spheres.target_probability import TargetProbability

__all__ = [
    "SVDD",
    "NearestHypersphereClassifier",
    "OneClassSVM",
    "OneClassSearch",
    "TargetProbability",
    "artificial_outliers",
    "preimage",
    "reflect",
]
