"""The shared search finds what separate fits find."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mercer import (
    SVC,
    SVDD,
    SVR,
    NearestHypersphereClassifier,
    OneClassSVM,
    PathSearchCV,
    PlattClassifier,
)
from mercer._files import record_line
from mercer.datasets import make_simulation
from mercer.kernels import RBF
from mercer.model_selection import one_standard_error
from mercer.model_selection.grid import path_search, shared_search

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 0.5]}


@pytest.fixture(scope="module", name="data")
def make_data() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(160, 6, flip_y=0.1, random_state=0)
    return X, np.where(y > 0, "yes", "no")


def scores(search: Any) -> np.ndarray:
    return search.cv_results_["mean_test_score"]


def both(estimator: Any, grid: Any, X: Any, y: Any, **more: Any) -> tuple[Any, Any]:
    shared = PathSearchCV(estimator, grid, **more).fit(X, y)
    separate = GridSearchCV(clone(estimator), grid, **more).fit(X, y)
    return shared, separate


@pytest.mark.parametrize("grid", [{"gamma": [20.0, 30.0]}, {"kernel": [RBF(20.0), RBF(30.0)]}])
@pytest.mark.parametrize("n_features", [50, 200])
def test_points_far_from_all_rows_go_to_the_nearest_one(grid: Any, n_features: int) -> None:
    """Equal classes leave no offset, and kernel values are far too small for float32."""
    X = np.random.default_rng(0).normal(size=(80, n_features))
    y = np.arange(80) % 2
    X[:, 0] += 8 * y
    X *= np.sqrt(5 / n_features)
    shared, separate = both(SVC(C=10.0), grid, X, y, cv=StratifiedKFold(5))
    np.testing.assert_allclose(scores(shared), scores(separate))
    assert scores(shared).min() > 0.7


@pytest.mark.parametrize("estimator", [SVC(), make_pipeline(StandardScaler(), SVC())])
def test_folds_of_some_rows_judge_by_them_and_the_best_learns_from_all(
    data: Any, estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:60])
    folds = [(rows[a], rows[b]) for a, b in StratifiedKFold(3).split(X[rows], y[rows])]
    prefix = "" if isinstance(estimator, SVC) else "svc__"
    grid = {f"{prefix}{name}": values for name, values in GRID.items()}
    monkeypatch.setattr(path_search, "MOST_BYTES", 4 * 60**2)  # nor do the others need memory
    shared, separate = both(estimator, grid, X, y, cv=folds)
    np.testing.assert_allclose(scores(shared), scores(separate))
    assert shared.best_params_ == separate.best_params_
    whole = clone(estimator).set_params(**shared.best_params_).fit(X, y)
    np.testing.assert_allclose(shared.decision_function(X), whole.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_scores_are_those_of_separate_fits(data: Any, loss: str, class_weight: Any) -> None:
    X, y = data
    model = SVC(loss=loss, class_weight=class_weight, tol=1e-5)
    shared, separate = both(model, GRID, X, y, return_train_score=True)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 160 + 1e-12)
    for name in ("mean_train_score", "split3_test_score"):
        np.testing.assert_allclose(
            shared.cv_results_[name], separate.cv_results_[name], atol=1 / 32 + 1e-12
        )
    assert set(shared.cv_results_) == set(separate.cv_results_)
    assert shared.cv_results_["params"] == separate.cv_results_["params"]
    assert shared.best_params_ == separate.best_params_
    np.testing.assert_allclose(
        shared.decision_function(X), separate.decision_function(X), atol=1e-3
    )


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_many_classes(multi_class: str) -> None:
    X, y = load_iris(return_X_y=True)
    shared, separate = both(SVC(multi_class=multi_class, tol=1e-5), GRID, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 150 + 1e-12)


@pytest.mark.parametrize("scoring", ["roc_auc", "f1_macro", ["accuracy", "balanced_accuracy"]])
def test_other_scores(data: Any, scoring: Any) -> None:
    X, y = data
    refit = "accuracy" if isinstance(scoring, list) else True
    shared, separate = both(SVC(tol=1e-5), GRID, X, y, scoring=scoring, refit=refit)
    for name, expected in separate.cv_results_.items():
        if "test" in name and name.startswith("mean"):
            np.testing.assert_allclose(shared.cv_results_[name], expected, atol=0.01)
    assert shared.multimetric_ == separate.multimetric_


def test_steps_of_a_pipeline_are_fitted_in_each_fold(data: Any) -> None:
    X, y = data
    X = X * np.logspace(-3, 3, X.shape[1])
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    pipeline = make_pipeline(StandardScaler(), SVC(tol=1e-5))
    shared, separate = both(pipeline, grid, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 160 + 1e-12)
    assert shared.score(X, y) == pytest.approx(separate.score(X, y), abs=0.01)


@pytest.mark.parametrize(
    "grid",
    [
        {"kernel": ["linear", "poly", RBF(0.3)], "C": [0.1, 1.0]},
        {"gamma": ["scale", "auto"], "C": [1.0]},
        [{"C": [1.0, 2.0]}, {"gamma": [0.2], "kernel": ["laplacian"]}],
    ],
)
def test_any_grid_of_the_classifier(data: Any, grid: Any) -> None:
    X, y = data
    shared, separate = both(SVC(tol=1e-5), grid, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 160 + 1e-12)


def test_parameters_of_the_kernel(data: Any) -> None:
    X, y = data
    grid = {"kernel__gamma": [0.05, 0.5], "C": [1.0, 10.0]}
    shared, separate = both(SVC(kernel=RBF(1.0), tol=1e-5), grid, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 160 + 1e-12)


def test_splits_that_leave_rows_unused(data: Any) -> None:
    X, y = data
    cv = ShuffleSplit(4, test_size=0.2, train_size=0.5, random_state=0)
    shared, separate = both(SVC(tol=1e-5), GRID, X, y, cv=cv)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 128 + 1e-12)


def test_other_estimators_are_searched_as_usual(data: Any) -> None:
    X, y = data
    shared, separate = both(LogisticRegression(), {"C": [0.1, 1.0]}, X, y)
    np.testing.assert_array_equal(scores(shared), scores(separate))
    hard = PathSearchCV(SVC(), {"C": [1.0], "probabilities": [True]})
    with pytest.raises(ValueError, match="probabilities"):
        hard.fit(X, y)


@pytest.mark.parametrize(
    ("model", "grid", "scoring"),
    [
        (
            SVR(tol=1e-6),
            {"C": [10.0, 0.1, 1.0], "epsilon": [0.1, 0.3], "gamma": [0.05, "scale"]},
            None,
        ),
        (
            SVR(kernel="poly", tol=1e-6),
            {"degree": [1, 2], "C": [0.1, 1.0]},
            "neg_mean_absolute_error",
        ),
        (SVR(tol=1e-6, gamma=0.1), {"C": [0.1, 1.0], "epsilon": [0.1, 0.3]}, None),
        (SVDD(tol=1e-6), {"nu": [0.1, 0.3], "gamma": [0.01, 0.1, 1.0]}, "roc_auc"),
        (OneClassSVM(tol=1e-6), {"nu": [0.1, 0.3], "gamma": [0.01, 0.1]}, "roc_auc"),
        (NearestHypersphereClassifier(tol=1e-6), {"nu": [0.0, 0.1], "gamma": [0.05, 0.2]}, None),
    ],
    ids=["svr", "svr-poly", "svr-one-width", "svdd", "one-class", "hyperspheres"],
)
def test_other_machines_share_kernel_matrices(
    data: Any, model: Any, grid: Any, scoring: Any, monkeypatch: Any
) -> None:
    X, labels = data
    classes = np.where(labels == labels[0], 1, -1)
    y = X[:, 0] + 0.1 * np.sin(X[:, 1]) if isinstance(model, SVR) else classes
    cv = KFold(3, shuffle=True, random_state=0)
    separate = GridSearchCV(model, grid, cv=cv, scoring=scoring).fit(X, y)
    monkeypatch.setattr(GridSearchCV, "fit", None)  # nothing is left to scikit-learn
    shared = PathSearchCV(model, grid, cv=cv, scoring=scoring).fit(X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1e-4)
    assert shared.best_params_ == separate.best_params_
    np.testing.assert_allclose(shared.predict(X), separate.predict(X), atol=1e-3)


def test_a_machine_that_refuses_a_fold_gets_the_error_score(data: Any) -> None:
    X, _ = data
    y = np.where(np.arange(len(X)) < len(X) // 2, 1, -1)
    cv = PredefinedSplit(np.where(y > 0, 0, 1))  # one fold has no targets to learn from
    with pytest.warns(FitFailedWarning):
        search = PathSearchCV(
            SVDD(), {"gamma": [0.1, 1.0]}, cv=cv, scoring="accuracy", error_score=-1.0
        ).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["split0_test_score"], -1.0)


def test_balls_of_kernels_without_constant_diagonal_are_searched_as_usual(data: Any) -> None:
    X, labels = data
    model = NearestHypersphereClassifier(kernel="poly", degree=2)
    shared, separate = both(model, {"nu": [0.0, 0.1]}, X, labels)
    np.testing.assert_array_equal(scores(shared), scores(separate))


def test_narrow_kernels_know_k_of_equal_rows() -> None:
    """Rounding of distances must not make k(x, x) look as if it varied, which would warn."""
    X, y = make_simulation(5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shared, separate = both(NearestHypersphereClassifier(cv=None), {"gamma": [585.0]}, X, y)
    np.testing.assert_array_equal(scores(shared), scores(separate))


def test_names_of_columns_are_kept(data: Any) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data[0], columns=list("abcdef"))
    search = PathSearchCV(SVC(), {"C": [1.0]}).fit(frame, data[1])
    assert list(search.feature_names_in_) == list("abcdef")


def test_one_and_two_threads_agree(data: Any) -> None:
    X, y = data
    one = PathSearchCV(SVC(), GRID, n_jobs=1).fit(X, y)
    two = PathSearchCV(SVC(), GRID, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(scores(one), scores(two))


def test_refinement_looks_closer_around_the_best(data: Any) -> None:
    X, y = data
    plain = PathSearchCV(SVC(), GRID).fit(X, y)
    finer = PathSearchCV(SVC(), GRID, refine=1).fit(X, y)
    new = finer.cv_results_["params"][9:]
    assert len(new) >= 20
    ratios = {round(float(p["C"]) / plain.best_params_["C"], 6) for p in new}
    assert round(10**0.25, 6) in ratios
    assert finer.best_score_ >= plain.best_score_
    np.testing.assert_array_equal(scores(finer)[:9], scores(plain))


def test_the_automatic_grid_spans_the_range_around_one_over_p(data: Any) -> None:
    X, y = data
    search = PathSearchCV(SVC(), cv=3).fit(X, y)
    widths = np.unique(search.cv_results_["param_gamma"].astype(float)) * X.shape[1]
    assert widths.min() == pytest.approx(2.0**-15)
    assert widths.max() == pytest.approx(2.0**15)
    with pytest.raises(ValueError, match="'auto'"):
        PathSearchCV(SVC(), "fine").fit(X, y)


class _Interrupted(KeyboardInterrupt):
    pass


def interrupt_after(monkeypatch: pytest.MonkeyPatch, n_folds: int) -> list[int]:
    """Make the search end with Ctrl-C after some evaluations; return the count of them."""
    count: list[int] = []
    evaluate = shared_search.SharedSearch._evaluate

    def counted(self: Any, *arguments: Any) -> None:
        if len(count) >= n_folds:
            raise _Interrupted
        count.append(1)
        evaluate(self, *arguments)

    monkeypatch.setattr(shared_search.SharedSearch, "_evaluate", counted)
    return count


@pytest.mark.parametrize("through_file", [False, True])
def test_an_interrupted_search_goes_on(
    data: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, through_file: bool
) -> None:
    X, y = data
    expected = PathSearchCV(SVC(), GRID, n_jobs=1).fit(X, y)
    file = tmp_path / "search.json" if through_file else None
    search = PathSearchCV(SVC(), GRID, n_jobs=1, warm_start=True, checkpoint=file)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 7)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    if through_file:
        search = PathSearchCV(SVC(), GRID, n_jobs=1, checkpoint=file)
    count = interrupt_after(monkeypatch, 1000)
    search.fit(X, y)
    assert len(count) == 3 * 5 - 7
    np.testing.assert_array_equal(scores(search), scores(expected))
    assert search.best_params_ == expected.best_params_


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_a_search_goes_on_with_the_same_data_only(
    data: Any, monkeypatch: pytest.MonkeyPatch, shift: float
) -> None:
    """Also where nobody had asked for it when the search was interrupted."""
    X, y = data
    search = PathSearchCV(SVC(), GRID, n_jobs=1)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 7)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    count = interrupt_after(monkeypatch, 1000)
    search.set_params(warm_start=True).fit(X + shift, y)
    assert len(count) == (3 * 5 if shift else 3 * 5 - 7)


def test_foreign_checkpoints_are_refused(data: Any, tmp_path: Any) -> None:
    X, y = data
    file = tmp_path / "search.json"
    PathSearchCV(SVC(), GRID, checkpoint=file).fit(X, y)
    with pytest.raises(ValueError, match="another search"):
        PathSearchCV(SVC(), GRID, checkpoint=file).fit(X + 1.0, y)
    file.write_text(json.dumps([1, 2]))
    with pytest.raises(ValueError, match="no checkpoint"):
        PathSearchCV(SVC(), GRID, checkpoint=file).fit(X, y)


def test_lines_that_a_search_did_not_write_are_refused(data: Any, tmp_path: Any) -> None:
    """Whole lines, with a checksum that holds."""
    X, y = data
    file = tmp_path / "search.json"
    PathSearchCV(SVC(), GRID, checkpoint=file).fit(X, y)
    head = file.read_text().splitlines(keepends=True)[0]
    for entry in ({"scores": 1}, {"group and fold": ["a", 0], "scores": [1.0]}, {}):
        file.write_text(head + record_line(entry))
        with pytest.raises(ValueError, match="no checkpoint of this kind"):
            PathSearchCV(SVC(), GRID, checkpoint=file).fit(X, y)


def test_a_search_apart_says_that_it_keeps_no_checkpoint(data: Any, tmp_path: Any) -> None:
    X, y = data
    file = tmp_path / "search.json"
    search = PathSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, checkpoint=file)
    with pytest.warns(UserWarning, match="no checkpoint is read or written"):
        search.fit(X, y)
    assert not file.exists()


def test_parameters_that_the_grid_leaves_alone_are_checked(data: Any) -> None:
    search = PathSearchCV(SVC(C="1"), {"gamma": [1.0, 2.0]}, error_score="raise")
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        search.fit(*data)


def test_one_standard_error_prefers_the_smaller_model(data: Any) -> None:
    X, y = data
    grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1]}
    search = PathSearchCV(SVC(), grid, cv=StratifiedKFold(5), refit=one_standard_error).fit(X, y)
    results = search.cv_results_
    best = int(results["mean_test_score"].argmax())
    folds = np.array([results[f"split{k}_test_score"][best] for k in range(5)])
    bar = results["mean_test_score"][best] - folds.std(ddof=1) / np.sqrt(5)
    chosen = search.best_index_
    assert results["mean_test_score"][chosen] >= bar
    for k in np.flatnonzero(results["mean_test_score"] >= bar):
        assert results["params"][k]["C"] >= results["params"][chosen]["C"]


@pytest.mark.parametrize(
    ("limit", "reason"), [({"max_iter": 1}, "max_iter"), ({"time_limit": 0.0}, "time_limit")]
)
def test_limits_hold_and_are_told(limit: dict[str, Any], reason: str) -> None:
    """As many machines as scikit-learn's search would warn about, in one sentence."""
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning) as told:
        PathSearchCV(SVC(**limit), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    messages = [str(one.message) for one in told]
    assert any("12 of 12 solvers stopped" in text and reason in text for text in messages)


def test_nothing_is_said_where_all_is_well() -> None:
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PathSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)


