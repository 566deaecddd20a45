"""scikit-learn's tests of feature elimination, on ours and with our machines."""

from stand_ins import ELIMINATION
from substitution import names_with

globals().update(names_with(ELIMINATION, "sklearn.feature_selection.tests.test_rfe"))
