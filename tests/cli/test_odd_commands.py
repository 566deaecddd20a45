"""Odd input of the commands: one sentence and an exit code, no traceback, no file, no change."""

import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("skrub")

import mercer as library
from mercer.tables import TableModel, as_table, vectorizer

LEARNING = {"fit": (), "tune": (), "select": ()}
READING = (*LEARNING, "describe", "info")
FILES = {
    "fit": ("--save", ".mercer"),
    "predict": ("--out", ".csv"),
    "tune": ("--save", ".mercer"),
    "select": ("--out", ".csv"),
    "describe": ("--picture", ".png"),
    "compare": ("--save", ".mercer"),
}


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """A folder with a table, a model of it and things that are neither."""
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    folder = tmp_path_factory.mktemp("things")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": ["u", "v", "w"] * 10})
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv(folder / "table.csv", index=False)
    table = as_table(frame, target="y")
    tree = make_pipeline(vectorizer(table), DecisionTreeClassifier(random_state=0))
    model = TableModel.of(tree.fit(table.frame, table.target), table)
    library.save(model, folder / "model.mercer")
    saved = (folder / "model.mercer").read_bytes()
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b,y\n")
    (folder / "pickled.mercer").write_bytes(pickle.dumps({"a": 1}))
    (folder / "pickle.csv").write_bytes(pickle.dumps({"a": 1}))
    (folder / "text.mercer").write_bytes((folder / "table.csv").read_bytes())
    (folder / "other.csv").write_bytes(saved)
    (folder / "cut.mercer").write_bytes(saved[:-100])
    with zipfile.ZipFile(folder / "zip.mercer", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    (folder / "folder").mkdir()
    (folder / "folder.mercer").mkdir()
    return folder


@pytest.fixture
def place(mercer, things, tmp_path):
    """A copy of these things to work in."""
    shutil.copytree(things, tmp_path, dirs_exist_ok=True)


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def refused(mercer, place):
    """Run a command that must refuse, and check how it does."""

    def check(part, *arguments, code=2):
        before = contents()
        result = mercer(*arguments)
        assert result.exit_code == code, (arguments, result.output)
        assert "Traceback" not in result.output
        assert isinstance(result.exception, SystemExit)
        sentence = result.stderr.strip().splitlines()[-1]
        assert sentence.startswith(f"mercer {arguments[0]}: "), result.output
        assert sentence.endswith((".", "?")), sentence
        assert len(sentence) < 400
        assert part in sentence, sentence
        assert contents() == before, arguments
        return True

    return check


@pytest.mark.parametrize("command", READING)
def test_what_is_no_table(refused, command):
    target = ("--target", "y") if command in LEARNING else ()
    assert refused("There is no file", command, "nowhere.csv", *target)
    assert refused("empty", command, "empty.csv", *target)
    assert refused("rows", command, "header.csv", *target)
    Path("blank.csv").write_text("a,b,y\n" + ",,\n" * 9)
    assert refused("no rows with values", command, "blank.csv", *target)
    assert refused("folder", command, "folder", *target)
    assert refused("did you mean 'iris'?", command, "iriz", *target)
    assert refused("a pickle", command, "pickle.csv", *target)
    if command != "info":  # which finds out that it is a model
        assert refused("is a model, not a table", command, "other.csv", *target)
    assert refused("There is no column 'q'", command, "table.csv", *target, "--drop", "q")
    assert refused("no encoding 'klingon'", command, "table.csv", *target, "--encoding", "klingon")
    assert refused("is for files", command, "iris", "--drop", "a")
    assert refused("is for files", command, "iris", "--no-header")


@pytest.mark.parametrize("command", LEARNING)
def test_what_cannot_be_learned(refused, command):
    assert refused("target", command, "table.csv")
    assert refused("did you mean", command, "table.csv", "--target", "yy")
    assert refused(
        "Regression needs numbers", command, "table.csv", "--target", "y", "--task", "regression"
    )
    assert refused(
        "did you mean 'regression'", command, "table.csv", "--target", "y", "--task", "regresion"
    )
    assert refused(
        "There is no class", command, "table.csv", "--target", "y", "--positive", "maybe"
    )
    assert refused("left to learn from", command, "table.csv", "--target", "y", "--drop", "a,b")
    Path("one.csv").write_text("a,y\n1,x\n2,x\n3,x\n")
    assert refused("two classes", command, "one.csv", "--target", "y")


def test_what_is_asked_of_single_commands(refused):
    fit = ("fit", "table.csv", "--target", "y")
    assert refused("did you mean 'forest'?", *fit, "--model", "forst")
    assert refused("There is no model 'svr' for classification", *fit, "--model", "svr")
    assert refused(
        "'svr' is one for regression, which task='regression' (--task", *fit, "--model", "svr"
    )
    assert refused("One model", *fit, "--model", "lda,tree")
    assert refused("There is no model 'xxx", *fit, "--model", "x" * 3000)
    assert refused("There is no column '²'", "fit", "table.csv", "--target", "²")
    assert refused("minutes", *fit, "--minutes", 0)
    assert refused("only 4", "select", "table.csv", "--target", "y", "--features", 9)
    assert refused("only one feature", "select", "table.csv", "--target", "y", "--drop", "b")
    assert refused("for classes", "tune", "diabetes", "--search", "gradient")
    Path("three.csv").write_text("a,b\n1,2\n2,1\n3,7\n")
    assert refused("at least 5 rows", "describe", "three.csv")
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 9)
    assert refused("differs between rows", "describe", "same.csv")


