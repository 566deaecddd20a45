"""What is learned besides: features, odd rows, hard rows, and whether more rows would help."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mercer import compare
from mercer.comparison import importance, insights, rivals
from mercer.comparison.insights import find_insights
from mercer.comparison.rivals import CLASSIFIERS

FLIPPED = [3, 17, 91]
ODD = 40


@pytest.fixture(scope="module")
def found():
    """Compare two models where one column decides, three labels are wrong and one row is odd."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["u", "v", "decides", "w"])
    frame["decides"] = np.where(y, 2.0, -2.0) + 0.3 * rng.normal(size=120)
    y[FLIPPED] = 1 - y[FLIPPED]
    frame.loc[ODD, ["u", "v", "w"]] = [9.0, -9.0, 9.0]
    return compare(frame, np.where(y, "yes", "no"), models="lda,svc", folds=4, repeats=1)


def test_the_feature_that_decides_leads(found):
    features = found.insights_.features
    assert features["feature"].iloc[0] == "decides"
    assert features["importance"].iloc[0] > 0.3
    assert (features["importance"].iloc[1:] < 0.1).all()
    assert set(features["feature"]) == {"u", "v", "decides", "w"}


def test_the_odd_row_is_the_most_unusual(found):
    assert found.insights_.unusual["row"].iloc[0] == ODD
    assert found.insights_.unusual["distance"].is_monotonic_decreasing
    assert (found.insights_.unusual["distance"] > 1).all()


def test_wrong_labels_are_hard(found):
    hard = found.insights_.hard.set_index("row")
    assert set(FLIPPED) <= set(hard.index)
    for row in FLIPPED:
        target, said = hard.loc[row, "target"], hard.loc[row, "predictions"]
        assert set(said) == {"lda", "svc"}
        assert target not in said.values()


def test_the_surest_mistakes_come_first(found):
    codes = np.searchsorted(found.classes_, found.table.target.to_numpy().astype(str))
    chance = np.mean([found.scores_[name][np.arange(120), codes] for name in found.scores_], axis=0)
    rows = found.insights_.hard["row"].to_numpy()
    assert (np.diff(chance[rows]) >= 0).all()


def test_more_rows_help_until_they_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 12))
    result = compare(X, X @ rng.normal(size=12) + 0.5 * rng.normal(size=160), models="ridge")
    learning = result.insights_.learning
    assert learning["rows"].tolist() == [25, 51, 76, 102, 128]
    assert learning["error"].iloc[0] > learning["error"].iloc[-1]
    same = result.folds_.query("model == 'ridge' and repeat == 0 and fold < 3")["rmse"]
    assert learning["error"].iloc[-1] == pytest.approx(same.mean())
    assert learning["error_sd"].iloc[-1] == pytest.approx(same.std(ddof=1))


def test_rows_that_a_model_cannot_take_are_no_part_of_its_curve(monkeypatch):
    few = tuple(replace(one, most_rows=40) if one.name == "lda" else one for one in CLASSIFIERS)
    monkeypatch.setattr(rivals, "CLASSIFIERS", few)
    y = np.arange(120) % 2
    X = np.random.default_rng(0).normal(size=(120, 2)) + 2.0 * y[:, None]
    result = compare(X, np.where(y, "a", "b"), models="lda", folds=3, repeats=1)
    assert result.insights_.learning["rows"].tolist() == [8, 16, 24, 32, 40]


def test_the_largest_misses_of_a_regression_are_hard():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    y[7] += 10
    result = compare(X, y, models="ridge,tree", folds=3, repeats=1)
    assert result.insights_.hard["row"].iloc[0] == 7


def test_without_time_only_what_is_free(found):
    nothing = find_insights(found, -1.0)
    assert nothing.features is None
    assert nothing.unusual is None
    assert nothing.learning is None
    pd.testing.assert_frame_equal(nothing.hard, found.insights_.hard)


def test_what_fails_is_only_missing(found, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("no")

    monkeypatch.setattr(insights, "_unusual", fail)
    partly = find_insights(found, 60.0)
    assert partly.unusual is None
    assert partly.features["feature"].iloc[0] == "decides"


def test_of_many_columns_words_and_the_plainest_numbers_are_looked_at(monkeypatch):
    monkeypatch.setattr(importance, "MOST_FEATURES", 5)
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    frame = pd.DataFrame(rng.normal(size=(80, 40)), columns=[f"x{k}" for k in range(40)])
    frame["x33"] += 2 * y
    frame["word"] = np.where(y, "left", "right")
    frame.loc[:9, "word"] = rng.choice(["left", "right"], 10)
    result = compare(frame, np.where(y, "a", "b"), models="tree", folds=2, repeats=1)
    listed = result.insights_.features["feature"].tolist()
    assert len(listed) == 5
    assert "x33" in listed
    assert "word" in listed