def test_prices_beyond_float32_are_solved_in_float64() -> None:
    """Scores of high prices and wide kernels do not depend on what else is in the grid."""
    X, y = make_classification(300, 10, n_informative=5, flip_y=0.2, random_state=0)
    grid = {"C": [1.0, 1e4, 1e5], "gamma": [0.001, 0.01]}
    together = PathSearchCV(SVC(), grid, cv=3, refit=False).fit(X, y)
    apart = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(X, y)
    alone = PathSearchCV(SVC(), {"C": [1e5], "gamma": [0.001]}, cv=3, refit=False).fit(X, y)
    scores = together.cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores, apart.cv_results_["mean_test_score"], atol=1.01 / 300)
    np.testing.assert_allclose(scores[4], alone.best_score_, atol=1.01 / 300)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_features", [4, 300])  # more than 256 go by way of distances
@pytest.mark.parametrize("scale", [1e-110, 1e-62, 1.0, 1e56, 1e93])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_points_beyond_float32(kernel: str, scale: float, n_features: int) -> None:
    X, y = make_blobs(60, n_features, centers=2, cluster_std=4 + n_features / 50, random_state=1)
    model = SVC(kernel=kernel, gamma="median", tol=1e-5)
    shared, separate = both(model, {"C": [0.01, 1.0, 100.0]}, scale * X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1e-9)
    assert scores(shared).max() > 0.7


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_features", [4, 300])
def test_kernel_values_beyond_float32(n_features: int) -> None:
    X, y = make_blobs(60, n_features, centers=2, cluster_std=4 + n_features / 50, random_state=1)
    model = SVC(kernel="poly", gamma=1e10, degree=4, tol=1e-5)
    shared, separate = both(model, {"C": [1e-60, 1e-55, 1e-50]}, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1e-9)
    assert scores(shared).max() > 0.7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_points_far_from_the_origin(loss: str) -> None:
    """Rounding of float32 is larger than all that tells the rows apart."""
    X, y = make_classification(40, 4, n_informative=4, n_redundant=0, class_sep=2, random_state=1)
    model = SVC(kernel="linear", loss=loss)
    shared, separate = both(model, {"C": [0.1, 1.0]}, X + 1e5, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1e-9)
    assert scores(shared).max() > 0.7


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_fold_of_one_class_fails_as_in_a_separate_fit() -> None:
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], [9, 3])
    cv = [(np.arange(6), np.arange(6, 12)), (np.arange(3, 12), np.arange(3))]
    shared, separate = both(SVC(), {"C": [0.1, 1.0]}, X, y, cv=cv)
    assert np.isnan(shared.cv_results_["split0_test_score"]).all()
    for name in ("split0_test_score", "split1_test_score"):
        np.testing.assert_array_equal(shared.cv_results_[name], separate.cv_results_[name])