def test_models_that_are_none(refused):
    for name in ("text.mercer", "pickled.mercer", "cut.mercer", "zip.mercer", "empty.csv"):
        part = "looks like a pickle" if name == "pickled.mercer" else "is no model that mercer.save"
        assert refused(part, "predict", name, "table.csv")
        if name.endswith(".mercer"):
            assert refused(part, "info", name)
    assert refused("nowhere.mercer", "predict", "nowhere.mercer", "table.csv")
    assert refused("nowhere.mercer", "info", "nowhere.mercer")
    assert refused("folder.mercer", "predict", "folder.mercer", "table.csv")
    assert refused("folder.mercer", "info", "folder.mercer")
    assert refused("The model comes first", "predict", "table.csv", "model.mercer")


def test_new_rows_that_do_not_fit(refused):
    predict = ("predict", "model.mercer")
    assert refused("There is no file", *predict, "nowhere.csv")
    assert refused("empty", *predict, "empty.csv")
    assert refused("rows", *predict, "header.csv")
    assert refused("folder", *predict, "folder")
    assert refused("is a model, not a table", *predict, "model.mercer")
    Path("lacking.csv").write_text("a,y\n1,no\n")
    assert refused("lacks the column 'b'", *predict, "lacking.csv")
    Path("spelled.csv").write_text("A,b\n1,u\n")
    assert refused("did you mean 'A'?", *predict, "spelled.csv")
    Path("other.csv").write_text("x;z\n1;2\n")
    assert refused("lacks the columns 'a', 'b'", *predict, "other.csv")


def test_rows_with_nothing_known_are_predicted_all_the_same(mercer, place):
    Path("new.csv").write_text("a,b\nmuch,Ж\n,\n?,u\n")
    result = mercer("predict", "model.mercer", "new.csv")
    assert result.exit_code == 0, result.output
    assert "'much' is no number" in result.stderr
    assert pd.read_csv("predictions-new.csv")["prediction"].isin(["yes", "no"]).all()


@pytest.mark.parametrize("command", FILES)
def test_places_are_checked_before_the_work(refused, monkeypatch, command):
    def never(*arguments, **options):
        raise AssertionError("the work began")

    monkeypatch.setattr("mercer.tables.read_table", never)
    monkeypatch.setattr("mercer.tables.read_unlabelled", never)
    monkeypatch.setattr("mercer.tables.read_new_rows", never)
    option, ending = FILES[command]
    data = ("model.mercer", "table.csv") if command == "predict" else ("table.csv",)
    call = (command, *data, option)
    assert refused("there is no folder", *call, f"no/such/place{ending}")
    assert refused(f"{option} must end in", *call, "place.doc")
    Path(f"taken{ending}").mkdir()
    assert refused("is a folder", *call, f"taken{ending}")
    if os.path.isdir("/proc/self"):
        assert refused("cannot be written", *call, f"/proc/nothing{ending}")
    if ending == ".csv":
        assert refused("the same file as the input", *call, "table.csv")
    Path("link" + ending).symlink_to("table.csv")
    assert refused("the same file as the input", *call, "link" + ending)


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_models_and_numbers_are_checked_before_the_table_is_read(refused, monkeypatch, command):
    def never(*arguments, **options):
        raise AssertionError("the table was read")

    monkeypatch.setattr("mercer.tables.read_table", never)
    option = "--model" if command == "fit" else "--models"
    call = (command, "table.csv", "--target", "y")
    assert refused("did you mean 'forest'?", *call, option, "forst")
    assert refused("minutes must be a number above 0", *call, "--minutes", "nan")


