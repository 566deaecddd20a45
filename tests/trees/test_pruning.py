"""All prunings of one grown tree are those that scikit-learn makes one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from mercer.trees._pruning import ends, pruning_levels


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_prunings_are_those_of_scikit_learn(load: Any, criterion: str) -> None:
    X, y = load(return_X_y=True)
    X, y = X[::2], y[::2]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    settings: dict[str, Any] = {"criterion": criterion, "random_state": 0}
    grown = DecisionTreeClassifier(**settings).fit(X, y, sample_weight=weight)
    path = grown.cost_complexity_pruning_path(X, y, sample_weight=weight).ccp_alphas
    edges = np.unique(path)
    alphas = np.append((edges[:-1] + edges[1:]) / 2, 2 * edges[-1])[::3]
    tree = grown.tree_
    found = ends(tree, pruning_levels(tree), alphas)[grown.apply(X)]
    for where, alpha in zip(found.T, alphas):
        pruned = DecisionTreeClassifier(ccp_alpha=alpha, **settings).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(tree.value[where, 0], pruned.tree_.value[pruned.apply(X), 0])
        assert np.unique(where).size == pruned.get_n_leaves()


def test_levels_rise_towards_the_root() -> None:
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    levels = pruning_levels(tree)
    inner = np.flatnonzero(tree.children_left >= 0)
    for children in (tree.children_left, tree.children_right):
        assert (levels[children[inner]] <= levels[inner]).all()
    assert np.isneginf(levels[tree.children_left < 0]).all()


def test_one_leaf_stays() -> None:
    tree = DecisionTreeClassifier().fit([[0.0], [0.0]], [0, 1]).tree_
    assert ends(tree, pruning_levels(tree), np.array([0.0, 1.0])).tolist() == [[0, 0]]