def test_a_fold_without_some_classes() -> None:
    """Rows of a class that the fold has not seen are wrong; splits may be masks."""
    X, y = load_iris(return_X_y=True)
    mask = (y == 2) | (np.arange(150) % 3 == 0)
    cv = [(~mask, mask), (mask, ~mask)]
    shared, separate = both(SVC(tol=1e-5), {"C": [0.1, 1.0]}, X, y, cv=cv)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1e-12)
    assert shared.cv_results_["split0_test_score"].max() <= (~(y == 2) & mask).sum() / mask.sum()


def shifted(model: Any, X: Any, y: Any) -> float:
    return float((model.predict(X + 10.0) == y).mean())


def backwards(model: Any, X: Any, y: Any) -> float:
    return float((model.predict(X[::-1]) == y).mean())


def support(model: Any, X: Any, y: Any) -> float:
    return -float(model.n_support_.sum())


@pytest.mark.parametrize("scoring", [shifted, backwards, support, {"a": "accuracy", "b": shifted}])
def test_scores_that_ask_for_other_rows_or_more_than_answers(scoring: Any) -> None:
    X, y = make_classification(60, 5, random_state=0)
    grid, refit = {"C": [0.1, 10.0], "gamma": [0.01, 0.1]}, not isinstance(scoring, dict)
    found = PathSearchCV(SVC(), grid, scoring=scoring, refit=refit, cv=3).fit(X, y).cv_results_
    plain = GridSearchCV(SVC(), grid, scoring=scoring, refit=refit, cv=3).fit(X, y).cv_results_
    for name in plain:
        if name.startswith("mean_test"):
            np.testing.assert_allclose(found[name], plain[name])


