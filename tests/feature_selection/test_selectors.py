"""Filters, the zero norm and learned scales find what they are made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, rankdata, spearmanr
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, f_classif
from sklearn.preprocessing import scale

from mercer import SVC
from mercer.datasets import make_weston_linear, make_weston_nonlinear
from mercer.feature_selection import (
    CorrelationFeatureSelector,
    MinimumRedundancySelector,
    ScaledFeatureSelector,
    ZeroNormSelector,
    fisher_score,
    golub_score,
    kendall_score,
    pearson_score,
    percent,
    scaled,
    spearman_score,
)
from mercer.kernels import RBF, Weighted
from mercer.machines.bordered_system import NoSolutionError
from mercer.model_selection import radius_margin
from mercer.model_selection.criteria.radius_margin import radius_margin_of

# ---- scores ----------------------------------------------------------------------------------


def two_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    return rng.normal(size=(60, 5)) + np.outer(y, [0, 1, 2, 0, -1]), y


def test_scores_are_their_formulas() -> None:
    X, y = two_classes()
    low, high = X[y == 0], X[y == 1]
    difference = high.mean(axis=0) - low.mean(axis=0)
    golub = np.abs(difference) / (high.std(axis=0) + low.std(axis=0))
    assert_allclose(golub_score(X, y), golub)
    fisher = difference**2 / (high.var(axis=0) + low.var(axis=0))
    assert_allclose(fisher_score(X, y), fisher)
    some = np.r_[0:30, 40:60]  # classes of different sizes
    low, high = X[:30], X[40:]
    difference = high.mean(axis=0) - low.mean(axis=0)
    fisher = difference**2 / (high.var(axis=0) + low.var(axis=0))
    assert_allclose(fisher_score(X[some], y[some]), fisher)
    pearson = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    assert_allclose(pearson_score(X, y), pearson)


def test_fisher_score_ranks_as_the_analysis_of_variance() -> None:
    X, y = load_iris(return_X_y=True)
    share = fisher_score(X, y) * (3 - 1) / 3  # classes of equal size
    assert_allclose(share * (150 - 3) / (3 - 1), f_classif(X, y)[0])
    explained = share / (1 + share)
    assert_allclose(pearson_score(X, y), np.sqrt(explained))


def test_golub_score_of_many_classes_is_the_best_against_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    parts = [golub_score(X, y == c) for c in range(3)]
    assert_allclose(golub_score(X, y), np.max(parts, axis=0))


def test_fisher_score_of_many_classes_sums_over_pairs() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[10:], y[10:]
    above, below = np.zeros(4), np.zeros(4)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        one, other = X[y == first], X[y == second]
        above += (one.mean(axis=0) - other.mean(axis=0)) ** 2
        below += one.var(axis=0) + other.var(axis=0)
    assert_allclose(fisher_score(X, y), above / below)


def test_rank_scores_are_those_of_scipy() -> None:
    X, y = two_classes()
    X = np.round(X, 1)  # some are equal
    target = X[:, 2] + 0.3 * X[:, 0]
    for score, peer in ((spearman_score, spearmanr), (kendall_score, kendalltau)):
        for given in (target, y):
            right = [abs(peer(column, given).statistic) for column in X.T]
            assert_allclose(score(X, given), right)
        assert_allclose(score(np.exp(X), target), score(X, target))  # ranks alone count
    by_class = [kendall_score(X[:30], y) for y in np.eye(3, dtype=int)[np.arange(30) % 3].T]
    assert_allclose(kendall_score(X[:30], np.arange(30) % 3), np.max(by_class, axis=0))
    ranks = rankdata(X, axis=0)
    assert_allclose(spearman_score(X, np.arange(60) % 3), pearson_score(ranks, np.arange(60) % 3))


SCORES = [fisher_score, golub_score, kendall_score, pearson_score, spearman_score]


@pytest.mark.parametrize("score", SCORES)
def test_scores_serve_select_k_best(score: Any) -> None:
    X, y = two_classes()
    X = np.column_stack([X, np.ones(60)])
    selector = SelectKBest(score, k=1).fit(X, y)
    assert_array_equal(selector.get_support(indices=True), [2])
    assert selector.scores_[-1] == 0.0  # a constant tells nothing
    names = np.array(["a", "b"])[y]
    assert_allclose(score(X, names), score(X, y))


def test_pearson_score_of_numbers() -> None:
    X, _ = two_classes()
    target = X[:, 1] + 0.1 * X[:, 0] ** 2
    expected = [abs(np.corrcoef(column, target)[0, 1]) for column in X.T]
    assert_allclose(pearson_score(X, target), expected)


def test_a_feature_without_variance_in_the_classes_is_perfect() -> None:
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]])
    assert_array_equal(fisher_score(X, [0, 0, 1, 1]), [np.inf, 0.0])


# ---- correlation-based selection -------------------------------------------------------------


def merit(X: np.ndarray, y: np.ndarray, features: list[int]) -> float:
    k = len(features)
    correlations = np.abs(np.corrcoef(X[:, features].T)) if k > 1 else np.ones((1, 1))
    with_target = np.mean([abs(np.corrcoef(X[:, f], y)[0, 1]) for f in features])
    among = (correlations.sum() - k) / (k * (k - 1)) if k > 1 else 0.0
    return k * with_target / np.sqrt(k + k * (k - 1) * among)


def test_merit_is_its_formula_and_greedily_best() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 8))
    X[:, 4] = X[:, 0] + 0.3 * rng.normal(size=80)
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    selector = CorrelationFeatureSelector(n_features_to_select=4).fit(X, y)
    chosen: list[int] = []
    for k in range(4):
        options = {f: merit(X, y, [*chosen, f]) for f in range(8) if f not in chosen}
        best = max(options, key=lambda f: options[f])
        chosen.append(best)
        assert selector.order_[k] == best
        assert selector.merits_[k] == pytest.approx(options[best])


def test_copies_are_not_chosen_twice() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    X = np.column_stack([a, a, b, rng.normal(size=100), np.zeros(100)])
    selector = CorrelationFeatureSelector().fit(X, (a + b > 0).astype(int))
    assert_array_equal(selector.get_support(indices=True), [0, 2])


# ---- zero norm -------------------------------------------------------------------------------


def test_zero_norm_keeps_the_features_of_the_rule() -> None:
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(80, 120))
        y = X[:, 7] - 2 * X[:, 30] + X[:, 99] > 0
        selector = ZeroNormSelector(SVC(kernel="linear", C=10.0)).fit(X, y)
        assert set(selector.get_support(indices=True)) >= {7, 30, 99}
        assert selector.support_.sum() <= 8  # of 120
        assert selector.order_[0] == 30
        assert selector.scales_.max() == 1.0


def test_zero_norm_takes_as_many_as_asked() -> None:
    X, y = load_iris(return_X_y=True)
    for wanted in (1, 2, 4):
        selector = ZeroNormSelector(n_features_to_select=wanted).fit(scale(X), y)
        assert selector.support_.sum() == wanted
    with pytest.raises(ValueError, match="coef_"):
        ZeroNormSelector(SVC()).fit(X, y)


# ---- learned scales --------------------------------------------------------------------------


def test_scales_find_the_linear_and_the_other_problem() -> None:
    hits = 0
    for seed in range(3):
        X, y = make_weston_linear(40, random_state=seed)
        machine = SVC(kernel="linear", loss="squared_hinge")
        order = ScaledFeatureSelector(machine, n_features_to_select=2).fit(scale(X), y).order_
        hits += (order[:2] < 6).all()
        X, y = make_weston_nonlinear(80, random_state=seed)
        hits += (
            ScaledFeatureSelector(n_features_to_select=2).fit(scale(X), y).order_[:2] < 2
        ).all()
    assert hits >= 5


def test_bound_in_the_end_is_that_of_the_machine() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    selector = ScaledFeatureSelector(
        SVC(kernel=RBF(0.2), loss="squared_hinge"), n_features_to_select=2
    ).fit(X, y)
    kept = selector.get_support(indices=True)
    kernel = Weighted(RBF(0.2), selector.scales_[kept])
    model = SVC(kernel=kernel, C=selector.C_, loss="squared_hinge", tol=1e-8).fit(X[:, kept], y)
    found = radius_margin(model, X[:, kept], y)
    assert found.value == pytest.approx(selector.bound_, rel=1e-4)
    # a minimum: no slope is left, but for scales that stand at the end of their range
    inside = np.append(True, selector.scales_[kept] > 1.01e-4)
    assert np.abs(found.gradient[: 1 + kept.size])[inside].max() < 0.1 * found.value
    sizes = [stage["size"] for stage in selector.trace_]
    assert sizes == [5, 3, 2]
    assert_array_equal(
        selector.estimator_.predict(selector.transform(X)), model.predict(X[:, kept])
    )


def test_a_penalty_makes_scales_small() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = (X[:, 0] > 0).astype(int)
    free, held = (
        ScaledFeatureSelector(
            n_features_to_select=6, penalty=penalty, power=0.5, tune_C=False, max_iter=60
        ).fit(X, y)
        for penalty in (0.0, 1.0)
    )
    assert held.scales_.sum() < 0.5 * free.scales_.sum()
    assert held.C_ == 1.0


def test_scales_with_a_fixed_sum() -> None:
    """They sum to the number wanted at every stage, and the useful ones have nearly all of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 10))
    y = X[:, 2] * X[:, 7] > 0
    selector = ScaledFeatureSelector(n_features_to_select=2, fixed_sum=True).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 7]
    assert selector.scales_[[2, 7]].sum() == pytest.approx(2.0)
    whole = ScaledFeatureSelector(n_features_to_select=10, fixed_sum=True).fit(X, y)
    assert whole.scales_.sum() == pytest.approx(10.0)
    assert whole.scales_[[2, 7]].sum() > 5.0


