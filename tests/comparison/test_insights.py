"""What is learned besides: features, odd rows, hard rows, and whether more rows would help."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from mercer import SVC, compare
from mercer.comparison import alone as alone_module
from mercer.comparison import compare_table, importance, insights, rivals
from mercer.comparison.alone import lone_columns
from mercer.comparison.insights import Insights, find_insights
from mercer.comparison.race import Race
from mercer.comparison.rivals import CLASSIFIERS
from mercer.feature_selection import KernelRFE
from mercer.tables import as_table, named_table

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
    assert features["importance"].iloc[0] > 0.2
    assert (features["importance"].iloc[1:] < 0.05).all()
    assert set(features["feature"]) == {"u", "v", "decides", "w"}
    assert features["clear"].tolist() == [True, False, False, False]
    assert (features["sd"] > 0).all()
    title = found.title(found.best_name_)
    title = title[0].upper() + title[1:]
    assert f"{title} leans on decides; 3 other columns are within noise." in found.sentences()


def test_where_nothing_is_learned_no_column_stands_out():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 3)), np.array(["a", "b"])[rng.integers(0, 2, 90)]
    result = compare(X, y, models="lda", folds=3, repeats=1)
    if result.best_name_ == "dummy":  # then there is nothing to look at
        assert result.insights_.features is None
        return
    assert not result.insights_.features["clear"].any()
    assert "No single column stands out from noise." in result.sentences()


def test_one_column_is_needed(found):
    curve = found.insights_.rfe
    assert curve["features"].tolist() == [1, 2, 3, 4]
    assert curve["error"].iloc[0] == pytest.approx(3 / 120, abs=0.01)  # the wrong labels
    assert (curve["error"] < 0.1).all()
    assert (curve["error_sd"] >= 0).all()


def test_the_curve_is_that_of_a_direct_elimination(two_classes):
    """Ranked and judged fold by fold, with what prepares the columns inside the folds."""
    result = compare_table(two_classes, models="lda", folds=3, repeats=1)
    assert result.insights_.rfe is None  # of three columns there is little to leave out
    wide = as_table(
        np.c_[two_classes.frame, np.random.default_rng(1).normal(size=(80, 3))], two_classes.target
    )
    result = compare_table(wide, models="lda", folds=3, repeats=1)
    errors = []
    for fold in result._race.folds:
        X, y = wide.frame.to_numpy(), wide.target.to_numpy()
        scaler = StandardScaler().fit(X[fold.train])
        A, B = scaler.transform(X[fold.train]), scaler.transform(X[fold.test])
        order = KernelRFE(SVC(kernel="linear"), n_features_to_select=1).fit(A, y[fold.train]).order_
        best = order[:2]
        model = SVC(kernel="linear").fit(A[:, best], y[fold.train])
        errors.append(1 - model.score(B[:, best], y[fold.test]))
    curve = result.insights_.rfe.set_index("features")
    assert curve.loc[2, "error"] == pytest.approx(np.mean(errors))
    assert curve.loc[2, "error_sd"] == pytest.approx(np.std(errors, ddof=1))


def test_what_takes_too_long_is_stopped_and_missing(found, monkeypatch):
    monkeypatch.setattr(insights, "_unusual", lambda *given: threading.Event().wait(30.0))
    stopped = find_insights(found, 0.05)
    assert stopped.unusual is None
    assert stopped.hard is not None


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


def _alone(table, models="lda,forest"):
    result = compare(table, models=models, folds=3, repeats=1, insights=False)
    result.insights_ = Insights(alone=lone_columns(result, 60.0))
    return result, [said for said in result.sentences() if "almost decides" in said]


def test_a_column_that_decides_alone_is_asked_about(found):
    alone = found.insights_.alone
    assert alone["feature"].tolist() == ["decides"]
    assert len(FLIPPED) / 120 <= alone["error"].iloc[0] < 0.05
    assert alone["error_without"].iloc[0] > 0.3
    (said,) = [said for said in found.sentences() if "almost decides" in said]
    assert said.startswith("Column 'decides' alone almost decides the target (error ")
    assert said.endswith("is it known before the target is? If not, leave it out: --drop decides.")


@pytest.mark.parametrize("kind", ["order", "island", "gap", "word", "copy", "number"])
def test_columns_decide_alone_in_many_ways(kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 80)
    noise = rng.random(240)
    leak = {
        "order": np.sort(noise),
        "island": np.choose(y, [5 + noise, noise, 9 + noise]),
        "gap": np.choose(y, [np.nan, noise, 9 + noise]),
        "word": [f"{'xyz'[one]}{'abcd'[rng.integers(4)]}" for one in y],
        "copy": np.sort(noise),
        "number": np.exp(y + noise),
    }[kind]
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=list("abc")).assign(leak=leak)
    frame["a"] += 0.5 * y
    target, models = y.astype(str), "lda,forest"
    if kind == "copy":
        frame["twin"] = np.exp(frame["leak"])
    if kind == "number":
        target, models = y + noise + 0.01 * rng.normal(size=240), "ridge,forest"
    _, said = _alone(as_table(frame, target), models)
    assert len(said) == 1
    if kind == "copy":
        assert said[0].startswith("Each of 'leak' and 'twin' alone almost decides")
        assert said[0].endswith("leave them out: --drop leak,twin.")
    else:
        assert said[0].startswith("Column 'leak' alone almost decides")
    _, said = _alone(as_table(frame[["a", "b", "c"]], target), models)
    assert said == []


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "moons"])
def test_strong_columns_among_others_are_no_leak(name):
    table = named_table(name)
    models = "ridge,forest" if table.task == "regression" else "lda,forest"
    result, said = _alone(table, models)
    assert said == []
    assert result.insights_.alone is not None
    assert result.insights_.alone.empty


def test_no_forest_is_asked_where_a_linear_model_is_good_enough(monkeypatch):
    result = compare(named_table("iris"), models="lda", folds=3, repeats=1, insights=False)
    asked = []
    fitted = Race.fitted

    def noted(self, rival, rows):
        asked.append(rival.name)
        return fitted(self, rival, rows)

    monkeypatch.setattr(Race, "fitted", noted)
    assert lone_columns(result, 60.0).empty
    assert set(asked) == {"logistic"}
    # Without petals no model is good.
    asked.clear()
    petals = list(result.table.frame)[2:]
    assert alone_module._without(result, petals, result._race.folds, 0.0) > 0.1
    assert set(asked) == {"logistic", "forest"}


def test_rows_that_are_equally_near_are_not_unusual():
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (20, 1))
    y = np.where(np.arange(40) % 4 < 2, "a", "b")
    result = compare(X, y, models="lda,tree", folds=2, repeats=1)
    assert result.insights_.unusual is None or result.insights_.unusual.empty
