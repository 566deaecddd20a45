"""Decisions of least expected cost against theory."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, MinimumCostClassifier, PlattClassifier, cost_scorer
from mercer.discriminant import CostScorer

COSTS = np.array([[0.0, 5.0], [1.0, 0.0]])
PRIORS = np.array([0.3, 0.7])


def two_normals(n: int, priors: Any, seed: int, distance: float = 2.0) -> tuple[Any, Any]:
    """Draw two normal classes in the plane, a distance apart, with covariance [[2, 1], [1, 2]]."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) >= priors[0]).astype(int)
    root = np.linalg.cholesky([[2.0, 1.0], [1.0, 2.0]])
    # Along the first row of the root the classes are the distance apart in Mahalanobis' sense.
    return rng.normal(size=(n, 2)) @ root.T + np.outer(y, root[:, 0] * distance), y


def least_cost(costs: Any, priors: Any, distance: float = 2.0) -> float:
    """Return the cost (2.2) of the best rule for two normals at a Mahalanobis distance."""
    threshold = np.log(costs[1, 0] * priors[1] / (costs[0, 1] * priors[0]))
    # The discriminant of (2.5) is normal with variance D² and means ±D²/2.
    wrong_first = norm.cdf((threshold - distance**2 / 2) / distance)
    wrong_second = norm.sf((threshold + distance**2 / 2) / distance)
    return float(costs[0, 1] * priors[0] * wrong_first + costs[1, 0] * priors[1] * wrong_second)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("train_priors", [(0.3, 0.7), (0.5, 0.5), (0.8, 0.2)])
def test_achieved_cost_is_the_theoretical_optimum(kind: Any, train_priors: Any) -> None:
    """Also where the training rows have other shares of the classes than those to be judged."""
    X, y = two_normals(20_000, train_priors, seed=1)
    new, truth = two_normals(200_000, PRIORS, seed=2)
    model = MinimumCostClassifier(kind(), COSTS, priors=PRIORS).fit(X, y)
    costs = COSTS[truth, model.predict(new)]
    optimum, error = least_cost(COSTS, PRIORS), costs.std() / np.sqrt(len(costs))
    assert abs(costs.mean() - optimum) < 3 * error
    if train_priors[0] < 0.6:  # beyond, more rows of the dear class do what costs should do
        plain = COSTS[truth, kind().fit(X, y).predict(new)].mean()
        assert plain > optimum + 10 * error
    scored = -cost_scorer(COSTS)(model, new, truth)
    assert scored == pytest.approx(costs.mean())
    if train_priors == (0.3, 0.7):
        assert abs(model.expected_cost_ - optimum) < 5 * error * np.sqrt(10)


def closed_form(means: Any, covariances: Any, rows: Any) -> Any:
    """Return whether (2.7) or (2.15) allocates rows to the second class."""
    (m1, m2), (S1, S2) = means, covariances
    A1, A2 = np.linalg.inv(S1), np.linalg.inv(S2)
    k = 0.5 * np.log(np.linalg.det(S1) / np.linalg.det(S2))
    k += 0.5 * (m1 @ A1 @ m1 - m2 @ A2 @ m2)
    score = -0.5 * np.einsum("ij,jk,ik->i", rows, A1 - A2, rows) + rows @ (A1 @ m1 - A2 @ m2) - k
    return score < np.log(COSTS[1, 0] * PRIORS[1] / (COSTS[0, 1] * PRIORS[0]))


