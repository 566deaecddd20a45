"""The benchmark of threads gives each number of threads its own process, and needs no peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.groups import threads
from benchmarks.machine import THREAD_VARIABLES
from benchmarks.measure import Timing
from benchmarks.report import GroupResult, Table
from benchmarks.worker import TaskError
from mercer.gram import available_threads

ROOT = Path(__file__).parents[1]
# A module that Python runs first, in all processes, so that the peers look absent.
HIDE = """
import sys
from importlib.abc import MetaPathFinder

class Hide(MetaPathFinder):
    names = "pandas matplotlib sklearnex libsvm optuna clarabel mlxtend polars typer rich".split()

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide())
"""


def test_a_quick_run_needs_nothing_but_mercer(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    file = tmp_path / "out.json"
    chosen = ["threads", "--quick", "--repeats", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *chosen],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    records = json.loads(file.read_text())["groups"]["threads"]["records"]
    assert [record["work"] for record in records] == [work.name for work in threads.works(True)]
    for record in records:
        assert set(record["status"].values()) == {"ok"}, record
        assert record["speed-up"]["1"] == record["efficiency"]["1"] == 1.0


def test_workers_have_the_threads_that_they_stand_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    worker = threads._worker(1)
    try:
        assert os.environ["OMP_NUM_THREADS"] == "7"
        assert "MKL_NUM_THREADS" not in os.environ
        assert worker.call(available_threads, timeout=600.0) == 1
        assert [worker.call(os.getenv, name) for name in THREAD_VARIABLES] == ["1"] * 3
        work = threads.works(True)[0]
        with pytest.raises(TaskError, match="1 threads in the place of 3"):
            worker.call(threads.prepare, work, 3, timeout=600.0)
    finally:
        worker.stop()


def test_speed_up_and_efficiency() -> None:
    tables = [Table(title, ["work", "1", "2", "4"]) for title in ("seconds", "speed-up")]
    result = GroupResult("threads", tables)
    cut = Timing(status="failed", reason="out of memory")
    threads._add(result, "w", {"1": Timing([3.0, 4.0]), "2": Timing([2.0]), "4": cut})
    assert tables[0].rows == [["w", "3.00", "2.00", "failed"]]
    assert tables[1].rows == [["w", "1.00 (100 %)", "1.50 (75 %)", "-"]]
    assert tables[0].notes == ["out of memory"]
    (record,) = result.records
    assert record["speed-up"] == {"1": 1.0, "2": 1.5}
    assert record["efficiency"] == {"1": 1.0, "2": 0.75}
