"""The benchmark of forests compares what is the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.groups.forests import leaf_comparison
from mercer.trees import proximity


def test_both_ways_are_the_same() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    np.testing.assert_allclose(proximity(forest, X), leaf_comparison(forest, X), atol=1e-6)


def test_quick_run_gives_tables_and_records(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    assert main(["forests", "--quick", "--repeats", "1", "--json", str(file)]) == 0
    assert "leaf comparison" in capsys.readouterr().out
    records = json.loads(file.read_text())["groups"]["forests"]["records"]
    assert {record.get("by") for record in records} >= {"proximity", "leaf comparison"}
    assert {record.get("function") for record in records} >= {"similarity_map", "oob_importance"}
