"""Probabilities from decision values."""

from mercer.calibration.coupling import couple_pairs
from mercer.calibration.platt import PlattClassifier
from mercer.calibration.sigmoid import Sigmoid, fit_sigmoid

__all__ = ["PlattClassifier", "Sigmoid", "couple_pairs", "fit_sigmoid"]
