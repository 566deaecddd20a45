"""The studies of nearest hyperspheres: real data, widths, dissimilarities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer.datasets import load_winequality, make_simulation, missing_datasets
from mercer.studies import get_study, run_study
from studies.dissimilarities.study import (
    DISSIMILARITIES,
    KERNELS,
    differences,
    draw_errors,
    excess,
    tangent,
)
from studies.gamma.study import draw_multipliers, draw_regions, draw_rows, draw_share, make_ball
from studies.nearest_hypersphere_rows.interior_point import loose_multipliers
from studies.real.pictures import draw_regions as draw_regions_of_sets
from studies.real.study import load_rows, split_rows
from studies.simulation.classifiers import SEARCHED, automatic_gamma, make_classifier

# ---- real ------------------------------------------------------------------------------------


def test_real_prints_what_the_source_prints() -> None:
    printed = {c.name: c.printed for c in get_study("real").configurations}
    assert [printed["iris"][m].mean for m in ("LDA", "QDA", "SVM")] == [0.0346, 0.0356, 0.0513]
    assert (printed["haemophilia"]["NHC opt"].mean, printed["iris"]["LDA"].sd) == (0.2082, None)
    # The text: the machine is best on hearts, hyperspheres with the chosen width on wines.
    for name, best in (("heart", "SVM"), ("wine", "NHC opt")):
        means = {method: one.mean for method, one in printed[name].items() if method != SEARCHED}
        assert len(means) == 5
        assert min(means, key=lambda method: means[method]) == best


def test_each_printed_number_of_real_counts_once() -> None:
    study = get_study("real")
    counted = [
        (configuration.name, method)
        for configuration in study.configurations
        for method in configuration.printed
        if not study.is_again(configuration.name, method, "error")
    ]
    assert len(counted) == 8 + 2 + 5 + 5
    widths = [
        (configuration.name, method)
        for configuration in study.configurations
        for method, printed in configuration.printed.items()
        if printed.extra and not study.is_again(configuration.name, method, "log2_gamma")
    ]
    sets = ["iris", "haemophilia", "iris, three species", "heart", "wine, read as text"]
    assert widths == [(name, SEARCHED) for name in sets]


def test_three_species_and_their_widths() -> None:
    X = load_rows("iris 3")[0]
    np.testing.assert_array_equal(X, load_iris().data)
    study = get_study("real")
    about = study.configuration("iris, three species")
    values = study.run(about, SEARCHED, 0, 0)
    assert values["gamma"] == pytest.approx(2.0 ** values["log2_gamma"])
    assert about.printed[SEARCHED].extra["log2_gamma"] == pytest.approx(np.log2(0.1441))
    wide, narrow = (study.run(about, method, 0, 0)["error"] for method in ("NHC 1/p", "NHC opt"))
    assert max(wide, narrow) < 0.2


def test_regions_are_of_every_figure() -> None:
    pytest.importorskip("matplotlib")
    if missing_datasets(["hemophilia"]):
        pytest.skip("needs the data")
    titles = [ax.get_title() for ax in draw_regions_of_sets(None).axes]
    numbers = [title.partition(":")[0] for title in titles]
    assert numbers == ["2.3", "2.4", "3.2", "4.9", "2.5", "2.6", "3.3", "4.10", "4.11"]


def test_hyperspheres_are_solved_closely() -> None:
    X, y = make_simulation(1, random_state=0)
    for method in ("NHC 1/p", "NHC opt"):
        assert make_classifier(method, X, 0.5)[-1].tol == 1e-6
    searched = make_classifier(SEARCHED, X).fit(X, y)
    assert searched[-1].best_estimator_.tol == 1e-6


def test_splits_are_of_each_class_or_of_all_rows() -> None:
    y = np.repeat([0, 1], [30, 45])
    train, test = split_rows(y, 0.7, True, seed=3)
    assert np.bincount(y[train]).tolist() == [21, 31]
    assert sorted([*train, *test]) == list(range(75))
    train, test = split_rows(y, 0.75, False, seed=3)
    assert (len(train), len(test)) == (56, 19)
    assert sorted([*train, *test]) == list(range(75))


def test_a_cell_of_real_can_be_done_again_by_hand() -> None:
    from mercer import NearestHypersphereClassifier

    results = run_study(get_study("real"), repetitions=1, only=["iris/NHC opt", "iris/NHC 3.5"])
    X, y, _ = load_rows("iris")
    np.testing.assert_array_equal(X, load_iris().data[50:])
    for record, gamma in zip(results.records, (0.1, 3.5), strict=True):
        train, test = split_rows(y, 0.7, True, record["seed"])
        model = NearestHypersphereClassifier(gamma=gamma, cv=None, tol=1e-6).fit(X[train], y[train])
        assert record["values"]["error"] == pytest.approx(1 - model.score(X[test], y[test]))


def test_priors_of_the_haemophilia_data_are_shares_of_rows() -> None:
    if missing_datasets(["hemophilia"]):
        pytest.skip("needs the data")
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    only = ["haemophilia/LDA", "iris/LDA"]
    results = run_study(get_study("real"), repetitions=1, only=only)
    for record, data in zip(results.records, ("iris", "hemophilia"), strict=True):
        X, y, _ = load_rows(data)
        train, test = split_rows(y, 0.7, True, record["seed"])
        model = LinearDiscriminantAnalysis().fit(X[train], y[train])
        assert record["values"]["error"] == pytest.approx(1 - model.score(X[test], y[test]))


def test_controls_of_real_have_one_width_for_both_sets() -> None:
    from sklearn.preprocessing import StandardScaler

    from mercer import SVC

    (record,) = run_study(get_study("real"), repetitions=1, only=["iris/SVM 0.1"]).records
    X, y, _ = load_rows("iris")
    train, test = split_rows(y, 0.7, True, record["seed"])
    scaler = StandardScaler().fit(X[train])
    model = SVC(C=1.0, gamma=0.1).fit(scaler.transform(X[train]), y[train])
    expected = 1 - model.score(scaler.transform(X[test]), y[test])
    assert record["values"]["error"] == pytest.approx(expected)


def test_rows_of_real_are_those_of_the_source() -> None:
    if missing_datasets(["saheart", "winequality"]):
        pytest.skip("needs the data")
    X, y, names = load_rows("saheart")
    assert (X.shape, int(y.sum()), "famhist" in names) == ((462, 8), 160, False)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1.0)
    wines, good, _ = load_rows("winequality")
    assert (wines.shape, int(good.sum())) == ((1599, 11), 855)
    words = load_rows("winequality", as_text=True)[0]
    alcohol = [load_winequality().data[:, -1], wines[:, -1], words[:, -1]]
    ten, nine = (np.flatnonzero(alcohol[0] == value)[0] for value in (10.5, 9.4))
    assert alcohol[1][ten] > alcohol[1][nine]
    assert alcohol[2][ten] < alcohol[2][nine]  # "10.5" comes before "9.4"
    for column, coded in zip(wines.T, words.T):  # equal numbers are equal words, and others not
        pairs = np.unique(np.column_stack([column, coded]), axis=0)
        assert len(pairs) == len(np.unique(column)) == len(np.unique(coded))


def test_the_search_takes_the_width_that_folds_prefer() -> None:
    """On these rows 1/p errs on half of them, and folds say so."""
    X, y = make_simulation(10, random_state=0)
    new, truth = make_simulation(10, (300, 300), random_state=1)
    searched = make_classifier(SEARCHED, X).fit(X, y)
    scores = searched[-1].cv_results_["mean_test_score"]
    assert searched[-1].best_score_ == scores.max()
    assert len(scores) == 17  # eleven coarse ones, and three on each side of the best
    fixed = make_classifier("NHC 1/p", X).fit(X, y)
    assert searched.score(new, truth) > fixed.score(new, truth) + 0.1


def test_drawn_pairs_give_about_the_width_of_all() -> None:
    X = np.random.default_rng(0).normal(size=(400, 5))
    drawn = automatic_gamma(X, np.random.default_rng(1))
    assert drawn != automatic_gamma(X)
    assert drawn == pytest.approx(automatic_gamma(X), rel=0.3)
    assert drawn == automatic_gamma(X, np.random.default_rng(1))


# ---- gamma -----------------------------------------------------------------------------------


def test_sets_of_gamma_have_the_stated_moments() -> None:
    for kind, correlation in (("normal", 0.0), ("correlated", 0.8)):
        X = draw_rows(kind, seed=1, n=20_000)
        np.testing.assert_allclose(np.cov(X.T), [[1, correlation], [correlation, 1]], atol=0.04)
    assert np.median(draw_rows("lognormal", seed=1, n=20_000)) == pytest.approx(1.0, abs=0.03)


def test_counts_are_of_rows_on_the_surface() -> None:
    X = draw_rows("normal", seed=5)
    ball = make_ball(2.0).fit(X)
    on_surface = np.abs(ball.distance(X) - ball.radius_) < 1e-5
    assert len(ball.support_) == on_surface.sum()
    assert (ball.distance(X) <= ball.radius_ + 1e-5).all()
    # An interior point solves the same program, and the earlier it stops, the more it counts.
    from mercer.kernels import RBF

    K = RBF(gamma=2.0)(X)
    close = loose_multipliers(K, 1e-10)
    np.testing.assert_allclose(close, ball.alpha_, atol=1e-4)
    counts = [int((loose_multipliers(K, tol) > 1e-5).sum()) for tol in (1e-7, 1e-6, 1e-5)]
    assert len(ball.support_) <= counts[0] <= counts[1] <= counts[2]
    assert counts[2] > len(ball.support_)


def test_narrower_kernels_need_more_vectors() -> None:
    pytest.importorskip("matplotlib")
    results = run_study(get_study("gamma"), repetitions=10, only=["0.1", "2", "100"])
    rows = {(row["configuration"], row["method"]): row for row in results.table()}
    for kind in ("normal", "correlated", "lognormal"):
        assert rows[kind, "0.1"]["verdict"] == "reproduced"
        means = [rows[kind, gamma]["mean"] for gamma in ("0.1", "2", "100")]
        assert means == sorted(means)
        assert means[2] > 93
    assert rows["lognormal", "100"]["verdict"] == "reproduced"
    assert len(draw_share(results).axes[0].lines) == 3
    titles = [ax.get_title() for ax in draw_regions(results).axes]
    assert len(titles) == len(draw_multipliers(results).axes) == 6
    count = len(make_ball(2.0).fit(draw_rows("lognormal", seed=0)).support_)
    assert titles[-1] == f"lognormal, gamma = 2: {count} rings"


# ---- dissimilarities -------------------------------------------------------------------------


def test_own_dissimilarities_have_their_sign_from_the_surface() -> None:
    distances, radii = np.array([[1.0, 3.0]]), np.array([[2.0, 2.0]])
    np.testing.assert_array_equal(excess(distances, radii), [[-1.0, 1.0]])
    np.testing.assert_array_equal(tangent(distances, radii), [[-3.0, 5.0]])


@pytest.fixture(scope="module", name="few")
def few_results() -> Any:
    return run_study(get_study("dissimilarities"), repetitions=2, only=["iris", "drawn 12"])


def test_all_pairs_run_and_are_compared_with_the_reference(few: Any) -> None:
    assert not few.failures
    rows = few.table()
    assert len(rows) == 2 * len(KERNELS) * len(DISSIMILARITIES)
    assert differences(few, "rbf, d/r") == {"iris": (0.0, 0.0), "drawn 12": (0.0, 0.0)}
    errors = np.subtract(few.values("iris", "linear, d"), few.values("iris", "rbf, d/r"))
    assert differences(few, "linear, d")["iris"][0] == pytest.approx(errors.mean())
    text = few.report()
    assert text.count("\n| ") == 1 + len(KERNELS) * len(DISSIMILARITIES)
    assert "| rbf, d/r |" in text


def test_errors_are_drawn_set_by_set(few: Any) -> None:
    pytest.importorskip("matplotlib")
    panels = draw_errors(few).axes
    assert [ax.get_title() for ax in panels] == ["iris", "drawn 12"]
    assert all(len(ax.containers) == len(KERNELS) * len(DISSIMILARITIES) for ax in panels)
