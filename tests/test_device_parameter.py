"""The parameter ``device`` of the estimators: where kernel values come from changes no result.

torch's CPU device stands in for a GPU, so that all this is tested where there is none.
"""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVDD,
    SVR,
    CellOneClassSVM,
    CellSVC,
    CellSVR,
    CrammerSingerSVC,
    GradientSearch,
    KernelRFE,
    NearestHypersphereClassifier,
    OneClassSVM,
    PathSearchCV,
    PlattClassifier,
)
from mercer.kernels import RBF, Laplacian, Polynomial

MACHINES = [SVC, SVR, OneClassSVM, SVDD, NearestHypersphereClassifier]
CASES = [
    (SVC, {"C": 3.0}),
    (SVC, {"C": 3.0, "loss": "squared_hinge", "class_weight": "balanced"}),
    (SVC, {"kernel": "poly", "coef0": 1.0, "multi_class": "ovr"}),
    (SVC, {"kernel": "linear"}),
    (SVC, {"kernel": "laplacian", "probability": True}),
    (SVR, {"C": 5.0}),
    (SVR, {"loss": "squared_epsilon_insensitive", "kernel": 2.0 * RBF(0.1)}),
    (OneClassSVM, {"nu": 0.2}),
    (SVDD, {"nu": 0.2}),
    (SVDD, {"nu": 0.2, "kernel": "poly"}),
    (NearestHypersphereClassifier, {"nu": 0.1, "cv": 2}),
]
IDS = [f"{kind.__name__}-{'-'.join(map(str, params.values()))}" for kind, params in CASES]


