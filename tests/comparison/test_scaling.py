"""Each column has its own unit, or all have one: whichever lets a model predict better."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC
from mercer.comparison import compare_table
from mercer.comparison.rivals import rivals_for
from mercer.comparison.scaling import ScaleChoice
from mercer.comparison.setting import Setting
from mercer.tables import CommonScaler, as_table

WITH_LOOK = {
    "classification": ["svc", "neighbours", "svc_grid", "spheres", "rvc"],
    "regression": ["neighbours", "svr", "rvr"],
}


def near(kind=KNeighborsClassifier, **more):
    return GridSearchCV(kind(), {"n_neighbors": [1, 5]}, cv=KFold(3), refit=False, **more)


class Unused(BaseEstimator):
    """A search that must not be made."""

    def fit(self, X, y):
        raise AssertionError


class Failing(BaseEstimator):
    """A search for which there are too few rows."""

    def fit(self, X, y):
        raise ValueError("too few")


def loud_and_quiet(told_by_loud, seed=0):
    """Return rows with one loud column and eight quiet ones, and which of them tell the class."""
    X = np.random.default_rng(seed).normal(size=(90, 9)) * [9, *[1] * 8]
    return X, np.where(X[:, 0] > 0 if told_by_loud else X[:, 1] + X[:, 2] > 0, "u", "v")


def has_one_scale(choice):
    return isinstance(choice.best_estimator_, CommonScaler)


def setting_for(y, n_columns, n_classes):
    largest = np.unique(y, return_counts=True)[1].max() if n_classes else len(y)
    return Setting(len(y), n_columns, n_classes, int(largest), False, 0, 1, y)


@parametrize_with_checks(
    [ScaleChoice(near(KNeighborsRegressor, error_score="raise")), CommonScaler()]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("told_by_loud", [True, False])
def test_the_better_score_on_the_same_folds_decides(told_by_loud):
    X, y = loud_and_quiet(told_by_loud)
    found = ScaleChoice(near()).fit(X, y)
    assert has_one_scale(found) is told_by_loud
    deviations = X.std(axis=0)
    unit = np.sqrt(np.mean(deviations**2)) if told_by_loud else deviations
    np.testing.assert_allclose(found.transform(X), (X - X.mean(axis=0)) / unit)
    scores = [near().fit((X - X.mean(axis=0)) / s, y).best_score_ for s in (deviations, unit)]
    assert scores[1] > scores[0] or not told_by_loud


def test_both_scales_have_a_mean_variance_of_one():
    X, _ = loud_and_quiet(True)
    for scaler in (StandardScaler(), CommonScaler()):
        np.testing.assert_allclose(scaler.fit_transform(X).var(axis=0).mean(), 1.0)


def test_rows_may_come_in_parts_and_be_weighted():
    X, _ = loud_and_quiet(True)
    whole = CommonScaler().fit(X)
    parts = CommonScaler().partial_fit(X[:30]).partial_fit(X[30:])
    np.testing.assert_allclose(parts.scale_, whole.scale_)
    np.testing.assert_allclose(parts.transform(X), whole.transform(X))
    weights = np.arange(90) % 3
    weighted = CommonScaler().fit(X, sample_weight=weights)
    repeated = CommonScaler().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)
    assert CommonScaler(with_std=False).fit(X).scale_ is None


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(60, 1)) * 50.0,
        np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 3)),
        np.ones((20, 3)),
    ],
    ids=["one column", "alike", "constant"],
)
def test_nothing_is_searched_where_there_is_no_choice(X):
    found = ScaleChoice(Unused()).fit(X, np.arange(len(X)) % 2)
    assert not has_one_scale(found)
    np.testing.assert_array_equal(found.transform(X), StandardScaler().fit_transform(X))


def test_a_search_that_fails_leaves_each_column_its_unit():
    X, y = loud_and_quiet(True)
    with pytest.raises(ValueError, match="n_neighbors"):  # but one that is wrong is none
        ScaleChoice(KNeighborsClassifier(n_neighbors=-1)).fit(X, y)
    assert not has_one_scale(ScaleChoice(Failing()).fit(X, y))


@pytest.mark.parametrize("task", WITH_LOOK)
def test_models_of_distances_choose_their_scale(task):
    """With the class or number told by the loud column, and then by quiet ones."""
    for told_by_loud in (True, False):
        X, y = loud_and_quiet(told_by_loud)
        if task == "regression":
            y = np.abs(X[:, 0]) if told_by_loud else 5.0 * np.abs(X[:, 1])
        table = as_table(X, y, task=task)
        target = table.target.to_numpy()
        setting = setting_for(target, 9, 2 if task == "classification" else 0)
        choosing = []
        for rival in rivals_for(task, None):
            scaler = dict(rival.pipeline(table, setting).steps).get("scaler")
            if isinstance(scaler, ScaleChoice):
                choosing.append(rival.name)
                scaler.fit(table.frame.to_numpy(), target)
                assert has_one_scale(scaler) is told_by_loud
        assert choosing == WITH_LOOK[task]


def test_categories_have_no_unit_to_share():
    X, y = loud_and_quiet(True)
    table = as_table(pd.DataFrame(X[:, :2]).assign(colour=["red", "blue", "green"] * 30), y)
    setting = setting_for(table.target.to_numpy(), 3, 2)
    (_, svc) = rivals_for("classification", "svc")
    assert isinstance(svc.pipeline(table, setting)["scaler"], StandardScaler)


def test_pixels_share_a_scale_and_the_machine_gains():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    table = as_table(X, y.astype(str))
    (_, grid) = rivals_for("classification", "svc_grid")
    setting = setting_for(table.target.to_numpy(), X.shape[1], 10)
    scaler = grid.pipeline(table, setting)["scaler"].fit(X, y)
    assert has_one_scale(scaler)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    own, common = (
        cross_val_score(make_pipeline(one, SVC(C=10.0)), X, y, cv=folds).mean()
        for one in (StandardScaler(), CommonScaler())
    )
    assert common > own


@pytest.fixture
def found(no_insights):
    X, y = loud_and_quiet(True)
    return compare_table(as_table(X, y), models="svc_grid", folds=3, repeats=1)


def test_a_saved_model_has_the_scaler_that_was_chosen(found, tmp_path):
    assert found.best_name_ == "svc_grid"
    assert type(found.best_["scaler"]) is CommonScaler
    found.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    frame = found.table.frame
    np.testing.assert_array_equal(again.predict(frame), found.best_.predict(frame))
    searched = found.searched("svc_grid")
    assert has_one_scale(searched["scaler"])
    np.testing.assert_array_equal(searched.predict(frame), found.best_.predict(frame))


def test_a_fit_anew_keeps_the_scale(found):
    frame, y = found.table.frame, found.table.target
    again = clone(found.best_).fit(frame, y)
    np.testing.assert_allclose(
        again.decision_function(frame), found.best_.decision_function(frame), atol=1e-9
    )


def test_other_programs_have_the_scale(found):
    runtime = pytest.importorskip("onnxruntime")
    frame = found.table.frame
    session = runtime.InferenceSession(mercer.to_onnx(found.best_, frame).SerializeToString())
    (name,) = [one.name for one in session.get_inputs()]
    said = session.run(None, {name: frame.to_numpy()})[0]
    assert said.tolist() == found.best_.predict(frame).tolist()
