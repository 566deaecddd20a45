"""Proximities, outliers, importances and maps against plain loops."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from mercer.trees import _comparison as comparison
from mercer.trees import _similarity as internals
from mercer.trees import oob_importance, outlier_measure, proximity, similarity_map
from mercer.trees.oob_importance import permuted

KINDS = ("all", "oob", "gap")


@pytest.fixture(scope="module", name="grown")
def small_forest() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    return RandomForestClassifier(25, random_state=0, max_samples=0.8).fit(X, y), X, y


def bags(forest: Any, n: int) -> Any:
    """Return how often each row is in the bag of each tree, by a loop."""
    counts = np.zeros((n, len(forest.estimators_)))
    for t, drawn in enumerate(forest.estimators_samples_):
        for row in drawn:
            counts[row, t] += 1
    return counts


def looped(forest: Any, X: Any, kind: str) -> Any:
    """Return the proximities by the definitions, pair by pair."""
    leaves, n = forest.apply(X), len(X)
    n_trees = leaves.shape[1]
    counts = bags(forest, n) if kind != "all" else np.zeros(leaves.shape)
    P = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            same = leaves[i] == leaves[j]
            if kind == "all":
                P[i, j] = same.mean()
                continue
            out_i, out_j = counts[i] == 0, counts[j] == 0
            if kind == "oob":
                both = out_i & out_j
                P[i, j] = same[both].mean() if both.any() else 0.0
                continue
            for t in range(n_trees):
                if out_i[t] and same[t]:
                    in_leaf = counts[leaves[:, t] == leaves[i, t], t].sum()
                    P[i, j] += counts[j, t] / in_leaf / max(out_i.sum(), 1)
    return P


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", ["dense", "sparse"])
@pytest.mark.parametrize("crowded", [0.0, 1.0])
def test_proximity_is_a_double_loop(
    kind: str, output: str, crowded: float, grown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By products and by comparison of leaves alike."""
    forest, X, _ = grown
    monkeypatch.setattr(internals, "CROWDED", crowded)
    monkeypatch.setattr(comparison, "ROWS", 8)
    monkeypatch.setattr(internals, "BLOCK", 7 * len(X))  # several blocks, and a short last one
    P = proximity(forest, X, kind=kind, output=output)
    assert sp.issparse(P) == (output == "sparse")
    dense = P.toarray() if sp.issparse(P) else P
    np.testing.assert_allclose(dense, looped(forest, X, kind), atol=1e-6)


@pytest.mark.parametrize(
    "forest",
    [
        ExtraTreesClassifier(10, random_state=0),
        RandomForestRegressor(10, random_state=0, min_samples_leaf=4),
        RandomForestClassifier(1, random_state=0),
    ],
    ids=str,
)
def test_any_forest(forest: Any) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    forest.fit(X, y)
    np.testing.assert_allclose(proximity(forest, X), looped(forest, X, "all"), atol=1e-6)


@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_gap_gives_the_predictions_of_the_forest(min_samples_leaf: int) -> None:
    """Geometry- and accuracy-preserving: targets weighted by proximity are predictions."""
    X, y = make_regression(120, 4, noise=5.0, random_state=0)
    forest = RandomForestRegressor(
        60, min_samples_leaf=min_samples_leaf, oob_score=True, random_state=0
    ).fit(X, y)
    out_of_bag = proximity(forest, X, kind="gap") @ y
    np.testing.assert_allclose(out_of_bag, forest.oob_prediction_, rtol=1e-4)
    new = np.random.default_rng(0).normal(size=(30, 4))
    W = proximity(forest, new, X, kind="gap")
    np.testing.assert_allclose(W.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(W @ y, forest.predict(new), rtol=1e-4)


def test_new_rows(grown: Any) -> None:
    forest, X, _ = grown
    new = X[:5] + 0.05
    leaves, known = forest.apply(new), forest.apply(X)
    expected = (leaves[:, None] == known[None]).mean(axis=2)
    np.testing.assert_allclose(proximity(forest, new, X), expected, atol=1e-6)
    out = bags(forest, len(X)) == 0
    same = leaves[:, None] == known[None]
    expected = (same & out[None]).sum(axis=2) / np.maximum(out.sum(axis=1), 1)
    np.testing.assert_allclose(proximity(forest, new, X, kind="oob"), expected, atol=1e-6)


def test_large_results_are_sparse_or_refused() -> None:
    X, y = make_classification(2500, 5, random_state=0)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert sp.issparse(proximity(forest, X))
    with pytest.raises(MemoryError, match=r"0\.0 GB, more than max_memory=0\.001"):
        proximity(forest, X, output="dense", max_memory=0.001)
    with pytest.raises(MemoryError, match="smaller leaves"):
        proximity(forest, X, max_memory=0.001)


def test_full_results_are_dense() -> None:
    """Where nearly all pairs meet, a sparse matrix would be the larger one."""
    X, y = make_classification(2500, 5, random_state=0)
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X, y)
    P = proximity(forest, X)
    assert isinstance(P, np.ndarray)
    rows = proximity(forest, X, output="sparse")[:50].toarray()
    np.testing.assert_allclose(P[:50], rows, atol=1e-6)
    assert sp.issparse(proximity(forest, X, kind="oob", max_memory=0.9, output="sparse"))


