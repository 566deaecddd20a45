"""The map of a forest shows its coordinates, classes and outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from mercer import SimilarityMapDisplay
from mercer.trees import outlier_measure, similarity_map


@pytest.fixture(scope="module", name="grown")
def forest_of_iris() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    return RandomForestClassifier(30, random_state=0).fit(X, names), X, names


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_points_are_the_map(grown: Any, style: str) -> None:
    from matplotlib import pyplot as plt

    forest, X, names = grown
    with plt.style.context(style):
        display = SimilarityMapDisplay.from_estimator(forest, X, names, n_outliers=4)
    found = similarity_map(forest, X)
    for points, name in zip(display.points_, ["setosa", "versicolor", "virginica"]):
        np.testing.assert_allclose(points.get_offsets(), found.coordinates[names == name])
    texts = {text.get_text() for text in display.ax_.texts}
    far = np.argsort(-outlier_measure(forest, X, names))[:4]
    assert texts == {str(row) for row in far}
    assert display.ax_.get_xlabel() == f"axis 1: {100 * found.explained[0]:.0f} %"
    assert [text.get_text() for text in display.legend_.get_texts()] == sorted(set(names))


def test_without_classes(grown: Any) -> None:
    forest, X, _ = grown
    display = SimilarityMapDisplay.from_estimator(forest, X)
    assert len(display.points_) == 1
    assert display.legend_ is None
    with pytest.raises(ValueError, match="needs y"):
        SimilarityMapDisplay.from_estimator(forest, X, n_outliers=2)
    with pytest.raises(ValueError, match="two axes"):
        SimilarityMapDisplay.from_map(similarity_map(forest, X, n_components=1))
