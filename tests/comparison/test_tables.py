"""All models on tables as people have them."""

import numpy as np
import pandas as pd
import pytest

from mercer import compare
from mercer.comparison import compare_table
from mercer.comparison.rivals import CLASSIFIERS, REGRESSIONS
from mercer.tables import as_table

pytestmark = pytest.mark.usefixtures("no_insights")
ONCE = {"folds": 2, "repeats": 1, "minutes": 5}


def mixed(n=60, seed=0):
    """Return categories, dates, text and gaps, of which the first column decides."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "blue", "green"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D"),
            "text": [" ".join(rng.choice(["good", "bad", "ugly", "nice"], 6)) for _ in range(n)],
        }
    )
    target = frame["size"] + (frame["colour"] == "red") + 0.2 * rng.normal(size=n)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, target.to_numpy()


def runs_through(found, rivals, exceptions=()):
    assert set(found.left_out_models) <= set(exceptions)
    assert set(found.results_.index) >= {rival.name for rival in rivals} - set(exceptions)
    assert found.results_[found.measure].notna().all()
    assert found.results_.loc[found.best_name_, "verdict"] == "best"


def test_mixed_columns_with_all_classifiers():
    frame, target = mixed()
    found = compare(frame, np.where(target > 0.3, "high", "low"), **ONCE)
    # Newer versions of scikit-learn refuse a covariance of fewer rows than columns.
    runs_through(found, CLASSIFIERS, exceptions=["qda"])
    assert found.results_["error"].iloc[0] < 0.35
    new, _ = mixed(20, seed=1)
    new["colour"] = "violet"  # not seen before
    assert set(found.best_.predict(new)) <= {"high", "low"}


def test_mixed_columns_with_all_regressions():
    frame, target = mixed()
    found = compare(frame, target, **ONCE)
    runs_through(found, REGRESSIONS)
    assert found.results_["r2"].iloc[0] > 0.2
    assert np.isfinite(found.best_.predict(mixed(20, seed=1)[0])).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 31)
    X = rng.normal(size=(62, 400))
    X[:, :20] += 1.5 * y[:, None]
    models = "lda,qda,svc,fuzzy"
    found = compare(X, np.where(y, "tumour", "normal"), models=models, **ONCE)
    assert found.left_out_models == {
        "qda": "more than 300 columns",
        "fuzzy": "more than 200 columns",
    }
    assert found.results_["error"].iloc[0] < 0.15


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(12, 3))
    y = np.repeat(np.arange(12), 6)
    X = centres[y] + rng.normal(size=(72, 3))
    models = "lda,neighbours,svc"
    found = compare(X, [f"k{k}" for k in y], models=models, **ONCE)
    assert found.left_out_models == {}
    assert found.results_.loc["dummy", "error"] == pytest.approx(11 / 12)
    assert found.results_["error"].iloc[0] < 0.4
    assert found.scores_["lda"].shape == (72, 12)


def test_sorted_rows_are_tuned_on_shuffled_parts():
    """People sort tables by what they want to know; parts in that order would mislead a search."""
    X = np.linspace(0.0, 1.0, 120)[:, None]
    y = np.sin(12 * X[:, 0])
    found = compare(np.c_[X, X**2], y, models="neighbours,tree", **ONCE)
    assert found.fitted("neighbours")["model"].n_neighbors <= 5
    assert found.results_.loc["neighbours", "r2"] > 0.95


def test_groups_are_kept_together_inside_the_folds():
    """Of rows that come four times, the nearest neighbour knows the label of the others."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 4)
    points = rng.normal(size=(40, 2))
    labels = np.where(rng.uniform(size=40) < 1 / (1 + np.exp(-2 * points[:, 0])), "a", "b")
    X = points[who] + 1e-3 * rng.normal(size=(160, 2))
    alone = compare(X, labels[who], models="neighbours", **ONCE).fitted("neighbours")
    together = compare(X, labels[who], groups=who, models="neighbours", **ONCE)
    assert alone["model"].n_neighbors <= 3
    assert together.fitted("neighbours")["model"].n_neighbors >= 9


@pytest.mark.parametrize("beside", ["groups", "time"])
def test_all_searches_take_groups_and_times(beside, numbers, two_classes):
    """What tunes gets the folds that suit, and learns from them."""
    for data, models in ((two_classes, "tree,logistic,neighbours"), (numbers, "ridge,tree")):
        order = np.random.default_rng(0).permutation(80) // 4
        table = as_table(data.frame, data.target, **{beside: order})
        found = compare_table(table, models=models, **ONCE)
        assert found.left_out_models == {}
        setting = found._race._setting(found._race.folds[0].train)
        own = order[found._race.folds[0].train]
        for train, test in setting.parts(3):
            assert not set(own[train]) & set(own[test])
            assert beside == "groups" or own[train].max() < own[test].min()
        model = found._rivals[models.split(",")[-1]].build(setting)
        assert isinstance(model.cv, list)


def test_sorted_rows_with_a_number_for_each_are_no_oracle():
    """People sort by what they want to know, and number the rows."""
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], 60)
    frame = pd.DataFrame({"id": np.arange(1, 121), "a": rng.normal(size=120) + (y == "ill")})
    frame["b"] = rng.normal(size=120)
    found = compare(frame, y, models="lda,tree,neighbours", **ONCE)
    assert "id" in found.table.left_out
    assert found.results_["error"].iloc[0] > 0.15


def test_a_class_of_two_rows_does_not_stop_the_comparison():
    rng = np.random.default_rng(0)
    y = np.array([*"ab" * 20, *"cccc", *"dd"])
    X = rng.normal(size=(46, 2)) + np.array([ord(one) for one in y])[:, None]
    found = compare(X, y, models="lda,svc", folds=5, repeats=1, minutes=5)
    assert found.left_out_models == {}
    assert found.classes_ == ["a", "b", "c"]
    assert any(text.startswith("2 rows are left out: of class 'd'") for text in found.sentences())
    assert set(found.best_.predict(X)) <= {"a", "b", "c"}


@pytest.mark.parametrize("name", ["forest", "neighbours"])
def test_unbalanced_classes_have_an_even_say(name):
    """The mean error of all classes is what ranks; probabilities alone would name the larger."""
    rng = np.random.default_rng(2)
    y = np.r_[np.zeros(190, dtype=int), np.ones(12, dtype=int)]
    X = rng.normal(size=(202, 2)) + 1.5 * y[:, None]
    found = compare(X, np.where(y, "ill", "well"), models=name, folds=2, repeats=1)
    assert found.measure == "balanced_error"
    assert found.results_.loc[name, "balanced_error"] < 0.4
    said = found.predictions_[name]
    assert 12 < np.sum(said == "ill") < 120
