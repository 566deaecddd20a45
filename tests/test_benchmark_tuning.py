"""The benchmark of searches judges all of them alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.groups import tuning
from benchmarks.groups.options import Options
from benchmarks.measure import Plan
from benchmarks.peers import UnavailableError
from benchmarks.searches import LiquidSearch, OptunaSearch

FOLDS = StratifiedKFold(3)
BOUNDS = {"C": (0.1, 10.0), "gamma": (0.01, 1.0)}


@pytest.fixture(scope="module", name="data")
def classes() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(150, 5, random_state=0)


def test_table_of_a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = tuning._searches(True)
    kept = {name: searches[name] for name in (tuning.OURS, tuning.GRADIENT)}
    kept["absent"] = lambda: OptunaSearch({}, FOLDS, 0.0)
    monkeypatch.setattr(tuning, "_searches", lambda quick: kept)
    monkeypatch.setattr(tuning, "_optuna", lambda seconds: kept["absent"])
    monkeypatch.setitem(sys.modules, "optuna", None)
    options = Options(plan=Plan(repeats=1, most=1), quick=True, match="gaussians")
    table = tuning.run(options).tables[0]
    rows = {row[1]: row for row in table.rows}
    assert rows[tuning.OURS][3] == rows[tuning.GRADIENT][4] == "1.00"
    assert rows["absent"][2:] == ["unavailable", "-", "-", "-", "-"]
    assert 0.0 < float(rows[tuning.GRADIENT][-1]) < 30.0
    assert {row[0] for row in table.rows} == {"Gaussians 200×20"}


def test_optuna_stops_in_time(data: Any) -> None:
    pytest.importorskip("optuna")
    search = OptunaSearch(BOUNDS, FOLDS, 0.2).fit(*data)
    assert search.n_trials_ >= 1
    assert 0.1 <= search.best_estimator_.C <= 10.0
    assert search.score(*data) > 0.7


def test_liquid_search_has_scores(data: Any) -> None:
    grid = {"C": np.array([0.1, 1.0]), "gamma": np.array([0.05, 0.5])}
    try:
        search = LiquidSearch(grid, 3, 1).fit(*data)
    except UnavailableError as error:
        pytest.skip(str(error))
    assert search.machine_.errTrain.shape[0] == 2 * 2 * 3
    assert 0.7 < search.best_score_ <= 1.0
    assert search.score(*data) > 0.7
