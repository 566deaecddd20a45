"""Pruned trees and their sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from mercer import PrunedTreeClassifier
from mercer.trees.pruned_tree import class_factors


@pytest.fixture(scope="module", name="noisy")
def noisy_data() -> tuple[Any, Any]:
    return make_classification(200, 6, n_informative=3, flip_y=0.2, random_state=0)


def test_pruning_is_that_of_scikit_learn(noisy: Any) -> None:
    """The tree is scikit-learn's for the chosen alpha, and scores are those of its folds."""
    X, y = noisy
    splits = list(StratifiedKFold(4).split(X, y))
    model = PrunedTreeClassifier(random_state=0, cv=splits).fit(X, y)
    seed = model.tree_.random_state
    peer = DecisionTreeClassifier(ccp_alpha=model.alpha_, random_state=seed).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    full = DecisionTreeClassifier(random_state=seed).fit(X, y)
    assert 2 <= len(model.rules_) == peer.get_n_leaves() < full.get_n_leaves() / 3
    assert model.cv_scores_.shape == (model.alphas_.size, 4)
    for alpha, scores in zip(model.alphas_, model.cv_scores_):
        again = DecisionTreeClassifier(ccp_alpha=alpha, random_state=seed)
        np.testing.assert_allclose(scores, cross_val_score(again, X, y, cv=splits))


def test_one_standard_error_is_smaller(noisy: Any) -> None:
    X, y = noisy
    best = PrunedTreeClassifier(rule="best", random_state=0).fit(X, y)
    small = PrunedTreeClassifier(random_state=0).fit(X, y)
    mean = small.cv_scores_.mean(axis=1)
    assert mean.max() == mean[best.alphas_ == best.alpha_][0]
    error = small.cv_scores_[mean.argmax()].std(ddof=1) / np.sqrt(10)
    assert mean[small.alphas_ == small.alpha_][0] >= mean.max() - error - 1e-9
    assert len(small.rules_) <= len(best.rules_)


def holds(rule: Any, X: Any) -> Any:
    """Return for which rows the text of a rule holds, read as Python."""
    names = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    true = np.ones(len(X), dtype=bool)
    for part in rule.condition.split(" AND "):
        words = part.split()
        if words == ["always"]:
            continue
        if len(words) == 5:
            true &= (float(words[0]) < names[words[2]]) & (names[words[2]] <= float(words[4]))
        else:
            value = names[words[0]]
            true &= value <= float(words[2]) if words[1] == "<=" else value > float(words[2])
    return true


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_sentences_are_true(load: Any, rule: str) -> None:
    """Rounded thresholds send every training row to its leaf; support and purity are counted."""
    X, y = load(return_X_y=True)
    model = PrunedTreeClassifier(rule=rule, random_state=0, cv=5).fit(X, y)
    covered = np.zeros(len(y), dtype=int)
    for found in model.rules_:
        own = holds(found, X)
        covered += own
        assert found.support == own.sum()
        assert found.share == pytest.approx(own.mean())
        assert found.purity == pytest.approx(np.mean(y[own] == found.prediction))
        np.testing.assert_array_equal(model.predict(X[own]), found.prediction)
    np.testing.assert_array_equal(covered, 1)
    assert [r.support for r in model.rules_] == sorted(r.support for r in model.rules_)[::-1]


def test_text_and_table() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = PrunedTreeClassifier(random_state=0).fit(X, load_iris().target_names[y])
    lines = model.export_text().splitlines()
    assert "IF petal width (cm) <= 0.8 THEN setosa (50 rows, 33 %; 100 % pure)" in lines
    table = pandas.DataFrame(model.export_table())
    assert list(table) == ["condition", "prediction", "support", "share", "purity"]
    assert table["support"].sum() == 150


def test_missing_values_are_in_the_sentences() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y + 0.1 * rng.normal(size=200), rng.normal(size=200)])
    X[:30, 0] = np.nan
    model = PrunedTreeClassifier(random_state=0).fit(X, y)
    assert any("or missing" in str(rule) for rule in model.rules_)
    assert sum(rule.support for rule in model.rules_) == 200
    assert "missing" not in PrunedTreeClassifier(random_state=0).fit(X[30:], y[30:]).export_text()


@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 3.0}])
def test_weight_is_repetition(class_weight: Any, noisy: Any) -> None:
    """Within the same folds, in which copies stay together."""
    X, y = noisy
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    fold = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    copies = np.repeat(fold, counts)
    again = [(np.flatnonzero(copies != k), np.flatnonzero(copies == k)) for k in range(3)]
    how: dict[str, Any] = {"class_weight": class_weight, "random_state": 0}
    weighted = PrunedTreeClassifier(cv=splits, **how).fit(X, y, sample_weight=counts)
    rows = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    repeated = PrunedTreeClassifier(cv=again, **how).fit(*rows)
    np.testing.assert_allclose(weighted.cv_scores_, repeated.cv_scores_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.export_text() == repeated.export_text()


def test_balanced_classes_weigh_the_same() -> None:
    y, weight = np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 1.0, 1.0])
    total = np.bincount(y, class_factors("balanced", y, weight) * weight)
    np.testing.assert_allclose(total, [2.5, 2.5])


def test_a_tree_without_cuts() -> None:
    model = PrunedTreeClassifier(random_state=0).fit(np.zeros((60, 2)), np.arange(60) % 3 > 0)
    assert model.export_text() == "IF always THEN True (60 rows, 100 %; 67 % pure)"
