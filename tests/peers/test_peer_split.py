"""scikit-learn's tests of splits, with our machines and search."""

from stand_ins import SEARCH
from substitution import names_with

globals().update(names_with(SEARCH, "sklearn.model_selection.tests.test_split"))
