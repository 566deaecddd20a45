"""Every damaged, foreign or harmful file is refused in a sentence; nothing of it is run."""

from __future__ import annotations

import copy
import os
import re
import signal
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.persistence import ModelFileError

from .damage import all_cases, wrong_indices

pytest.importorskip("skops")

PATIENCE = 10
"""Seconds of the processor for one file."""

CONSTANT = 4 * 2**20
"""Bytes for the plan of objects, which takes several times its length; here at most 600 kB."""

DANGEROUS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "pickle.find_class",
)
watched: list[str] | None = None


def note_what_runs(event: str, arguments: Any) -> None:
    if watched is not None and event in DANGEROUS:
        watched.append(f"{event} {arguments}")


sys.addaudithook(note_what_runs)


@contextmanager
def watching() -> Iterator[list[str]]:
    """Collect what is run, and end what takes too long."""
    global watched

    def too_long(*_: Any) -> None:
        raise TimeoutError

    watched = []
    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield watched
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        watched = None


@pytest.fixture(scope="module", name="models")
def saved_models(tmp_path_factory: Any) -> tuple[Any, list[Path]]:
    X, y = load_iris(return_X_y=True)
    models = [
        mercer.SVC().fit(X, y),
        mercer.SVC().fit(sp.csr_array(X), y),
        make_pipeline(StandardScaler(), mercer.PlattClassifier(mercer.SVC())).fit(X, y),
        RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y),
    ]
    folder = tmp_path_factory.mktemp("sound")
    paths = [folder / f"{number}.mercer" for number in range(len(models))]
    for model, path in zip(models, paths, strict=True):
        mercer.save(model, path)
    return models[0], paths


def test_every_damaged_file_is_refused(
    models: Any, tmp_path: Path, monkeypatch: Any, request: Any
) -> None:
    model, paths = models
    monkeypatch.chdir(tmp_path)
    mercer.load(paths[0])  # which imports what is needed
    path = tmp_path / "file.mercer"
    count = 0
    request.addfinalizer(tracemalloc.stop)
    tracemalloc.start()
    for name, content in all_cases(paths, model):
        count += 1
        path.write_bytes(content)
        size = len(content)
        del content
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        with watching() as ran:
            try:
                mercer.load(path)
            except ModelFileError as error:
                said = str(error)
            else:
                pytest.fail(f"{name} was loaded")
        taken = tracemalloc.get_traced_memory()[1] - before
        assert not ran, name
        assert re.fullmatch(r"[^\n]{20,600}\.", said), (name, said)
        assert said.isprintable(), (name, said)
        assert taken < 2 * size + CONSTANT, (name, taken, size)
    assert count >= 300
    assert os.listdir(tmp_path) == ["file.mercer"]


def test_indices_that_compiled_code_would_follow(models: Any, tmp_path: Path) -> None:
    """A tree or a sparse matrix with an index outside would end the program at prediction."""
    _, paths = models
    path = tmp_path / "file.mercer"
    cases = list(wrong_indices(paths[3].read_bytes(), paths[1].read_bytes()))
    assert len(cases) > 8
    for name, content in cases:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="is refused"):
            raise AssertionError(name, mercer.load(path))


def test_boosted_trees_are_looked_through(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = HistGradientBoostingClassifier(max_iter=1, max_depth=2).fit(X, y)
    nodes = model._predictors[0][0].nodes
    for field, value in (("left", 10**6), ("right", 0), ("feature_idx", 99)):
        before = nodes[field].copy()
        nodes[field][0] = value
        with pytest.raises(ModelFileError, match="tree"):
            mercer.save(model, tmp_path / "file")
        nodes[field] = before
    mercer.save(model, tmp_path / "file")
    np.testing.assert_array_equal(mercer.load(tmp_path / "file").predict(X), model.predict(X))


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays_that_libsvm_would_follow(sparse: bool, tmp_path: Path) -> None:
    """scikit-learn hands them over unseen; a wrong length would end the program at prediction."""
    X, y = load_iris(return_X_y=True)
    X = sp.csr_matrix(X) if sparse else X
    model = svm.SVC().fit(X, y)
    changes = {
        "support_": model.support_[:-1],
        "support_vectors_": model.support_vectors_[:-1],
        "_n_support": model._n_support + np.array([-90, 90, 0], dtype=np.int32),
        "_intercept_": model._intercept_[:-1],
        "_dual_coef_": model._dual_coef_[:, :-1],
        "_probA": np.ones(2),
        "classes_": model.classes_[:-1],
        "shape_fit_": (10, 4),
        "n_features_in_": 3,
    }
    if sparse:
        fewer = model._dual_coef_.copy()
        fewer.data[0] = 0.0
        fewer.eliminate_zeros()
        changes["_dual_coef_ "] = fewer
    for name, value in changes.items():
        wrong = copy.copy(model)
        wrong.__dict__[name.strip()] = value
        with pytest.raises(ModelFileError, match="do not fit together"):
            mercer.save(wrong, tmp_path / "file")
    for machine in (model, svm.SVR().fit(X, y), svm.OneClassSVM().fit(X)):
        mercer.save(machine, tmp_path / "file")
        again = mercer.load(tmp_path / "file")
        np.testing.assert_array_equal(again.predict(X), machine.predict(X))


def test_a_large_file_takes_twice_its_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    X = np.random.default_rng(0).normal(size=(50_000, 20))
    mercer.save(KNeighborsClassifier(algorithm="brute").fit(X, np.arange(50_000) % 2), path)
    size = path.stat().st_size
    tracemalloc.start()
    model = mercer.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.n_samples_fit_ == 50_000
    assert peak < 2 * size + 2**20


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="is not a file"):
            mercer.load(path)
    with pytest.raises(FileNotFoundError):
        mercer.load(tmp_path / "absent")
