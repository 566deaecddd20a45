"""Probabilities from decision values."""

from mercer.calibration.coupling import couple_pairs
from mercer.calibration.platt import PlattClassifier
from mercer.calibration.sigmoid import PlattSigmoid, fit_sigmoid

__all__ = ["PlattClassifier", "PlattSigmoid", "couple_pairs", "fit_sigmoid"]
