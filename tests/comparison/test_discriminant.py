"""The wide form of the linear discriminant is the usual one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mercer import compare, load, save
from mercer.comparison.discriminant import WideDiscriminant


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shape", [(30, 80), (60, 31), (31, 31), (30, 31)])
@pytest.mark.parametrize("even", [False, True])
def test_it_is_the_usual_one(shape, n_classes, even):
    rng = np.random.default_rng(n_classes)
    y = np.array(["a", "b", "c", "a", "a"])[np.arange(shape[0]) % (n_classes + even)]
    X = rng.normal(size=shape) * np.geomspace(0.1, 10.0, shape[1]) + 5.0
    X[:, 0] = 7.1  # a constant
    X[y == "b", 1] = 0.3  # in one class only
    X[:, 3:] += X[:, 2:3] * np.linspace(0, 9, shape[1] - 3)  # columns that go together
    names = np.unique(y)
    priors = [1 / len(names)] * len(names) if even else None
    usual = LinearDiscriminantAnalysis("lsqr", "auto", priors=priors).fit(X, y)
    found = WideDiscriminant(priors=priors).fit(X, y)
    assert (found.predict(X) == usual.predict(X)).all()
    # The condition of the covariance, at most 1e7 here, costs the usual one seven digits.
    assert np.linalg.cond(usual.covariance_) < 1e7
    expected = usual.decision_function(X)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.decision_function(X), expected, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(found.predict_proba(X), usual.predict_proba(X), atol=1e-6)
    assert hasattr(found, "covariance_") == (shape[0] >= shape[1])


@pytest.mark.filterwarnings("ignore:Only one sample")
def test_classes_of_one_row_and_of_equal_rows():
    X = np.random.default_rng(0).normal(size=(12, 40))
    y = np.array([0] * 6 + [1] * 5 + [2])
    usual, found = LinearDiscriminantAnalysis("lsqr", "auto"), WideDiscriminant()
    expected = usual.fit(X, y).decision_function(X)
    np.testing.assert_allclose(clone(found).fit(X, y).decision_function(X), expected)
    X[y == 0], X[y == 1], X[y == 2] = 1.0, 2.0, 3.0  # nothing to shrink
    usual.fit(X, y)
    assert (clone(found).fit(X, y).predict(X) == usual.predict(X)).all()


def test_a_wide_model_can_be_kept(tmp_path) -> None:
    pytest.importorskip("skops")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)), np.repeat(["a", "b"], 20)
    result = compare(X, y, models="lda", folds=3, repeats=1)
    assert isinstance(result.best_[-1], WideDiscriminant)
    save(result.best_, tmp_path / "wide.mercer")
    kept = load(tmp_path / "wide.mercer")
    np.testing.assert_array_equal(kept.predict_proba(X), result.best_.predict_proba(X))
