"""Probabilities from decision values."""

from mercer.calibration.coupling import couple_pairs
from mercer.calibration.pair_sigmoids import PairSigmoids
from mercer.calibration.platt import PlattClassifier
from mercer.calibration.sigmoid import PlattSigmoid, fit_sigmoid

__all__ = ["PairSigmoids", "PlattClassifier", "PlattSigmoid", "couple_pairs", "fit_sigmoid"]
