"""The benchmark of comparisons: what it measures, on which tables."""

from __future__ import annotations

import sys
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
    record |= {"LazyPredict": "cut after 45 s"}

    def measured(case: Any, minutes: float, lazy_seconds: float) -> dict[str, Any]:
        if case.name == "diabetes":
            raise MissingDataError("no such file")
        return record | {"name": case.name, "se": 0.015}

    monkeypatch.setattr(compare, "measured", measured)
    result = compare.run(Options(quick=True))
    assert [row[0] for row in result.tables[0].rows] == ["iris", "diabetes"]
    assert result.tables[0].rows[0][8] == "no"
    assert "no such file" in result.tables[0].rows[1]
    assert result.summary == {"kept up": 0, "of": 1}
