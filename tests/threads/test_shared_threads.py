"""How many threads are asked for beside others: by the engine, and inside joblib's workers."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import joblib
import numpy as np
import pytest
from blas import held
from joblib import Parallel, delayed, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, _threads
from mercer._threads import available_threads, blas_for, wanted_threads
from mercer.gram import RequestedGram
from mercer.model_selection import Criterion, GradientSearch, PathSearchCV, evidence
from mercer.problems import Programs, hinge_svc
from mercer.solvers import Options, solve_all


@pytest.fixture(name="sample", scope="module")
def _sample() -> tuple[Any, Any]:
    return make_classification(80, 6, random_state=0)


# ---- threads of the engine -------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
def test_all_processors_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_threads() == 4
    assert available_threads(7) == 7
    for words, threads in {"2": 2, "2,1": 2, "9": 4, "0": 4, "many": 4, "": 4}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", words)
        assert available_threads() == threads


@pytest.mark.usefixtures("plain")
def test_what_n_jobs_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [wanted_threads(n) for n in (None, -1, 1, 3, -2, -9)] == [None, None, 1, 3, 3, 1]
    with pytest.raises(ValueError, match="n_jobs=0"):
        wanted_threads(0)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert wanted_threads(-2) == 1  # all but one of those that are ours


def test_affinity_and_quota_are_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)  # as in a container with that quota
    monkeypatch.setattr(_threads, "_affinity", lambda: 8)
    _threads._processors.cache_clear()
    assert available_threads() == 3
    monkeypatch.setattr(_threads, "_affinity", lambda: 2)
    assert available_threads() == 2
    _threads._processors.cache_clear()


class CountingKernel:
    """Tells equal points from others, and notes the threads of the process when it is asked."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, left: Any, right: Any) -> Any:
        self.seen.append(len(os.listdir("/proc/self/task")))
        return (left == right.T).astype(float)

    def diag(self, points: Any) -> Any:
        return np.ones(len(points))


HELPERS = {
    "few rows": ([999], 4, 0),
    "more rows": ([1000], 4, 3),
    "more rows, one thread": ([1000], 1, 0),
    "few programs of few rows": ([200] * 49, 4, 0),
    "many programs of few rows": ([200] * 50, 4, 3),
    "many programs, one thread": ([200] * 50, 1, 0),
    "programs of more rows": ([1000] * 2, 3, 2),
}


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted as on Linux")
@pytest.mark.parametrize(("sizes", "n_threads", "helpers"), HELPERS.values(), ids=HELPERS)
def test_helpers_are_started_where_they_pay(sizes: list[int], n_threads: int, helpers: int) -> None:
    """Few rows start none, one by one or in few programs, whatever was asked for."""
    kernel, n = CountingKernel(), sum(sizes)
    programs = Programs.of([hinge_svc(np.resize([1.0, -1.0], size), 1.0) for size in sizes])
    gram = RequestedGram(kernel, np.arange(n)[:, None])
    before = len(os.listdir("/proc/self/task"))
    found = solve_all(programs, gram, Options(n_threads=n_threads), rows=np.arange(n))
    assert found.converged.all()
    assert set(kernel.seen) == {before + helpers}
    assert len(os.listdir("/proc/self/task")) == before


# ---- inside joblib ---------------------------------------------------------------------------


class Counting(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the number of threads that mercer would take."""

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> Counting:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        with blas_for(10**6):
            blas = max(held())
        return 100.0 * available_threads() + blas


def share(n_jobs: int) -> int:
    return max(1, joblib.cpu_count() // n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_processes_share_the_processors(
    n_jobs: int, sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    scores = cross_val_score(Counting(), *sample, cv=2, n_jobs=n_jobs)
    engine, blas = np.divmod(scores, 100.0)
    assert set(engine) == {share(n_jobs)}
    assert max(blas) <= share(n_jobs)


def test_a_grid_in_all_processes_does_not_oversubscribe(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    search = GridSearchCV(Counting(), {"C": [1.0, 2.0]}, cv=2, n_jobs=-1).fit(*sample)
    engine, blas = np.divmod(search.cv_results_["mean_test_score"], 100.0)
    assert set(engine) == {1.0}
    assert set(blas) == {1.0}


def test_inner_max_num_threads(sample: Any) -> None:
    most = min(2, joblib.cpu_count())
    with parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=2):
        scores = cross_val_score(Counting(), *sample, cv=2)
    engine, blas = np.divmod(scores, 100.0)
    assert set(engine) == {most}
    assert max(blas) <= most


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("variable", [None, "3"])
def test_joblib_threads_take_one_each(
    variable: str | None, sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they are as many as were asked for, whatever the process may use."""
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    with parallel_config(backend="threading", n_jobs=2):
        scores = cross_val_score(Counting(), *sample, cv=4)
    assert set(scores) == {101.0}
    assert available_threads() == int(variable or 4)


@pytest.mark.usefixtures("plain")
def test_threads_that_were_asked_for_are_given_even_there() -> None:
    found = Parallel(n_jobs=2, backend="threading")(delayed(available_threads)(3) for _ in "ab")
    assert found == [3, 3]


@pytest.mark.usefixtures("plain")
def test_a_search_inside_joblib_threads_starts_none_of_its_own(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, size: int, **named: Any) -> None:
            sizes.append(size)
            super().__init__(size, **named)

    module = import_module("mercer.model_selection.grid.shared_search")
    monkeypatch.setattr(module, "ThreadPoolExecutor", Pool)
    search = PathSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)
    with parallel_config(backend="threading", n_jobs=2):
        cross_val_score(search, *sample, cv=2)
    assert sizes == [1, 1]
    search.fit(*sample)
    assert sizes[2:] == [4]


def nested_threads(X: Any, y: Any) -> tuple[float, int]:
    """Fit a search in a worker; say its threads. Runs in a process of joblib."""
    seen: list[int] = []

    def criterion(model: Any, X: Any, y: Any) -> Criterion:
        seen.append(100 * available_threads() + max(held()))
        return evidence(model, X, y)

    GradientSearch(SVC(loss="squared_hinge"), criterion, max_evaluations=1).fit(X, y)
    return max(seen), available_threads()


def test_a_search_inside_processes_keeps_to_its_share(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = Parallel(n_jobs=2)(delayed(nested_threads)(*sample) for _ in "ab")
    assert found == [(100 * share(2) + 1, share(2))] * 2
