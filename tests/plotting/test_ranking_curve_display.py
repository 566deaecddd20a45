"""The picture of rankings shows the numbers of their curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from mercer import SVC, KernelRFE, KernelRFECV, RankingCurveDisplay
from mercer.feature_selection import percent, ranking_curve


@pytest.fixture(scope="module", name="data")
def classes() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(90, 12, n_informative=4, random_state=0)


@pytest.fixture(scope="module", name="curves")
def some_curves(data: Any) -> Any:
    elimination = KernelRFE(SVC(), step=percent(0.3))
    return ranking_curve({"RFE": elimination}, SVC(), *data, cv=3, random_state=0)


def test_lines_are_the_curves(curves: Any) -> None:
    display = RankingCurveDisplay.from_curves(curves, trade_off=(0.7, 0.3))
    assert list(display.lines_) == ["RFE", "random", "filter"]
    for name, line in display.lines_.items():
        curve = curves[name]
        assert_array_equal(line.get_xdata(), curve.sizes)
        assert_allclose(line.get_ydata(), curve.mean_test_score)
        size = curve.best_size((0.7, 0.3))
        assert line.get_label().endswith(f"with {size}")
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert {"chance", "training rows", "while ranking", "optimum"} <= set(names)


def test_strokes_stand_where_the_elimination_was(curves: Any) -> None:
    display = RankingCurveDisplay.from_curves(curves["RFE"])
    strokes = next(line for line in display.ax_.lines if line.get_marker() == "|")
    assert_array_equal(strokes.get_xdata(), [1, 2, 3, 4, 5, 7, 9, 12][-strokes.get_xdata().size :])
    traces = [ranking.accuracy[0] for ranking in curves["RFE"].rankings]
    assert strokes.get_ydata()[-1] == pytest.approx(np.mean(traces))


def test_choice_of_a_search_is_marked(data: Any) -> None:
    search = KernelRFECV(SVC(), cv=3, rule="one_standard_error").fit(*data)
    display = RankingCurveDisplay.from_estimator(search, train=False, band=False, legend=False)
    rings = [line for line in display.ax_.lines if line.get_marker() == "o" and line.get_ms() == 10]
    assert rings[0].get_xdata() == [search.n_features_]
    assert display.legend_ is None


def test_scale_of_many_features(curves: Any) -> None:
    assert RankingCurveDisplay.from_curves(curves).ax_.get_xscale() == "linear"
    assert RankingCurveDisplay.from_curves(curves, log_scale=True).ax_.get_xscale() == "log"


def test_bad_input(data: Any) -> None:
    with pytest.raises(TypeError, match="RankingCurve"):
        RankingCurveDisplay.from_curves({"x": 1})
    with pytest.raises(TypeError, match="KernelRFECV"):
        RankingCurveDisplay.from_estimator(SVC().fit(*data))


def test_marks_stand_at_whole_numbers() -> None:
    X, y = make_classification(60, 5, n_informative=3, n_redundant=0, random_state=0)
    search = KernelRFECV(SVC(kernel="linear"), cv=3).fit(X, y)
    ticks = RankingCurveDisplay.from_estimator(search).ax_.get_xticks()
    assert len(ticks) > 1
    assert_array_equal(ticks, np.round(ticks))
