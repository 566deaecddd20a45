"""Small tables, a clock that only models move, and models that do what a test needs."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")

import matplotlib
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

from mercer.comparison import race, rivals, trials
from mercer.comparison.deadline import TimeIsOverError
from mercer.tables import as_table

matplotlib.use("Agg")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Threads of a BLAS wait busily for each other where other tests run beside."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True, scope="module")
def few_trees():
    """A forest of 300 takes longer than all else, and what is asked here a small one knows too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "TREES", 30)
        yield


@pytest.fixture
def two_classes():
    """Return 80 rows of two classes that overlap, in two of three columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 3)) + np.outer(y, [1.5, 1.0, 0.0])
    return as_table(pd.DataFrame(X, columns=["a", "b", "noise"]), np.where(y, "yes", "no"))


@pytest.fixture
def numbers():
    """Return 80 rows whose target is linear in the first column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return as_table(X, 3 * X[:, 0] + 0.3 * rng.normal(size=80))


class Clock:
    """Time that passes only where a model says so, and ends what waits for longer than it may."""

    def __init__(self):
        self.now, self.end = 100.0, float("inf")

    def monotonic(self):
        return self.now

    perf_counter = monotonic

    @contextmanager
    def within(self, seconds):
        before, self.end = self.end, float("inf") if seconds is None else self.now + seconds
        try:
            if self.end <= self.now:
                raise TimeIsOverError
            yield
        finally:
            self.end = before

    def wait_for_ever(self):
        assert self.end < float("inf"), "nobody will stop this"
        self.now = self.end
        raise TimeIsOverError


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    for module in (race, trials):
        monkeypatch.setattr(module, "time", found)
        monkeypatch.setattr(module, "within", found.within)
    return found


class Costly(ClassifierMixin, BaseEstimator):
    """Always the first class, after some seconds of a clock, or an exception."""

    def __init__(self, clock=None, fixed=0.0, each=0.0, raises=None):
        self.clock, self.fixed, self.each, self.raises = clock, fixed, each, raises

    def fit(self, X, y):
        if self.raises is not None:
            raise self.raises
        self.classes_ = np.unique(y)
        if self.clock is not None:
            self.clock.now += self.fixed + self.each * len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def __reduce__(self):  # classes inside of tests cannot be pickled
        return (str, ())


@pytest.fixture
def put_in_place(monkeypatch):
    """Let other models stand behind the names of classifiers."""

    def put(**models):
        changed = tuple(
            replace(rival, build=lambda s, name=rival.name: models[name])
            if rival.name in models
            else rival
            for rival in rivals.CLASSIFIERS
        )
        monkeypatch.setattr(rivals, "CLASSIFIERS", changed)

    return put


@pytest.fixture
def costly():
    return Costly


@pytest.fixture
def no_insights(monkeypatch):
    """Spare the time for what is not looked at."""
    monkeypatch.setattr("mercer.comparison.comparing.find_insights", lambda found, seconds: None)
