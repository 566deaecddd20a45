"""The benchmark of comparisons: what it measures, on which tables."""

from __future__ import annotations

import dataclasses
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, r2_score

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import comparison_peers, comparison_tables
from benchmarks.groups import SUITES, compare
from benchmarks.groups.options import Options
from benchmarks.held_out import cuts_of, losses, standard_error
from benchmarks.lazy import lazy, lazy_in_time
from benchmarks.measure import Plan
from benchmarks.problems import MissingDataError


def test_twelve_tables_of_many_kinds() -> None:
    cases = comparison_tables.cases(quick=False)
    assert len(cases) == 12
    kinds = " ".join(case.kind for case in cases)
    for kind in ("numeric", "mixed", "unbalanced", "wide", "long", "26 classes", "regression"):
        assert kind in kinds
    assert SUITES["compare"] == ["compare"]


# ---- how tables are cut, and what the rows held out say -----------------------------------------


@pytest.mark.parametrize("n_rows", [10, 62, 178, 442, 462, 500, 501, 50_000])
def test_tables_are_cut_until_150_rows_have_been_held_out_and_no_further(n_rows: int) -> None:
    y = pd.Series(np.arange(n_rows, dtype=float))
    held_out = len(comparison_tables.cut(y.to_frame(), y, 0)[4])
    assert cuts_of(n_rows) * held_out >= 150
    assert (cuts_of(n_rows) - 1) * held_out < 150


def test_cuts_are_the_same_for_everybody_and_keep_the_shares_of_classes() -> None:
    X = pd.DataFrame({"x": np.arange(60.0)})
    y = pd.Series(["a"] * 40 + ["b"] * 20, dtype=object)
    train, test, y_train, y_test, rows = comparison_tables.cut(X, y, 3)
    assert test["x"].tolist() == rows.tolist()
    assert sorted([*train["x"], *test["x"]]) == X["x"].tolist()
    assert (y_train.tolist(), y_test.tolist()) == (y[train["x"]].tolist(), y[rows].tolist())
    assert y_test.value_counts().tolist() == [12, 6]
    assert comparison_tables.cut(X, y, 3)[4].tolist() == rows.tolist()
    assert comparison_tables.cut(X, y, 4)[4].tolist() != rows.tolist()


def test_what_each_row_adds_has_the_error_as_its_mean() -> None:
    rng = np.random.default_rng(0)
    truth = np.array(["a", "b", "b", "b", "c"] * 8)
    said = rng.permutation(truth)
    assert losses(truth, said, "error").mean() == np.mean(truth != said)
    balanced = losses(truth, said, "balanced_error").mean()
    assert balanced == pytest.approx(1 - balanced_accuracy_score(truth, said))
    numbers, guessed = rng.normal(size=30), rng.normal(size=30)
    of_variance = losses(numbers, guessed, "rmse").mean()
    assert of_variance == pytest.approx(1 - r2_score(numbers, guessed))


def test_the_standard_error_of_one_cut_is_that_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(size=19)
    usual = values.std(ddof=1) / np.sqrt(19)
    assert standard_error([values], [np.arange(19)]) == pytest.approx(usual)


def test_a_row_held_out_again_is_no_new_row() -> None:
    values, rows = np.random.default_rng(0).normal(size=19), np.arange(19)
    once = standard_error([values], [rows])
    assert standard_error([values] * 8, [rows] * 8) == pytest.approx(once)


@pytest.mark.parametrize(("of_rows", "of_cuts"), [(1.0, 0.0), (0.0, 0.0), (0.0, 0.5), (1.0, 0.5)])
def test_the_standard_error_is_how_far_means_scatter(of_rows: float, of_cuts: float) -> None:
    """Rows that are hard in every cut, and cuts whose models are worse on all rows."""
    rng = np.random.default_rng(0)
    means, squares = [], []
    for _ in range(400):
        hard = of_rows * rng.normal(size=62)
        rows = [rng.permutation(62)[:19] for _ in range(8)]
        values = [hard[of] + of_cuts * rng.normal() + 0.5 * rng.normal(size=19) for of in rows]
        means.append(np.mean(values))
        squares.append(standard_error(values, rows) ** 2)
    # 400 means tell their deviation to 4 %; that of few clusters has a bias of some percent.
    assert np.sqrt(np.mean(squares)) == pytest.approx(np.std(means), rel=0.15)


