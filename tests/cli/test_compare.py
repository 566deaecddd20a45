"""`mercer compare`: right numbers, honest words about them, and a clean end on Ctrl-C."""

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
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

import mercer.cli
from mercer import SVC
from mercer.cli import comparison as comparisons
from mercer.cli.app import app
from mercer.cli.comparison import Candidate, Comparison, Measurement, candidates, measure
from mercer.cli.words import summarize

SOURCE = str(Path(mercer.cli.__file__).parents[2])
PNG = b"\x89PNG\r\n\x1a\n"

QUICK = ("--kernels", "rbf", "--folds", "3", "--repeats", "1")


# ---- the numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
def test_numbers_agree_with_direct_cross_validation(run, csv_file, flowers, missing):
    if missing:
        flowers.iloc[[3, 60, 110], 1] = np.nan
    path = csv_file(flowers)
    options = ("--kernels", "rbf,laplacian", "--C", 3, "--folds", 4, "--repeats", 2, "--seed", 7)
    result = run(path, "--target", "species", *options, "--json", "all.json", "--csv", "all.csv")
    assert result.exit_code == 0, result.output
    written = json.loads(Path("all.json").read_text())
    X, y = flowers.drop(columns="species").to_numpy(), flowers["species"].to_numpy(dtype=str)
    splits = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=7)
    machines = {
        ("mercer", "hinge", "rbf"): SVC(C=3.0),
        ("mercer", "squared_hinge", "rbf"): SVC(C=3.0, loss="squared_hinge"),
        ("scikit-learn", "hinge", "rbf"): svm.SVC(C=3.0),
        ("mercer", "hinge", "laplacian"): SVC(C=3.0, kernel="laplacian"),
        ("mercer", "squared_hinge", "laplacian"): SVC(
            C=3.0, kernel="laplacian", loss="squared_hinge"
        ),
    }
    rows = {(m["library"], m["loss"], m["kernel"]): m for m in written["models"]}
    assert set(rows) == set(machines)
    for key, machine in machines.items():
        steps = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), machine)
        errors = 1 - cross_val_score(steps, X, y, cv=splits)
        np.testing.assert_allclose(rows[key]["fold_errors"], errors, atol=1e-12)
        assert rows[key]["error_mean"] == pytest.approx(errors.mean())
        assert rows[key]["error_sd"] == pytest.approx(errors.std(ddof=1))
        assert 0 < rows[key]["support_vectors"] < len(X)
        assert rows[key]["fit_seconds"] > 0
    table = pd.read_csv("all.csv")
    assert len(table) == 5
    assert table["error_mean"].tolist() == [m["error_mean"] for m in written["models"]]
    assert written["classes"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert written["folds"] == 4


def test_table_summary_and_picture(run):
    result = run("moons", *QUICK)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "moons: 300 rows, 2 features, 2 classes (A 150, B 150)"
    assert sum("mercer" in line and "hinge" in line and "±" in line for line in lines) >= 2
    assert sum("scikit-learn" in line and "±" in line for line in lines) >= 1
    assert "Lowest error: " in result.stdout
    assert "Beside scikit-learn with the same loss and kernel (rbf)" in result.stdout
    assert Path("compare-moons.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "circles", "blobs", "breast_cancer"])
def test_every_named_set_is_there(name):
    from mercer.cli.tables import check_classes, load_table

    table = load_table(name)
    check_classes(table, 10)
    assert table.X.shape == (len(table.y), len(table.feature_names))
    assert np.isfinite(table.X).all()


def test_peer_losses_and_output_can_be_chosen(run):
    result = run("iris", *QUICK, "--no-peer", "--losses", "hinge", "--output", "mine.svg")
    assert result.exit_code == 0, result.output
    assert "scikit-learn" not in result.stdout
    assert "squared" not in result.stdout
    assert "<svg" in Path("mine.svg").read_text()
    assert not Path("compare-iris.png").exists()


def test_sigmoid_is_measured_on_request():
    chosen = candidates(["sigmoid", "laplacian"], ["hinge"])
    assert [(c.library, c.kernel) for c in chosen] == [
        ("mercer", "sigmoid"),
        ("scikit-learn", "sigmoid"),
        ("mercer", "laplacian"),
    ]
    X, y = load_iris(return_X_y=True)
    done = list(measure(X, y, chosen, folds=3))
    assert [m.candidate for m in done] == [0, 1, 2] * 3
    by_candidate = {index: [m.error for m in done if m.candidate == index] for index in range(3)}
    np.testing.assert_allclose(by_candidate[0], by_candidate[1], atol=0.041)


# ---- what is said about them ----------------------------------------------------------------


def made_up(errors, seconds, chosen=None):
    chosen = chosen or [Candidate("mercer", "hinge", k) for k in ("rbf", "poly", "linear")]
    errors = np.asarray(errors, dtype=float)
    seconds = np.full(errors.shape, np.asarray(seconds, dtype=float)[:, None])
    return Comparison(chosen[: len(errors)], errors, seconds, np.ones(errors.shape), 0.25)


def test_summary_weighs_differences_against_their_uncertainty():
    steady = np.array([0.10, 0.11, 0.09, 0.10, 0.10])
    wild = steady + np.array([0.2, -0.15, 0.2, -0.15, 0.0])
    words = summarize(made_up([steady, steady + 0.2, wild], [1, 1, 1]), 1)
    assert words[0] == "Lowest error: mercer rbf kernel, hinge loss, 10.0 % ± 0.7 over 5 folds."
    assert words[1].startswith("1 other one is not worse")
    assert words[1].endswith("1 clearly worse.")
    assert summarize(made_up([steady, steady + 0.2], [1, 1]), 1)[1].startswith("Every other one is")
    assert summarize(made_up([steady, steady], [1, 1]), 1)[1].startswith("No other one is worse")
    assert "One fold cannot tell" in summarize(made_up([[0.1], [0.2]], [1, 1]), 1)[1]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [([1, 4], "4 times as fast"), ([3, 1], "3 times slower"), ([1.01, 1], "fits are as fast")],
)
def test_summary_is_honest_about_speed(seconds, words):
    chosen = [Candidate("mercer", "hinge", "rbf"), Candidate("scikit-learn", "hinge", "rbf")]
    said = summarize(made_up([[0.1, 0.2], [0.1, 0.25]], seconds, chosen), 2)[-1]
    assert words in said
    assert "differ by at most 2.5 points" in said
    assert "2 threads against 1" in said


def test_a_machine_without_a_solution_does_not_end_the_comparison(run, monkeypatch):
    class Hopeless(SVC):
        def fit(self, X, y):
            raise ValueError("There is no solution.")

    original = Candidate.build

    def build(self, *arguments):
        return Hopeless() if self.loss == "hinge" else original(self, *arguments)

    monkeypatch.setattr(Candidate, "build", build)
    result = run("moons", *QUICK, "--no-peer", "--json", "all.json")
    assert result.exit_code == 0, result.output
    assert "mercer rbf kernel, hinge loss: There is no solution." in result.stderr
    failed, fine = json.loads(Path("all.json").read_text())["models"]
    assert failed["error_mean"] is None
    assert fine["error_mean"] < 0.3
    assert "Lowest error: mercer rbf kernel, squared hinge loss" in result.stdout
    hopeless = run("moons", *QUICK, "--no-peer", "--losses", "hinge")
    assert hopeless.exit_code == 2
    assert "None could be fitted; mercer rbf kernel, hinge loss: There is no solution." in (
        hopeless.stderr
    )


# ---- stopping -------------------------------------------------------------------------------


def interrupted_measure(after):
    original = comparisons.measure

    def measure(*arguments, **options):
        for count, measurement in enumerate(original(*arguments, **options)):
            if count == after:
                raise KeyboardInterrupt
            yield measurement

    return measure


@pytest.mark.parametrize(
    ("after", "folds", "models"), [(7, 2, 3), (2, 1, 2)], ids=["in a later fold", "in the first"]
)
def test_ctrl_c_shows_what_was_finished(run, monkeypatch, after, folds, models):
    monkeypatch.setattr(comparisons, "measure", interrupted_measure(after))
    result = run("moons", *QUICK, "--json", "all.json")
    assert result.exit_code == 130
    assert f"stopped; the table is made of {folds} of 3 folds." in result.stderr
    written = json.loads(Path("all.json").read_text())["models"]
    assert len(written) == models
    assert all(len(model["fold_errors"]) == folds for model in written)
    assert Path("compare-moons.png").exists()


def test_ctrl_c_before_anything_was_finished(run, monkeypatch):
    monkeypatch.setattr(comparisons, "measure", interrupted_measure(0))
    result = run("moons", *QUICK)
    assert result.exit_code == 130
    assert "stopped before anything was finished" in result.stderr
    assert "Traceback" not in result.output
    assert not Path("compare-moons.png").exists()


def test_only_whole_folds_count():
    chosen = candidates(["rbf"])
    done = [Measurement(k % 3, k // 3, 0.1 * k, 1.0, 5, "") for k in range(8)]
    comparison = Comparison.from_measurements(chosen, done, 5)
    np.testing.assert_allclose(comparison.errors, [[0.0, 0.3], [0.1, 0.4], [0.2, 0.5]])
    assert Comparison.from_measurements(chosen, [], 5) is None


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently on Windows")
def test_a_real_ctrl_c_ends_cleanly(tmp_path):
    command = [sys.executable, "-m", "mercer.cli", "compare", "digits", "--repeats", "200"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True
    )
    assert process.stdout.readline().startswith("digits: 1797 rows")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "stopped" in errors


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
    for option in ("--target", "--kernels", "--losses", "--folds", "--output", "--no-peer"):
        assert option in done.stdout


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.stdout.strip() == f"mercer {mercer.__version__}"


def test_says_how_to_get_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit) as end:
        mercer.cli.main()
    assert end.value.code == 2
    assert "needs rich; run pip install 'mercer[app]'." in capsys.readouterr().err
