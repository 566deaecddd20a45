"""The study that sets kernel machines beside trees, forests and fuzzy rules."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from studies.comparison.study import METHODS, learn, parts_of

MOST_PARTS = {"RVM": 60, "SVM": 120, "tree": 60, "fuzzy rules": 10, "largest class": 0}
"""Rows, leaves and rules that there can be; a forest has 300 trees with two leaves at least."""


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_and_tells_its_size(method):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X[:, :4])
    model = learn(method, X[:120], y[:120], seed=0)
    chances = model.predict_proba(X[120:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X[120:]), model.classes_[chances.argmax(axis=1)])
    wrong = np.mean(model.predict(X[120:]) != y[120:])
    parts = parts_of(model)
    if method == "largest class":
        assert parts == 0
        return
    assert wrong < 0.25
    assert parts >= 600 if method == "forest" else 1 <= parts <= MOST_PARTS[method]