@pytest.mark.parametrize("total", [None, 3.0])
def test_slopes_of_what_is_minimised(total: float | None) -> None:
    from mercer.feature_selection.scaled import _Descent
    from mercer.machines import KernelData

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    settings = ScaledFeatureSelector(penalty=0.1, power=0.7)
    model = SVC(loss="squared_hinge", tol=1e-10)
    descent = _Descent(model, X, y, "radius_margin", settings, total)
    data = KernelData(descent.kernel, X)
    point = np.log([2.0, 1.0, 0.8, 0.5, 1.3])
    descent._evaluate(point, data)
    _, slope = descent._evaluate(point, data)
    step = 1e-4
    for k in range(5):
        moved = [point + sign * step * np.eye(5)[k] for sign in (1, -1)]
        high, low = (descent._evaluate(x, data)[0] for x in moved)
        assert slope[k] == pytest.approx((high - low) / (2 * step), rel=1e-3, abs=1e-4)


def test_principal_components() -> None:
    """Only the weakest component tells the classes apart; no input does."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(100, 3)) * [10.0, 5.0, 1.0]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X, y = latent @ turn, (latent[:, 2] > 0).astype(int)
    selector = ScaledFeatureSelector(
        SVC(kernel="linear", loss="squared_hinge"),
        n_features_to_select=1,
        space="components",
        step=percent(0.4),
    ).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["pc2"]
    component = selector.transform(X)[:, 0]
    assert abs(np.corrcoef(component, latent[:, 2])[0, 1]) > 0.99
    back = selector.inverse_transform(selector.transform(X))
    assert back.shape == X.shape


def test_forward_and_backward_wrappers_are_scikit_learns_own() -> None:
    X, y = load_iris(return_X_y=True)
    for direction in ("forward", "backward"):
        selector = SequentialFeatureSelector(SVC(), n_features_to_select=2, direction=direction)
        assert selector.fit(X, y).get_support()[[2, 3]].any()


# ---- relevance and redundancy ----------------------------------------------------------------


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
@pytest.mark.parametrize("redundancy", [0.0, 0.7, 1.0])
def test_relevance_minus_redundancy_is_its_formula(correlation: str, redundancy: float) -> None:
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 2] + X[:, 0], np.ones(150)])
    selector = MinimumRedundancySelector(correlation=correlation, redundancy=redundancy).fit(X, y)
    relevance = (pearson_score if correlation == "pearson" else spearman_score)(X, y)
    values = X if correlation == "pearson" else rankdata(X, axis=0)
    with np.errstate(invalid="ignore"):
        among = np.abs(np.nan_to_num(np.corrcoef(values.T)))
    taken: list[int] = []
    for feature, criterion in zip(selector.order_, selector.criteria_):
        worth = {
            j: relevance[j] - redundancy * (among[j, taken].mean() if taken else 0.0)
            for j in range(6)
            if j not in taken
        }
        assert criterion == pytest.approx(max(worth.values()), abs=1e-12)
        assert worth[feature] == pytest.approx(criterion, abs=1e-12)
        taken.append(int(feature))
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(taken[:3]))
    assert_allclose(selector.scores_, relevance)


def test_a_copy_comes_after_what_is_new() -> None:
    X, y = two_classes()
    X = np.column_stack([X[:, 2], X[:, 2], X[:, 1]])
    assert MinimumRedundancySelector().fit(X, y).order_.tolist() == [0, 2, 1]
    assert MinimumRedundancySelector(redundancy=0.0).fit(X, y).order_[2] == 2
    with pytest.raises(ValueError, match="n_features_to_select=4 is more than there are, 3"):
        MinimumRedundancySelector(n_features_to_select=4).fit(X, y)


def test_a_step_to_scales_without_a_solution_is_taken_back(monkeypatch: Any) -> None:
    """Rounding can make the matrix of a kernel with large values indefinite; the search goes on."""
    X, y = make_weston_linear(60, 8, random_state=0)
    selector = ScaledFeatureSelector(SVC(kernel="linear", loss="squared_hinge"))
    kept = selector.fit(X, y).get_support()
    calls = []

    def failing_at(number):
        def rate(machine, *options):
            calls.append(machine)
            if len(calls) == number:
                raise NoSolutionError("no solution")
            return radius_margin_of(machine, *options)

        calls.clear()
        monkeypatch.setitem(scaled.BOUNDS, "radius_margin", rate)

    failing_at(3)
    again = selector.fit(X, y)
    assert len(calls) > 3
    np.testing.assert_array_equal(again.get_support(), kept)
    assert np.isfinite(again.scales_).all()
    failing_at(1)
    with pytest.raises(NoSolutionError):
        selector.fit(X, y)