def test_functions_without_a_name() -> None:
    X, y = make_classification(60, 5, random_state=0)
    grid = {"kernel": ["linear", lambda A, B: A @ B.T], "C": [0.1, 1.0]}
    search = PathSearchCV(SVC(), grid, scoring=lambda model, X, y: model.score(X, y)).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    np.testing.assert_allclose(scores[0], scores[1])


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("grid", [{"C": [1.0, -1.0]}, {"gamma": [0.1, -2.0]}])
def test_bad_values_get_no_score_as_in_scikit_learn(grid: dict[str, Any]) -> None:
    X, y = make_classification(60, 5, random_state=0)
    with pytest.warns(FitFailedWarning):
        search = PathSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_score_that_raises_is_left_to_error_score() -> None:
    X, y = make_classification(60, 5, random_state=0)

    def refuses(truth: Any, predicted: Any) -> float:
        raise ValueError("no score for these")

    scoring = make_scorer(refuses)
    search = PathSearchCV(SVC(), {"C": [1.0]}, scoring=scoring, cv=3, refit=False)
    with pytest.warns(UserWarning, match="Scoring failed"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_splits_as_lists_and_from_an_iterator() -> None:
    X, y = make_classification(60, 5, random_state=0)
    rows = np.random.default_rng(0).permutation(60)
    splits = [(rows[:40].tolist(), rows[40:].tolist()), (rows[20:].tolist(), rows[:20].tolist())]
    one = PathSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=splits).fit(X, y).cv_results_
    two = PathSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=iter(splits)).fit(X, y).cv_results_
    np.testing.assert_array_equal(one["mean_test_score"], two["mean_test_score"])
    sorted_splits = [(np.flatnonzero(y == 0), np.arange(10)), (rows[:40], rows[40:])]
    with pytest.warns(FitFailedWarning):
        odd = PathSearchCV(SVC(), {"C": [1.0]}, cv=iter(sorted_splits)).fit(X, y)
    assert np.isnan(odd.cv_results_["split0_test_score"][0])
    assert np.isfinite(odd.cv_results_["split1_test_score"][0])


