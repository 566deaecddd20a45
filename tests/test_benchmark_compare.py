"""The benchmark of comparisons: what it measures, on which tables."""

from __future__ import annotations

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

from benchmarks.groups import SUITES, compare
from benchmarks.groups.options import Options
from benchmarks.lazy import lazy, lazy_in_time
from benchmarks.problems import MissingDataError


def test_twelve_tables_of_many_kinds() -> None:
    cases = compare.cases(quick=False)
    assert len(cases) == 12
    kinds = " ".join(case.kind for case in cases)
    for kind in ("numeric", "mixed", "unbalanced", "wide", "long", "26 classes", "regression"):
        assert kind in kinds
    assert SUITES["compare"] == ["compare"]


def test_what_each_row_adds_has_the_error_as_its_mean() -> None:
    rng = np.random.default_rng(0)
    truth = np.array(["a", "b", "b", "b", "c"] * 8)
    said = rng.permutation(truth)
    assert compare.losses(truth, said, "error").mean() == np.mean(truth != said)
    balanced = compare.losses(truth, said, "balanced_error").mean()
    assert balanced == pytest.approx(1 - balanced_accuracy_score(truth, said))
    numbers, guessed = rng.normal(size=30), rng.normal(size=30)
    of_variance = compare.losses(numbers, guessed, "rmse").mean()
    assert of_variance == pytest.approx(1 - r2_score(numbers, guessed))


def test_categories_become_numbers_for_the_peers() -> None:
    train = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "x"]})
    test = pd.DataFrame({"a": [2.0], "b": ["z"]})
    A, B = compare.numeric(train, test)
    assert A.tolist() == [[1.0, 1, 0, 0], [2.0, 0, 1, 0], [3.0, 1, 0, 0]]
    assert B.tolist() == [[2.0, 0, 0, 1]]


@pytest.mark.parametrize("is_classes", [True, False])
def test_the_tuned_machine_learns(is_classes: bool) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y: Any = np.where(X[:, 0] > 0, "u", "v") if is_classes else 5.0 + 3.0 * X[:, 0]
    model = compare.tuned_svm(X, y, is_classes, balanced=False)
    assert model.score(X, y) > 0.9


def test_the_table_tells_who_kept_up(monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"kind": "numeric", "measure": "error", "winner": "SVC", "ours": 0.1, "folds": 4}
    record |= {"best peer": "forest", "forest": 0.08, "gap": 0.02, "seconds": 9.0}
    lazy = [
        {"LazyPredict": "cut after 45 s"},
        {"LazyPredict": "SVC", "lazy seconds": 7.0, "lazy error": 0.05, "lazy lowest": 0.04},
    ]

    def measured(case: Any, minutes: float, lazy_seconds: float, cut: int) -> dict[str, Any]:
        if case.name == "diabetes":
            raise MissingDataError("no such file")
        return record | {"name": f"{case.name} {cut}", "se": 0.015 + 0.01 * cut} | lazy[cut]

    monkeypatch.setattr(compare, "measured", measured)
    result = compare.run(Options(quick=True, cuts=2))
    first, second, *absent = result.tables[0].rows
    assert [row[0] for row in result.tables[0].rows] == ["iris 0", "iris 1", *["diabetes"] * 2]
    assert (first[8], second[8]) == ("no", "yes")
    assert first[-1] == "cut after 45 s"
    assert second[-3:] == ["7", "0.0500 (0.0400)", "SVC"]
    assert all("no such file" in row for row in absent)
    assert {len(row) for row in result.tables[0].rows} == {len(compare.COLUMNS)}
    assert result.summary == {"kept up": 1, "of": 2}


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
