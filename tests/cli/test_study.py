"""`mercer study`: killed, stopped, cut off, and run again, it ends with the same table."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

import mercer.cli
from mercer.cli.app import app

SOURCE = str(Path(mercer.cli.__file__).parents[2])
PNG = b"\x89PNG\r\n\x1a\n"

SLOW_STUDY = """
import os, time
import numpy as np
from mercer.studies import Configuration, Printed, Study

def must_wait():
    if not os.path.exists(os.environ.get("HOLD", "")) or not os.path.exists(os.environ["TRACES"]):
        return False
    with open(os.environ["TRACES"]) as file:
        return len(file.readlines()) >= 12

def run(configuration, method, repetition, seed):
    time.sleep(configuration.parameters["pause"])
    while must_wait():
        time.sleep(0.01)
    with open(os.environ["TRACES"], "a") as file:
        file.write(f"{configuration.name} {method} {repetition}\\n")
    return {"error": float(np.random.default_rng(seed).normal()), "n_fits": repetition}

STUDY = Study(
    "slow", "A slow study", "", "",
    (
        Configuration("a", {"pause": 0.04}, {"x": Printed(0.0, 1.0)}),
        Configuration("b", {"pause": 0.03}),
    ),
    {"x": {}, "y": {}}, run, repetitions=6,
)
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Run the command in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["study", *map(str, words)])


@pytest.fixture
def slow(tmp_path):
    """Start the command on a study of one's own, in a process and a process group of its own."""
    (tmp_path / "slow_study.py").write_text(SLOW_STUDY)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([SOURCE, str(tmp_path)]),
        "OMP_NUM_THREADS": "1",
        "TRACES": str(tmp_path / "traces"),
        "HOLD": str(tmp_path / "hold"),  # while it is there, half of the study is not begun
    }

    def start(*words):
        command = [sys.executable, "-m", "mercer.cli", "study", "run", "slow_study:STUDY"]
        return subprocess.Popen(
            [*command, "--no-pictures", *map(str, words)],
            cwd=tmp_path,
            env=environment,
            stdout=-1,
            stderr=-1,
            text=True,
            start_new_session=True,
        )

    return start


def finish(process):
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    return output, errors


def wait_for_lines(path, number, process):
    """Wait until a file has so many lines."""
    for _ in range(60_000):
        if path.exists() and path.read_text().count("\n") >= number:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"{path} has not got {number} lines")


def read_table(folder):
    with (folder / "table.csv").open() as file:
        return [{**row, "seconds": ""} for row in csv.DictReader(file)]


def read_values(folder):
    cells = json.loads((folder / "results.json").read_text())["cells"]
    return [
        (c["configuration"], c["method"], c["repetition"], c["seed"], c["values"]) for c in cells
    ]