def test_each_fold_is_kept_as_soon_as_it_is_there(tmp_path: Path) -> None:
    """A process that is killed says nothing to a ``finally``."""
    X, y = make_classification(60, 5, random_state=0)
    path, seen = tmp_path / "kept", []

    class Watched(type(get_scorer("accuracy"))):
        def _score(self, *arguments: Any, **named: Any) -> Any:
            seen.append(len(path.read_text().splitlines()) if path.exists() else 0)
            return np.float32(super()._score(*arguments, **named))

    scorer = Watched(accuracy_score, 1, {}, "predict")
    grid = {"C": [1.0], "gamma": [0.1, 0.2, 0.3]}
    PathSearchCV(SVC(), grid, scoring=scorer, cv=3, n_jobs=1, checkpoint=path).fit(X, y)
    assert len(path.read_text().splitlines()) == 10
    assert max(seen) > 1


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", RBF(np.full(300, 0.01))])
def test_many_columns(kernel: Any) -> None:
    """Matrices come from products or from distances then, not from the engine."""
    X, y = make_classification(100, 300, n_informative=10, random_state=0)
    shared, separate = both(SVC(kernel=kernel, tol=1e-5), {"C": [0.01, 1.0]}, X, y)
    np.testing.assert_allclose(scores(shared), scores(separate), atol=1 / 100 + 1e-12)