def test_a_model_is_replaced_only_where_it_is_named(refused, mercer):
    Path("table.mercer").write_text("an older model")
    fit = ("fit", "table.csv", "--target", "y", "--model", "lda", "--folds", 2)
    assert refused("--save table.mercer replaces it", *fit)
    assert Path("table.mercer").read_text() == "an older model"
    assert mercer(*fit, "--save", "table.mercer").exit_code == 0
    predict = ("predict", "table.mercer", "table.csv")
    older = "is there already; the result will replace it."
    assert older not in mercer(*predict).stderr
    assert f"predictions-table.csv {older}" in mercer(*predict).stderr
    assert older not in mercer(*predict, "--out", "predictions-table.csv").stderr


def test_two_outputs_need_two_places(refused):
    assert refused("must end in .csv", "tune", "iris", "--csv", "a.png")
    Path("b.csv").symlink_to("a.csv")
    assert refused("same file as --csv", "compare", "iris", "--csv", "a.csv", "--json", "b.csv")


@pytest.mark.parametrize("command", ["fit", "predict", "describe"])
def test_a_disk_that_fills_up(refused, monkeypatch, command):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mercer.persistence.saving.written_whole", full)
    monkeypatch.setattr("mercer._files.written_whole", full)
    call = {
        "fit": ("table.csv", "--target", "y", "--model", "lda", "--folds", 2),
        "predict": ("model.mercer", "table.csv"),
        "describe": ("table.csv", "--drop", "y"),
    }[command]
    place = {"fit": "table.mercer", "predict": "predictions-table.csv"}
    file = place.get(command, "describe-table.csv")
    assert refused(f"No space left on device: {file}.", command, *call, code=1)


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("fit", "mercer.comparison.race.Race._fit"),
        ("tune", "mercer.comparison.race.Race._fit"),
        ("select", "mercer.feature_selection.kernel_rfe.KernelRFE.fit"),
        ("describe", "mercer.spheres.svdd.SVDD.fit"),
        ("predict", "sklearn.tree.DecisionTreeClassifier.predict"),
    ],
)
def test_ctrl_c(refused, monkeypatch, command, inside):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(inside, stop)
    data = ("model.mercer",) if command == "predict" else ()
    target = ("--target", "y", "--folds", 2) if command in LEARNING else ()
    said = "stopped before anything was finished; nothing was written."
    assert refused(said, command, *data, "table.csv", *target, code=130)


def test_ctrl_c_that_was_lost_on_the_way(refused, monkeypatch):
    from mercer.cli import _options

    def lose(*arguments, **options):
        _options._INTERRUPTS[0].append(2)  # as where C code has swallowed the exception
        return original(*arguments, **options)

    original = library.SVDD.fit
    monkeypatch.setattr(library.SVDD, "fit", lose)
    assert refused("nothing was written", "describe", "table.csv", code=130)


