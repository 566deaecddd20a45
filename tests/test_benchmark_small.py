"""The benchmark of small data times batches of calls, and names the cells below 1."""

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
from benchmarks.groups import small
from benchmarks.measure import Timing


def test_every_cell_is_there_once() -> None:
    names = [job.name for job in small.jobs(quick=False)]
    assert len(names) == len(set(names))
    for name in (
        "SVC: fit, rbf, 26 classes, n=2000",
        "SVC: fit of real sets, digits, poly",
        "SVR: fit, linear, n=20",
        "OneClassSVM: fit, poly, n=500",
        "SVC: predict 1 row, rbf, 26 classes",
        "SVC: predict 100 rows, linear, 10 classes",
    ):
        assert name in names


@pytest.mark.parametrize("job", list(small.jobs(quick=True)), ids=lambda job: job.name)
def test_both_libraries_do_the_same_work(job: small.Job) -> None:
    """Both get the kernel and nothing else, and answer alike."""
    ours, theirs = (small.ready(peer, job)() for peer in small.HOMES)
    if job.predicts:
        assert np.mean(ours == theirs) >= 0.9
        return
    assert ours.kernel == theirs.kernel == job.problem.kernel
    data = job.problem.load()
    if job.machine == "SVC":
        assert np.mean(ours.predict(data.X) == theirs.predict(data.X)) >= 0.9
        return
    # Values for one class: rows on the border have either label.
    method = "predict" if job.machine == "SVR" else "decision_function"
    values = [getattr(model, method)(data.X) for model in (ours, theirs)]
    np.testing.assert_allclose(values[0], values[1], atol=0.02 * np.ptp(values[1]))


def test_short_calls_are_repeated_until_the_clock_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def timed(call: Any) -> tuple[float, None]:
        before = len(made)
        call()
        return (len(made) - before) * 1e-3, None

    monkeypatch.setattr(small, "timed", timed)
    call = lambda: made.append(1)  # noqa: E731
    count = small.calls_of_a_turn(call)
    assert count == 32
    monkeypatch.setattr(small, "_state", {"call": call, "count": count})
    assert small.time_turn("mercer") == pytest.approx(1e-3)


def test_the_worst_cell_and_all_below_one_are_named() -> None:
    job = next(small.jobs(quick=True))
    times = {"faster": 4e-3, "slower": 1e-3, "slowest": 0.5e-3}
    cells = []
    for row, theirs in times.items():
        timings = {"mercer": Timing([2e-3, 3e-3]), "sklearn": Timing([theirs])}
        cells.append(small._record(job, timings) | {"row": row})
    words = small._words(cells)
    assert "worst 0.25 (slowest, n=20, 0.500 ms against 2.00 ms)" in words
    assert words.index("slowest, n=20, 0.500 ms against 2.00 ms: 0.25; slower") > 0
    assert "faster" not in words
    table = small._pivot("a title", cells)
    assert table.rows == [["faster", "2.00"], ["slower", "0.50"], ["slowest", "0.25"]]
    assert small._words([small._record(job, {})]) == "no ratio"


def test_quick_run_gives_tables_and_records(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    chosen = ["--match", "rbf, n=20", "--repeats", "1", "--json", str(file)]
    assert main(["small", "--quick", *chosen]) == 0
    printed = capsys.readouterr().out
    assert "### SVR: fit" in printed
    assert "### OneClassSVM: fit" in printed
    group = json.loads(file.read_text())["groups"]["small"]
    assert len(group["records"]) == 2
    for record in group["records"]:
        assert set(record["timings"]) == {"mercer", "sklearn"}
        assert record["ratio"]["value"] > 0
    assert set(group["summary"]) == {"SVR: fit", "OneClassSVM: fit"}