# ---- the peers ----------------------------------------------------------------------------------


def test_categories_become_numbers_for_the_peers() -> None:
    train = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "x"]})
    test = pd.DataFrame({"a": [2.0], "b": ["z"]})
    A, B = comparison_peers.numeric(train, test)
    assert A.tolist() == [[1.0, 1, 0, 0], [2.0, 0, 1, 0], [3.0, 1, 0, 0]]
    assert B.tolist() == [[2.0, 0, 0, 1]]


@pytest.mark.parametrize("is_classes", [True, False])
def test_the_tuned_machine_learns(is_classes: bool) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y: Any = np.where(X[:, 0] > 0, "u", "v") if is_classes else 5.0 + 3.0 * X[:, 0]
    model = comparison_peers.tuned_svm(X, y, is_classes, balanced=False)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("is_classes", [True, False])
def test_peers_answer_in_the_names_of_the_classes(is_classes: bool) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, size=300)
    X = pd.DataFrame({"x": x})
    y = pd.Series(np.where(x > 0, "u", "v"), dtype=object) if is_classes else pd.Series(3.0 * x)
    found = comparison_peers.predictions(X[:240], y[:240], X[240:], balanced=False)
    assert tuple(found) == compare.PEERS
    for said, seconds in found.values():
        right = np.mean(said == y[240:]) if is_classes else r2_score(y[240:], said)
        assert right > 0.9
        assert seconds > 0


# ---- the table ----------------------------------------------------------------------------------


def cut_of_two_rows(ours: list[float], forest: list[float], **more: Any) -> dict[str, Any]:
    names = {"ours": ours, "boosting": [1.0, 1.0], "forest": forest, "tuned SVM": [1.0, 1.0]}
    record = {"measure": "error", "winner": "SVC", "folds": 4, "left out": {}, "losses": names}
    record |= {"seconds": dict.fromkeys(names, 9.0), "LazyPredict": "cut after 45 s"}
    return record | more


def test_errors_of_cuts_are_averaged_and_the_best_peer_is_best_on_average() -> None:
    lazy = {"LazyPredict": "LDA", "lazy seconds": 7.0, "lazy error": 0.2, "lazy lowest": 0.1}
    first = cut_of_two_rows([0.0, 1.0], [0.0, 0.0], rows=[4, 7], **lazy)
    second = cut_of_two_rows([0.0, 0.0], [0.0, 1.0], rows=[4, 9], winner="QDA", folds=2, **lazy)
    second["losses"]["boosting"] = [0.0, 0.0]  # the best of this cut, not of both
    third = cut_of_two_rows([1.0, 0.0], [0.0, 0.0], rows=[8, 9], **lazy)
    found = compare.together([first, second, third])
    assert (found["cuts"], found["folds"], found["best peer"]) == (3, 2, "forest")
    assert found["ours"] == pytest.approx(1 / 3)
    assert found["forest"] == pytest.approx(1 / 6)
    assert found["gap"] == pytest.approx(1 / 6)
    gaps = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]]
    assert found["se of gap"] == standard_error(gaps, [[4, 7], [4, 9], [8, 9]])
    assert found["winner"] == "SVC 2×, QDA 1×"
    assert (found["LazyPredict"], found["lazy error"]) == ("LDA", pytest.approx(0.2))
    third |= {"LazyPredict": "cut after 45 s"}
    del third["lazy error"]
    assert "lazy error" not in compare.together([first, second, third])