def test_what_is_no_forest_is_refused(grown: Any) -> None:
    forest, X, y = grown
    for model in (DecisionTreeClassifier(), GradientBoostingClassifier(n_estimators=3)):
        with pytest.raises(TypeError, match="forest of scikit-learn"):
            proximity(model.fit(X, y), X)
    with pytest.raises(ValueError, match="kind must be one of"):
        proximity(forest, X, kind="some")
    with pytest.raises(ValueError, match="fitted to, 50; got 49"):
        proximity(forest, X[1:], kind="oob")
    with pytest.raises(ValueError, match="bootstrap=False"):
        proximity(ExtraTreesClassifier(5).fit(X, y), X, kind="gap")


@pytest.mark.parametrize("kind", KINDS)
def test_outlier_measure_is_its_definition(kind: str, grown: Any) -> None:
    forest, X, y = grown
    P, found = looped(forest, X, kind), outlier_measure(forest, X, y, kind=kind)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        raw = np.array([len(y) / sum(P[i, j] ** 2 for j in own) for i in own])
        middle = np.median(raw)
        np.testing.assert_allclose(
            found[own], (raw - middle) / np.abs(raw - middle).mean(), rtol=1e-3, atol=1e-4
        )


def test_a_wrong_label_is_an_outlier() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 5.0 * y[:, None]
    y[3] = 1
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    for kind in KINDS:
        assert outlier_measure(forest, X, y, kind=kind).argmax() == 3


def brute_force(forest: Any, X: Any, y: Any, seed: int) -> Any:
    """Return the lost correct classifications of each tree, walking through it node by node."""

    def leaf_value(tree: Any, row: Any) -> Any:
        node = 0
        while tree.children_left[node] >= 0:
            left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
            node = tree.children_left[node] if left else tree.children_right[node]
        return tree.value[node, 0]

    def correct(tree: Any, rows: Any, labels: Any) -> int:
        votes = [forest.classes_[np.argmax(leaf_value(tree, row))] for row in rows]
        return sum(vote == label for vote, label in zip(votes, labels))

    losses = np.zeros((len(forest.estimators_), X.shape[1]))
    for b, model in enumerate(forest.estimators_):
        drawn = set(forest.estimators_samples_[b].tolist())
        rows = [i for i in range(len(X)) if i not in drawn]
        before = correct(model.tree_, X[rows], y[rows])
        for j in range(X.shape[1]):
            changed = X[rows].copy()
            changed[:, j] = changed[permuted(len(rows), [seed, b], j), j]
            losses[b, j] = before - correct(model.tree_, changed, y[rows])
    return losses


def test_importance_is_brute_force(grown: Any) -> None:
    forest, X, _ = grown
    y = np.array(["a", "b", "c"])[grown[2]]
    forest = RandomForestClassifier(20, random_state=1).fit(X, y)
    found = oob_importance(forest, X, y, random_state=7)
    seed = int(np.random.RandomState(7).randint(np.iinfo(np.int32).max))
    losses = brute_force(forest, X, y, seed)
    np.testing.assert_array_equal(found.per_tree, losses)
    assert losses.any()
    np.testing.assert_allclose(found.importances, losses.sum(axis=0) / 20)
    expected = losses.std(axis=0, ddof=1) / np.sqrt(20)
    np.testing.assert_allclose(found.standard_error, expected)
    again = oob_importance(forest, X, y, random_state=7, n_jobs=2)
    np.testing.assert_array_equal(again.per_tree, found.per_tree)


def test_importance_finds_what_matters() -> None:
    """Noise is within its error of 0; also for regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    labels = RandomForestClassifier(100, random_state=0).fit(X, X[:, 2] > 0)
    found = oob_importance(labels, X, X[:, 2] > 0, random_state=0)
    assert found.importances.argmax() == 2
    noise = np.delete(found.importances / np.maximum(found.standard_error, 1e-9), 2)
    assert np.abs(noise).max() < 6 < found.importances[2] / found.standard_error[2]
    target = 3 * X[:, 4]
    numbers = RandomForestRegressor(50, random_state=0).fit(X, target)
    assert oob_importance(numbers, X, target, random_state=0).importances.argmax() == 4


@pytest.mark.parametrize("kind", KINDS)
def test_map_is_classical_scaling(kind: str, grown: Any) -> None:
    forest, X, _ = grown
    P = looped(forest, X, kind)
    P = (P + P.T) / 2
    np.fill_diagonal(P, 1.0)
    n = len(X)
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ (1 - P) @ J)
    found = similarity_map(forest, X, kind=kind)
    for k in range(2):
        expected = vectors[:, -1 - k] * np.sqrt(values[-1 - k])
        sign = np.sign(expected @ found.coordinates[:, k])
        np.testing.assert_allclose(found.coordinates[:, k], sign * expected, atol=1e-5)
    np.testing.assert_allclose(found.explained, found.eigenvalues / values.sum(), rtol=1e-5)


def test_map_of_many_rows_is_the_same_by_lanczos(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(400, 6, n_informative=4, random_state=0)
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y)
    lanczos = similarity_map(forest, X)
    monkeypatch.setattr(sys.modules["mercer.trees.similarity_map"], "SMALL", 10**6)
    dense = similarity_map(forest, X)
    np.testing.assert_allclose(lanczos.coordinates, dense.coordinates, atol=1e-6)
    apart = np.abs(np.subtract(*(dense.coordinates[y == k, 0].mean() for k in (0, 1))))
    assert apart > dense.coordinates[y == 0, 0].std()


def test_map_with_all_axes_is_exact(grown: Any) -> None:
    """With all axes the squared distances are 1 - proximity."""
    forest, X, _ = grown
    P = proximity(forest, X)
    full = similarity_map(forest, X, n_components=len(X) - 1).coordinates
    squared = np.sum((full[:, None] - full[None]) ** 2, axis=2)
    np.testing.assert_allclose(squared, 1 - P, atol=1e-5)
