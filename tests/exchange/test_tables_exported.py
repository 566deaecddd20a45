"""Models of tables of numbers for other programs: gaps, scales and targets in their units."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("pandas")
pytest.importorskip("skrub")

import mercer
from mercer.discriminant import MinimumCostClassifier
from mercer.tables import TableModel, named_table, vectorizer


def of_table(name, machine):
    """Return a model as `mercer fit` makes it, and rows with gaps."""
    table = named_table(name)
    frame = table.frame.copy()
    frame.iloc[::5, 1] = np.nan
    steps = [("vectorizer", vectorizer(table)), ("scaler", StandardScaler()), ("model", machine)]
    return TableModel.of(Pipeline(steps).fit(frame, table.target), table), frame[:60]


MACHINES = {
    "classes": ("breast_cancer", mercer.SVC(C=3.0, gamma=0.03)),
    "numbers": (
        "diabetes",
        TransformedTargetRegressor(mercer.SVR(gamma=0.03), transformer=StandardScaler()),
    ),
}


@pytest.mark.parametrize("kind", MACHINES)
def test_c_fills_gaps_alike(kind, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    model, frame = of_table(*MACHINES[kind])
    (tmp_path / "model.c").write_text(mercer.to_c(model))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command = ["cc", *flags, "-o", tmp_path / "model.so", tmp_path / "model.c", "-lm"]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(tmp_path / "model.so").mercer_predict
    place, values, rows = ctypes.c_void_p, np.zeros(1), np.ascontiguousarray(frame)
    if kind == "numbers":
        function.restype = ctypes.c_double
        said = [function(place(row.ctypes.data)) for row in rows]
        np.testing.assert_allclose(said, model.predict(frame), rtol=1e-10)
        return
    said = [function(place(row.ctypes.data), place(values.ctypes.data)) for row in rows]
    np.testing.assert_array_equal(model.classes_[said], model.predict(frame))


@pytest.mark.parametrize("kind", MACHINES)
def test_onnx_fills_gaps_alike(kind):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    model, frame = of_table(*MACHINES[kind])
    graph = mercer.to_onnx(model, frame)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    said = session.run(None, {"X": frame.to_numpy()})[0].ravel()
    if kind == "numbers":
        np.testing.assert_allclose(said, model.predict(frame), rtol=1e-10)
    else:
        np.testing.assert_array_equal(said, model.predict(frame))


@pytest.mark.parametrize("scaled", [np.float32, np.float64])
def test_onnx_without_constant_columns(scaled):
    """The graph takes arrays and frames as the model does."""
    import pandas as pd

    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    X, y = load_iris(return_X_y=True)
    whole = np.insert(X, [1, 3], 7.0, axis=1)
    few = {"models": "svc", "folds": 2, "repeats": 1}
    model = mercer.compare(whole, y, **few).best_
    assert model.feature_names_in_.tolist() == ["c1", "c3", "c4", "c6"]
    of_rows = whole.astype(scaled)
    of_rows[::7, [0, 1, 5]] = np.nan
    graph = mercer.to_onnx(model, of_rows)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    said = session.run(None, {"X": of_rows})[0]
    np.testing.assert_array_equal(said, model.predict(of_rows))

    frame = pd.DataFrame(whole, columns=list("abcdef"))
    model = mercer.compare(frame, y, **few).best_
    chosen = frame[list("acdf")].to_numpy()
    for rows in (frame, chosen):
        session = onnxruntime.InferenceSession(mercer.to_onnx(model, rows).SerializeToString())
        np.testing.assert_array_equal(session.run(None, {"X": chosen})[0], model.predict(frame))
    with pytest.raises(ValueError, match=r"the 4 columns of the fit \('a', 'c', 'd', 'f'\).*got 6"):
        mercer.to_onnx(model, whole)


def test_one_sentence_before_anything_is_asked_for(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    model, frame = of_table("breast_cancer", MinimumCostClassifier(mercer.SVC(probability=True)))
    with pytest.raises(ValueError, match="no converter"):
        mercer.to_onnx(model, frame)
    scaled = TransformedTargetRegressor(mercer.RVR(), transformer=StandardScaler())
    with pytest.raises(ValueError, match="no converter"):
        mercer.to_onnx(of_table("diabetes", scaled)[0], frame)
    with pytest.raises(TypeError, match=r"some rows of the data.*got 'p.onnx'"):
        mercer.to_onnx(model, "p.onnx")
