"""A machine is the same one in scikit-learn's objects and in ours."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from zoo import ZOO, Problem

import mercer
from mercer import SVC, SVDD, SVR, OneClassSVM, PlattClassifier
from mercer.kernels import RBF, Laplacian

pytestmark = [
    pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite"),
    pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated"),
]
KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.3, "coef0": 1.0, "degree": 2},
    "rbf": {"kernel": "rbf"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.002, "coef0": 0.1},
}
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}
X, y = load_iris(return_X_y=True)
NAMES = {
    *("rbf", "multiple", "poly_squared", "linear_hard", "sample_weight", "precomputed"),
    *("constant_features", "sparse_poly_squared", "rbf_C_1e6_apart"),
}
SOME = [problem for problem in ZOO if problem.name in NAMES]


def values(model: Any, points: Any) -> Any:
    if hasattr(model, "decision_function_shape"):
        model = pickle.loads(pickle.dumps(model)).set_params(decision_function_shape="ovo")
    predicts = isinstance(model, SVR | sklearn.svm.SVR | sklearn.svm.NuSVR)
    return model.predict(points) if predicts else model.decision_function(points)


def agree(one: Any, other: Any, points: Any) -> None:
    """Check values, and labels where no value is 0."""
    first, second = values(one, points), values(other, points)
    scale = max(1.0, np.abs(first).max())
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-10 * scale)
    clear = (np.abs(first.reshape(len(first), -1)) > 1e-9 * scale).all(axis=1)
    assert clear.mean() > 0.5
    if not isinstance(one, SVR | sklearn.svm.SVR | sklearn.svm.NuSVR):
        labels = one.predict(points)[clear], other.predict(points)[clear]
        np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
def test_there_and_back(params: dict[str, Any], form: Callable[[Any], Any]) -> None:
    target = load_diabetes(return_X_y=True)[1][:150]
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    cases = [
        (SVC(C=10.0, **params), sklearn.svm.SVC(C=10.0, **params), names, slice(None)),
        (SVC(C=10.0, **params), sklearn.svm.NuSVC(nu=0.1, **params), names, slice(50, None)),
        (SVR(C=10.0, **params), sklearn.svm.SVR(C=10.0, **params), target, slice(None)),
        (SVR(**params), sklearn.svm.NuSVR(**params), target, slice(None)),
        (OneClassSVM(nu=0.2, **params), sklearn.svm.OneClassSVM(nu=0.2, **params), y, slice(100)),
    ]
    for ours, theirs, labels, rows in cases:
        points = form(X[rows])
        ours.fit(points, labels[rows])
        theirs.fit(points, labels[rows])
        for new in (form(X), X) if form is sp.csr_array else (X,):
            agree(ours, mercer.to_sklearn(ours), new)
            agree(theirs, mercer.from_sklearn(theirs), new)
        agree(ours, mercer.from_sklearn(mercer.to_sklearn(ours)), form(X))


@pytest.mark.parametrize("problem", SOME, ids=lambda problem: problem.name)
def test_what_scikit_learn_could_not_fit(problem: Problem) -> None:
    """Other losses, hard margins and factors of kernels are coefficients after the fit."""
    ours = SVC(**problem.params).fit(problem.X, problem.y, problem.sample_weight)
    theirs = mercer.to_sklearn(ours)
    agree(ours, theirs, problem.X)
    agree(ours, pickle.loads(pickle.dumps(theirs)), problem.X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(n_classes: int) -> None:
    rows = y > 2 - n_classes
    limit = 0.005  # LIBSVM's iteration ends early
    ours = SVC(probability=True).fit(X[rows], y[rows])
    theirs = mercer.to_sklearn(ours)
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < limit
    theirs = sklearn.svm.SVC(probability=True, random_state=0).fit(X[rows], y[rows])
    ours = mercer.from_sklearn(theirs)
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < limit


def test_parameters_are_carried_over() -> None:
    theirs = sklearn.svm.SVC(C=3.0, class_weight="balanced", tol=1e-5, break_ties=True).fit(X, y)
    ours = mercer.from_sklearn(theirs)
    again = clone(ours).fit(X, y)  # gamma is the number that "scale" stood for
    np.testing.assert_allclose(again.decision_function(X), ours.decision_function(X), atol=1e-3)
    for name in ("C", "class_weight", "tol", "break_ties"):
        assert getattr(mercer.to_sklearn(ours), name) == getattr(ours, name)
    refitted = mercer.to_sklearn(ours).fit(X, y)
    np.testing.assert_allclose(values(refitted, X), values(theirs, X), atol=1e-3)


def test_columns_have_names() -> None:
    table = load_iris(as_frame=True)["data"]
    theirs = mercer.to_sklearn(SVC().fit(table, y))
    assert theirs.feature_names_in_.tolist() == list(table)
    ours = mercer.from_sklearn(theirs)
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(table[list(table)[::-1]])


def test_kernels_that_are_functions() -> None:
    theirs = sklearn.svm.SVC(kernel=Laplacian(0.5)).fit(X, y)
    agree(theirs, mercer.from_sklearn(theirs), X[::-1])


def test_attributes_are_those_of_a_fit() -> None:
    """What scikit-learn's own fit leaves behind, private parts too, has the same kind here."""
    for ours in (SVC().fit(X, y), SVR().fit(X, y), OneClassSVM().fit(X)):
        copy = mercer.to_sklearn(ours)
        fitted = clone(copy).fit(X, y)
        assert set(fitted.__dict__) <= set(copy.__dict__)
        for name, value in fitted.__dict__.items():
            found = getattr(copy, name)
            assert np.ndim(found) == np.ndim(value), name
            assert getattr(found, "dtype", None) == getattr(value, "dtype", None), name


def test_what_cannot_be_carried_over() -> None:
    refused = {
        "linear, polynomial": SVC(kernel=Laplacian(1.0)).fit(X, y),
        "one width": SVC(kernel=RBF([1.0, 2.0, 3.0, 4.0])).fit(X, y),
        "as pairs only": SVC(multi_class="ovr").fit(X, y),
        "most probable class": PlattClassifier(SVC()).fit(X, y),
        "last step": make_pipeline(StandardScaler(), SVC()).fit(X, y),
        "got SVDD": SVDD().fit(X),
        "not fitted": SVC(),
    }
    for words, model in refused.items():
        with pytest.raises((ValueError, TypeError), match=words) as error:
            mercer.to_sklearn(model)
        assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="LinearSVC"):
        mercer.from_sklearn(sklearn.svm.LinearSVC().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        mercer.from_sklearn(sklearn.svm.SVC())
