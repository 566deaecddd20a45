"""Perceptron, α-LMS and pseudo-inverse: what each is known for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from mercer import KernelPerceptron
from mercer.discriminant import AlphaLMS, LinearPerceptron, PseudoInverseClassifier


@pytest.fixture(name="apart")
def two_blobs() -> tuple[Any, Any]:
    return make_blobs(80, 3, centers=[[-3, 0, 0], [3, 1, 0]], random_state=0)


def overlapping() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    return rng.normal(size=(200, 3)) + np.outer(y, [1.0, 0.5, 0.0]), y


def test_perceptron_is_algorithm_1(apart: Any) -> None:
    """The same mistakes, in the same order, as a loop written from the document."""
    X, y = apart
    rows, signs = np.column_stack([X, np.ones(len(X))]), np.where(y == 1, 1.0, -1.0)
    w, errors = np.zeros(4), 1
    while errors:
        errors = 0
        for x, sign in zip(rows, signs):
            if sign * (w @ x) <= 0:
                w = w + 0.5 * sign * x
                errors += 1
    model = LinearPerceptron(eta=0.5, shuffle=False).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w)
    assert model.score(X, y) == 1.0
    dual = KernelPerceptron(kernel="linear", shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), 0.5 * dual.decision_function(X))


def test_perceptron_says_when_classes_overlap() -> None:
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="20 epochs"):
        model = LinearPerceptron(max_iter=20, random_state=0).fit(X, y)
    assert model.n_iter_ == 20
    assert model.n_mistakes_[0] > 0


def test_a_row_corrects_its_share_of_the_error() -> None:
    """After one visit the error of the row is 1 - alpha times what it was."""
    X, y = np.array([[2.0, -1.0], [0.5, 3.0]]), np.array([0, 1])
    model = AlphaLMS(alpha=0.3, max_iter=1, shuffle=False).fit(X, y)
    first = -0.3 * np.array([2.0, -1.0, 1.0]) / 6.0
    last = np.array([0.5, 3.0, 1.0])
    assert 1 - model.decision_function(X[1:])[0] == pytest.approx(0.7 * (1 - first @ last))


def test_small_steps_come_close_to_least_squares() -> None:
    X, y = overlapping()
    X = X / np.linalg.norm(np.column_stack([X, np.ones(len(X))]), axis=1, keepdims=True)
    exact = PseudoInverseClassifier().fit(X, y)
    near = AlphaLMS(alpha=0.005, max_iter=800, tol=0, random_state=0).fit(X, y)
    # Rows weigh by 1 / |x|² here, so that both agree up to that.
    cosine = near.coef_[0] @ exact.coef_[0]
    cosine /= np.linalg.norm(near.coef_) * np.linalg.norm(exact.coef_)
    assert cosine > 0.99
    assert np.mean(near.predict(X) == exact.predict(X)) > 0.97


def test_pseudo_inverse_is_least_squares() -> None:
    X, y = overlapping()
    weight = np.random.default_rng(1).random(len(y))
    model = PseudoInverseClassifier().fit(X, y, sample_weight=weight)
    peer = LinearRegression().fit(X, 2 * y - 1, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), peer.predict(X))
    plain, lda = PseudoInverseClassifier().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), lda.predict(X))  # of equal class sizes


def test_pseudo_inverse_of_few_rows_is_the_shortest() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 50)), np.repeat([0, 1], 5)
    model = PseudoInverseClassifier().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), 2 * y - 1)
    direct = np.linalg.pinv(np.column_stack([X, np.ones(10)])) @ (2 * y - 1)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), direct)
    assert model.rank_ == 10


@pytest.mark.parametrize("model", [AlphaLMS(random_state=0), PseudoInverseClassifier()])
def test_many_classes(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.score(X, y) > 0.75
