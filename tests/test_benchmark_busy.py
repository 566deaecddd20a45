"""The benchmark beside busy processes runs everything public, as it says."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import mercer

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.busy_catalogue import WORK, data
from benchmarks.groups import busy


def public_estimators() -> set[str]:
    """Return the names of all estimators that a user can fit here, from the packages of mercer."""
    found = set()
    for package in mercer._MODULES:
        if package not in ("kernels", "plotting", "datasets", "studies", "tables", "distributed"):
            module = import_module(f"mercer.{package}")
            found |= {
                name
                for name in module.__all__
                if inspect.isclass(getattr(module, name))
                and issubclass(getattr(module, name), BaseEstimator)
            }
    return found


def test_every_public_estimator_has_a_row() -> None:
    rows = {work.split("(")[0] for work in WORK}
    assert public_estimators() <= rows
    assert len(public_estimators()) > 20


@pytest.mark.parametrize("place", ["breast_cancer", "digits"])
def test_features_are_scaled(place: str) -> None:
    X, y = data(place)
    assert len(X) == len(y)
    assert set(X.std(axis=0).round(6)) <= {0.0, 1.0}


def test_the_processes_are_busy_only_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen

    def noted(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        started.append(original(*arguments, **named))
        return started[-1]

    monkeypatch.setattr(busy.subprocess, "Popen", noted)

    def interrupted() -> None:
        with busy.busy(2):
            assert [process.poll() for process in started] == [None, None]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(process.returncode is not None for process in started)


def test_only_the_blas_of_one_process_is_limited() -> None:
    before = dict(os.environ)
    with busy._environment(busy.ONE_THREAD):
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
        assert os.environ.get("OMP_NUM_THREADS") == before.get("OMP_NUM_THREADS")
    assert dict(os.environ) == before


def test_rows_above_two_are_named() -> None:
    records: list[dict[str, Any]] = [
        {"work": "a", "data": "digits", "ratio": 2.5},
        {"work": "b", "data": "digits", "ratio": 1.5},
        {"work": "c", "data": "digits", "ratio": None},
    ]
    summary = busy._summary(records)
    assert summary["above"] == ["a (digits)"]
    assert summary["words"] == "2 of 3 rows have a ratio; above 2: a (digits)"


@pytest.mark.slow
def test_quick_run_gives_a_table_and_records(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    chosen = ["--match", "VC()", "--repeats", "1", "--json", str(file)]
    assert main(["busy", "--quick", *chosen]) == 0
    printed = capsys.readouterr().out
    assert "one BLAS thread" in printed
    group = json.loads(file.read_text())["groups"]["busy"]
    assert [record["work"] for record in group["records"]] == ["SVC()", "RVC()"]
    for record in group["records"]:
        assert set(record["timings"]) == {"default", "one BLAS thread"}
        assert record["ratio"] > 0