@pytest.mark.parametrize("linear", [True, False])
def test_two_classes_follow_the_closed_form(linear: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 60])
    X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 3)) + np.outer(y, [1.0, 0.5, 0.0])
    X[y == 1] *= 1.0 if linear else 1.7
    rows = rng.normal(size=(4000, 3)) * 3
    if linear:
        estimator: Any = LinearDiscriminantAnalysis(solver="lsqr")
    else:
        estimator = QuadraticDiscriminantAnalysis(store_covariance=True)
    model = MinimumCostClassifier(estimator, COSTS, priors=PRIORS).fit(X, y)
    labels, fitted = model.predict(rows), model.estimator_
    found = [fitted.covariance_] * 2 if linear else fitted.covariance_
    expected = closed_form(fitted.means_, found, rows)
    assert 0.1 < expected.mean() < 0.9
    np.testing.assert_array_equal(labels, expected)
    # With the divisors n - 1 of the document, where scikit-learn has n, hardly a row differs.
    parts = [X[y == code] for code in (0, 1)]
    S = [np.cov(part.T) for part in parts]
    if linear:
        S = [(39 * S[0] + 59 * S[1]) / 98] * 2
    printed = closed_form([part.mean(axis=0) for part in parts], S, rows)
    assert np.mean(labels != printed) < 0.01


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_equal_costs_and_priors_change_nothing(kind: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = MinimumCostClassifier(kind(), 3.0 * (1 - np.eye(3)), priors=np.full(3, 1 / 3)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), kind().fit(X, y).predict(X))


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_other_priors_are_those_of_the_classifier_itself(kind: Any) -> None:
    """Reweighted posteriors are what the discriminant computes with these priors."""
    X, y = load_iris(return_X_y=True)
    X, y, priors = X[20:], y[20:], [0.6, 0.3, 0.1]
    model = MinimumCostClassifier(kind(), priors=priors).fit(X, y)
    direct = kind(priors=priors).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), direct.predict_proba(X), atol=1e-10)
    again = MinimumCostClassifier(direct, priors=[0.2, 0.2, 0.6]).fit(X, y)
    np.testing.assert_allclose(again.training_priors_, priors)


def test_class_weight_counts_as_a_prior() -> None:
    X, y = make_classification(4000, 5, weights=[0.9], random_state=0)
    balanced = LogisticRegression(class_weight="balanced", C=1e6)
    back = MinimumCostClassifier(balanced, priors=np.bincount(y) / len(y)).fit(X, y)
    plain = LogisticRegression(C=1e6).fit(X, y)
    assert np.abs(back.predict_proba(X) - plain.predict_proba(X)).mean() < 0.01
    weights = LogisticRegression(class_weight={0: 1.0, 1: 9.0})
    found = MinimumCostClassifier(weights).fit(X, y).training_priors_
    counts = np.bincount(y) * [1.0, 9.0]
    np.testing.assert_allclose(found, counts / counts.sum())


@pytest.mark.parametrize(
    "estimator",
    [
        PlattClassifier(SVC()),
        RandomForestClassifier(30, random_state=0),
        LogisticRegression(C=0.1),
    ],
)
def test_many_classes_by_a_loop(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = np.array([[0, 1, 4], [2, 0, 3], [1, 20, 0]])
    model = MinimumCostClassifier(estimator, costs).fit(X, names)
    for row, label, posterior in zip(X, model.predict(X), model.predict_proba(X)):
        expected = [sum(posterior[i] * costs[i, j] for i in range(3)) for j in range(3)]
        assert label == model.classes_[int(np.argmin(expected))]
        np.testing.assert_allclose(model.expected_costs(row[None])[0], expected)


def test_rejection() -> None:
    """Chow's rule: rows whose largest posterior is below 1 - reject_cost are left to others."""
    X, y = two_normals(3000, (0.5, 0.5), seed=3)
    model = MinimumCostClassifier(LinearDiscriminantAnalysis(), reject_cost=0.2).fit(X, y)
    rejected = model.predict(X) == -1
    np.testing.assert_array_equal(rejected, model.predict_proba(X).max(axis=1) < 0.8)
    assert 0.05 < rejected.mean() < 0.6
    wrong = (model.predict(X) != y) & ~rejected
    expected = wrong.mean() + 0.2 * rejected.mean()
    assert model.expected_cost_ == pytest.approx(expected)
    assert cost_scorer(1 - np.eye(2), reject_cost=0.2)(model, X, y) == pytest.approx(-expected)
    with pytest.raises(ValueError, match="reject_cost"):
        cost_scorer(1 - np.eye(2))(model, X, y)
    texts = MinimumCostClassifier(LogisticRegression(), reject_cost=0.1).fit(
        X, np.array(["a", "b"])[y]
    )
    assert set(texts.predict(X)) == {"a", "b", "rejected"}
    model = MinimumCostClassifier(LogisticRegression(), reject_cost=0.1, reject_label="?")
    assert set(model.fit(X, y).predict(X).tolist()) == {0, 1, "?"}  # numbers stay numbers
    with pytest.raises(ValueError, match="reject_label"):
        MinimumCostClassifier(LogisticRegression(), reject_cost=0.1).fit(X, 2 * y - 1)


BAD_COSTS = {
    "shape": ([[0, 1, 1], [1, 0, 1]], r"shape \(2, 2\); got shape \(2, 3\)"),
    "classes": ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "each of the 2 classes"),
    "negative": ([[0, -1], [1, 0]], r"negative; got -1 at \[0, 1\]"),
    "diagonal": ([[0, 1], [1, 2]], r"diagonal, must be 0; got 2 at \[1, 1\]"),
    "nan": ([[0, np.nan], [1, 0]], "finite"),
    "text": ([["a", "b"], ["c", "d"]], "matrix of numbers"),
}


