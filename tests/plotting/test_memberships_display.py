"""The picture of fuzzy sets shows the sets of the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mercer import SVC, FuzzyRuleClassifier, MembershipsDisplay
from mercer.plotting.palette import COLORS


@pytest.fixture(scope="module", name="iris")
def flowers() -> Any:
    bunch = load_iris(as_frame=True)
    return bunch.data, bunch.target_names[bunch.target]


@pytest.fixture(scope="module", name="model")
def rules(iris: Any) -> FuzzyRuleClassifier:
    return FuzzyRuleClassifier(n_generations=20, random_state=0).fit(*iris)


def test_curves_are_the_memberships(model: Any) -> None:
    display = MembershipsDisplay.from_estimator(model)
    assert set(display.lines_) == set(zip(*map(np.ndarray.tolist, np.nonzero(model.antecedents_))))
    for (j, i), line in display.lines_.items():
        x = line.get_xdata()
        expected = np.exp(-(((x - model.centers_[j, i]) / model.widths_[j, i]) ** 2))
        assert_allclose(line.get_ydata(), expected)
        code = model.classes_.tolist().index(model.rule_classes_[j])
        assert same_color(line.get_color(), COLORS[code])
    names = [ax.get_xlabel() for ax in display.axes_]
    assert names == model.feature_names_in_[model.antecedents_.any(axis=0)].tolist()
    assert [text.get_text() for text in display.legend_.get_texts()] == model.classes_.tolist()


def test_terms_stand_where_the_sentences_use_them(model: Any) -> None:
    display = MembershipsDisplay.from_estimator(model, features=["petal width (cm)"])
    (ax,) = display.axes_
    words = [text.get_text() for text in ax.texts if text.get_text() in model.terms]
    assert words == list(model.terms)
    low, high = model.term_ranges_[:, 3]
    edges = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    assert_allclose(edges, [low + (high - low) / 3, low + (high - low) * 2 / 3])


def test_a_row_is_marked(model: Any, iris: Any) -> None:
    row = iris[0].iloc[70]
    display = MembershipsDisplay.from_estimator(model, row=row, legend=False)
    told = model.explain(row)
    for ax, i in zip(display.axes_, display.features):
        points = [line for line in ax.lines if line.get_marker() not in ("None", None, "")]
        drawn = [point.get_ydata()[0] for point in points]
        assert_allclose(drawn, told.memberships[model.antecedents_[:, i], i])
        assert {point.get_xdata()[0] for point in points} == {row.iloc[i]}
    assert display.legend_ is None


def test_given_axes_are_used(model: Any) -> None:
    _, (left, right) = plt.subplots(1, 2)
    display = MembershipsDisplay.from_estimator(model, features=[2, 3], axes=[left, right])
    assert list(display.axes_) == [left, right]
    with pytest.raises(ValueError, match="2 features need 2 axes; got 1"):
        MembershipsDisplay.from_estimator(model, features=[2, 3], axes=left)


def test_bad_input_is_refused(model: Any, iris: Any) -> None:
    with pytest.raises(ValueError, match="no feature 'stem'"):
        MembershipsDisplay.from_estimator(model, features=["stem"])
    with pytest.raises(ValueError, match="3 values"):
        MembershipsDisplay.from_estimator(model, row=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="FuzzyRuleClassifier is needed; got SVC"):
        MembershipsDisplay.from_estimator(SVC().fit(*iris))
