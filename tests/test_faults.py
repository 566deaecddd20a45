"""What goes wrong around a fit: an error or a finished fit, never a crash or a wrong model.

Allocations that fail inside the engine, and errors in requests and callbacks of a single solve, are
in tests/engine; here it is estimators.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from mercer import RVC, RVR, SVC, SVDD, SVR, KernelPerceptron, PathSearchCV, PlattClassifier, trees

X = np.random.default_rng(0).normal(size=(300, 4))
Y = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int)

LIMITED = """
import resource, sys
import numpy as np
from mercer import SVC, SVDD, SVR
from mercer.gram import release_memory

def values_of(model):
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)

X = np.random.default_rng(0).normal(size=(4000, 6))
y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, 1, -1)
models = [SVC(C=10.0), SVR(), SVDD(nu=0.1)]
expected = [values_of(model.fit(X, y)) for model in models]
release_memory()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
for room in (0, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 512 << 20):
    for model, values in zip(models, expected):
        resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
        try:
            model.fit(X, y)
        except MemoryError:
            print("refused")
            continue
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        np.testing.assert_array_equal(values_of(model), values)
        print("finished")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.filterwarnings("ignore")
def test_little_memory() -> None:
    """A process with hardly any room refuses or finishes with the same values; it never dies."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LIMITED], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    words = done.stdout.split()
    assert len(words) == 18
    assert set(words) == {"refused", "finished"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_after_a_fit() -> None:
    """Helpers do not come along into the child, which fits with its own all the same."""
    data = np.random.default_rng(1).normal(size=(3000, 4))
    labels = data[:, 0] ** 2 + data[:, 1] > 0.5
    model = SVC(n_jobs=2).fit(data, labels)
    values = model.decision_function(data)
    child = os.fork()
    if child == 0:
        again = clone(model).fit(data, labels).decision_function(data)
        os._exit(0 if np.array_equal(again, values) else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(clone(model).fit(data, labels).decision_function(data), values)


@pytest.mark.filterwarnings("ignore:y is ignored")
def test_threads_that_fit_at_once() -> None:
    """Each has its own model, the same as alone."""
    models = [SVC(C=10.0), SVC(kernel="linear"), SVR(), SVDD(nu=0.1), RVC(), PlattClassifier(SVC())]
    alone = [clone(model).fit(X, Y).predict(X) for model in models]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda model: clone(model).fit(X, Y).predict(X), models * 4)
        for k, found in enumerate(together):
            np.testing.assert_array_equal(found, alone[k % len(models)])


class BrokenKernelError(Exception):
    """What a user's kernel may raise."""


class BreaksLater:
    """A Gaussian kernel that fails at one of its calls."""

    def __init__(self, calls: float) -> None:
        self.calls = calls

    def __call__(self, A: Any, B: Any) -> Any:
        self.calls -= 1
        if self.calls < 0:
            raise BrokenKernelError
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    "machine",
    [SVC(), SVR(), SVDD(), RVC(), KernelPerceptron(), PathSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)],
    ids=lambda machine: type(machine).__name__,
)
@pytest.mark.parametrize("calls", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:y is ignored")
def test_kernels_that_raise(machine: Any, calls: int) -> None:
    """Their error comes through unless they were not asked so often, and the last model stays."""
    name = "estimator__kernel" if isinstance(machine, PathSearchCV) else "kernel"
    model = clone(machine).set_params(**{name: BreaksLater(np.inf)})
    before = model.fit(X, Y).predict(X)
    fitted = dict(vars(model))
    broken = BreaksLater(calls)
    try:
        model.set_params(**{name: broken}).fit(X, Y)
    except BrokenKernelError:
        for attribute, value in fitted.items():
            if attribute.endswith("_"):
                assert getattr(model, attribute) is value
        model.set_params(**{name: BreaksLater(np.inf)})
    else:
        assert broken.calls >= 0
        broken.calls = np.inf
    np.testing.assert_array_equal(model.fit(X, Y).predict(X), before)


MANY = 300_000


def test_many_rows_are_refused_with_their_size() -> None:
    """Where all pairs would have to be held at once."""
    data = np.random.default_rng(0).normal(size=(MANY, 2))
    labels = (data[:, 0] > 0).astype(int)
    with pytest.raises(MemoryError, match=r"300000 rows take 720 GB"):
        RVR(method="classic").fit(data, data[:, 1])
    with pytest.raises(MemoryError, match=r"of 300000 rows takes 720 GB"):
        SVC(solver="exact").fit(data, labels)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(data[:100], labels[:100])
    with pytest.raises(MemoryError, match=r"300000 by 300000 rows would take about"):
        trees.proximity(forest, data)


BOUNDED = """
import resource, signal, sys
import numpy as np
from mercer import RVC, SVC

class Enough(Exception):
    pass

def kernel(A, B):
    return 1.0 / (1.0 + (A[:, :1] - B[:, 0]) ** 2)

X = np.random.default_rng(0).normal(size=(300_000, 1))
y = (X[:, 0] > 0).astype(int)
model = {"svc": SVC(kernel=kernel, max_iter=20), "rvc": RVC(kernel=kernel, max_iter=1)}[sys.argv[1]]
asked = 0

def counted(A, B):
    global asked
    asked += len(A) * len(B)
    if asked > 3e8:  # a thousand whole columns: what is to be held is held by then
        raise Enough
    return kernel(A, B)

try:
    model.set_params(kernel=counted).fit(X, y)
except Enough:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kilobytes there")
@pytest.mark.parametrize("machine", ["svc", "rvc"])
def test_memory_of_many_rows_is_bounded(machine: str) -> None:
    """A plain Python kernel: a few gigabytes at most, where the matrix has 720."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BOUNDED, machine], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert float(done.stdout) < 4.0
