"""A gradient search speaks as scikit-learn's searches do, and keeps within its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import RVC, SVC, SVDD, SVR, GradientSearch, OneClassSVM
from mercer._folds import deal_folds
from mercer.kernels import RBF

CRITERIA = [
    ("auto", "hinge"),
    ("auto", "squared_hinge"),
    ("auto", None),
    ("evidence", "squared_hinge"),
    ("press", "squared_hinge"),
    ("radius_margin", "squared_hinge"),
    ("modified_radius_margin", "hinge"),
    ("gacv", "hinge"),
    ("span", "squared_hinge"),
    ("smoothed_validation_error", "hinge"),
    ("posterior_error", "squared_hinge"),
]


@pytest.fixture(scope="module", name="cancer")
def cancer_data() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :6], y[:200]


def test_last_step_of_a_pipeline_is_tuned(cancer: Any) -> None:
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), SVC(loss="squared_hinge"))
    search = GradientSearch(pipeline, max_evaluations=20, random_state=0).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    inner = GradientSearch(SVC(loss="squared_hinge"), max_evaluations=20, random_state=0)
    inner.fit(scaled, y)
    assert set(search.best_params_) == {"svc__C", "svc__gamma"}
    for name, value in inner.best_params_.items():
        np.testing.assert_array_equal(search.best_params_[f"svc__{name}"], value)
    np.testing.assert_allclose(search.decision_function(X), inner.decision_function(scaled))
    assert search.best_score_ == inner.best_score_
    assert search.n_features_in_ == 6
    again = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert not hasattr(pipeline[-1], "classes_")


def test_pipeline_may_make_numbers_of_a_table(cancer: Any) -> None:
    X, y = cancer
    table = pd.DataFrame(X[:, :2], columns=["a", "b"])
    table["kind"] = np.where(X[:, 2] > np.median(X[:, 2]), "large", "small")
    mixed = make_column_transformer((OneHotEncoder(), ["kind"]), remainder=StandardScaler())
    search = GradientSearch(make_pipeline(mixed, SVC()), "evidence", max_evaluations=5)
    labels = np.where(y == 1, "good", "bad")
    search.fit(table, labels)
    assert search.feature_names_in_.tolist() == ["a", "b", "kind"]
    assert search.score(table, labels) > 0.8
    weights = np.where(np.arange(len(y)) < 100, 1.0, 0.0)
    part = clone(search).fit(table[:100], labels[:100])
    search.fit(table, labels, sample_weight=weights)
    assert part.best_params_["svc__C"] != search.best_params_["svc__C"]  # steps saw all rows
    assert search.n_rows_ == 100


def test_pipeline_of_a_relevance_vector_machine() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), RVC(gamma=0.5))
    search = GradientSearch(model, "evidence", max_evaluations=3).fit(X, y)
    assert list(search.best_params_) == ["rvc__gamma"]
    assert search.best_estimator_[-1].gamma == search.best_params_["rvc__gamma"]
    assert 0.9 < search.best_score_ <= 1.0


def test_pipeline_must_end_in_a_machine(cancer: Any) -> None:
    with pytest.raises(ValueError, match=r"last step .* got LogisticRegression"):
        GradientSearch(make_pipeline(StandardScaler(), LogisticRegression())).fit(*cancer)


@pytest.mark.parametrize(("criterion", "loss"), CRITERIA)
def test_results_are_a_table(criterion: str, loss: str | None, cancer: Any) -> None:
    X, y = cancer
    estimator = None if loss is None else SVC(loss=loss)
    model = GradientSearch(estimator, criterion, max_evaluations=8, random_state=0, cv=3)
    search = model.fit(StandardScaler().fit_transform(X), y)
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == search.n_evaluations_ == len(search.history_)
    assert sorted(table["rank_test_score"]) == list(range(1, len(table) + 1))
    best = table.iloc[search.best_index_]
    assert best["rank_test_score"] == 1
    assert best["params"].keys() == search.best_params_.keys()
    for name, value in search.best_params_.items():
        np.testing.assert_array_equal(best["params"][name], value)
        np.testing.assert_array_equal(best[f"param_{name}"], value)
    for _, stage in table.groupby("stage"):
        ranked = stage.sort_values("rank_test_score")["mean_test_score"].to_numpy()[1:]
        assert (np.diff(ranked) <= 0).all()
    if criterion != "auto":
        assert best["mean_test_score"] == -search.best_criterion_ == table["mean_test_score"].max()


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_best_score_is_the_accuracy_on_folds(kernel: str) -> None:
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    if kernel == "precomputed":
        X = RBF(0.5)(X)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    search = GradientSearch(SVC(kernel=kernel, loss="squared_hinge"), "evidence")
    search.fit(X, y, sample_weight=weights)
    fold, right = deal_folds(X, y, 5), 0.0
    for number in range(5):
        seen, held = fold != number, fold == number
        columns = seen if kernel == "precomputed" else slice(None)
        model = clone(search.best_estimator_)
        model.fit(X[seen][:, columns], y[seen], sample_weight=weights[seen])
        right += weights[held] @ (model.predict(X[held][:, columns]) == y[held])
    assert search.best_score_ == pytest.approx(right / weights.sum())
    assert 0.9 < search.best_score_ < 1.0


def test_rows_whose_class_is_in_no_other_fold_are_never_right() -> None:
    X, y = load_iris(return_X_y=True)
    rare = np.arange(6)  # of six classes two meet in one of five folds, and leave nothing of a pair
    X = StandardScaler().fit_transform(np.concatenate([X, 20.0 + 5.0 * rare[:, None] + X[:6]]))
    y = np.concatenate([y, 3 + rare])
    search = GradientSearch(SVC(loss="squared_hinge"), "evidence", max_evaluations=2).fit(X, y)
    assert 0.8 * len(y) < len(y) * search.best_score_ <= 150


def test_the_last_fit_of_a_relevance_machine_is_its_evaluation(monkeypatch: Any) -> None:
    X, y = load_iris(return_X_y=True)
    fits, plain = [], RVC.fit

    def counted(*given: Any, **named: Any) -> Any:
        fits.append(given)
        return plain(*given, **named)

    monkeypatch.setattr(RVC, "fit", counted)
    search = GradientSearch(RVC(), max_evaluations=4).fit(X[50:], y[50:])
    assert len(fits) == search.n_evaluations_ + 5  # those of the folds
    anew = clone(search.best_estimator_).fit(X[50:], y[50:])
    assert vars(anew).keys() == vars(search.best_estimator_).keys()
    np.testing.assert_array_equal(anew.decision_function(X), search.decision_function(X))


@pytest.mark.parametrize(("criterion", "loss"), CRITERIA)
@pytest.mark.parametrize(
    ("C_bounds", "kernel_bounds", "C"),
    [
        ((1e-2, 1e4), (1e-3, 1e3), 1.0),
        ((0.3, 3.0), (0.5, 2.0), 1.0),
        ((1e-2, 0.1), (2.0, 5.0), 1.0),  # the start lies outside of both
        ((5.0, 5.0), (1e-3, 1e3), 1e6),
    ],
)
def test_bounds_hold(
    criterion: str, loss: str | None, C_bounds: Any, kernel_bounds: Any, C: float
) -> None:
    """All values that are tried or returned lie within the bounds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.3 * X[:, 1] > 0  # separable: large C are tempting
    estimator = None if loss is None else SVC(C=C, loss=loss, gamma=0.5)
    search = GradientSearch(
        estimator,
        criterion,
        C_bounds=C_bounds,
        kernel_bounds=kernel_bounds,
        max_evaluations=10,
        n_starts=2,
        cv=3,
        random_state=0,
    ).fit(X, y)
    first = 0.5 if estimator is not None else 1 / (3 * X.var())
    for params in [*search.cv_results_["params"], search.best_params_]:
        assert C_bounds[0] <= params["C"] <= C_bounds[1]
        ratio = np.asarray(params["gamma"]) / first
        assert (ratio >= kernel_bounds[0] * (1 - 1e-12)).all()
        assert (ratio <= kernel_bounds[1] * (1 + 1e-12)).all()
    assert search.best_estimator_.C == search.best_params_["C"]


def test_hinge_is_not_tried_beyond_a_bound() -> None:
    """Where the evidence ends at a bound, the hinge is not tried beyond it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] > 0
    search = GradientSearch(SVC(kernel="linear"), C_bounds=(0.01, 0.5)).fit(X, y)
    tried = [step["C"] for step in search.history_ if step["stage"] == "hinge"]
    assert tried == [0.5, 0.25]
    assert search.best_params_["C"] <= 0.5


@pytest.mark.parametrize("machine", [SVR(), SVDD(), OneClassSVM()], ids=lambda m: type(m).__name__)
def test_equal_rows_are_refused_in_a_sentence(machine):
    with pytest.raises(ValueError, match="All rows are equal"):
        GradientSearch(machine).fit(np.ones((30, 2)), np.arange(30.0))


def test_press_of_a_single_row_is_refused() -> None:
    """Nothing is left to predict it from; that was said to be a matter of scale."""
    search = GradientSearch(SVR(loss="squared_epsilon_insensitive"), "press")
    with pytest.raises(ValueError, match="needs two at least; got one"):
        search.fit([[0.0], [1.0]], [1.0, 2.0], sample_weight=[1.0, 0.0])