def rows(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes, numbered."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + np.stack([y, y == 1, 0 * y, -y], axis=1), y


@pytest.fixture
def torch_cpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every name but "cpu" mean torch's CPU device, and note who asked for one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    asked: list[str] = []

    def stand_in(device: str, n_rows: int) -> Any:
        if device == "cpu":
            return None
        asked.append(device)
        return torch.device("cpu")

    monkeypatch.setattr("mercer.gram.pairwise.device_for", stand_in)
    monkeypatch.setattr("mercer.gram.pairwise.nearest_device", stand_in)
    monkeypatch.setattr("mercer.feature_selection.kernel_rfe.device_for", stand_in)
    monkeypatch.setattr("mercer.gram.pairwise.DEVICE_ENTRIES", 1)
    return asked


@pytest.fixture
def solves_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small programs be solved on the device, too, which takes longer."""
    monkeypatch.setattr(sys.modules["mercer.solvers.solve"], "SMALL", 0)  # beside `solve`


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without torch."""
    monkeypatch.setitem(sys.modules, "torch", None)


def fitted(kind: Any, **params: Any) -> Any:
    X, y = rows()
    model = kind(**params)
    return model.fit(X) if kind in (OneClassSVM, SVDD) else model.fit(X, y)


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    names = ("decision_function", "predict", "predict_proba", "score_samples")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def assert_same(found: Any, expected: Any, X: Any, tolerance: float) -> None:
    """Equal answers, and equal attributes in kind, shape and value."""
    for name, values in answers(expected, X).items():
        np.testing.assert_allclose(
            answers(found, X)[name], values, rtol=0, atol=tolerance * abs(values).max()
        )
    assert vars(found).keys() == vars(expected).keys()
    for name, value in vars(expected).items():
        other = getattr(found, name)
        assert type(other) is type(value), name
        if isinstance(value, np.ndarray) and name not in ("n_iter_", "gap_"):
            assert other.dtype == value.dtype, name
        if name in ("objective_", "intercept_", "margin_", "radii_", "radius_"):
            np.testing.assert_allclose(other, value, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize(("kind", "params"), CASES, ids=IDS)
def test_fitted_on_a_device_a_machine_is_that_of_the_processor(
    kind: Any, params: Any, torch_cpu: list[str], solves_there: None
) -> None:
    new = np.random.default_rng(5).normal(size=(40, 4))
    tight = {**params, "tol": 1e-6}
    expected = fitted(kind, **tight)
    assert not torch_cpu
    found = fitted(kind, **tight, device="cuda:1")
    assert set(torch_cpu) == {"cuda:1"}
    assert found.converged_
    assert_same(found, expected, new, 1e-4)


@pytest.mark.parametrize("kind", MACHINES)
def test_predictions_of_one_machine_are_the_same_from_both(kind: Any, torch_cpu: list[str]) -> None:
    """To rounding, also of sparse rows; those on a surface stay inside, as float64 is used."""
    X, _ = rows()
    new = np.random.default_rng(5).normal(size=(300, 4))
    model = fitted(kind)
    of_device = copy.deepcopy(model).set_params(device="cuda")
    for name, values in answers(model, new).items():
        found = answers(of_device, new)[name]
        np.testing.assert_allclose(found, values, rtol=0, atol=3e-6 * abs(values).max())
        again = answers(of_device, sp.csr_array(new))[name]
        np.testing.assert_allclose(again, values, rtol=0, atol=3e-6 * abs(values).max())
    assert set(torch_cpu) == {"cuda"}
    if kind in (OneClassSVM, SVDD):
        np.testing.assert_array_equal(of_device.predict(X), model.predict(X))
        np.testing.assert_allclose(
            of_device.score_samples(new), model.score_samples(new), rtol=1e-11, atol=1e-11
        )


def test_weights_and_sparse_rows(torch_cpu: list[str]) -> None:
    X, y = rows()
    X[abs(X) < 0.5] = 0.0
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    expected = SVC(tol=1e-6).fit(X, y, weights)
    for given in (X, sp.csr_array(X)):
        found = SVC(tol=1e-6, device="cuda").fit(given, y, weights)
        np.testing.assert_allclose(
            found.decision_function(X), expected.decision_function(X), atol=1e-4
        )
    assert torch_cpu


@pytest.mark.parametrize("kind", MACHINES)
def test_what_names_no_device_is_refused(kind: Any) -> None:
    for device in ("gpu", "cuda:", None, 0):
        with pytest.raises(
            ValueError,
            match=rf"^The 'device' parameter of {kind.__name__} must be 'cpu', 'cuda', 'cuda:' "
            rf"with a number, or 'auto'\. Got {device!r} instead\.$",
        ):
            fitted(kind, device=device)


@pytest.mark.parametrize("kind", MACHINES)
def test_without_torch_a_gpu_is_refused_and_auto_is_the_processor(
    kind: Any, no_torch: None
) -> None:
    for device in ("cuda", "cuda:1"):
        with pytest.raises(ValueError, match=rf"^device='{device}' cannot be used: it needs torch"):
            fitted(kind, device=device)
    new = np.random.default_rng(5).normal(size=(40, 4))
    found, expected = fitted(kind, device="auto"), fitted(kind)
    for name, values in answers(expected, new).items():
        np.testing.assert_array_equal(answers(found, new)[name], values)


@pytest.mark.filterwarnings("ignore:y is ignored")  # by SVDD
@pytest.mark.parametrize("kind", MACHINES)
def test_kernels_without_a_formula_need_the_processor(kind: Any, torch_cpu: list[str]) -> None:
    X, y = rows()
    new = np.random.default_rng(5).normal(size=(40, 4))
    for kernel in ("precomputed", RBF(0.3) + Laplacian(0.2), lambda A, B: A @ B.T + 1.0):
        fit, ask = (X, new) if kernel != "precomputed" else (RBF(0.3)(X), RBF(0.3)(new, X))
        with pytest.raises(ValueError, match=r"^device='cuda' needs a kernel whose formula the en"):
            kind(kernel=kernel, device="cuda").fit(fit, y)
        found = kind(kernel=kernel, device="auto").fit(fit, y)
        expected = kind(kernel=kernel).fit(fit, y)
        np.testing.assert_array_equal(found.predict(ask), expected.predict(ask))


@pytest.mark.parametrize("kind", MACHINES)
def test_a_model_fitted_on_a_device_goes_where_there_is_none(
    kind: Any, torch_cpu: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Pickled, saved and copied, it predicts without torch, and can be fitted elsewhere."""
    pytest.importorskip("skops")
    X, y = rows()
    model = fitted(kind, device="cuda", gamma=0.3)
    expected = answers(model, X)  # from the device, which the model now remembers
    text, path = pickle.dumps(model), tmp_path / "model.mercer"
    mercer.save(model, path)
    assert b"torch" not in text
    assert b"torch" not in path.read_bytes()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("mercer.gram.pairwise.DEVICE_ENTRIES", 1)
    for found in (pickle.loads(text), mercer.load(path), copy.deepcopy(model)):
        assert found.device == "cuda"
        for name, values in expected.items():
            np.testing.assert_allclose(
                answers(found, X)[name], values, rtol=0, atol=3e-6 * abs(values).max()
            )
    with pytest.raises(ValueError, match="needs torch"):
        clone(model).fit(X, y)
    clone(model).set_params(device="auto").fit(X, None if kind is SVDD else y)


@pytest.mark.parametrize("kind", MACHINES)
def test_models_kept_before_there_were_devices_are_of_the_processor(kind: Any) -> None:
    model = fitted(kind)
    del model.__dict__["device"]  # as a file or pickle of then would bring it
    found = pickle.loads(pickle.dumps(model))
    assert found.get_params()["device"] == "cpu"
    assert repr(found) == repr(fitted(kind))
    np.testing.assert_array_equal(found.predict(rows()[0]), fitted(kind).predict(rows()[0]))
    clone(found).fit(rows()[0], None if kind is SVDD else rows()[1])


def test_it_is_a_parameter_as_others() -> None:
    for kind in MACHINES:
        model = kind(device="auto")
        assert clone(model).get_params()["device"] == "auto"
        assert "device='auto'" in repr(model)
        assert "device" in model._repr_html_()
        assert "device" not in repr(kind())
    assert "device" not in CrammerSingerSVC().get_params()  # whose solver asks for rows


def test_export_of_a_model_fitted_on_a_device(torch_cpu: list[str], tmp_path: Any) -> None:
    X, _ = rows()
    model, plain = fitted(SVC, device="cuda", gamma=0.3), fitted(SVC, gamma=0.3)
    assert mercer.to_c(model) == mercer.to_c(plain)  # since small programs are the processor's
    np.testing.assert_array_equal(mercer.to_sklearn(model).predict(X), plain.predict(X))
    mercer.to_libsvm(model, tmp_path / "model")
    np.testing.assert_array_equal(
        mercer.from_libsvm(tmp_path / "model").predict(X), plain.predict(X)
    )
    assert mercer.from_sklearn(mercer.to_sklearn(model)).device == "cpu"


# ---- machines inside of others ------------------------------------------------------------------


def test_cells_pass_it_on_by_their_machine(torch_cpu: list[str]) -> None:
    X, y = rows(400)
    for cells, machine in ((CellSVC, SVC), (CellSVR, SVR), (CellOneClassSVM, OneClassSVM)):
        torch_cpu.clear()
        settings: dict[str, Any] = {"cell_size": 100, "random_state": 0, "n_jobs": 1}
        expected = cells(machine(tol=1e-6), **settings).fit(X, y)
        assert not torch_cpu
        found = cells(machine(tol=1e-6, device="cuda"), **settings).fit(X, y)
        assert found.n_cells_ > 1
        assert torch_cpu
        np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-3)


def test_platt_passes_it_on(torch_cpu: list[str]) -> None:
    X, y = rows()
    expected = PlattClassifier(SVC(tol=1e-6)).fit(X, y)
    found = PlattClassifier(SVC(tol=1e-6, device="cuda")).fit(X, y)
    assert torch_cpu
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM, SVDD, NearestHypersphereClassifier])
def test_grids_are_judged_by_the_processor_and_refitted_on_the_device(
    kind: Any, torch_cpu: list[str]
) -> None:
    X, y = rows()
    grid: dict[str, Any] = {"gamma": [0.1, 1.0]}
    grid |= {"C": [1.0, 10.0]} if kind in (SVC, SVR) else {"nu": [0.1, 0.3]}
    y = np.ones(len(y)) if kind in (OneClassSVM, SVDD) else y
    settings: dict[str, Any] = {"cv": 3, "n_jobs": 1}
    if kind in (OneClassSVM, SVDD):
        settings["scoring"] = "accuracy"
    expected = PathSearchCV(kind(), grid, **settings).fit(X, y)
    found = PathSearchCV(kind(device="cuda"), grid, **settings).fit(X, y)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    assert found.best_estimator_.device == "cuda"
    assert found.best_params_ == expected.best_params_
    assert torch_cpu


def test_searches_refuse_at_once_what_their_last_fit_would(no_torch: None) -> None:
    X, y = rows()
    machine = SVC(device="cuda")
    for search in (
        PathSearchCV(machine, {"C": [1.0, 2.0]}),
        PathSearchCV(make_pipeline(StandardScaler(), machine), {"svc__C": [1.0, 2.0]}),
        GradientSearch(machine),
        KernelRFE(machine),
    ):
        with pytest.raises(ValueError, match=r"^device='cuda' cannot be used: it needs torch"):
            search.fit(X, y)
    with pytest.raises(ValueError, match=r"^The 'device' parameter of SVC must be"):
        PathSearchCV(SVC(), {"device": ["cpu", "gpu"]}, error_score="raise").fit(X, y)


def test_searches_pass_it_on_to_what_they_fit(torch_cpu: list[str]) -> None:
    X, y = rows()
    for search, name in (
        (lambda machine: GradientSearch(machine, max_rows=100, random_state=0), "best_estimator_"),
        (lambda machine: KernelRFE(machine, n_features_to_select=2), "estimator_"),
    ):
        torch_cpu.clear()
        expected = search(SVC(tol=1e-6)).fit(X, y)
        assert not torch_cpu
        found = search(SVC(tol=1e-6, device="cuda")).fit(X, y)
        assert getattr(found, name).device == "cuda"
        assert torch_cpu
        np.testing.assert_allclose(found.predict(X), expected.predict(X))


def test_polynomials_of_degree_0(torch_cpu: list[str]) -> None:
    """A constant kernel has a formula, and a machine that says one thing."""
    X, y = rows()
    found = SVC(kernel=Polynomial(0), device="cuda").fit(X, y)
    np.testing.assert_array_equal(found.predict(X), SVC(kernel=Polynomial(0)).fit(X, y).predict(X))
