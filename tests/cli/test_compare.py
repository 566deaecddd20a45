"""`mercer compare`: an answer, files, one sentence for what cannot be, and a clean end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("skrub")

from typer.testing import CliRunner

import mercer.cli
from mercer._extras import how_to_get
from mercer.cli.app import app
from mercer.comparison import race

SOURCE = str(Path(mercer.cli.__file__).parents[2])
QUICK = ("--models", "lda,tree", "--folds", "3", "--repeats", "1")


# ---- the answer -----------------------------------------------------------------------------


def test_table_sentences_and_report(run):
    result = run("iris", *QUICK)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("iris: 150 rows, 4 columns, 3 classes (setosa 50")
    assert any("linear discriminant" in line and "best" in line for line in lines)
    assert any("largest class" in line and "baseline" in line for line in lines)
    assert "Lowest error: linear discriminant" in result.stdout
    assert "Written: compare-iris.html" in result.stdout
    assert "linear discriminant" in Path("compare-iris.html").read_text(encoding="utf-8")
    assert sorted(os.listdir()) == ["compare-iris.html"]  # nothing else is left behind


def test_the_class_of_f1_is_told_whatever_its_length(run, csv_file, flowers, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # all columns of the table
    for name, told in (
        ("rare", "F1 rare"),
        ("of another kind", "F1 is that of 'of another kind'."),
    ):
        kinds = np.where(flowers["species"] == "setosa", name, "usual")
        result = run(csv_file(flowers.assign(species=kinds)), "--target", "species", *QUICK)
        assert result.exit_code == 0, result.output
        assert told in result.stdout


def test_files_hold_all_numbers(run, csv_file, flowers):
    path = csv_file(flowers)
    files = ("--csv", "all.csv", "--json", "all.json", "--output", "mine.html")
    result = run(path, "--target", "species", *QUICK, "--seed", 7, *files)
    assert result.exit_code == 0, result.output
    written = json.loads(Path("all.json").read_text())
    table = pd.read_csv("all.csv", index_col="model")
    assert set(table.index) == {"dummy", "lda", "tree"}
    folds = pd.DataFrame(written["folds"])
    assert len(folds) == 3 * 3
    means = folds.groupby("model")["error"].mean()
    np.testing.assert_allclose(table["error"], means[table.index], rtol=1e-9)
    assert written["sentences"][0].startswith("Lowest error: ")
    assert Path("mine.html").exists()
    assert not Path("compare-table.html").exists()


def test_regression_from_a_file(run, csv_file):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "price": 3 * x[:, 0] + rng.normal(size=80)})
    options = ("--models", "ridge,tree", "--folds", "3", "--repeats", "1")
    result = run(csv_file(frame), "--target", "-1", *options)
    assert result.exit_code == 0, result.output
    assert "price from" in result.stdout
    assert "Lowest RMSE: ridge regression" in result.stdout


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_that_matters_is_cut(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("iris", *QUICK).stdout.splitlines()
    rows = [line for line in lines if "…" in line]
    assert rows == []
    assert any("error % ± sd" in line for line in lines)
    best = next(line for line in lines if "linear discriminant" in line)
    assert "±" in best
    assert "best" in best


def test_colours_only_where_they_are_wanted(run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("iris", *QUICK).output


# ---- what cannot be -------------------------------------------------------------------------


def refused(result, words):
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    sentence = result.stderr.strip().splitlines()[-1]
    assert sentence.startswith("mercer compare: ")
    assert words in sentence
    assert os.listdir() in ([], ["table.csv"])  # no half of a file either


def test_one_sentence_for_bad_input(run, csv_file, flowers):
    refused(run("iriz"), "did you mean 'iris'?")
    refused(run("missing.csv", "--target", "a"), "missing.csv")
    refused(run("iris", "--models", "ldaa"), "did you mean 'lda'?")
    refused(run("iris", "--minutes", "0"), "minutes")
    refused(run("iris", "--target", "x"), "--target is for files")
    path = csv_file(flowers)
    refused(run(path), "target")
    refused(run(path, "--target", "specie"), "species")
    refused(run(path, "--target", "species", "--folds", "200"), "200 folds")


@pytest.mark.parametrize("name", ["--output", "--csv", "--json"])
def test_places_are_checked_before_the_work(run, monkeypatch, name):
    def never(*arguments, **options):
        raise AssertionError("the work began")

    monkeypatch.setattr("mercer.comparison.compare_table", never)
    refused(run("iris", name, "no/such/folder.html"), "there is no folder")
    Path("folder.html").mkdir()
    result = run("iris", name, "folder.html")
    assert result.exit_code == 2
    assert "is a folder" in result.stderr
    Path("folder.html").rmdir()
    if os.access("/dev/full", os.W_OK):
        result = run("iris", *QUICK, name, "/proc/nothing.html")
        assert result.exit_code == 2
        assert "cannot be written" in result.stderr


# ---- stopping and going on ------------------------------------------------------------------


def interrupted_fit(monkeypatch, after):
    original, count = race.Race._fit, []

    def fit(self, *arguments):
        if len(count) == after:
            raise KeyboardInterrupt
        count.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(race.Race, "_fit", fit)
    return count


def test_ctrl_c_gives_the_partial_answer_and_the_next_run_goes_on(run, monkeypatch):
    with monkeypatch.context() as patch:
        interrupted_fit(patch, 5)
        result = run("iris", *QUICK, "--json", "part.json", "--save", "best.mercer")
    assert result.exit_code == 130, result.output
    assert "Partial: it was interrupted after 1 of 3 folds." in result.stdout
    assert "no model was saved" in result.stderr
    assert not Path("best.mercer").exists()
    assert json.loads(Path("part.json").read_text())["partial"]
    assert "artial" in Path("compare-iris.html").read_text(encoding="utf-8")
    count = interrupted_fit(monkeypatch, 1000)
    result = run("iris", *QUICK)
    assert result.exit_code == 0, result.output
    assert len(count) == 3 * 3 - 5
    assert sorted(os.listdir()) == ["compare-iris.html", "part.json"]


def test_what_was_left_by_other_settings_is_not_used(run, monkeypatch):
    with monkeypatch.context() as patch:
        interrupted_fit(patch, 5)
        assert run("iris", *QUICK).exit_code == 130
    count = interrupted_fit(monkeypatch, 1000)
    assert run("iris", *QUICK, "--seed", "1").exit_code == 0
    assert len(count) == 3 * 3


def test_ctrl_c_before_anything_was_finished(run, monkeypatch):
    interrupted_fit(monkeypatch, 0)
    result = run("moons", *QUICK)
    assert result.exit_code == 130
    assert "stopped before anything was finished" in result.stderr
    assert "Traceback" not in result.output
    assert not Path("compare-moons.html").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("option", ["csv", "json", "save"])
def test_a_full_disk_is_told_with_the_file_and_what_is_left(run, option):
    file = Path("full.mercer")
    file.symlink_to("/dev/full")
    result = run("iris", *QUICK, f"--{option}", file)
    assert result.exit_code == 1
    note, sentence = result.stderr.splitlines()
    assert sentence == "mercer compare: No space left on device: full.mercer."
    assert note == (
        "note: the same command goes on from here (.compare-iris.unfinished holds what is known)."
    )
    file.unlink()
    assert run("iris", *QUICK, f"--{option}", file).exit_code == 0
    assert sorted(os.listdir()) == ["compare-iris.html", "full.mercer"]


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
def test_files_are_written_though_nobody_reads_on(tmp_path):
    command = [sys.executable, "-m", "mercer", "compare", "moons", *QUICK, "--csv", "all.csv"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True
    )
    assert process.stdout.readline().startswith("moons: 300 rows")
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=600) == 1
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == ["all.csv", "compare-moons.html"]


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently on Windows")
def test_a_real_ctrl_c_ends_cleanly(tmp_path):
    command = [sys.executable, "-m", "mercer", "compare", "digits", "--models", "svc_grid,forest"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True
    )
    assert process.stdout.readline().startswith("digits: 1797 rows")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "stopped" in errors or "interrupted" in out


# ---- the command itself ---------------------------------------------------------------------


def environment():
    return {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}


def test_help_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, mercer.cli\nsys.argv = ['mercer', 'compare', '--help']\n"
        "try:\n    mercer.cli.main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'sklearn', 'pandas', 'matplotlib', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for option in (
        "--target",
        "--models",
        "--minutes",
        "--folds",
        "--output",
        "--peer",
        "--groups",
    ):
        assert option in done.stdout


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.stdout.strip() == f"mercer {mercer.__version__}"


def test_says_how_to_get_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit) as end:
        mercer.cli.main()
    assert end.value.code == 2
    assert f"needs rich; run {how_to_get('app')}." in capsys.readouterr().err
