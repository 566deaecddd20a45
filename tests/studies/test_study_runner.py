"""Running a study: nothing is lost, nothing is done twice, whatever happens."""

import errno
import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest

from mercer.studies import Configuration, Printed, Study, StudyError, run_study, runner
from mercer.studies.checkpoint import FILE, Checkpoint


def numbers(results):
    """Everything that must not depend on how the work was done."""
    return [
        {key: record[key] for key in ("configuration", "method", "repetition", "seed", "values")}
        for record in results.records
    ]


def test_every_cell_is_done_once(make_study, counts, tmp_path):
    calls = []
    results = run_study(
        make_study(), out=tmp_path / "out", progress=lambda *numbers: calls.append(numbers)
    )
    assert len(results.records) == 16
    assert set(counts().values()) == {1}
    assert calls == [(done, 16) for done in range(17)]
    assert results.finished
    run_study(make_study(), out=tmp_path / "out")
    assert set(counts().values()) == {1}


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_and_order_make_no_difference(make_study, tmp_path, backend):
    alone = run_study(make_study(), out=tmp_path / "alone")
    with joblib.parallel_config(backend=backend):
        together = run_study(make_study(), out=tmp_path / "together", n_jobs=2)
    in_parts = tmp_path / "parts"
    for words in (["two/worse"], ["good"], None):
        last = run_study(make_study(), out=in_parts, only=words)
    assert numbers(alone) == numbers(together) == numbers(last)
    tables = [[{**row, "seconds": 0} for row in r.table()] for r in (alone, together, last)]
    assert tables[0] == tables[1] == tables[2]


def test_methods_share_seeds_and_repetitions_do_not(make_study):
    results = run_study(make_study())
    good, worse = (results.values("one", method) for method in ("good", "worse"))
    np.testing.assert_allclose(np.array(worse) - good, 1.0)
    assert len(set(good)) == 4
    assert results.values("one", "good") != [v - 5 for v in results.values("two", "good")]
    assert numbers(run_study(make_study(), seed=1)) != numbers(results)


def test_a_backend_that_gives_only_lists(make_study, monkeypatch):
    class ListsOnly(joblib.Parallel):
        def __init__(self, n_jobs=None, return_as="list", **options):
            if return_as != "list":
                raise ValueError("no generators here")
            super().__init__(n_jobs=n_jobs, **options)

    expected = numbers(run_study(make_study()))
    monkeypatch.setattr(runner, "Parallel", ListsOnly)
    assert numbers(run_study(make_study())) == expected


def test_more_repetitions_go_on_where_the_others_ended(make_study, counts, tmp_path):
    few = run_study(make_study(), out=tmp_path / "out", repetitions=2, only=["good"])
    more = run_study(make_study(), out=tmp_path / "out", repetitions=3, only=["good"])
    assert numbers(few) == [r for r in numbers(more) if r["repetition"] < 2]
    assert set(counts().values()) == {1}


def test_ctrl_c_keeps_what_is_done(make_study, counts, tmp_path):
    stopped = make_study(interrupt=("two", "good", 1))
    with pytest.raises(KeyboardInterrupt):
        run_study(stopped, out=tmp_path / "out")
    assert len(counts()) == 6
    written = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(written["cells"]) == 6
    assert not written["finished"]
    assert (tmp_path / "out" / "table.csv").read_text().count("\n") == 5
    results = run_study(make_study(), out=tmp_path / "out")
    assert numbers(results) == numbers(run_study(make_study()))
    assert results.finished


def test_ctrl_c_noted_by_the_progress(make_study, tmp_path):
    def end_soon(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(make_study(), out=tmp_path / "out", progress=end_soon)
    assert len((tmp_path / "out" / FILE).read_text().splitlines()) == 5


def test_a_failure_does_not_end_the_others_and_is_tried_again(make_study, counts, tmp_path):
    failing = make_study(failing=(("one", "good", 1), ("two", "worse", 0)))
    results = run_study(failing, out=tmp_path / "out", n_jobs=2)
    assert len(results.records) == 14
    assert not results.finished
    messages = {failure["message"] for failure in results.failures}
    assert "ValueError: no solution for ('one', 'good', 1)" in messages
    written = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(written["failures"]) == 2
    rows = {(r["configuration"], r["method"]): r["repetitions"] for r in results.table()}
    assert rows[("one", "good")] == 3
    again = run_study(make_study(), out=tmp_path / "out")
    assert again.finished
    assert len(again.records) == 16
    assert set(counts().values()) == {1}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"error": "much"}, "The value 'error' must be a number; got str"),
        ({"other": 1.0}, "have no 'error', which the study is about"),
    ],
)
def test_what_run_returns_is_checked(make_study, values, words):
    study = replace(make_study(), run=lambda *cell: values)
    results = run_study(study, repetitions=1, only=["one/good"])
    assert words in results.failures[0]["message"]


