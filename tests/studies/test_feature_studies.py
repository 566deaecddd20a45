"""The studies of feature selection: their printed tables, and what their cells mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_classification

from mercer.kernels import Polynomial
from mercer.studies import StudyResults, get_study, run_study
from studies.rfe import study as rfe_module
from studies.rfe.printed import cells
from studies.rfe_curves import pictures as curves_pictures
from studies.rfe_curves import study as curves_module
from studies.rfe_times import study as times_module


def test_printed_tables_are_whole() -> None:
    """Each table of Planas is a grid; its costs follow from accuracies and sizes."""
    found = cells()
    counts = {table: sum(cell.table == table for cell in found) for table in rfe_module.TITLES}
    assert counts == {
        "5.2": 15,
        "5.4": 15,
        "5.6": 9,
        "5.8": 15,
        "5.10": 15,
        "5.15": 18,
        "5.16": 21,
        "5.18": 30,
        "5.20": 81,
        "5.22": 30,
        "5.24": 18,
        "5.25": 81,
        "5.27": 51,
    }
    features = {"5.15": 100, "5.16": 64, "5.20": 500, "5.25": 500, "5.27": 500}
    assert sum(cell.cost_error is not None for cell in found) == 18 + 21 + 81 + 81 + 51
    for cell in found:
        if cell.cost is None:  # not legible
            assert cell.table == "5.6"
            assert cell.value[0] in "AB"
            assert cell.seconds > 1
            continue
        size = cell.features / features.get(cell.table, 300)
        cost = 0.8 * (1 - cell.accuracy) + 0.2 * size
        if cell.table in rfe_module.AVERAGED:  # no fold can do worse at its own best size
            assert cost - 0.05 < cell.cost < cost + 1e-3, cell
        else:
            assert cell.cost == pytest.approx(cost, abs=1e-3), cell


def test_table_of_smets() -> None:
    study = get_study("artificial")
    assert len(study.configurations) == 13
    last = study.configuration("non-linear, rbf 100")
    assert {method: printed.mean for method, printed in last.printed.items()} == {
        "SVM-RFE": 0.2,
        "SVM-RFE bound": 0.2,
        "R2W2": 0.5,
    }
    assert set(study.configuration("linear 30").printed) == {"Fisher", "SVM-RFE", "R2W2"}


def test_cells_of_the_artificial_problems() -> None:
    results = run_study(get_study("artificial"), repetitions=2, only=["linear 30"])
    for row in results.table():
        assert row["mean"] in (0.0, 0.5, 1.0)
        assert 0.4 < row["accuracy_50"] <= 1.0
    found = {row["method"]: row for row in results.table()}
    assert found["SVM-RFE"]["mean"] == found["Fisher"]["mean"] == 1.0
    # with all features the ranking does not matter
    assert len({row["accuracy_50"] for row in results.table()}) == 1


def small_problem(table: str) -> tuple[Any, Any]:
    X, y = make_classification(80, 30, n_informative=5, random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("table", "value"),
    [
        *[("5.6", "A1"), ("5.6", "B2"), ("5.6", "C3")],
        *[("5.4", "0.20"), ("5.8", "0.5"), ("5.10", "0.5"), ("5.16", "3.0"), ("5.16", "max")],
        *[("5.18", "2"), ("5.20", "2"), ("5.25", "7, step 5"), ("5.27", "0.1")],
    ],
)
def test_cells_of_the_eliminations(table: str, value: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(rfe_module, "load_data", small_problem)
    whole = rfe_module.experiment

    def small_experiment(*about: Any) -> Any:
        selector, machine, _, _ = whole(*about)
        return selector, machine, [1, 5, 10, 30], 3

    monkeypatch.setattr(rfe_module, "experiment", small_experiment)
    study = get_study("rfe")
    configuration = next(
        c
        for c in study.configurations
        if (c.parameters["table"], c.parameters["value"]) == (table, value)
    )
    values = study.run(configuration, "honest", 0, 0)
    if table == "5.6":  # 29 features are dropped, 20 or 5 in a round
        assert values["rounds"] == {"1": 2, "2": 6, "3": 6}[value[1]]
        assert values["variance_of_seconds"] >= 0
    assert values["features"] in (1, 5, 10, 30)
    expected = 0.8 * (1 - values["accuracy"]) + 0.2 * values["features"] / 30
    if table in rfe_module.AVERAGED:
        assert values["cost"] < expected + 1e-12
    else:
        assert values["cost"] == pytest.approx(expected)
    assert study.run(configuration, "honest", 0, 0)["cost"] == values["cost"]


def test_rows_drawn_once_are_a_share() -> None:
    from mercer import SVC, KernelRFE

    X, y = small_problem("")
    selector = KernelRFE(SVC(kernel="linear"), n_features_to_select=1)
    found = rfe_module.Prepared(selector, 0.5).fit(X, y)
    assert set(found.trace_.n_rows.tolist()) == {40}
    assert np.array_equal(np.sort(found.order_), np.arange(30))


def test_bias_of_selection_on_golub(data_folder: Path) -> None:
    """Ranking with the test rows can only help them."""
    results = run_study(get_study("genes"), only=["Golub, 34 test rows, ? gene*"])
    errors = {(row["configuration"], row["method"]): row["mean"] for row in results.table()}
    names = {name for name, _ in errors}
    honest = np.mean([errors[name, "honest"] for name in names])
    biased = np.mean([errors[name, "biased"] for name in names])
    assert biased < honest


def test_errors_of_two_variables_are_near_the_least_possible() -> None:
    """Least errors follow from the densities: normal ones around centres that are known."""
    one, clumps = norm.cdf(-1), norm.cdf(-2)
    rho = 0.9
    least = {
        "A.1": (one, one, norm.cdf(-np.sqrt(2))),
        "A.2 a": (one, one, norm.cdf(-np.sqrt(2 / (1 + rho)))),
        "A.2 b": (one, one, norm.cdf(-np.sqrt(2 / (1 - rho)))),
        "A.3 a": (0.5, one, norm.cdf(-1 / np.sqrt(1 - rho**2))),
        "A.3 b": (0.5, 0.5, 2 * clumps * (1 - clumps)),
    }
    results = run_study(get_study("guyon"), repetitions=5)
    for name, expected in least.items():
        for method, error in zip(("first", "second", "both"), expected):
            found = results.moments(name, method).mean
            # five times 4000 rows to test on, and a machine that is no better than the densities
            assert -4 * np.sqrt(0.25 / 20000) < found - error < 0.02, (name, method)
    gain = results.moments("A.1", "both", "gain").mean
    assert gain == pytest.approx(np.sqrt(2), abs=0.03)


def test_rounds_are_printed_as_steps_give_them() -> None:
    """Of 300 features all but one are dropped, in steps of 20 (1) or 5."""
    further = {cell.value: cell.further for cell in cells() if cell.further}
    assert sum(len(numbers) for numbers in further.values()) == 8 + 8  # B1 has its time only
    for value, numbers in further.items():
        assert numbers["rounds"] == -(-299 // (20 if value[1] == "1" else 5))


def test_times_of_planas_are_whole(monkeypatch: Any) -> None:
    study = get_study("rfe-times")
    printed = [p for c in study.configurations for p in c.printed.values()]
    assert len(printed) == 9 + 30
    assert sum(len(p.extra) for p in printed) == 6
    for c in study.configurations[:3]:  # speed-ups are quotients of the times, rounded
        whole = c.printed[times_module.LINEAR].mean
        for method in (times_module.GENERAL, times_module.GIVEN):
            one = c.printed[method]
            assert whole / one.mean == pytest.approx(one.extra["factor_of_seconds"], abs=0.0101)
    monkeypatch.setattr(times_module, "SIZES", range(50, 101, 50))
    found = [study.run(study.configurations[0], m, 0, 0) for m in study.methods if m[0] != "e"]
    assert len(found) == 3
    for values in found:
        assert values["seconds"] > 0
        assert 0.5 < values["accuracy"] <= 1  # both judge better than chance


def test_a_criterion_without_means_is_the_same(monkeypatch: Any) -> None:
    """What is timed does all the work, and comes to the same ranking."""
    X, y = small_problem("5.18")
    selector = rfe_module.experiment("5.18", 0.01, "2")[0]
    total, spent = times_module.elimination_seconds(selector, X, y, times_module.every_matrix)
    anew = selector.order_
    assert 0 < spent < total
    times_module.elimination_seconds(selector, X, y)
    np.testing.assert_array_equal(anew, selector.order_)
    kernel, weights = Polynomial(degree=3, gamma=0.1), np.random.default_rng(0).normal(size=len(X))
    np.testing.assert_allclose(
        times_module.every_matrix(kernel, X, weights), kernel.leave_feature_out(X, weights)
    )


def test_curves_of_rankings_of_a_small_problem(monkeypatch: Any) -> None:
    """Judged alike, elimination finds what matters, and chance does not."""
    monkeypatch.setattr(curves_module, "load_data", lambda table: small_problem(table))
    study = get_study("rfe-curves")
    steps = study.configuration("steps")
    found = {m: study.run(steps, m, 0, 0) for m in study.methods_of(steps)}
    assert found["elimination"]["accuracy"] > found["random"]["accuracy"] + 0.05
    assert found["elimination"]["accuracy_20"] == pytest.approx(
        found["filter"]["accuracy_20"], abs=0.15
    )
    for values in found.values():
        sizes = [size for size in curves_module.SIZES if size <= 30]
        shares = [values[f"accuracy_{size}"] for size in sizes]
        assert values["accuracy"] == pytest.approx(np.mean(shares))
        costs = [0.8 * (1 - a) + 0.2 * k / 30 for a, k in zip(shares, sizes)]
        assert values["cost"] == pytest.approx(min(costs))
        assert values["features"] == sizes[int(np.argmin(costs))]


def test_every_curve_has_a_place_in_the_pictures() -> None:
    study = get_study("rfe-curves")
    drawn = {m for c in study.configurations if c.name != curves_module.PRICED for m in c.methods}
    assert drawn == set(curves_pictures.STYLES)
    empty = StudyResults(study, [])
    assert len(curves_pictures.draw_curves(empty).axes) == 10
    right = curves_pictures.draw_steps(empty).axes[1]
    for line in right.lines[:-1]:
        assert sum(line.get_ydata()) == 1999  # from 2000 features to one
