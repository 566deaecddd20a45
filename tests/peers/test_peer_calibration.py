"""scikit-learn's tests of calibrated classifiers, on `PlattClassifier`."""

from stand_ins import CALIBRATION
from substitution import names_with

globals().update(names_with(CALIBRATION, "sklearn.tests.test_calibration"))
