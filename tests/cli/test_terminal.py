"""How the commands look: widths, colours, progress, help, completion."""

import io
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("skrub")
pytest.importorskip("skops")

from rich.console import Console
from typer.testing import CliRunner

from mercer.cli import _screen
from mercer.cli.app import app


def test_help_lists_the_models():
    from mercer.cli._options import MODEL_NAMES
    from mercer.comparison.rivals import BASELINE, CLASSIFIERS, REGRESSIONS

    for task, rivals in (("classification", CLASSIFIERS), ("regression", REGRESSIONS)):
        assert MODEL_NAMES[task].split(", ") == [r.name for r in rivals if r.name != BASELINE]


COMMANDS = ("compare", "fit", "predict", "tune", "select", "describe", "info", "study", "versions")
LONG = "a_column_whose_name_is_rather_long_for_a_window"


def check_width(text, width):
    """See that no line of a table is too long, and that none was cut to make it fit."""
    lines = [line for line in text.splitlines() if line.startswith(" ")]
    assert lines
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line.rstrip().endswith("…") and set(line) - set("… ")]
    rest = LONG  # a name may be broken between lines, but all of it is there
    for piece in re.findall(r"[a-z_]+", text):
        rest = rest.removeprefix(piece)
    assert rest == "", text


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_that_matters_is_cut(mercer, csv_file, patients, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    frame = patients.drop(columns=["cost", "town"]).rename(columns={"dose": LONG})
    path = csv_file(frame)
    check_width(mercer("info", path).stdout, width)
    check_width(mercer("describe", path, "--drop", "outcome", "--rows", 4).stdout, width)
    if width > 60:
        return
    options = ("--target", "outcome", "--folds", 2, "--kernel", "linear")
    check_width(mercer("select", path, *options).stdout, width)
    text = mercer("fit", path, "--target", "outcome", "--model", "lda", "--folds", 2).stdout
    assert "over 2 folds (largest class: " in text
    text = mercer("predict", "table.mercer", path).stdout
    assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= width
    assert "with a known 'outcome' predicted wrongly" in text


def test_no_colours_where_they_are_not_wanted(mercer, csv_file, patients, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "")
    assert "\x1b[3" not in mercer("info", csv_file(patients)).output


def told(terminal, steps, minutes=None):
    side = Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False)
    with _screen.progress(side, minutes) as show:
        for step in steps:
            show(*step)
    return side.file.getvalue()


def test_progress_with_the_time_left(monkeypatch):
    monkeypatch.setattr(_screen, "PAUSE", 0.0)
    clock = iter([0.0, *[30.0] * 3, *[160.0] * 3])
    monkeypatch.setattr(_screen.time, "monotonic", lambda: next(clock))
    steps = [(2, 4, "by its pace"), (2, 4, "by the minutes")]
    assert told(False, steps, minutes=3.0).splitlines() == [
        "2 of 4 done, by its pace, about 30 s left",
        "2 of 4 done, by the minutes, about 20 s left",
    ]
    monkeypatch.undo()
    monkeypatch.setattr(_screen, "PAUSE", 0.0)
    assert told(False, [(0, 4, "first")], minutes=3.0).strip() == (
        "0 of 4 done, first, about 3 min left"
    )
    assert re.fullmatch(r"2 of 4 done, b, about \d+ s left", told(False, [(2, 4, "b")]).strip())
    assert told(False, [(0, 0, "a width")]).strip() == "a width"
    assert "second, about" in told(True, [(1, 4, "first"), (2, 4, "second")])


def test_lines_are_rare_where_there_is_no_window():
    assert told(False, [(1, 4, "first"), (2, 4, "second")]) == ""


def test_what_estimators_print_is_progress():
    steps = []
    with _screen.told_by_lines(lambda *step: steps.append(step)):
        print("KernelRFECV: fold 2 of 5 ranked and scored")
        print("OneClassSearch: sigma = 1.5")
    assert steps == [(2, 5, "fold 2 of 5 ranked and scored"), (2, 5, "sigma = 1.5")]


# ---- help and completion --------------------------------------------------------------------


def test_help_names_all_commands_and_exit_codes(mercer, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = mercer("--help").stdout
    for name in COMMANDS:
        assert f"│ {name} " in text
    squeezed = " ".join(text.split())
    for code in ("0 done", "1 something outside failed", "2 what was given", "130 stopped"):
        assert code in squeezed
    assert "--install-completion" in text


@pytest.mark.parametrize("name", ["fit", "tune", "select"])
def test_commands_that_learn_read_tables_alike(mercer, name):
    own = set(re.findall(r"--[a-z-]+", mercer(name, "--help").stdout))
    read = {"--target", "--task", "--positive", "--groups", "--time", "--drop", "--categorical"}
    assert read | {"--encoding", "--separator", "--header", "--no-header", "--seed"} <= own


def test_completion_in_bash():
    def completed(words):
        last = str(len(words.split()) - 1)
        asked = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": last}
        return CliRunner().invoke(app, [], env=asked, prog_name="mercer").stdout.split()

    assert completed("mercer pre") == ["predict"]
    assert completed("mercer fit --ta") == ["--target", "--task"]
    assert completed("mercer tune --search g") == ["gradient", "grid"]


def test_completion_can_be_shown(mercer, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    text = mercer("--show-completion").stdout
    assert "_MERCER_COMPLETE=complete_bash" in text
    assert "complete -o default -F" in text


EVIL = "\x1b[31mred\x1b]0;title\x07\x9b5m\u202e"


COMMANDS_ON_TABLES = ("compare", "fit", "tune", "select", "describe", "info", "convert")


@pytest.mark.parametrize("name", COMMANDS_ON_TABLES)
def test_names_in_data_do_not_steer_the_terminal(mercer, csv_file, name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"a{EVIL}": rng.normal(size=40), "b": rng.normal(size=40)})
    frame[f"y{EVIL}"] = np.where(frame["b"] > 0, f"yes{EVIL}", "no")
    path = csv_file(frame, "evil.csv")
    arguments = {"compare": ("--models", "tree"), "convert": ("evil.svm",)}.get(name, ())
    target = () if name in ("describe", "info") else ("--target", f"y{EVIL}")
    result = mercer(name, path, *arguments, *target)
    assert result.exit_code == 0, result.output
    assert not set(result.output) & set("\x1b\x07\x9b\u202e")
    assert f"y{EVIL}" in path.read_text()


def test_names_on_the_command_line_do_not_steer_it_either(mercer, csv_file, flowers):
    for wrong in (("--target", EVIL), ("--target", "species", "--positive", EVIL)):
        result = mercer("fit", csv_file(flowers), *wrong)
        assert result.exit_code == 2
        assert not set(result.output) & set("\x1b\x07\x9b\u202e")