@pytest.mark.parametrize(("costs", "words"), BAD_COSTS.values(), ids=BAD_COSTS)
def test_wrong_costs_are_refused(costs: Any, words: str) -> None:
    X, y = two_normals(50, (0.5, 0.5), seed=0)
    with pytest.raises(ValueError, match=words) as error:
        MinimumCostClassifier(LogisticRegression(), costs).fit(X, y)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=words):
        cost_scorer(costs)(LogisticRegression().fit(X, y), X, y)


@pytest.mark.parametrize("priors", [[1.0], [0.5, 0.6], [-0.5, 1.5]])
def test_wrong_priors_are_refused(priors: Any) -> None:
    X, y = two_normals(50, (0.5, 0.5), seed=0)
    with pytest.raises(ValueError, match="priors must"):
        MinimumCostClassifier(LogisticRegression(), priors=priors).fit(X, y)


def test_more_features_than_rows() -> None:
    """The documented way: scikit-learn's shrinkage."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 500)) + 0.8 * np.outer(y, np.arange(500) < 40)
    new_y = np.repeat([0, 1], 200)
    new = rng.normal(size=(400, 500)) + 0.8 * np.outer(new_y, np.arange(500) < 40)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    assert MinimumCostClassifier(lda).fit(X, y).score(new, new_y) > 0.75
    if "shrinkage" in QuadraticDiscriminantAnalysis().get_params():  # of scikit-learn 1.8
        qda = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto")
        assert MinimumCostClassifier(qda).fit(X, y).score(new, new_y) > 0.6


def test_scorer_in_searches() -> None:
    """A dear mistake moves the choice; folds may lack nothing that the scorer needs."""
    X, y = two_normals(600, (0.5, 0.5), seed=4)
    scorer = cost_scorer(COSTS, priors=PRIORS)
    assert isinstance(pickle.loads(pickle.dumps(scorer)), CostScorer)
    grid = {"costs": [None, COSTS.tolist()], "priors": [None, PRIORS.tolist()]}
    model = MinimumCostClassifier(LinearDiscriminantAnalysis())
    search = GridSearchCV(model, grid, scoring=scorer, cv=5).fit(X, y)
    assert search.best_params_ == {"costs": COSTS.tolist(), "priors": PRIORS.tolist()}
    assert (cross_val_score(model, X, y, scoring=scorer) < 0).all()


def test_score_with_priors_is_a_mean_of_class_means() -> None:
    X, y = two_normals(300, (0.5, 0.5), seed=5)
    model = LogisticRegression().fit(X, y)
    wrong = model.predict(X) != y
    expected = PRIORS[0] * 5 * wrong[y == 0].mean() + PRIORS[1] * 1 * wrong[y == 1].mean()
    assert cost_scorer(COSTS, priors=PRIORS)(model, X, y) == pytest.approx(-expected)
