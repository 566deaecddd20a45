"""Models whose parts contradict each other are neither saved nor loaded."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import mercer
from mercer.discriminant import AlphaLMS, LinearPerceptron, PseudoInverseClassifier
from mercer.persistence import ModelFileError

pytest.importorskip("skops")

CLASSIFIERS = [
    mercer.SVC(),
    mercer.SVC(multi_class="ovr"),
    mercer.RVC(),
    mercer.KernelPerceptron(random_state=0),
    mercer.NearestHypersphereClassifier(),
    AlphaLMS(),
    LinearPerceptron(max_iter=50),
    PseudoInverseClassifier(),
]
SCALERS = [StandardScaler(), MinMaxScaler(), RobustScaler()]


def refused(model: Any, change: dict[str, Any], path: Path, monkeypatch: Any) -> None:
    """See that a changed model is refused at saving, and at loading where it was saved."""
    wrong = copy.copy(model)
    vars(wrong).update(change)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        mercer.save(wrong, path)
    with monkeypatch.context() as patch:
        patch.setattr("mercer.persistence.saving.check_sound", lambda parts: None)
        mercer.save(wrong, path)
    with pytest.raises(ModelFileError, match="is refused"):
        mercer.load(path)


@pytest.mark.filterwarnings("ignore:The classes were not separated", "ignore:The perceptron still")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classes(model: Any, n_classes: int, tmp_path: Path, monkeypatch: Any) -> None:
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y < n_classes)[::8]
    model.fit(X[rows], np.array(["a", "b", "c"], dtype=object)[y[rows]])
    mercer.save(model, tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    classes = model.classes_
    for wrong in (classes[:-1], classes[:0], np.append(classes, "d"), classes[[0] * n_classes]):
        refused(model, {"classes_": wrong}, tmp_path / "file", monkeypatch)


def test_types_of_numbers(tmp_path: Path, monkeypatch: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = mercer.SVC().fit(X[::5], y[::5])
    for change in (
        {"intercept_": model.intercept_.astype("datetime64[s]")},
        {"intercept_": model.intercept_.astype(str)},
        {"support_vectors_": model.support_vectors_.astype(np.float32)},
        {"dual_coef_": model.dual_coef_.astype(complex)},
    ):
        refused(model, change, tmp_path / "file", monkeypatch)


def test_columns_and_kernels(tmp_path: Path, monkeypatch: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = mercer.SVC().fit(X[::5], y[::5])
    kernel = mercer.kernels.Linear() + mercer.kernels.RBF(np.nan)
    for change in (
        *({"n_features_in_": wrong} for wrong in (0, -1, 4.0, True, None, "x")),
        *({"kernel_": mercer.kernels.RBF(wrong)} for wrong in (0.0, -1.0, np.nan, np.inf, None)),
        {"kernel_": kernel},
        {"kernel_": mercer.kernels.Polynomial(degree=-1, gamma=1.0)},
    ):
        refused(model, change, tmp_path / "file", monkeypatch)


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_scalers(scaler: Any, tmp_path: Path, monkeypatch: Any) -> None:
    scaler.fit(load_iris().data)
    for length in (0, 3):
        refused(scaler, {"scale_": scaler.scale_[:length]}, tmp_path / "file", monkeypatch)
    refused(scaler, {"scale_": scaler.scale_.astype(str)}, tmp_path / "file", monkeypatch)
