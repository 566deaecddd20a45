"""Models of tables of numbers for other programs: gaps, scales and targets in their units."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
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
