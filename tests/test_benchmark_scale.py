"""The benchmark of many rows gives all ways the same rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.groups.scale import LONG
from benchmarks.many_rows import WAYS, Task, measure, write_clouds
from benchmarks.peers import UnavailableError


def test_clouds_can_be_learned_and_have_unit_deviation(tmp_path: Path) -> None:
    write_clouds(tmp_path, 4000)
    task = Task("clouds", str(tmp_path), 3000, 1.0, 0.05)
    X, y, X_test, _ = task.load()
    assert X.shape == (3000, 20)
    assert isinstance(X, np.memmap)
    assert X.dtype == np.float32
    assert np.abs(np.asarray(X).std(axis=0) - 1).max() < 0.3
    assert abs(y.mean() - 0.5) < 0.05
    assert len(X_test) == 20_000
    found = measure("mercer, exact", task)
    assert 5.0 < found["error"] < 40.0


@pytest.mark.parametrize("way", sorted(set(WAYS) - LONG))
def test_every_way_learns(way: str, tmp_path: Path) -> None:
    write_clouds(tmp_path, 600)
    try:
        found = measure(way, Task("clouds", str(tmp_path), 600, 1.0, 0.05))
    except UnavailableError as absent:
        pytest.skip(str(absent))
    assert 5.0 < found["error"] < 50.0
    assert found["processor"] > 0.0


def test_quick_run_gives_records_and_exponents(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    assert main(["scale", "--quick", "--match", "exact", "--json", str(file)]) == 0
    assert "grows as n" in capsys.readouterr().out
    records = json.loads(file.read_text())["groups"]["scale"]["records"]
    assert [record["rows"] for record in records] == [500, 1500]
    assert all("error" in record for record in records)


def test_a_quick_run_on_workers_gives_records(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    file = tmp_path / "out.json"
    quick = ["distributed", "--quick", "--repeats", "1", "--json", str(file)]
    assert main(quick) == 0
    group = json.loads(file.read_text())["groups"]["distributed"]
    one, two, exact = group["records"]
    assert [len(some["processor"]) for some in (one, two)] == [1, 2]
    assert one["error"] == two["error"] < 40.0
    assert exact["difference"] < 1e-4
    assert exact["gap"] < 1e-3
    assert not any(some["restarts"] for some in (one, two, exact))
    assert set(group["summary"]["4,000×20, 2 GB a worker"]) == {"seconds", "longest"}