# ---- cut off and run again ------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently on Windows")
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_and_run_again(slow, study, tmp_path, monkeypatch, jobs):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRACES", str(tmp_path / "traces"))
    whole = study("run", "slow_study:STUDY", "--no-pictures", "--out", "whole")
    assert whole.exit_code == 0, whole.output
    (tmp_path / "traces").unlink()
    (tmp_path / "hold").touch()
    process = slow("--out", "cut", "--jobs", jobs)
    checkpoint = tmp_path / "cut" / "checkpoint.jsonl"
    wait_for_lines(checkpoint, 8, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (tmp_path / "hold").unlink()
    kept = checkpoint.read_bytes()
    # A harder end than a kill: the last line lost its tail.
    checkpoint.write_bytes(kept[:-25])
    n_kept = kept.count(b"\n") - 1
    _, errors = finish(slow("--out", "cut", "--jobs", jobs))
    assert "note: half-written results, done again: 1." in errors
    assert f"{n_kept} of 24 cells are there already." in errors
    assert read_values(tmp_path / "cut") == read_values(tmp_path / "whole")
    assert read_table(tmp_path / "cut") == read_table(tmp_path / "whole")
    # Done twice: the line that was cut, and what the workers had under way.
    traces = (tmp_path / "traces").read_text().splitlines()
    assert len(set(traces)) == 24
    assert len(traces) <= 24 + 1 + 2 * jobs
    assert 7 <= n_kept < 24
    assert checkpoint.read_bytes().startswith(kept[:-25].rsplit(b"\n", 1)[0])


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently on Windows")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_cleanly(slow, study, tmp_path, monkeypatch, jobs):
    (tmp_path / "hold").touch()
    process = slow("--out", "out", "--jobs", jobs)
    wait_for_lines(tmp_path / "out" / "checkpoint.jsonl", 5, process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    (tmp_path / "hold").unlink()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "of 24 cells are done and kept. Give the same command again to go on." in errors
    done = len(read_values(tmp_path / "out"))
    assert 5 <= done < 24
    assert f"stopped; {done} of 24" in errors
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRACES", str(tmp_path / "traces"))
    assert study("run", "slow_study:STUDY", "--no-pictures", "--out", "out").exit_code == 0
    assert len(read_values(tmp_path / "out")) == 24


def test_jobs_and_only_make_no_difference(study, tmp_path, monkeypatch):
    # Workers of another test would not know of a change of the environment.
    text = SLOW_STUDY.replace('os.environ["TRACES"]', repr(str(tmp_path / "traces")))
    (tmp_path / "quick_study.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    command = ("run", "quick_study:STUDY", "--repetitions", 1, "--no-pictures", "--out")
    study(*command, "alone")
    study(*command, "together", "--jobs", 2)
    for words in ("b/y", "x,a/y", "*"):
        study(*command, "parts", "--only", words)
    assert len(read_values(tmp_path / "alone")) == 4
    assert read_values(tmp_path / "alone") == read_values(tmp_path / "together")
    assert read_values(tmp_path / "alone") == read_values(tmp_path / "parts")
    assert read_table(tmp_path / "alone") == read_table(tmp_path / "parts")
    assert len((tmp_path / "traces").read_text().splitlines()) == 12


# ---- what is shown --------------------------------------------------------------------------


def test_list_names_every_study(study):
    result = study("list")
    assert result.exit_code == 0, result.output
    for word in ("simulation", "rfe-stop", "tiny", "Mean and median"):  # the rest may be wrapped
        assert word in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.split()[:1] == ["ida"]]
    assert "Smets 2006" in line
    assert line.split()[-3:] == ["5880", "10", "min"]
    assert "golub, colon" in result.stdout


def test_missing_data_are_said_once_before_anything_begins(study, tmp_path, monkeypatch):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MERCER_MIRROR", (tmp_path / "nothing").as_uri())
    result = study("run", "ida", "--repetitions", 2, "--out", "out")
    assert result.exit_code == 2
    assert len(result.output.strip().splitlines()) == 1
    assert "Study 'ida' needs data that cannot be had, and was not begun." in result.stderr
    assert "'ida/banana' could not be downloaded" in result.stderr
    assert result.stderr.count("could not be downloaded") == 1  # ten sets of one place
    assert "'ida/thyroid', 'ida/titanic'. " in result.stderr
    both = study("run", "real", "--only", "heart,haemophilia", "--repetitions", 1, "--out", "out")
    for name in ("hemophilia", "saheart"):
        assert f"{name!r} could not be downloaded" in both.stderr
    assert not (tmp_path / "out").exists()
    alone = study("run", "relevance", "--only", "ripley/RVM", "--repetitions", 1, "--no-pictures")
    assert alone.exit_code == 0, alone.output


def test_names_with_commas(study):
    result = study("run", "genes", "--only", "Golub, 34 test rows, 4 genes/honest,nothing")
    assert result.exit_code == 2
    assert "'nothing' names nothing in study 'genes'" in result.stderr


@pytest.mark.parametrize("words", [["list"], ["run", "ida"]])
def test_without_a_clone_a_sentence_says_what_to_do(study, tmp_path, monkeypatch, words):
    monkeypatch.setattr("mercer.studies.registry.__file__", str(tmp_path / "a/b/c/registry.py"))
    result = study(*words)
    assert result.exit_code == 2
    assert "run this in the main folder of a clone of its repository" in result.stderr
    assert len(result.output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_run_shows_and_writes_the_table(study):
    result = study("run", "tiny", "--repetitions", 40)
    assert result.exit_code == 0, result.output
    assert "10 draws" in result.stdout
    assert "Of 2 printed means 2 are reproduced within 3 standard errors" in result.stdout
    folder = Path("study-tiny")
    assert {path.name for path in folder.iterdir()} == {
        ".lock",
        "checkpoint.jsonl",
        "overview.png",
        "results.json",
        "table.csv",
    }
    assert (folder / "overview.png").read_bytes().startswith(PNG)
    assert len(read_values(folder)) == 160
    assert {row["verdict"] for row in read_table(folder)} == {"reproduced", "not printed"}


def test_only_and_no_pictures(study):
    result = study("run", "tiny", "--repetitions", 2, "--only", "median", "--no-pictures")
    assert result.exit_code == 0, result.output
    assert "2 means; none is printed in the source." in result.stdout
    assert {row["method"] for row in read_table(Path("study-tiny"))} == {"median"}
    assert not Path("study-tiny/overview.png").exists()


def test_progress_where_there_is_no_window(study, monkeypatch):
    monkeypatch.setattr("mercer.cli.study.PAUSE", -1.0)
    result = study("run", "tiny", "--repetitions", 2, "--no-pictures")
    lines = [line for line in result.stderr.splitlines() if "cells, about" in line]
    assert len(lines) == 9
    assert lines[-1].startswith("8 of 8 cells")


def test_failures_are_told_and_tried_again(study, tmp_path, monkeypatch):
    text = SLOW_STUDY.replace("time.sleep", "os.environ.get('FAIL') and 1 / 0; time.sleep")
    (tmp_path / "failing_study.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRACES", str(tmp_path / "traces"))
    monkeypatch.setenv("FAIL", "yes")
    command = ("run", "failing_study:STUDY", "--repetitions", 1, "--no-pictures")
    result = study(*command)
    assert result.exit_code == 1
    assert "note: a/x, 0 failed: ZeroDivisionError: division by zero" in result.stderr
    assert "4 cells failed in all" in result.stderr
    monkeypatch.delenv("FAIL")
    assert study(*command).exit_code == 0
    assert len(read_values(tmp_path / "study-slow")) == 4


# ---- what cannot be done --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tinny"], "There is no study 'tinny' among "),
        (["tinny"], "; did you mean 'tiny'?"),
        (["tiny", "--only", "mean,modus"], "'modus' names nothing in study 'tiny'"),
        (["tiny", "--jobs", "0"], "--jobs must not be 0"),
        (["tiny", "--out", "file"], "--out must be a folder, but 'file' is a file"),
    ],
)
def test_bad_input_gets_a_sentence(study, tmp_path, words, message):
    (tmp_path / "file").write_text("")
    result = study("run", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_another_seed_needs_a_fresh_start(study):
    study("run", "tiny", "--repetitions", 2, "--no-pictures")
    before = read_values(Path("study-tiny"))
    refused = study("run", "tiny", "--repetitions", 2, "--no-pictures", "--seed", 1)
    assert refused.exit_code == 2
    assert "holds results of another definition of study 'tiny' or another seed" in refused.stderr
    assert read_values(Path("study-tiny")) == before
    fresh = study("run", "tiny", "--repetitions", 2, "--no-pictures", "--seed", 1, "--fresh")
    assert fresh.exit_code == 0
    assert read_values(Path("study-tiny")) != before


def test_help_loads_nothing_heavy():
    code = (
        "import sys, mercer.cli\nsys.argv = ['mercer', 'study', 'run', '--help']\n"
        "try:\n    mercer.cli.main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'sklearn', 'pandas', 'matplotlib', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_summary_stores_and_writes(study, tmp_path, monkeypatch):
    clone = tmp_path / "clone"
    shutil.copytree(Path(__file__).parents[2] / "studies", clone / "studies")
    for module in ("stored", "catalogue", "summary"):
        place = f"mercer.studies.{module}.studies_folder"
        monkeypatch.setattr(place, lambda: clone / "studies", raising=False)
    monkeypatch.setattr("mercer.studies.stored.study_folder", lambda name: clone / "studies" / name)
    study("run", "tiny", "--repetitions", 3, "--no-pictures")
    result = study("summary", "--add", "study-tiny")
    assert result.exit_code == 0, result.output
    assert "tiny/results.csv" in result.stdout
    assert (clone / "studies" / "tiny" / "results.csv").read_text().count(",3,") == 4
    assert (clone / "studies" / "z_scores.png").read_bytes().startswith(PNG)
    refused = study("summary", "--add", "nowhere")
    assert refused.exit_code == 2
    assert "There are no results of a study in nowhere" in refused.stderr