def test_a_matrix_that_is_too_large_is_not_shared(monkeypatch: Any) -> None:
    y = np.arange(30) % 2
    for model, size in ((SVC(), 4), (SVR(), 8)):
        for missing in (0, 1):
            monkeypatch.setattr(path_search, "MOST_BYTES", size * 30**2 - missing)
            assert PathSearchCV(model, GRID)._is_apart(y, []) is bool(missing)


@pytest.mark.parametrize(
    ("machine", "prefix"),
    [(SVC(probability=True), "svc"), (PlattClassifier(SVC()), "plattclassifier__estimator")],
)
def test_scores_of_probabilities(machine: Any, prefix: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), machine)
    grid = {f"{prefix}__C": [0.01, 1.0]}
    search = PathSearchCV(model, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    peer = GridSearchCV(model, grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ == peer.best_params_
    assert search.best_score_ == pytest.approx(peer.best_score_)
    assert -0.12 < search.best_score_ < -0.03
    chosen = PathSearchCV(SVC(), {"probability": [True]}, scoring="neg_brier_score", cv=3)
    assert -0.1 < chosen.fit(StandardScaler().fit_transform(X), y).best_score_ < 0.0
    both = PathSearchCV(model, grid, scoring=["neg_log_loss", "accuracy"], refit="accuracy", cv=3)
    results = both.fit(X, y).cv_results_
    np.testing.assert_allclose(
        results["mean_test_neg_log_loss"], peer.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("scoring", ["neg_log_loss", ["accuracy", "neg_brier_score"]])
def test_scores_of_probabilities_name_the_remedy(scoring: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = PathSearchCV(SVC(), {"C": [1.0, 10.0]}, scoring=scoring, refit=False)
    with pytest.raises(ValueError, match=r"SVC\(probability=True\), or inside PlattClassifier"):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinite_bounds_and_rows_of_zeros() -> None:
    """Squared slack has no bounds, and a row of zeros has no kernel values."""
    X, y = make_classification(60, 4, random_state=0)
    X[::7] = 0.0
    machine = SVC(kernel="linear", loss="squared_hinge", tol=1e-6)
    grid = {"C": [0.01, 1.0, 100.0]}
    ours = PathSearchCV(machine, grid, cv=3).fit(X, y)
    theirs = GridSearchCV(machine, grid, cv=3).fit(X, y)
    for name in ("split0_test_score", "split1_test_score", "split2_test_score"):
        np.testing.assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_matrix_beyond_numbers_is_refused_before_any_fold() -> None:
    X, y = make_classification(60, 4, random_state=0)
    search = PathSearchCV(SVC(kernel="poly", degree=5, gamma=1.0), {"C": [0.01, 1.0]}, cv=3)
    with pytest.raises(ValueError, match="scale the features"):
        search.fit(1e60 * X, y)


def test_waiting_is_for_what_is_not_done(monkeypatch: Any) -> None:
    """Else it would keep a processor busy until it is."""
    done, later = Future(), Future()
    done.set_result(None)
    waited: list[Any] = []

    def end(futures: Any, *_: Any) -> None:
        waited.extend(futures)
        later.set_result(None)

    monkeypatch.setattr(shared_search, "wait", end)
    assert shared_search._unfinished([[done], [done, later]], 1) == []
    assert waited == [later]
