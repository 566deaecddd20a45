"""Probabilities of a support vector classifier, and arguments that belong to other machines."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, OneClassSVM, PlattClassifier
from mercer._folds import deal_folds
from mercer.kernels import RBF


@pytest.fixture(scope="module", name="iris")
def iris_data() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), load_iris().target_names[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "params",
    [{}, {"class_weight": "balanced"}, {"multi_class": "ovr"}, {"loss": "squared_hinge", "C": 9.0}],
)
def test_probabilities_are_those_of_platt(n_classes: int, params: Any, iris: Any) -> None:
    """Weights and all, it is what `PlattClassifier` says of the same machine."""
    X, y = iris[0][: 50 * n_classes], iris[1][: 50 * n_classes]
    weights = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    model = SVC(probability=True, **params).fit(X, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    fold = np.full(len(y), -1)
    codes = np.unique(y[kept], return_inverse=True)[1]
    fold[kept] = deal_folds(X[kept], codes, 5, copies_together=True)
    platt = PlattClassifier(SVC(**params), cv=PredefinedSplit(fold))
    platt.fit(X, y, sample_weight=weights)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found, platt.predict_proba(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(found))
    bare = SVC(**params).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.predict(X), bare.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), bare.decision_function(X))


def test_weight_is_repetition(iris: Any) -> None:
    X, y = iris[0][50:], iris[1][50:]
    weights = 1 + np.arange(len(y)) % 3
    weighted = SVC(probability=True, tol=1e-9, gamma=0.5).fit(X, y, sample_weight=weights)
    repeated = SVC(probability=True, tol=1e-9, gamma=0.5)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_as_good_as_those_of_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    losses = []
    peer = CalibratedClassifierCV(svm.SVC(), ensemble=False)
    for machine in (SVC(probability=True), peer):
        model = make_pipeline(StandardScaler(), machine)
        losses.append(log_loss(y, cross_val_predict(model, X, y, method="predict_proba")))
    assert losses[0] < 1.1 * losses[1] < 0.12


def test_sparse_and_precomputed_rows(iris: Any) -> None:
    X, y = iris
    dense = SVC(probability=True, gamma=0.5).fit(X, y).predict_proba(X)
    sparse = SVC(probability=True, gamma=0.5).fit(sp.csr_array(X), y).predict_proba(X)
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    K = RBF(0.5)(X)
    model = SVC(probability=True, kernel="precomputed").fit(K, y)
    assert log_loss(y, model.predict_proba(K)) < 0.15


def test_random_state_deals_the_folds(iris: Any) -> None:
    X, y = iris[0][50:], iris[1][50:]
    first, again, other = (
        SVC(probability=True, random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


def test_without_probability_there_is_none(iris: Any) -> None:
    model = SVC().fit(*iris)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=name) as error:
            getattr(model, name)
        assert "probability=True" in str(error.value.__cause__)
        assert "PlattClassifier" in str(error.value.__cause__)
    model.set_params(probability=True)
    with pytest.raises(NotFittedError, match="fit again"):
        model.predict_proba(iris[0])
    model.fit(*iris)
    model.set_params(probability=False).fit(*iris)
    assert not hasattr(model, "sigmoids_")


def test_probabilities_survive_copies(iris: Any) -> None:
    X, y = iris
    model = SVC(probability=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("machine", "argument", "words"),
    [
        (SVC, "nu", "SVC takes no nu: use C."),
        (SVC, "dual", "SVC takes no dual: the solver"),
        (SVC, "penalty", "RVC"),
        (SVR, "nu", "use epsilon"),
        (SVR, "fit_intercept", "always an intercept"),
        (OneClassSVM, "C", "use nu"),
        (OneClassSVM, "random_state", "nothing here is random"),
    ],
)
def test_arguments_of_other_machines(machine: Any, argument: str, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        machine(**{argument: 1})
    assert argument not in machine().get_params()


def test_unknown_arguments_stay_unknown() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'gama'"):
        SVC(gama=1.0)  # type: ignore[call-arg]