def test_what_nobody_thought_of(refused, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("mercer.tables.read_unlabelled", fail)
    said = "it could not be done (RuntimeError: first line)."
    assert refused(said, "info", "table.csv", code=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("command", [*READING, "predict"])
def test_a_pipe_is_not_waited_for(command, things, mercer, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    given = {"predict": (things / "model.mercer",)}.get(command, ())
    target = ("--target", "y") if command in LEARNING else ()
    result = mercer(command, *given, "pipe.csv", *target)
    assert result.exit_code == 2
    assert "'pipe.csv' is not an ordinary file." in result.stderr


def test_columns_named_as_those_of_the_answer(mercer, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(40, 4))
    names = ["row", "distance", "unusual", "[/]"]
    pd.DataFrame(values, columns=names).to_csv("t.csv", index=False)
    result = mercer("describe", "t.csv", "--out", "found.csv")
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv("found.csv")
    theirs = [*(f"{name} (column)" for name in names[:3]), "[/]"]
    assert list(found.columns) == ["row", "distance", "unusual", *theirs]
    order = found["row"].to_numpy() - 1
    np.testing.assert_allclose(found[theirs].to_numpy(), values[order])
    assert "[/]" in mercer("info", "t.csv").stdout


def test_what_an_encoding_lacks_is_a_question_mark(things, tmp_path) -> None:
    (tmp_path / "t.csv").write_text("größe ±,y\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "mercer", "info", "t.csv"]
    shown = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "gr??e ?" in shown.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["--help", "versions"])
def test_help_on_a_full_disk(command) -> None:
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [sys.executable, "-m", "mercer", command], stdout=full, stderr=-1, text=True
        )
    assert told.returncode == 1
    assert told.stderr.splitlines() == ["mercer: No space left on device."]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_on_a_full_disk_is_one_sentence(things) -> None:
    command = [sys.executable, "-m", "mercer", "info", "table.csv"]
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, cwd=things, stdout=full, stderr=-1, text=True)
    assert told.returncode == 1
    assert told.stderr.splitlines() == ["mercer info: No space left on device."]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told_with_the_file_of_convert(mercer, place) -> None:
    Path("full.svm").symlink_to("/dev/full")
    result = mercer("convert", "table.csv", "full.svm", "--target", "y")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "mercer convert: No space left on device: full.svm."


@pytest.mark.parametrize("command", [*READING, "predict", "convert"])
def test_paths_that_can_be_none(refused, command):
    os.symlink("loop.csv", "loop.csv")
    target = ("--target", "y") if command in LEARNING else ()
    after = {"predict": ("table.csv",), "convert": ("out.svm",)}.get(command, ())
    sentence = "There is no file" if command in ("predict", "convert") else "is a link"
    assert refused(sentence, command, "loop.csv", *after, *target)
    assert refused("too long", command, "a" * 300 + ".csv", *after, *target)
    assert refused("File name too long: …", command, "a/" * 3000 + "a.csv", *after, *target)


def test_places_that_can_be_none(refused):
    os.symlink("loop.csv", "loop.csv")
    for command, (option, ending) in FILES.items():
        given = ("model.mercer",) if command == "predict" else ()
        target = ("--target", "y") if command in (*LEARNING, "compare") else ()
        call = (command, *given, "table.csv", *target, option)
        assert refused("is too long", *call, "a" * 250 + ending)
        assert refused("there is no folder", *call, f"loop.csv/b{ending}")
    convert = ("convert", "table.csv", "--target", "y")
    assert refused("a link that leads in a circle", *convert, "loop.csv")
    assert refused("is too long", *convert, "a" * 250 + ".csv")


@pytest.mark.parametrize("encoding", ["idna", "punycode", "unicode_escape", "rot13", "undefined"])
def test_encodings_in_which_no_file_is_written(refused, encoding):
    assert refused(f"no encoding '{encoding}'", "info", "table.csv", "--encoding", encoding)


def test_parquet_whose_text_is_none(refused):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    cells = pyarrow.array([b"p", b"q\xff\xfe"] * 20, type=pyarrow.binary())
    text = pyarrow.Array.from_buffers(pyarrow.string(), 40, cells.buffers())
    numbers = pyarrow.array(np.arange(40.0))
    parquet.write_table(pyarrow.table({"a": numbers, "y": text}), "bad.parquet")
    assert refused("is a damaged Parquet file", "info", "bad.parquet")
    assert refused("is a damaged Parquet file", "fit", "bad.parquet", "--target", "y")


def test_parquet_whose_values_pandas_cannot_hold(refused):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    years = pyarrow.array([2**30] * 40, pyarrow.date32())
    columns = {"a": np.arange(40.0), "born": years, "y": ["u", "v"] * 20}
    parquet.write_table(pyarrow.table(columns), "years.parquet")
    told = "Column 'born' of 'years.parquet' holds values of the kind date32[day]"
    assert refused(told, "info", "years.parquet")


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("describe", "--nu", "nan"),
        ("describe", "--seed", 2**32),
        ("compare", "--seed", 2**32),
        ("select", "--seed", 2**32),
        ("compare", "--repeats", 100_000),
    ],
)
def test_numbers_out_of_range(mercer, place, command, option, value):
    before = contents()
    target = () if command == "describe" else ("--target", "y")
    result = mercer(command, "table.csv", *target, option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
    assert contents() == before


def test_instructions_that_there_are_not(place):
    environment = {**os.environ, "MERCER_INSTRUCTION_SET": "avx9"}
    command = [sys.executable, "-m", "mercer", "compare", "table.csv", "--target", "y"]
    told = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert told.returncode == 2
    last = told.stderr.splitlines()[-1]
    assert last.startswith("mercer compare: MERCER_INSTRUCTION_SET is 'avx9', and this ")
    assert last.endswith(".")


@pytest.mark.parametrize("inside", ["mercer.cli.app.show_versions", "mercer.cli.app.app"])
def test_ctrl_c_before_a_command_has_begun(monkeypatch, capsys, inside):
    from mercer.cli import main

    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(inside, stop)
    monkeypatch.setattr(sys, "argv", ["mercer", "versions"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == "mercer: stopped."
