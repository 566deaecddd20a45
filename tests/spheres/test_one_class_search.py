"""Choosing a width without outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn import svm
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from mercer import SVDD, OneClassSearch, OneClassSVM
from mercer.kernels import RBF, median_gamma
from mercer.problems import QuadraticProgram
from mercer.spheres import _widths, artificial_outliers
from mercer.spheres._start import _fill
from mercer.spheres._widths import by_artificial_outliers, widths_between_rows

RNG = np.random.default_rng(0)
ANGLE = RNG.uniform(0, 2 * np.pi, 300)
RING = np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]) + 0.08 * RNG.normal(size=(300, 2))
STRATEGIES = [
    "support_fraction",
    "support_plateau",
    "artificial_outliers",
    "scott",
    "silverman",
    "median",
]


def chosen(search: OneClassSearch) -> dict[str, Any]:
    records = [record for record in search.history_ if record["chosen"]]
    assert len(records) == 1
    return records[0]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("estimator", [SVDD(nu=0.05), OneClassSVM(nu=0.05)], ids=str)
def test_the_choice_is_the_one_in_the_history(strategy: str, estimator: Any) -> None:
    search = OneClassSearch(estimator, strategy=strategy, n_widths=8, random_state=0).fit(RING)
    record = chosen(search)
    assert record["reason"]
    assert search.best_params_ == {"gamma": record["gamma"], "nu": record["nu"]}
    assert record["gamma"] == pytest.approx(1 / (2 * record["sigma"] ** 2))
    assert search.sigma_ == record["sigma"]
    assert search.best_estimator_.kernel_.gamma == record["gamma"]
    assert search.best_estimator_.nu == record["nu"]
    alone = type(estimator)(**search.best_params_).fit(RING[search.kept_])
    np.testing.assert_allclose(search.decision_function(RING), alone.decision_function(RING))
    np.testing.assert_array_equal(search.predict(RING), alone.predict(RING))
    assert search.offset_ == pytest.approx(alone.offset_)


def test_support_fraction_stops_at_the_target() -> None:
    search = OneClassSearch(SVDD(nu=0), target_error=0.2).fit(RING)
    shares = [record["support_fraction"] for record in search.history_]
    assert shares[-1] <= 0.2 < min(shares[:-1])
    assert search.history_[-1]["chosen"]
    sigmas = [record["sigma"] for record in search.history_]
    assert sigmas == sorted(sigmas)
    assert len(search.best_estimator_.support_) / len(RING) <= 0.2 + 0.01


def test_the_target_follows_nu() -> None:
    """Half as much again where nu is small."""
    nu, target = 0.04, 0.06
    own = OneClassSearch(SVDD(nu=nu), strategy="support_fraction", trim=None).fit(RING)
    given = OneClassSearch(
        SVDD(nu=nu), strategy="support_fraction", target_error=target, trim=None
    ).fit(RING)
    assert [one["sigma"] for one in own.history_] == [one["sigma"] for one in given.history_]
    assert chosen(own)["sigma"] == chosen(given)["sigma"]


def test_two_different_rows_have_one_width() -> None:
    points = np.array([[0.0], [0.0], [2.0], [2.0]])
    np.testing.assert_array_equal(widths_between_rows(points, 5), [2.0])


def test_support_fraction_that_is_never_reached() -> None:
    search = OneClassSearch(SVDD(nu=0.3), target_error=0.1, n_widths=6).fit(RING)
    assert "never falls to 0.1" in chosen(search)["reason"]
    assert chosen(search) is search.history_[-1]


def test_support_plateau_follows_the_steepest_fall() -> None:
    search = OneClassSearch(SVDD(nu=0.05), strategy="support_plateau").fit(RING)
    shares = np.array([record["support_fraction"] for record in search.history_])
    best = [record["chosen"] for record in search.history_].index(True)
    steepest = int((-np.diff(shares)).argmax())
    assert best > steepest
    assert shares[best] - shares[best + 1] <= 0.01
    assert (-np.diff(shares)[steepest + 1 : best] > 0.01).all()


def test_rules_of_thumb() -> None:
    X = RNG.normal(size=(100, 3)) * [1.0, 2.0, 3.0]
    spread = np.sqrt(X.var(axis=0).mean())
    expected = {
        "scott": spread * 100 ** (-1 / 7),
        "silverman": spread * (100 * 5 / 4) ** (-1 / 7),
        "median": np.sqrt(0.5 / median_gamma(X)),
    }
    for strategy, sigma in expected.items():
        search = OneClassSearch(SVDD(), strategy=strategy, trim=0).fit(X)
        assert search.sigma_ == pytest.approx(sigma)


@pytest.mark.parametrize("region", ["box", "ball"])
def test_artificial_outliers_choose_the_tightest_of_the_best(region: str) -> None:
    search = OneClassSearch(
        SVDD(), strategy="artificial_outliers", region=region, nus=[0.02, 0.1], random_state=0
    ).fit(RING)
    best = chosen(search)
    criteria = np.array([record["criterion"] for record in search.history_])
    for record in search.history_:
        mixed = 0.5 * record["target_error"] + 0.5 * record["accepted_volume"]
        assert record["criterion"] == pytest.approx(mixed)
        variances = [
            share * (1 - share) / count
            for share, count in (
                (record["target_error"], search.kept_.sum()),
                (record["accepted_volume"], 1000),
            )
        ]
        assert record["standard_error"] == pytest.approx(0.5 * np.sqrt(sum(variances)))
    least = search.history_[criteria.argmin()]
    assert best["criterion"] <= least["criterion"] + least["standard_error"]
    near = criteria <= least["criterion"] + least["standard_error"]
    volumes = [r["accepted_volume"] for r, is_near in zip(search.history_, near) if is_near]
    assert best["accepted_volume"] == min(volumes)
    widths = widths_between_rows(RING[search.kept_], 20)[::-1]
    for nu in (0.02, 0.1):  # from the widest on, leaving none out
        gammas = [record["gamma"] for record in search.history_ if record["nu"] == nu]
        np.testing.assert_allclose(gammas, 0.5 / widths[: len(gammas)] ** 2)
    # The hole of the ring is found without an example of what lies in it.
    assert search.predict([[0.0, 0.0], [1.0, 0.0]]).tolist() == [-1, 1]


@pytest.mark.parametrize("strategy", STRATEGIES[:-1])
def test_rings_are_told_from_their_surroundings(strategy: str) -> None:
    """Better than a ball in input space, which accepts the hole; so does the median width."""
    search = OneClassSearch(SVDD(nu=0.05), strategy=strategy, random_state=0).fit(RING)
    outside = artificial_outliers(RING, 1000, random_state=1)
    outside = outside[np.abs(np.linalg.norm(outside, axis=1) - 1) > 0.3]
    labels = np.repeat([1, 0], [len(RING), len(outside)])
    rows = np.vstack([RING, outside])
    plain = SVDD(nu=0.05, kernel="linear").fit(RING)
    area = roc_auc_score(labels, search.decision_function(rows))
    assert area > 0.95 > roc_auc_score(labels, plain.decision_function(rows))


def test_the_mix_decides() -> None:
    """The dearer accepted volume is, the smaller it becomes."""
    volumes, errors = [], []
    for mix in (0.95, 0.5, 0.05):
        search = OneClassSearch(
            SVDD(), strategy="artificial_outliers", mix=mix, random_state=0
        ).fit(RING)
        volumes.append(chosen(search)["accepted_volume"])
        errors.append(chosen(search)["target_error"])
    assert volumes[0] >= volumes[1] >= volumes[2]
    assert errors[0] <= errors[1] <= errors[2]
    assert volumes[0] > volumes[2]


@pytest.mark.parametrize("n_features", [1, 2, 60])
def test_points_of_a_ball_are_spread_evenly(n_features: int) -> None:
    """The d-th power of the distance from the centre is uniform, in any dimension."""
    X = np.vstack([np.eye(n_features), -np.eye(n_features)])
    points = artificial_outliers(X, 2000, region="ball", margin=0.0, random_state=0)
    share = np.linalg.norm(points, axis=1) ** n_features
    assert kstest(share, "uniform").pvalue > 1e-3
    assert np.abs(points.mean(axis=0)).max() < 0.05


def test_a_margin_widens_the_ball() -> None:
    X = np.random.default_rng(5).normal(size=(50, 2))
    ball = SVDD(kernel="linear", nu=0.0).fit(X)
    points = artificial_outliers(X, 2000, region="ball", margin=0.5, random_state=0)
    farthest = np.linalg.norm(points - ball.center_, axis=1).max()
    assert 1.4 * ball.radius_ < farthest <= 1.5 * ball.radius_


def test_points_of_a_box_are_spread_evenly() -> None:
    X = RNG.normal(size=(50, 3))
    points = artificial_outliers(X, 2000, margin=0.0, random_state=0)
    share = (points - X.min(axis=0)) / np.ptp(X, axis=0)
    for column in share.T:
        assert kstest(column, "uniform").pvalue > 1e-3
    wider = artificial_outliers(X, 2000, margin=0.5, random_state=0)
    assert np.ptp(wider, axis=0) == pytest.approx(1.5 * np.ptp(points, axis=0))
    with pytest.raises(ValueError, match="region must be"):
        artificial_outliers(X, 5, region="cube")


def test_many_rows_are_judged_by_some_of_them() -> None:
    X = RNG.normal(size=(3000, 2))
    search = OneClassSearch(SVDD(nu=0.1), max_rows=200, random_state=0).fit(X)
    assert search.history_[0]["n_support"] <= 200
    assert search.best_estimator_.shape_fit_ == (search.kept_.sum(), 2)
    assert search.kept_.sum() == 2970
    same = OneClassSearch(SVDD(nu=0.1), max_rows=200, random_state=0).fit(X)
    assert same.history_ == search.history_


def test_machines_of_scikit_learn_can_be_chosen_too() -> None:
    theirs = OneClassSearch(svm.OneClassSVM(nu=0.1, tol=1e-8)).fit(RING)
    ours = OneClassSearch(OneClassSVM(nu=0.1, tol=1e-8)).fit(RING)
    assert theirs.best_params_ == pytest.approx(ours.best_params_)


def test_a_kernel_object_and_a_price() -> None:
    search = OneClassSearch(SVDD(kernel=RBF(1.0), C=0.1), strategy="median").fit(RING)
    assert search.best_estimator_.kernel.gamma == pytest.approx(median_gamma(RING))
    assert search.best_estimator_.C == 0.1
    assert search.kept_.all()
    both = OneClassSearch(SVDD(C=0.1), strategy="artificial_outliers", nus=[0.1], n_widths=3)
    assert both.fit(RING).best_estimator_.nu == 0.1


@pytest.mark.parametrize("estimator", [SVDD(nu=0.4), OneClassSVM(nu=0.4)], ids=str)
@pytest.mark.parametrize(("trim", "n_set_aside"), [(0, 0), (None, 64), (0.2, 80), (0.375, 150)])
def test_nu_keeps_its_meaning_for_all_rows(estimator: Any, trim: Any, n_set_aside: int) -> None:
    X = RNG.normal(size=(400, 3))
    search = OneClassSearch(clone(estimator).set_params(tol=1e-6), trim=trim).fit(X)
    assert (~search.kept_).sum() == n_set_aside
    outside = search.predict(X) < 0
    assert outside[search.kept_].sum() + n_set_aside <= 160 + 1
    n_support = len(search.best_estimator_.support_)
    assert n_support + n_set_aside >= 160 - 1
    if n_set_aside:  # the rows that are farthest out
        assert outside[~search.kept_].mean() > 0.9


def test_nothing_is_set_aside_without_nu() -> None:
    for estimator in (SVDD(nu=0), SVDD(C=0.1)):
        assert OneClassSearch(estimator, strategy="median").fit(RING).kept_.all()
    plain = SVDD(gamma=median_gamma(RING), nu=0.1).fit(RING)
    whole = OneClassSearch(SVDD(nu=0.1), strategy="median", trim=0).fit(RING)
    assert whole.kept_.all()
    np.testing.assert_allclose(whole.decision_function(RING), plain.decision_function(RING))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_group_of_outliers_does_not_support_itself(strategy: str) -> None:
    random = np.random.default_rng(3)
    bulk_rows = random.normal(size=(400, 4))
    group = 5.0 + 0.05 * random.normal(size=(40, 4))
    X = np.vstack([bulk_rows, group])
    labels = np.repeat([1, 0], [400, 40])
    areas = {}
    for trim in (0, None):
        search = OneClassSearch(
            SVDD(nu=0.5), strategy=strategy, trim=trim, n_widths=8, cv=2, random_state=0
        )
        areas[trim] = roc_auc_score(labels, search.fit(X).decision_function(X))
    assert areas[None] > 0.999
    if strategy not in ("median", "support_plateau"):  # which are wide enough without
        assert areas[0] < 0.95


def test_rows_that_are_equal_stay_together() -> None:
    twice = np.repeat(RNG.normal(size=(60, 2)), 2, axis=0)
    kept = OneClassSearch(SVDD(nu=0.5), strategy="median", trim=0.21).fit(twice).kept_
    np.testing.assert_array_equal(kept[::2], kept[1::2])
    assert kept.sum() == 96


def test_what_is_set_aside_does_not_depend_on_the_unit() -> None:
    rows = np.vstack([RING, 1.0 + 0.2 * RNG.normal(size=(30, 2))])
    fits = [
        OneClassSearch(SVDD(nu=0.5), strategy="median", trim=0.2).fit(unit * rows)
        for unit in (1e-3, 1.0, 1e3)
    ]
    assert 0 < (~fits[0].kept_).sum() <= 66
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.kept_, fits[0].kept_)


def test_equal_rows() -> None:
    for strategy in STRATEGIES:
        search = OneClassSearch(SVDD(), strategy=strategy).fit(np.ones((6, 2)))
        assert search.predict([[1.0, 1.0]]) == [1]


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (OneClassSearch(SVDD(kernel="linear")), "width of a Gaussian kernel"),
        (OneClassSearch(SVDD(kernel="precomputed")), "width of a Gaussian kernel"),
        (OneClassSearch(SVDD(), strategy="guess"), "'strategy'"),
        (OneClassSearch(SVDD(), strategy="artificial_outliers", nus=[0.1, 2.0]), "nus must be"),
        (OneClassSearch(SVDD(), mix=2.0), "'mix'"),
        (OneClassSearch(SVDD(), trim=0.6), "'trim'"),
    ],
)
def test_bad_input_gets_one_sentence(search: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        search.fit(RING)
    assert "\n" not in str(error.value).strip()


def test_of_descriptions_as_tight_the_narrowest_that_leaves_most_outside(
    monkeypatch: Any,
) -> None:
    def alike(*given: Any) -> dict[str, Any]:
        sigma, nu = given[-2:]
        equal = dict.fromkeys(("criterion", "accepted_volume", "target_error"), 0.1)
        return {"gamma": 1.0 / sigma, "nu": nu, "standard_error": 0.01, **equal}

    monkeypatch.setattr(_widths, "_judge", alike)
    choice = by_artificial_outliers(
        np.zeros((10, 2)),
        np.array([0.5, 1.0, 2.0]),
        None,
        (0.1, 0.2),
        region="box",
        n_outliers=10,
        mix=0.5,
        folds=KFold(5),
        random=np.random.RandomState(0),
        report=lambda record: None,
    )
    best = choice.tried[choice.best]
    assert (best["gamma"], best["nu"]) == (2.0, 0.2)
    assert len(choice.tried) == 6


@pytest.mark.parametrize("total", [0.0, 0.3, 1.0, 4.5])
def test_a_start_fills_the_first_rows(total: float) -> None:
    upper = np.array([1.0, 0.5, 2.0, 1.0])
    problem = QuadraticProgram(np.zeros(4), 0.0, upper, total)
    beta = _fill(problem, np.array([2, 0, 3, 1]))
    assert beta.sum() == pytest.approx(total)
    expected = np.diff(np.minimum(np.cumsum([0.0, 2.0, 1.0, 1.0, 0.5]), total))
    np.testing.assert_allclose(beta[[2, 0, 3, 1]], expected)
