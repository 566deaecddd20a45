"""What is measured is what a direct cross-validation measures, of rows that were left out."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict, cross_val_score

from mercer.comparison import compare_table, paired_difference, rivals
from mercer.comparison.folds import make_folds
from mercer.comparison.outcome import size_of
from mercer.comparison.race import Race
from mercer.comparison.rivals import rivals_for
from mercer.comparison.setting import Setting
from mercer.comparison.words import NO_FOLDS
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import InputError, as_table

pytestmark = pytest.mark.usefixtures("no_insights")
QUICK = {"folds": 3, "repeats": 2, "minutes": 10}


def direct(table, folds, name, scoring):
    """Return the scores of scikit-learn's cross-validation with the same folds and pipeline."""
    splits = [(fold.train, fold.test) for fold in folds]
    n_classes = len(table.class_counts())
    n_rows = len(splits[0][0])
    setting = Setting(n_rows, table.frame.shape[1], n_classes, n_rows // 2, False, 0, None)
    rival = next(rival for rival in rivals_for(table.task, name) if rival.name == name)
    model, y = rival.pipeline(table, setting), table.target.to_numpy()
    return model, splits, y, cross_val_score(model, table.frame, y, cv=splits, scoring=scoring)


@pytest.mark.parametrize("name", ["dummy", "lda", "neighbours", "tree", "svc"])
def test_errors_are_those_of_a_direct_cross_validation(two_classes, name):
    found = compare_table(two_classes, models=[name], **QUICK)
    folds = make_folds(two_classes, 3, 2, 0)
    scores = direct(two_classes, folds, name, "accuracy")[3]
    own = found.folds_[found.folds_["model"] == name]
    np.testing.assert_allclose(own["error"], 1 - scores)
    assert found.results_.loc[name, "error"] == pytest.approx(1 - scores.mean())
    assert found.results_.loc[name, "error_sd"] == pytest.approx(scores.std(ddof=1))
    assert found.results_.loc[name, "folds"] == 6


@pytest.mark.parametrize("name", ["dummy", "ridge", "neighbours"])
def test_numbers_are_measured_in_the_same_way(numbers, name):
    found = compare_table(numbers, models=[name], **QUICK)
    folds = make_folds(numbers, 3, 2, 0)
    scores = direct(numbers, folds, name, "neg_root_mean_squared_error")[3]
    np.testing.assert_allclose(found.folds_.loc[found.folds_["model"] == name, "rmse"], -scores)


def test_predictions_are_those_of_rows_left_out(two_classes):
    found = compare_table(two_classes, models="lda", **QUICK)
    folds = make_folds(two_classes, 3, 2, 0)[:3]
    model, splits, y, _ = direct(two_classes, folds, "lda", None)
    said = cross_val_predict(model, two_classes.frame, y, cv=splits)
    scores = cross_val_predict(model, two_classes.frame, y, cv=splits, method="predict_proba")
    assert found.predictions_["lda"].tolist() == said.tolist()
    np.testing.assert_allclose(found.scores_["lda"], scores)
    assert found.classes_ == ["no", "yes"]


def test_rows_that_were_never_left_out_have_no_prediction(numbers):
    times = as_table(numbers.frame, numbers.target, time=np.arange(80))
    found = compare_table(times, models="ridge", folds=3, repeats=2)
    unknown = np.isnan(found.predictions_["ridge"])
    assert unknown.tolist() == [True] * 20 + [False] * 60
    assert found.n_folds == found.n_wanted == 3


def test_the_ratio_of_the_test_is_that_of_the_folds(numbers):
    times = as_table(numbers.frame, numbers.target, time=np.arange(80))
    found = compare_table(times, models="ridge", folds=3, repeats=1)
    errors = found.folds_.pivot(index="fold", columns="model", values="rmse")
    gap, half = paired_difference(errors["dummy"], errors["ridge"], np.mean([1, 1 / 2, 1 / 3]))
    assert found.results_.loc["dummy", "difference"] == pytest.approx(gap)
    assert found.results_.loc["dummy", "half_width"] == pytest.approx(half)


@pytest.mark.parametrize("models", ["lda,tree,fuzzy", "svc,spheres,neighbours"])
def test_same_seed_same_results(two_classes, models):
    first, again = (
        compare_table(two_classes, models=models, folds=2, repeats=1, seed=5) for _ in range(2)
    )
    seconds = ["fit_seconds", "predict_seconds"]
    pd.testing.assert_frame_equal(
        first.results_.drop(columns=seconds), again.results_.drop(columns=seconds)
    )
    for name, said in first.predictions_.items():
        assert said.tolist() == again.predictions_[name].tolist()


# ---- models that fail -------------------------------------------------------------------------


def test_a_model_that_raises_is_left_out_and_the_others_go_on(two_classes, put_in_place, costly):
    put_in_place(qda=costly(raises=RuntimeError("no inverse\nlong traceback")))
    found = compare_table(two_classes, models="lda,qda,tree", folds=3, repeats=1)
    assert set(found.results_.index) == {"dummy", "lda", "tree"}
    assert found.left_out_models == {"qda": "it could not be fitted: no inverse"}
    assert (
        "Left out: quadratic discriminant (it could not be fitted: no inverse)."
        in found.sentences()
    )
    assert (found.results_["folds"] == 3).all()


def test_a_model_that_fails_in_a_later_fold_leaves_no_trace(two_classes, put_in_place, costly):
    count = []

    class Twice(costly):
        def fit(self, X, y):
            count.append(1)
            if len(count) == 3:
                raise RuntimeError("enough")
            return super().fit(X, y)

    put_in_place(qda=Twice())
    found = compare_table(two_classes, models="lda,qda", folds=3, repeats=1)
    assert set(found.folds_["model"]) == {"dummy", "lda"}
    assert found.left_out_models == {"qda": "it could not be fitted: enough"}


def test_all_fail_in_one_sentence(two_classes, put_in_place, costly):
    failing = costly(raises=RuntimeError("no luck"))
    put_in_place(dummy=failing, lda=failing, qda=failing)
    with pytest.raises(InputError) as refused:
        compare_table(two_classes, models="lda,qda", folds=2, repeats=1)
    sentence = "No model could be fitted: it could not be fitted: no luck."
    assert str(refused.value) == sentence


def test_only_the_baseline_is_no_comparison(two_classes, put_in_place, costly):
    put_in_place(lda=costly(raises=RuntimeError("no luck")))
    found = compare_table(two_classes, models="lda", folds=2, repeats=1)
    assert found.sentences() == [
        "Nothing was compared with largest class: error 50.0 %.",
        "Left out: linear discriminant (it could not be fitted: no luck).",
    ]


@pytest.mark.usefixtures("no_insights")
def test_models_without_time_are_told_in_one_breath(two_classes):
    found = compare_table(two_classes, models="lda,tree,qda,rvc,fuzzy", folds=2, repeats=1)
    reasons = {"tree": "one fit took more than 0.1 s", "qda": "one fit took more than 0.09 s"}
    found.left_out_models.update(reasons, rvc="one column is missing")
    told = "pruned tree (one fit took more than 0.1 s); quadratic discriminant (one fit took more "
    assert any(told in sentence for sentence in found.sentences())
    found.left_out_models["fuzzy"] = "one fit took more than 0 s"
    assert found.sentences()[-1] == (
        "Left out: pruned tree, quadratic discriminant and fuzzy rules (one fit of each took too "
        "long; more minutes help); relevance vectors (one column is missing)."
    )


@pytest.mark.usefixtures("no_insights")
def test_cheap_models_left_out_for_better_ones_are_not_called_too_slow(two_classes):
    found = compare_table(two_classes, models="lda,tree,qda,rvc", folds=2, repeats=1)
    seconds = {"tree": 0.2, "qda": 1.5, "rvc": 4.0}
    found.left_out_models.update({k: f"{NO_FOLDS}: one fit took {s} s" for k, s in seconds.items()})
    assert found.sentences()[-1] == (
        "Left out: pruned tree, quadratic discriminant and relevance vectors (not all folds could "
        "be done in time beside better or cheaper models; more minutes help)."
    )


# ---- a part of many rows ----------------------------------------------------------------------


def race_on(table):
    record = SearchRecord.open("x", None)
    classes, rivals = sorted(table.class_counts()), rivals_for(table.task, None)
    return Race(table, rivals, [], classes, False, 0, None, 60.0, record, lambda *told: None)


def test_a_part_keeps_rows_of_every_class():
    y = np.repeat(["many", "few", "rare"], [3000, 20, 3])
    X = np.random.default_rng(0).normal(size=(3023, 2))
    race = race_on(as_table(X, y))
    rows = np.arange(0, 3023)
    small, large = race.some(rows, 50), race.some(rows, 500)
    assert set(small) <= set(large) <= set(rows)
    counts = pd.Series(y[small]).value_counts()
    assert counts["few"] >= 5
    assert counts["rare"] == 3
    assert len(small) == 50
    assert len(set(small)) == len(small)
    assert race.some(rows, None) is rows
    assert race.some(rows, 3023) is rows


def test_a_model_has_no_more_rows_than_it_can_take(monkeypatch):
    few = tuple(replace(one, most_rows=40) for one in rivals.CLASSIFIERS if one.name != "dummy")
    monkeypatch.setattr(rivals, "CLASSIFIERS", (rivals.CLASSIFIERS[0], *few))
    y = np.array(["a", "b"] * 60)
    X = np.random.default_rng(0).normal(size=(120, 2))
    found = compare_table(as_table(X, y), models="lda", folds=3, repeats=1)
    assert found.results_.loc["lda", "trained_rows"] == 40
    assert found.results_.loc["dummy", "trained_rows"] == 80


def test_the_class_that_is_spoken_of():
    y = np.repeat(["a", "b"], [40, 20])
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert race_on(as_table(X, y)).positive == 1  # the rarer one
    assert race_on(as_table(X, y, positive="a")).positive == 0


def test_a_class_that_training_rows_lack_has_probability_zero():
    """With times, a class may come up only later."""
    rng = np.random.default_rng(0)
    y = np.array([*["a", "b"] * 20, *["a", "b", "c"] * 20])
    table = as_table(rng.normal(size=(100, 2)), y, time=np.arange(100))
    found = compare_table(table, models="lda,qda,logistic,tree,boosting", folds=4, repeats=1)
    assert found.left_out_models == {}
    for name in found.results_.index:
        assert (found.scores_[name][20:40, 2] == 0).all()
        np.testing.assert_allclose(found.scores_[name][20:].sum(axis=1), 1.0)


def test_size_is_that_of_the_pickled_model(two_classes):
    model = compare_table(two_classes, models="tree", folds=2, repeats=1).best_
    assert size_of(model) == len(pickle.dumps(model))


@pytest.mark.parametrize("beside", [{}, {"groups": np.arange(400) // 4}, {"times": np.arange(400)}])
def test_parameters_are_chosen_on_folds_of_some_rows(beside):
    y = np.array(["a", "b", "b", "b"] * 100)
    setting = Setting(400, 2, 2, 300, False, 0, None, y, **beside)
    parts = setting.parts(3, most=100)
    used = np.unique(np.concatenate([rows for part in parts for rows in part]))
    assert 90 <= len(used) <= 100
    for train, test in parts:
        assert not set(train) & set(test)
        assert set(y[train]) == {"a", "b"}
        if "groups" in beside:
            assert not set(train // 4) & set(test // 4)
        if "times" in beside:
            assert train.max() < test.min()
    assert not isinstance(setting.parts(3, most=400), list) or beside
