"""The benchmark of relevance vector machines judges all alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.groups.relevance import MACHINES, log_evidence
from benchmarks.problems import Data, gaussians
from mercer import RVC


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_recomputed_evidence_is_that_of_the_machine(method: str) -> None:
    X, y = gaussians(80, 4, 2.0)
    data = Data(X, y, 0.3, X, y)
    model = RVC(gamma=data.gamma, method=method).fit(X, y)
    assert log_evidence(model, data) == pytest.approx(model.log_evidence_, abs=1e-6)


def test_quick_run_gives_a_table_and_records(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    chosen = ["--match", "Gaussians", "--repeats", "1", "--json", str(file)]
    assert main(["relevance", "--quick", *chosen]) == 0
    assert "mercer RVC" in capsys.readouterr().out
    record = json.loads(file.read_text())["groups"]["relevance"]["records"][0]
    assert record["timings"].keys() == MACHINES.keys()
    for name in ("sklearn-rvm", "fastrvm"):
        timing = record["timings"][name]
        assert timing["status"] == "ok" or "does not import" in timing["reason"]
    assert record["found"]["mercer RVC"]["evidence"] < 0
