"""Gradient searches of regressions and of one class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import RVC, SVC, SVDD, SVR, GradientSearch, OneClassSVM
from mercer.kernels import RBF
from mercer.machines.bordered_system import BorderedSystem
from mercer.model_selection import Criterion, region_error, regression_error
from mercer.model_selection.gradient import relevance
from mercer.model_selection.gradient.classifier import LADDER, _candidates

LINEAR, SQUARED = "epsilon_insensitive", "squared_epsilon_insensitive"


@pytest.fixture(scope="module", name="friedman")
def friedman_data() -> tuple[Any, Any]:
    X, y = make_friedman1(260, noise=1.0, random_state=0)
    return X, 1000.0 * y  # C and epsilon as they are would be far too small


@pytest.fixture(scope="module", name="ring")
def ring_data() -> np.ndarray:
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 150)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * random.normal(size=(150, 2))


@pytest.mark.parametrize("loss", [LINEAR, SQUARED])
def test_regression_finds_unit_and_width(loss: str, friedman: Any) -> None:
    """The targets have the deviation 5000, noise 1000; half of the columns are noise."""
    (X, y), seen = friedman, slice(0, 130)
    search = GradientSearch(SVR(loss=loss), random_state=0).fit(X[seen], y[seen])
    held = search.score(X[130:], y[130:])
    plain = SVR(loss=loss).fit(X[seen], y[seen]).score(X[130:], y[130:])
    assert held > 0.85 > plain + 0.1
    assert abs(search.best_score_ - held) < 0.08
    assert search.n_evaluations_ <= 2 * search.max_evaluations
    assert set(search.best_params_) >= {"C", "epsilon"}
    again = clone(search.estimator).set_params(**search.best_params_).fit(X[seen], y[seen])
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    best = search.history_[search.best_index_]
    assert best["stage"] == "on folds"
    assert best["start"] == 0
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1


def test_units_of_the_targets_do_not_matter(friedman: Any) -> None:
    X, y = friedman[0][:100], friedman[1][:100]
    errors = [
        GradientSearch(SVR(tol=1e-6 * unit)).fit(X, unit * y).best_criterion_ / unit**2
        for unit in (1.0, 1e-6)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-2)


@pytest.mark.parametrize("loss", [LINEAR, SQUARED])
@pytest.mark.parametrize("unit", [1e-20, 1e-6, 1e30])
def test_no_unit_of_the_targets_is_too_small_or_large(
    unit: float, loss: str, friedman: Any
) -> None:
    """The tolerance has the same unit: one of 1e-3 means nothing for masses of stars or charges."""
    X, y = friedman[0][:100], friedman[1][:100] / 5000.0
    search = GradientSearch(SVR(loss=loss)).fit(X, unit * y)
    usual = GradientSearch(SVR(loss=loss)).fit(X, y)
    assert "tol" not in usual.best_params_
    assert 1e-9 * unit < search.best_params_["tol"] <= 1e-2 * unit * y.std() or unit > 1
    assert search.best_score_ == pytest.approx(usual.best_score_, abs=0.02)
    assert search.score(X, unit * y) == pytest.approx(usual.score(X, y), abs=0.02)
    again = clone(search.estimator).set_params(**search.best_params_).fit(X, unit * y)
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert search.cv_results_["params"][search.best_index_] == search.best_params_


def test_slopes_and_errors_that_are_no_numbers(friedman: Any) -> None:
    X, y = friedman[0][:40], friedman[1][:40]
    model = SVR(loss=SQUARED, epsilon=0.0)
    with pytest.raises(ValueError, match="multiply y by a constant"):
        GradientSearch(model).fit(X, 1e-200 * y)
    with pytest.raises(ValueError, match="scale the features"):
        GradientSearch(model, "press").fit(1e198 * X, y / 5000.0)
    found = GradientSearch(model, "press").fit(X, np.ones(40))  # no error at all
    assert found.best_criterion_ < 1e-30
    np.testing.assert_allclose(found.predict(X), 1.0)


@pytest.mark.parametrize(
    ("criterion", "loss"),
    [
        ("evidence", SQUARED),
        ("press", SQUARED),
        ("regression_radius_margin", SQUARED),
        ("regression_error", LINEAR),
        ("regression_error", SQUARED),
    ],
)
def test_criteria_fall_and_bounds_hold(criterion: str, loss: str, friedman: Any) -> None:
    X, y = friedman[0][:80], friedman[1][:80] / 5000.0
    model = SVR(loss=loss, gamma=1.0)
    bounds: dict[str, Any] = {"C_bounds": (0.5, 5.0), "kernel_bounds": (0.1, 3.0)}
    search = GradientSearch(model, criterion, max_evaluations=15, **bounds).fit(X, y)
    values = [step["criterion"] for step in search.history_]
    assert search.best_criterion_ == min(values) < values[0]
    unit = y.std() if loss == LINEAR else 1.0
    for step in search.history_:
        assert 0.5 * unit <= step["C"] <= 5.0 * unit
        assert 0.01 <= step["epsilon"] <= 0.3 * (1 + 1e-9)
        assert 0.1 <= step["kernel"].gamma <= 3.0 * (1 + 1e-9)


def test_own_criterion_of_a_regression(friedman: Any) -> None:
    X, y = friedman[0][:60], friedman[1][:60] / 5000.0

    def on_four_folds(model: Any, X: Any, y: Any) -> Criterion:
        return regression_error(model, X, y, cv=4)

    search = GradientSearch(SVR(tol=1e-6), on_four_folds, max_evaluations=6).fit(X, y)
    best = regression_error(clone(search.best_estimator_).fit(X, y), X, y, cv=4)
    assert search.best_criterion_ == pytest.approx(best.value, rel=1e-6)


def test_score_is_that_of_rows_left_out(friedman: Any) -> None:
    X, y = friedman[0][:70], friedman[1][:70] / 5000.0
    search = GradientSearch(SVR(loss=SQUARED), "press", max_evaluations=5).fit(X, y)
    matrix = RBF(search.best_params_["gamma"])(X)
    other = GradientSearch(SVR(loss=SQUARED, kernel="precomputed", C=search.best_params_["C"]))
    other.set_params(criterion="evidence", C_bounds=(search.best_params_["C"],) * 2)
    other.fit(matrix, y)
    assert -1.0 < search.best_score_ < r2_score(y, search.predict(X))
    assert 0.5 < other.best_score_ < 1.0


@pytest.mark.parametrize("model", [OneClassSVM(nu=0.1, gamma=0.05), SVDD(nu=0.1, gamma=0.05)])
def test_width_of_a_ring(model: Any, ring: np.ndarray) -> None:
    """A wide kernel takes the hole for a part of the ring."""
    search = GradientSearch(model).fit(ring)
    assert clone(model).fit(ring).predict([[0.0, 0.0]])[0] == 1
    assert search.predict([[0.0, 0.0], [1.0, 0.0]]).tolist() == [-1, 1]
    assert search.best_params_["gamma"] > 1.0
    assert search.best_estimator_.nu == 0.1
    assert 0.75 < search.best_score_ < 1.0
    np.testing.assert_allclose(
        search.decision_function(ring), search.score_samples(ring) - search.offset_, atol=1e-12
    )
    expected = region_error(search.best_estimator_, ring).value
    assert abs(search.best_criterion_ - expected) < 0.03  # other folds
    stages = [step["stage"] for step in search.history_]
    assert stages == sorted(stages, reverse=True)  # multiples first, then all parameters
    assert {step["start"] for step in search.history_} == {0}


def test_ball_and_hyperplane_have_the_same_search(ring: np.ndarray) -> None:
    """For kernels with constant k(x, x) both are one region."""
    found = [GradientSearch(kind(nu=0.2)).fit(ring) for kind in (OneClassSVM, SVDD)]
    gammas = [search.best_params_["gamma"] for search in found]
    assert gammas[0] == pytest.approx(gammas[1], rel=1e-3)
    assert found[0].best_score_ == pytest.approx(found[1].best_score_, abs=0.01)


def test_known_outliers_count(ring: np.ndarray) -> None:
    """With outliers in the hole the kernel becomes narrower than without."""
    hole = 0.3 * np.random.default_rng(1).normal(size=(30, 2))
    X, y = np.vstack([ring, hole]), np.repeat([1, -1], [150, 30])
    search = GradientSearch(SVDD(nu=0.1, gamma=0.05)).fit(X, y)
    assert (search.predict(hole) == -1).mean() > 0.8
    assert (search.predict(ring) == 1).mean() > 0.8


def test_kinds_are_those_of_the_machine() -> None:
    assert is_classifier(GradientSearch())
    assert is_classifier(GradientSearch(RVC()))
    assert is_regressor(GradientSearch(SVR()))
    assert not is_classifier(GradientSearch(SVR()))
    assert is_outlier_detector(GradientSearch(make_pipeline(StandardScaler(), SVDD())))
    assert not hasattr(GradientSearch(SVR()), "decision_function")
    assert not hasattr(GradientSearch(SVDD()), "score")


@pytest.mark.parametrize(
    ("model", "criterion"),
    [(SVR(), "radius_margin"), (SVC(), "regression_error"), (SVDD(), "evidence"), (RVC(), "press")],
)
def test_criteria_of_other_machines_are_refused(model: Any, criterion: str, ring: Any) -> None:
    with pytest.raises(ValueError, match=rf"are chosen by 'auto', .* got '{criterion}'"):
        GradientSearch(model, criterion).fit(ring, np.arange(len(ring)) % 2)


@pytest.mark.parametrize("model", [RVC(kernel="linear"), RVC(basis="columns")], ids=str)
def test_a_relevance_machine_needs_parameters(model: Any, ring: np.ndarray) -> None:
    with pytest.raises(ValueError, match="The basis of this RVC has no parameters to choose"):
        GradientSearch(model).fit(ring, np.arange(len(ring)) % 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_machines_without_a_fold_are_widened_of_many_classes_only(
    n_classes: int, monkeypatch: Any
) -> None:
    judged = []
    monkeypatch.setattr(relevance, "accuracy_by_fits", lambda model, *_: judged.append(model) or 1)
    X = np.random.default_rng(0).normal(size=(60, 2))
    GradientSearch(RVC(), max_evaluations=2).fit(X, np.arange(60) % n_classes)
    assert [isinstance(model, relevance.FoldRVC) for model in judged] == [n_classes == 2]


@pytest.mark.parametrize("loss", [None, "hinge", "squared_hinge"])
def test_losses_that_are_tried_are_those_left_open(loss: str | None) -> None:
    tried = set(_candidates(1.0, loss, True, (1e-2, 1e4)))
    assert {one for one, _ in tried} == ({"hinge", "squared_hinge"} if loss is None else {loss})
    rungs = {max(1e-2, rung) for rung in LADDER}
    assert len(tried) == len(rungs) * (2 if loss is None else 1)
    assert {C for _, C in tried} == rungs


def test_one_class_needs_points_and_parameters(ring: np.ndarray) -> None:
    with pytest.raises(ValueError, match="no parameters to choose"):
        GradientSearch(SVDD(kernel="linear")).fit(ring)
    kernel = 2.0 * RBF(1.0)
    search = GradientSearch(SVDD(kernel=kernel), max_evaluations=3).fit(ring)
    assert set(search.best_params_) == {"kernel"}


def test_interrupted_search_goes_on(ring: np.ndarray, tmp_path: Path) -> None:
    whole = GradientSearch(SVDD(nu=0.1)).fit(ring)
    file = tmp_path / "search"
    first = GradientSearch(SVDD(nu=0.1), max_evaluations=3, checkpoint=file).fit(ring)
    second = GradientSearch(SVDD(nu=0.1), checkpoint=file).fit(ring)
    assert first.n_evaluations_ == 3
    assert second.best_params_ == whole.best_params_


def test_given_folds_speak_of_all_rows(friedman: Any) -> None:
    """Rows without weight and rows left aside do not shift them."""
    X, y = friedman[0][:60], friedman[1][:60] / 5000.0
    weights = np.where(np.arange(60) % 3 == 1, 0.0, 1.0)
    used = np.flatnonzero(weights)
    fold = np.arange(60) // 20
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    settings: dict[str, Any] = {"criterion": "regression_error", "max_evaluations": 2}
    search = GradientSearch(SVR(gamma=0.1), cv=splits, **settings)
    search.fit(X, y, sample_weight=weights)
    own = [(np.flatnonzero(fold[used] != k), np.flatnonzero(fold[used] == k)) for k in range(3)]
    other = GradientSearch(SVR(gamma=0.1), cv=own, **settings).fit(X[used], y[used])
    assert search.best_criterion_ == pytest.approx(other.best_criterion_, rel=1e-9)
    labels = y > np.median(y)
    settings["criterion"] = "smoothed_validation_error"
    search = GradientSearch(SVC(gamma=0.1), cv=splits, **settings).fit(X, labels, weights)
    other = GradientSearch(SVC(gamma=0.1), cv=own, **settings).fit(X[used], labels[used])
    assert search.best_criterion_ == pytest.approx(other.best_criterion_, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_origin_may_be_the_only_free_row(epsilon: float) -> None:
    """Its kernel matrix is zero, and yet its equation is one for the constant."""
    X = np.array([[0.0], [1.0], [1.0], [0.0], [1.0], [0.0], [1.0], [1.0]])
    y = np.array([0.1, 0.9, 1.1, -0.2, 1.3, 0.3, 0.8, 1.0])
    search = GradientSearch(SVR(kernel="linear", epsilon=epsilon), "regression_error").fit(X, y)
    assert np.isfinite(search.best_criterion_)
    system = BorderedSystem(np.zeros((1, 1)))
    assert system.solve(np.array([3.0]), 2.0) == (np.array([2.0]), 3.0)
