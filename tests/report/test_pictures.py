"""The pictures show the numbers of the comparison."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.metrics import confusion_matrix

from mercer.report import (
    draw_confusion,
    draw_elimination,
    draw_errors,
    draw_features,
    draw_learning,
    draw_reliability,
    draw_residuals,
)
from mercer.report._pictures import pictures_of


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_errors_stand_at_their_places(comparison):
    compared = comparison("regression")
    _, given = plt.subplots()
    ax = draw_errors(compared, given)
    assert ax is given
    assert labels(ax.yaxis) == compared.results_["title"].tolist()
    bars = [container.lines[0] for container in ax.containers]
    assert [float(bar.get_xdata()[0]) for bar in bars] == pytest.approx(
        compared.results_["error"].tolist()
    )
    folds = compared.folds_.loc[compared.folds_["model"] == compared.best_name_, "rmse"]
    assert any(np.array_equal(line.get_xdata(), folds) for line in ax.lines)
    low, high = ax.get_xlim()
    assert low <= compared.folds_["rmse"].min()
    assert high >= compared.folds_["rmse"].max()


def test_error_far_beyond_the_others_is_marked_with_its_value(comparison):
    compared = comparison("binary")
    ax = draw_errors(compared)
    near = compared.folds_[compared.folds_["model"] != "dummy"]["error"].max()
    assert 100 * near <= ax.get_xlim()[1] < 100 * compared.results_.loc["dummy", "error"]
    assert [text.get_text() for text in ax.texts] == ["37.3 %"]


def test_failed_models_are_not_drawn(comparison):
    compared = comparison("partial")
    ax = draw_errors(compared)
    assert "SVC by gradient search" not in labels(ax.yaxis)
    assert ax.get_legend().get_title().get_text().startswith("partial run")
    nothing = replace(
        compared, results_=compared.results_[compared.results_["verdict"] == "failed"]
    )
    with pytest.raises(ValueError, match=r"No model was measured"):
        draw_errors(nothing)


def test_confusion_has_the_counts(comparison):
    compared = comparison("binary")
    ax = draw_confusion(compared)
    expected = confusion_matrix(
        compared.table.target.tolist(), compared.predictions_[compared.best_name_].tolist()
    )
    drawn = np.array([int(text.get_text()) for text in ax.texts]).reshape(2, 2)
    assert np.array_equal(drawn, expected)


def test_confusion_of_twelve_classes_leaves_zeros_out(comparison):
    compared = comparison("many_classes")
    ax = draw_confusion(compared)
    expected = confusion_matrix(
        compared.table.target.tolist(), compared.predictions_[compared.best_name_].tolist()
    )
    assert len(compared.classes_) == 12
    drawn = {
        (round(text.get_position()[1]), round(text.get_position()[0])): int(text.get_text())
        for text in ax.texts
    }
    assert drawn == {tuple(place): expected[tuple(place)] for place in np.argwhere(expected)}


def test_confusion_of_many_classes_shows_those_with_most_mistakes(comparison):
    compared = comparison("hundred_classes")
    ax = draw_confusion(compared)
    assert len(labels(ax.xaxis)) == 25
    counts = confusion_matrix(
        compared.table.target.tolist(), compared.predictions_[compared.best_name_].tolist()
    )
    mistakes = counts.sum(0) + counts.sum(1) - 2 * counts.diagonal()
    worst = compared.classes_[int(mistakes.argmax())]
    assert worst.split()[-1] in [text.split()[-1] for text in labels(ax.xaxis)]
    assert not ax.texts


def test_folds_that_were_not_measured_are_not_counted(comparison):
    compared = comparison("partial")
    stopped = replace(compared, best_name_="tree")
    counts = sum(int(text.get_text()) for text in draw_confusion(stopped).texts)
    known = sum(value is not None for value in compared.predictions_["tree"])
    assert counts == known < len(compared.table.target)
    draw_reliability(stopped)  # rows without probabilities are left out


def test_reliability_is_of_the_positive_class(comparison):
    ax = draw_reliability(comparison("binary"))
    assert ax.get_ylabel() == "share of malignant"
    of_f1 = replace(comparison("binary"), positive_="benign")
    assert draw_reliability(of_f1).get_ylabel() == "share of benign"
    ax = draw_reliability(comparison("many_classes"))
    assert ax.get_ylabel() == "share that is right"


def test_residuals_of_all_rows(comparison):
    compared = comparison("regression")
    ax = draw_residuals(compared)
    residuals = compared.table.target - compared.predictions_[compared.best_name_]
    assert np.allclose(ax.collections[0].get_offsets()[:, 1], residuals)
    middle, low, high = (line.get_ydata() for line in ax.lines[1:])
    assert np.all(low < middle)
    assert np.all(middle < high)


def test_residuals_of_many_rows_are_a_sample_with_lines_of_all(comparison):
    compared = comparison("long_regression")
    ax = draw_residuals(compared)
    assert len(ax.collections[0].get_offsets()) == 1500
    residuals = compared.table.target - compared.predictions_[compared.best_name_]
    low, high = ax.lines[2].get_ydata(), ax.lines[3].get_ydata()
    place = np.argsort(compared.predictions_[compared.best_name_], kind="stable")
    first = np.array_split(residuals.to_numpy()[place], 12)[0]
    assert low[0] == pytest.approx(np.quantile(first, 0.1))
    assert high[0] == pytest.approx(np.quantile(first, 0.9))


def test_leading_features_are_few_and_positive(comparison):
    compared = comparison("wide")
    ax = draw_features(compared)
    features = compared.insights_.features
    n_positive = int((features["importance"] > 0).sum())
    assert 1 <= len(labels(ax.yaxis)) == min(n_positive, 12)
    assert labels(ax.yaxis)[0] == features["feature"].iloc[0]


def test_long_names_that_differ_are_told_apart(comparison):
    names = labels(draw_features(comparison("odd_names")).yaxis)
    assert len(names) == len(set(names))
    assert max(map(len, names)) < 40


def test_curves(comparison):
    compared = comparison("binary")
    line = draw_learning(compared).lines[0]
    assert np.allclose(line.get_ydata(), 100 * compared.insights_.learning["error"])
    line = draw_elimination(compared).lines[0]
    assert line.get_xdata().tolist() == [1, 2, 4, 8, 16, 30]


@pytest.mark.parametrize("draw", [draw_features, draw_learning, draw_elimination, draw_reliability])
def test_what_was_not_measured_gets_one_sentence(draw, comparison):
    with pytest.raises(ValueError, match=r"^[^.]*\.$"):
        draw(comparison("without_insights"))
    assert plt.get_fignums() == []


def test_pictures_of_the_other_task_get_one_sentence(comparison):
    with pytest.raises(ValueError, match="draw_residuals suits regression"):
        draw_confusion(comparison("regression"))
    with pytest.raises(ValueError, match="draw_confusion suits classes"):
        draw_residuals(comparison("binary"))


def test_deviation_that_is_not_known_is_left_out(comparison):
    """One fold has none."""
    compared = comparison("regression")
    results = compared.results_.assign(error_sd=np.nan)
    ax = draw_errors(replace(compared, results_=results))
    assert len(ax.containers) == len(results)
    features = compared.insights_.features.assign(sd=np.nan)
    insights = replace(compared.insights_, features=pd.DataFrame(features))
    assert len(draw_features(replace(compared, insights_=insights)).patches) == len(
        features[features["importance"] > 0]
    )


def test_features_within_noise_are_pale(comparison):
    found = copy(comparison("binary"))
    features = found.insights_.features.assign(clear=False)
    features.loc[features["importance"].idxmax(), "clear"] = True
    found.insights_ = replace(found.insights_, features=features)
    shades = [bar.get_alpha() for bar in draw_features(found).patches]
    assert shades[0] == 1.0
    assert set(shades[1:]) == {0.35}
    assert "Pale bars are within noise." in next(
        picture.caption for picture in pictures_of(found) if picture.name == "features"
    )