def test_the_table_tells_who_kept_up(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = {"LazyPredict": "SVC", "lazy seconds": 7.0, "lazy error": 0.05, "lazy lowest": 0.04}

    def measured(case: Any, number: int, minutes: float, lazy_seconds: float) -> dict[str, Any]:
        if case.name == "diabetes":
            raise MissingDataError("no such file")
        rows = [2 * number, 2 * number + 1]
        return cut_of_two_rows([0.0, 1.0], [0.0, 0.0], rows=rows, **lazy)

    monkeypatch.setattr(compare, "measured", measured)
    result = compare.run(Options(quick=True, cuts=2))
    row, absent = (dict(zip(compare.COLUMNS, each)) for each in result.tables[0].rows)
    assert (row["table"], row["cuts"], row["ours"], row["gap"]) == ("iris", "2", "0.500", "0.50")
    assert row["best of sklearn"] == "forest 0.000"
    assert row["se of gap"] == "0.29"  # four rows: the sum of two cuts is 0, beside their middle
    assert row["kept up"] == "no"
    assert (row["lazy s"], row["lazy error"], row["lazy winner"]) == ("7", "0.0500 (0.0400)", "SVC")
    assert "no such file" in absent.values()
    assert result.summary == {"kept up": 0, "by the error of ours": 0, "of": 1}


def test_a_run_that_was_ended_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured_now: list[tuple[str, int]] = []

    def measured(case: Any, number: int, minutes: float, lazy_seconds: float) -> dict[str, Any]:
        if len(measured_now) == 3:
            raise KeyboardInterrupt
        measured_now.append((case.name, number))
        return cut_of_two_rows([0.0, 1.0], [0.0, 0.0], rows=[0, 1])

    monkeypatch.setattr(compare, "measured", measured)
    options = Options(quick=True, cuts=2, kept=tmp_path / "cuts")
    with pytest.raises(KeyboardInterrupt):
        compare.run(options)
    assert measured_now == [("iris", 0), ("iris", 1), ("diabetes", 0)]
    with options.kept.open("ab") as file:
        file.write(b"a line that was tor")
    measured_now.clear()
    compare.run(options)
    assert measured_now == [("diabetes", 1)]
    whole = compare.run(options)
    assert measured_now == [("diabetes", 1)]
    assert [record["cuts"] for record in whole.records] == [2, 2]
    with pytest.raises(KeyboardInterrupt):  # another time to think asks for cuts of its own
        compare.run(dataclasses.replace(options, plan=Plan(time_limit=7.0)))
    assert measured_now == [("diabetes", 1), ("iris", 0), ("iris", 1)]


@pytest.mark.parametrize("measure", ["error", "balanced_error", "rmse"])
def test_lazypredict_is_read_as_it_reports(monkeypatch: pytest.MonkeyPatch, measure: str) -> None:
    """Its first line is the winner, though another model may have the lowest error."""
    board = pd.DataFrame(
        {
            "Accuracy": [0.8, 0.9],
            "Balanced Accuracy": [0.7, 0.6],
            "R-Squared": [0.3, 0.2],
        },
        index=["first", "second"],
    )
    given: list[Any] = []

    class Lazy:
        def __init__(self, **options: Any) -> None:
            pass

        def fit(self, *data: Any) -> Any:
            given.extend(data)
            return board, None

    both = types.SimpleNamespace(LazyClassifier=Lazy, LazyRegressor=Lazy)
    monkeypatch.setitem(sys.modules, "lazypredict", types.SimpleNamespace(Supervised=both))
    monkeypatch.setitem(sys.modules, "lazypredict.Supervised", both)
    y = pd.Series([1.5, 2.5, 1.5] if measure == "rmse" else ["b", "a", "b"])
    found = lazy((pd.DataFrame({"x": ["u", "v", "u"]}), None, y, y[:1]), measure)
    errors = {"error": (0.2, 0.1), "balanced_error": (0.3, 0.3), "rmse": (0.7, 0.7)}[measure]
    assert (found["lazy error"], found["lazy lowest"]) == pytest.approx(errors)
    assert (found["LazyPredict"], found["lazy models"]) == ("first", 2)
    assert list(given[2]) == ([1.5, 2.5, 1.5] if measure == "rmse" else [1, 0, 1])
    assert given[0]["x"].tolist() == ["u", "v", "u"]  # categories as they are


def test_lazypredict_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of its own; this table has no rows to learn from."""
    empty = pd.DataFrame({"x": []})
    found = lazy_in_time((empty, empty, pd.Series([]), pd.Series([])), "error", 120.0)
    assert "lazy error" not in found
    assert found["LazyPredict"] == "not installed" or "Error" in found["LazyPredict"]
