"""The benchmarks time in turns, cut what is too slow, and count ratios and floors rightly."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.floor import Rates, floor
from benchmarks.groups.growth import exponent
from benchmarks.groups.linear import Ladder, Step
from benchmarks.machine import peak_memory, restart_peak_memory
from benchmarks.measure import Plan, Timing, interleave
from benchmarks.peers import UnavailableError
from benchmarks.report import (
    GroupResult,
    Ratio,
    Table,
    fastest,
    geometric_mean,
    ratio,
    write_json,
)
from benchmarks.worker import TaskError, TimeLimitError, Worker

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps the counters")


def runs(log: list[str], name: str, seconds: float) -> Callable[[], float]:
    def contender() -> float:
        log.append(name)
        return seconds

    return contender


def test_rounds_are_interleaved_and_start_with_another_contender_each() -> None:
    log: list[str] = []
    contenders = {name: runs(log, name, 1.0) for name in "abc"}
    timings = interleave(contenders, Plan(repeats=3, most=3))
    assert "".join(log) == "abc" + "bca" + "cab"
    assert all(timing.seconds == [1.0] * 3 for timing in timings.values())


def test_cheap_problems_get_more_rounds_and_all_contenders_the_same_number() -> None:
    contenders = {"a": runs([], "a", 0.1), "b": runs([], "b", 0.9)}
    timings = interleave(contenders, Plan(repeats=2, most=9, budget=5.0))
    assert {len(timing.seconds) for timing in timings.values()} == {5}
    timings = interleave(contenders, Plan(repeats=2, most=4, budget=500.0))
    assert {len(timing.seconds) for timing in timings.values()} == {4}
    timings = interleave(contenders, Plan(repeats=3, most=9, budget=0.0))
    assert {len(timing.seconds) for timing in timings.values()} == {3}


def test_slow_contenders_run_once_and_others_go_on() -> None:
    contenders = {"slow": runs([], "slow", 70.0), "fast": runs([], "fast", 1.0)}
    timings = interleave(contenders, Plan(repeats=3, most=3, time_limit=120.0))
    assert len(timings["slow"].seconds) == 1
    assert len(timings["fast"].seconds) == 3


def test_contenders_without_a_time_are_reported_with_the_reason() -> None:
    def raising(error: Exception) -> Callable[[], float]:
        def contender() -> float:
            raise error

        return contender

    timings = interleave(
        {
            "late": raising(TimeLimitError("cut after 7 s")),
            "absent": raising(UnavailableError("no module")),
            "broken": raising(TaskError("out of memory")),
        },
        Plan(time_limit=7.0),
    )
    found = {name: (timing.status, timing.reason) for name, timing in timings.items()}
    assert found == {
        "late": ("cut", "cut after 7 s"),
        "absent": ("unavailable", "no module"),
        "broken": ("failed", "out of memory"),
    }
    assert timings["late"].limit == 7.0
    assert timings["late"].best == math.inf


def test_a_task_can_be_cut_short() -> None:
    worker = Worker()
    assert worker.call(math.sqrt, 9.0, timeout=600.0) == 3.0
    with pytest.raises(TaskError, match="math domain error"):
        worker.call(math.sqrt, -1.0, timeout=600.0)
    with pytest.raises(TimeLimitError, match=r"cut after 0\.2 s"):
        worker.call(time.sleep, 60.0, timeout=0.2)
    assert not worker.alive


@linux_only
def test_a_worker_keeps_to_its_memory() -> None:
    worker = Worker(memory_limit=2**32)
    try:
        with pytest.raises(TaskError, match="MemoryError"):
            worker.call(np.ones, 2**30, timeout=600.0)
        assert worker.call(math.sqrt, 9.0, timeout=600.0) == 3.0
    finally:
        worker.stop()


@linux_only
def test_peak_memory_counts_what_was_freed_again() -> None:
    before = restart_peak_memory()
    np.ones(16_000_000).sum()
    assert 120e6 < peak_memory() - before < 200e6


def test_ratios_and_bounds() -> None:
    ours, theirs = Timing([2.0, 1.0, 3.0]), Timing([5.0, 4.0])
    cut = Timing(status="cut", limit=60.0)
    absent = Timing(status="unavailable")
    assert ratio(ours, theirs) == Ratio(4.0)
    assert ratio(ours, cut) == Ratio(60.0, ">")
    assert ratio(cut, theirs) == Ratio(4.0 / 60.0, "<")
    assert ratio(ours, absent) is None
    assert ratio(cut, cut) is None
    assert fastest([cut, theirs, absent, Timing([4.5])]) is theirs
    assert fastest([absent, cut]) is cut


def test_geometric_mean_keeps_the_sign_of_a_bound() -> None:
    for second, sign in ((Ratio(8.0), ""), (Ratio(8.0, ">"), ">"), (Ratio(8.0, "<"), "<")):
        mean = geometric_mean([Ratio(2.0), None, second])
        assert mean is not None
        assert mean.value == pytest.approx(4.0)
        assert mean.sign == sign
    mixed = geometric_mean([Ratio(2.0, "<"), Ratio(8.0, ">")])
    assert mixed is not None
    assert mixed.sign == "~"
    assert geometric_mean([None]) is None


def test_exponent_is_that_of_the_larger_sizes() -> None:
    sizes = [1000, 2000, 4000, 8000]
    assert exponent(sizes, [1.0, 1.0, 2.0**1.7, 2.0**3.4]) == pytest.approx(1.7)
    assert exponent(sizes, [1.0, 4.0, math.inf, math.inf]) == pytest.approx(2.0)
    assert exponent(sizes, [1.0, math.inf, math.inf, math.inf]) is None


def test_floor_counts_entries_bytes_and_seconds() -> None:
    least = floor(300, 1000, 20, Rates(gemm=1e9, exp=1e8, read=1e9))
    assert least.entries == 300_000
    assert least.bytes == 1_200_000
    assert least.compute == pytest.approx(300_000 * (40e-9 + 1e-8))
    assert least.traffic == pytest.approx(1.2e-3)


def test_ladder_takes_the_loosest_step_within_the_target() -> None:
    steps = [Step(1e-1, 1.0, 1e-1), Step(1e-2, 3.0, 1e-4), Step(1e-3, 2.0, 1e-6)]
    ladder = Ladder(steps, Timing(status="missed"))
    assert ladder.reaching(1e-3) is steps[1]
    assert ladder.reaching(1e-5) is steps[2]
    assert ladder.reaching(1e-9) is None


def test_table_has_as_many_cells_in_every_line() -> None:
    table = Table("a title", ["name", "value"], notes=["a note"])
    table.add("x", None)
    table.add("longer", 3)
    lines = str(table).splitlines()
    assert lines[0] == "### a title"
    assert {line.count("|") for line in lines if line.startswith("|")} == {3}
    assert lines[4] == "| x      |     - |"
    assert lines[-1] == "- a note"
    narrow = Table("", ["n", "C"], rows=[["a", "1"]])
    assert "| -- | -: |" in str(narrow)  # one sign alone is no markdown rule
    with pytest.raises(ValueError, match="2 cells, not 1"):
        table.add("x")


def test_json_knows_no_infinity(tmp_path: Path) -> None:
    group = GroupResult("g", records=[{"a": math.inf, "b": np.float64(2.0), "r": Ratio(1.0, ">")}])
    write_json(tmp_path / "out.json", {"cores": "2"}, [group])
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["groups"]["g"]["records"] == [
        {"a": None, "b": 2.0, "r": {"value": 1.0, "sign": ">"}}
    ]