# ---- the checkpoint -------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 40, 150])
def test_a_half_written_line_is_done_again(make_study, counts, tmp_path, cut):
    whole = run_study(make_study(), out=tmp_path / "out")
    path = tmp_path / "out" / FILE
    text = path.read_bytes()
    last = text.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(text[: min(last + cut, len(text) - 1)])
    results = run_study(make_study(), out=tmp_path / "out")
    assert results.dropped == 1
    assert numbers(results) == numbers(whole)
    assert sorted(counts().values()) == [1] * 15 + [2]
    # The file is whole again: nothing more is dropped or done.
    assert run_study(make_study(), out=tmp_path / "out").dropped == 0
    assert sum(counts().values()) == 17
    assert len(path.read_text().splitlines()) == 16


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(make_study, counts, tmp_path, monkeypatch):
    """The run ends with the system's error and lets others write; later it goes on."""
    out = tmp_path / "out"
    whole = run_study(make_study(), out=tmp_path / "other")
    open_file = Path.open

    def on_a_full_disk(path, mode="r", **how):
        return open_file(Path("/dev/full") if mode == "a" else path, mode, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", on_a_full_disk)
        with pytest.raises(OSError, match="No space left") as caught:
            run_study(make_study(), out=out)
    results = run_study(make_study(), out=out)  # while the error still holds on to its frames
    assert caught.value.errno == errno.ENOSPC
    assert numbers(results) == numbers(whole)


def test_a_changed_line_is_not_believed(make_study, counts, tmp_path):
    whole = run_study(make_study(), out=tmp_path / "out")
    path = tmp_path / "out" / FILE
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace('"n_fits": 3', '"n_fits": 2')
    path.write_text("".join(lines))
    results = run_study(make_study(), out=tmp_path / "out")
    assert results.dropped == 1
    assert numbers(results) == numbers(whole)


def test_another_definition_is_refused(make_study, counts, tmp_path):
    run_study(make_study(), out=tmp_path / "out")
    before = (tmp_path / "out" / FILE).read_bytes()
    words = r"holds results of another definition of study 'traced' .*2 parts, such as one/good"
    with pytest.raises(StudyError, match=words):
        run_study(make_study(shift=1.0), out=tmp_path / "out")
    with pytest.raises(StudyError, match="or another seed"):
        run_study(make_study(), out=tmp_path / "out", seed=1)
    assert (tmp_path / "out" / FILE).read_bytes() == before
    assert sum(counts().values()) == 16


def test_a_fresh_start_puts_the_old_aside(make_study, counts, tmp_path):
    out = tmp_path / "out"
    run_study(make_study(), out=out)
    before = (out / FILE).read_bytes()
    results = run_study(make_study(shift=1.0), out=out, fresh=True)
    assert results.study.configurations[0].parameters == {"shift": 1.0}
    assert sum(counts().values()) == 32
    assert (out / "checkpoint-1.jsonl").read_bytes() == before
    run_study(make_study(), out=out, fresh=True, repetitions=1)
    assert (out / "checkpoint-2.jsonl").exists()


def test_a_new_method_leaves_the_others_alone(make_study, counts, tmp_path):
    run_study(make_study(), out=tmp_path / "out")
    larger = replace(make_study(), methods={"worse": {}, "third": {}, "good": {}})
    results = run_study(larger, out=tmp_path / "out")
    assert len(results.records) == 24
    assert set(counts().values()) == {1}
    # And a method that is gone stays in the file, out of the table.
    smaller = replace(make_study(), methods={"good": {}})
    assert {row["method"] for row in run_study(smaller, out=tmp_path / "out").table()} == {"good"}
    assert len(run_study(larger, out=tmp_path / "out").records) == 24


def test_workers_find_a_module_that_came_after_them(make_study, tmp_path, monkeypatch):
    run_study(make_study(), n_jobs=2, repetitions=1)
    name = f"late_{tmp_path.name}"  # a worker of another test knows no module of this name
    (tmp_path / f"{name}.py").write_text("def run(*cell):\n    return {'error': 1.0}\n")
    monkeypatch.syspath_prepend(tmp_path)
    late = replace(make_study(), run=importlib.import_module(name).run)
    results = run_study(late, n_jobs=2, repetitions=1)
    assert not results.failures
    assert len(results.records) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_two_processes_do_not_write_to_one_folder(make_study, tmp_path):
    code = (
        "import sys\nfrom mercer.studies import get_study, run_study, StudyError\n"
        "try:\n    run_study(get_study('tiny'), repetitions=1, out=sys.argv[1])\n"
        "except StudyError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    with Checkpoint(tmp_path / "out", make_study()):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "Another process is writing to" in done.stdout
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


# ---- killed ---------------------------------------------------------------------------------


def draw_slowly(configuration, method, repetition, seed):
    with open(configuration.parameters["begun"], "ab", buffering=0) as file:
        file.write(b".")
    time.sleep(0.001)
    return {"error": float(np.random.default_rng(seed).normal()), "n_fits": repetition}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_ten_times_at_random_it_ends_with_the_undisturbed_result(tmp_path):
    begun = tmp_path / "begun"
    about, printed = {"begun": str(begun)}, {"x": Printed(0.0, 1.0)}
    study = Study(
        "killed",
        "Killed again and again",
        "",
        "",
        tuple(Configuration(name, about, printed) for name in "abcd"),
        {"x": {}, "y": {}},
        draw_slowly,
        repetitions=150,
    )
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    expected = run_study(study, out=whole)
    begun.unlink()
    rng, context, kept = np.random.default_rng(0), multiprocessing.get_context("fork"), []
    for _ in range(10):
        process = context.Process(target=run_study, args=(study,), kwargs={"out": cut})
        process.start()
        process.join(rng.uniform(0.0, 0.1))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        file = cut / "checkpoint.jsonl"
        kept.append(file.read_bytes().count(b"\n") if file.exists() else 0)
    assert kept == sorted(kept)
    assert 0 < kept[-1] < 1200
    results = run_study(study, out=cut)
    assert len(results.records) == 1200
    assert numbers(results) == numbers(expected)
    # What was finished is not done again: a kill costs the one cell under way.
    assert begun.stat().st_size <= 1200 + 10
    assert (cut / "checkpoint.jsonl").read_bytes().count(b"\n") == 1200
    tables = [[{**row, "seconds": 0} for row in found.table()] for found in (results, expected)]
    assert tables[0] == tables[1]
    written = [json.loads((place / "results.json").read_text()) for place in (whole, cut)]
    for one in written:
        for cell in one["cells"]:
            del cell["seconds"]
    assert written[0] == written[1]
