"""scikit-learn's tests of support vector machines with sparse data, on ours."""

from stand_ins import MACHINES
from substitution import names_with

globals().update(names_with(MACHINES, "sklearn.svm.tests.test_sparse"))
