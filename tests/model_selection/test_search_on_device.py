"""A search whose machines are solved on torch's CPU device beside the processor."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.model_selection import PathSearchCV
from mercer.svm import SVC

torch = pytest.importorskip("torch", reason="torch is not installed")
torch.set_num_threads(1)

X, y = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)
GRID = {"C": [0.01, 0.3, 10.0], "gamma": [0.05, 0.5, 5.0, 50.0]}


@pytest.fixture
def on_device(monkeypatch):
    """Every request for a device is answered with torch's CPU; tell which kernels it solved."""
    solved = []

    def device(name, n_rows):
        return None if name == "cpu" else torch.device("cpu")

    for module in ("mercer.gram.making", "mercer.model_selection.grid.shared_search"):
        monkeypatch.setattr(f"{module}.device_for", device)
    monkeypatch.setattr("mercer.solvers.device.nystroem.RANKS", ((1e9, 128),))
    work = "mercer.model_selection.grid.device_work.DevicePath.values"
    from mercer.machines import DevicePath

    values = DevicePath.values

    def counted(self, settings, rows):
        answer = values(self, settings, rows)
        solved.append(settings.prices)
        return answer

    monkeypatch.setattr(work, counted)
    return solved


def search(device, **options):
    found = PathSearchCV(SVC(device=device, **options), GRID, cv=3, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return found.fit(X, y)


@pytest.mark.parametrize("options", [{}, {"loss": "squared_hinge"}, {"class_weight": "balanced"}])
def test_a_device_and_the_processor_share_the_work(options, on_device):
    expected = search("cpu", **options)
    assert not on_device
    found = search("cuda", **options)
    assert on_device, "the device took no part"
    # A row beside the boundary may be on either side of it, within the gap.
    difference = found.cv_results_["mean_test_score"] - expected.cv_results_["mean_test_score"]
    assert np.abs(difference).max() <= 2.5 / 300


def test_what_is_fitted_before_the_machine_is_fitted_for_each_fold(on_device):
    pipe = make_pipeline(StandardScaler(), SVC(device="cuda"))
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    found = PathSearchCV(pipe, grid, cv=3, n_jobs=1).fit(X, y)
    expected = PathSearchCV(pipe.set_params(svc__device="cpu"), grid, cv=3, n_jobs=1).fit(X, y)
    assert on_device
    difference = found.cv_results_["mean_test_score"] - expected.cv_results_["mean_test_score"]
    assert np.abs(difference).max() <= 2.5 / 300


@pytest.mark.parametrize("reason", ["pairs of classes", "smooth kernels", "memory"])
def test_what_does_not_suit_the_device_comes_back(reason, on_device, monkeypatch):
    labels = np.digitize(X[:, 0], [-0.5, 0.5]) if reason == "pairs of classes" else y
    if reason == "smooth kernels":
        monkeypatch.setattr("mercer.solvers.device.path.ROUGHEST_KERNEL", 2.0)
    if reason == "memory":

        def refuse(*arguments):
            raise RuntimeError("CUDA out of memory.")

        monkeypatch.setattr("mercer.solvers.device.prices.DeviceProgram", refuse)
    found = PathSearchCV(SVC(device="cuda"), GRID, cv=3, n_jobs=1).fit(X, labels)
    expected = PathSearchCV(SVC(), GRID, cv=3, n_jobs=1).fit(X, labels)
    assert not on_device
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
