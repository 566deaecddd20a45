"""The number of features is chosen on rows that had no say in the ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from mercer import SVC, KernelRFE, KernelRFECV
from mercer.feature_selection import (
    fisher_score,
    kuncheva_index,
    pareto_set,
    percent,
    ranking_curve,
)

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def informative(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        120, 15, n_informative=4, n_redundant=2, flip_y=0.1, random_state=seed
    )
    return scale(X), y


def test_curve_is_that_of_scikit_learn() -> None:
    """With the machine that it knows, and every size: the same scores, hence the same choice."""
    X, y = informative()
    machine = LogisticRegression()
    ours = KernelRFECV(machine, cv=FOLDS).fit(X, y)
    peer = RFECV(machine, cv=FOLDS).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert ours.n_features_ == peer.n_features_
    assert_array_equal(ours.support_, peer.support_)


def test_curve_is_a_cross_validation_of_the_whole_procedure() -> None:
    X, y = informative(1)
    search = KernelRFECV(SVC(), cv=FOLDS, sizes=[3, 8]).fit(X, y)
    for column, size in enumerate((3, 8)):
        chain = make_pipeline(KernelRFE(SVC(), n_features_to_select=size), SVC())
        expected = cross_val_score(chain, X, y, cv=FOLDS)
        assert_allclose(search.curve_.test_scores[:, column], expected)
    assert_array_equal(search.cv_results_["n_features"], [3, 8])


def test_ranking_on_all_rows_is_too_good() -> None:
    """On pure noise the curve must not rise above chance, but does with the bias."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 400)), np.repeat([0, 1], 20)
    machine = SVC(kernel="linear")
    biased = KernelRFE(machine, n_features_to_select=1).fit(X, y).order_
    curves = ranking_curve(
        {"honest": KernelRFE(machine), "biased": biased},
        machine,
        X,
        y,
        sizes=[10],
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        baselines=False,
    )
    assert curves["honest"].mean_test_score[0] < 0.7
    assert curves["biased"].mean_test_score[0] > 0.85


def scored(scores: list[list[float]], sizes: list[int], **settings: Any) -> int:
    """Return the size chosen for given scores of folds."""
    from mercer.feature_selection.ranking_curve import Ranking, RankingCurve

    folds = np.array(scores)
    nothing = np.empty(0)
    ranking = Ranking(np.arange(10), 0.0, 0.0, nothing, nothing)
    curve = RankingCurve("x", np.array(sizes), folds, folds, (ranking,) * len(folds), 10, 0.5)
    return KernelRFECV(SVC(), **settings)._choose(curve)


def test_rules() -> None:
    scores, sizes = [[0.6, 0.80, 0.84, 0.85], [0.6, 0.84, 0.90, 0.91]], [1, 3, 6, 10]
    assert scored(scores, sizes) == 10
    assert scored(scores, sizes, rule="tolerance", tolerance=0.02) == 6
    # mean 0.88, standard error 0.03
    assert scored(scores, sizes, rule="one_standard_error") == 6
    assert scored(scores, sizes, rule="cost", trade_off=(0.8, 0.2)) == 3
    assert scored(scores, sizes, min_features_to_select=7, rule="tolerance", tolerance=1) == 10


def test_settings_of_an_elimination_are_used() -> None:
    X, y = informative()
    elimination = KernelRFE(SVC(), step=percent(0.4), protected=[14])
    search = KernelRFECV(elimination, cv=3, sizes=[2, 5]).fit(X, y)
    assert search.support_[14]
    assert search.selector_.trace_.sizes[:3].tolist() == [15, 9, 6]
    assert elimination.n_features_to_select is None


def test_results_hold_together() -> None:
    X, y = informative()
    search = KernelRFECV(SVC(), cv=FOLDS, step=2).fit(X, y)
    results = search.cv_results_
    splits = np.array([results[f"split{k}_test_score"] for k in range(4)])
    assert_allclose(results["mean_test_score"], splits.mean(axis=0))
    assert_allclose(results["std_test_score"], splits.std(axis=0, ddof=1))
    best = results["mean_test_score"].argmax()
    assert results["n_features"][best] == search.n_features_
    assert search.n_features_ in search.pareto_
    assert -1 <= search.stability_ <= 1
    assert np.isnan(results["stability"][-1])  # all features: every set is the same by force
    assert_array_equal(search.predict(X), search.estimator_.predict(X[:, search.support_]))


def test_bad_input() -> None:
    X, y = informative()
    with pytest.raises(ValueError, match="more than there are"):
        KernelRFECV(SVC(), min_features_to_select=16).fit(X, y)
    with pytest.raises(ValueError, match="whole numbers from 1 to 15"):
        KernelRFECV(SVC(), sizes=[0, 3]).fit(X, y)
    with pytest.raises(ValueError, match="groups"):
        KernelRFECV(KernelRFE(SVC(), groups=np.zeros(15))).fit(X, y)


# ---- curves ----------------------------------------------------------------------------------


def test_sources_of_rankings() -> None:
    X, y = informative()
    order = np.arange(15)[::-1]
    sources = {
        "ours": KernelRFE(SVC()),
        "peer": RFE(LogisticRegression()),
        "score": fisher_score,
        "ready": order,
    }
    curves = ranking_curve(sources, SVC(), X, y, sizes=[1, 4, 15], cv=FOLDS, random_state=0)
    assert list(curves) == [*sources, "random", "filter"]
    assert_array_equal(curves["score"].test_scores, curves["filter"].test_scores)
    for ranking in curves["ready"].rankings:
        assert_array_equal(ranking.order, order)
    for curve in curves.values():
        assert curve.test_scores.shape == (4, 3)
        for ranking in curve.rankings:
            assert_array_equal(np.sort(ranking.order), np.arange(15))
    # with all features the ranking does not matter
    last = [curve.test_scores[:, -1] for curve in curves.values()]
    for scores in last[1:]:
        assert_array_equal(scores, last[0])
    again = ranking_curve(sources, SVC(), X, y, sizes=[1, 4, 15], cv=FOLDS, random_state=0)
    assert_array_equal(again["random"].test_scores, curves["random"].test_scores)


def test_a_ranking_must_hold_every_feature() -> None:
    X, y = informative()
    with pytest.raises(ValueError, match="each of the 15 features once"):
        ranking_curve({"bad": [0, 0, 1]}, SVC(), X, y)


# ---- small helpers ---------------------------------------------------------------------------


def test_kuncheva_index() -> None:
    assert kuncheva_index([[1, 2], [1, 2], [2, 1]], 10) == pytest.approx(1.0)
    assert kuncheva_index([[0, 1], [2, 3]], 4) == pytest.approx(-1.0)
    rng = np.random.default_rng(0)
    drawn = [rng.choice(50, 10, replace=False) for _ in range(200)]
    assert abs(kuncheva_index(drawn, 50)) < 0.01
    with pytest.raises(ValueError, match="same size"):
        kuncheva_index([[1], [1, 2]], 10)


def test_pareto_set_is_beaten_by_none() -> None:
    rng = np.random.default_rng(0)
    accuracy, sizes = rng.random(60).round(2), rng.integers(1, 30, 60)
    kept = set(pareto_set(accuracy, sizes).tolist())
    for i in range(60):
        better = (accuracy >= accuracy[i]) & (sizes <= sizes[i])
        better &= (accuracy > accuracy[i]) | (sizes < sizes[i])
        if i in kept:
            assert not better.any()
        elif not better.any():  # an equal of one that is kept
            equal = (accuracy == accuracy[i]) & (sizes == sizes[i])
            assert kept & set(np.flatnonzero(equal).tolist())
