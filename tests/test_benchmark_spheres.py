"""The benchmark of one-class machines judges all alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import svm

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.groups.spheres import NU, _clarabel_radius, one_class_gap
from mercer import SVDD, OneClassSVM

X = np.random.default_rng(0).normal(size=(400, 3))


@pytest.mark.parametrize("kind", [OneClassSVM, SVDD, svm.OneClassSVM])
def test_recomputed_gap_is_what_the_machine_was_asked_for(kind: Any) -> None:
    for tol in (1e-1, 1e-4):
        machine = kind(nu=NU, gamma=0.3, tol=tol).fit(X)
        assert one_class_gap(X, machine, 0.3) <= 1.1 * tol
    spoilt = kind(nu=NU, gamma=0.3, tol=1e-6).fit(X)
    assert one_class_gap(X + 0.1 * np.sign(X), spoilt, 0.3) > 1e-2


def test_radius_of_the_general_solver() -> None:
    pytest.importorskip("clarabel")
    ball = SVDD(nu=0, gamma=0.3, tol=1e-9).fit(X)
    assert _clarabel_radius(X, 0.3) == pytest.approx(ball.radius_, rel=1e-5)


def test_quick_run_gives_tables_and_records(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    chosen = ["--match", "normal", "--repeats", "1", "--json", str(file)]
    assert main(["spheres", "--quick", *chosen]) == 0
    assert "mercer SVDD" in capsys.readouterr().out
    record = json.loads(file.read_text())["groups"]["spheres"]["records"][0]
    assert record["timings"].keys() == {"OneClassSVM", "SVDD", "scikit-learn"}
    assert all(min(timing["seconds"]) > 0 for timing in record["timings"].values())
