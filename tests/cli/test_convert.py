"""`mercer convert`: models and tables for other programs, and back."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("typer")
pytest.importorskip("skrub")

from typer.testing import CliRunner

import mercer
from mercer.cli.app import app

X, y = load_iris(return_X_y=True)


@pytest.fixture
def convert(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["convert", *map(str, arguments)])

    return run


def test_models_there_and_back(convert):
    pytest.importorskip("skops")
    model = mercer.SVC(C=10.0, probability=True).fit(X, y)
    mercer.save(model, "iris.mercer")
    for source, destination in (("iris.mercer", "iris.model"), ("iris.model", "again.mercer")):
        result = convert(source, destination)
        assert result.exit_code == 0, result.output
        assert f"Written: {destination}" in result.output
    again = mercer.load("again.mercer")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_models_for_places_without_python(convert, tmp_path):
    mercer.to_libsvm(mercer.SVC(C=10.0).fit(X, y), "iris.model")
    assert convert("iris.model", "iris.c", "--features", 6).exit_code == 0
    assert "x holds the 6 features" in (tmp_path / "iris.c").read_text()
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    for options, kind in (((), np.float32), (("--double",), np.float64)):
        result = convert("iris.model", "iris.onnx", *options)
        assert result.exit_code == 0, result.output
        session = onnxruntime.InferenceSession(tmp_path / "iris.onnx")
        labels = session.run(None, {"X": X.astype(kind)})[0]
        np.testing.assert_array_equal(labels, mercer.from_libsvm("iris.model").predict(X))


def test_models_of_the_terminal(convert, tmp_path):
    from sklearn.pipeline import Pipeline

    from mercer.tables import TableModel, named_table, vectorizer

    table = named_table("wine")
    for name, scaler in (("scaled", StandardScaler()), ("plain", "passthrough")):
        steps = [("vectorizer", vectorizer(table)), ("scaler", scaler), ("model", mercer.SVC())]
        whole = TableModel.of(
            Pipeline(steps).fit(table.frame, np.unique(table.target, return_inverse=True)[1]), table
        )
        mercer.save(whole, f"{name}.mercer")
    result = convert("scaled.mercer", "scaled.c")
    assert result.exit_code == 0, result.output
    assert "in the order 'alcohol', 'malic_acid'" in result.stderr
    assert "x[0]: 'alcohol'" in (tmp_path / "scaled.c").read_text()
    result = convert("scaled.mercer", "scaled.model")
    assert (result.exit_code, "no place for the scaling" in result.stderr) == (2, True)
    result = convert("plain.mercer", "plain.model")
    assert (result.exit_code, "gaps are not filled" in result.stderr) == (0, True)
    again = mercer.from_libsvm("plain.model").predict(table.frame.to_numpy())
    np.testing.assert_array_equal(again, whole.predict(table.frame))


def test_models_of_words_are_refused_before_onnx_is_asked_for(convert, patients, monkeypatch):
    from sklearn.pipeline import Pipeline

    from mercer.tables import TableModel, as_table, vectorizer

    table = as_table(patients.drop(columns=["patient_id", "age", "outcome"]), patients["outcome"])
    steps = [("vectorizer", vectorizer(table)), ("model", mercer.SVC())]
    model = Pipeline(steps).fit(table.frame, table.target)
    mercer.save(TableModel.of(model, table), "words.mercer")
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    for ending in (".onnx", ".c", ".model"):
        result = convert("words.mercer", f"out{ending}")
        assert result.exit_code == 2
        assert "words or dates in the column 'town'; mercer predict serves" in result.stderr


def test_tables_there_and_back(convert, csv_file, flowers):
    path = csv_file(flowers)
    result = convert(path, "flowers.svm", "--target", "species")
    assert result.exit_code == 0, result.output
    assert "0 is setosa; 1 is versicolor; 2 is virginica" in result.output
    assert "4 columns taken ('sepal_length', " in result.output
    assert "'petal_width'), the target is 'species'." in result.output
    points, labels = load_svmlight_file("flowers.svm", zero_based=False)
    np.testing.assert_allclose(points.toarray(), X, rtol=1e-12)
    np.testing.assert_array_equal(labels, y)
    assert convert("flowers.svm", "back.csv").exit_code == 0
    frame = pd.read_csv("back.csv")
    np.testing.assert_allclose(frame.iloc[:, :4], X, rtol=1e-12)
    np.testing.assert_array_equal(frame.iloc[:, 4], y)


def test_labels_that_are_numbers_stay(convert, csv_file):
    rng = np.random.default_rng(0)
    label = np.where(rng.normal(size=60) > 0, 7, -2)
    path = csv_file(pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": label}))
    assert convert(path, "numbers.svm", "--target", "c").exit_code == 0
    np.testing.assert_array_equal(load_svmlight_file("numbers.svm")[1], label)


def test_one_sentence_for_what_cannot_be(convert, csv_file, flowers, tmp_path):
    table = csv_file(flowers)
    mercer.to_libsvm(mercer.SVC().fit(X, y), "good.model")
    (tmp_path / "bad.model").write_bytes((tmp_path / "good.model").read_bytes()[:300])
    (tmp_path / "bad.mercer").write_text("nothing")
    mercer.save(make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y), "steps.mercer")
    before = {path.name for path in tmp_path.iterdir()}
    refused = {
        "There is no file": ("nothing.model", "out.c"),
        "same file": ("good.model", "good.model"),
        "is a model, and OUT must end in": ("good.model", "out.csv"),
        "is a table, and OUT must end in": (table, "out.onnx"),
        "no whole model file": ("bad.model", "out.mercer"),
        "bad.mercer": ("bad.mercer", "out.model"),
        "give the machine alone": ("steps.mercer", "out.model"),
        "cannot be written": ("good.model", "no/folder/out.c"),
        "at least 4": ("good.model", "out.c", "--features", "2"),
        "nothing_like_it": (table, "out.svm", "--target", "nothing_like_it"),
    }
    for words, arguments in refused.items():
        result = convert(*arguments)
        assert result.exit_code == 2, (words, result.output)
        assert words in result.stderr
        assert result.stderr.startswith("mercer convert: ")
        assert result.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == before
