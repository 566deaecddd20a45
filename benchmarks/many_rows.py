"""Problems with many rows, in files mapped into memory, and the ways to learn from them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from .machine import peak_memory, restart_peak_memory
from .problems import Problem
from .searches import liquid, same_processors

COLUMNS, INFORMATIVE, CLOUDS, FLIPPED = 20, 10, 16, 0.05
HELD_OUT = 20_000
BLOCK = 500_000


@dataclass(frozen=True)
class Task:
    """Where the rows lie, how many of them to learn from, and the parameters of the machines.

    Parameters
    ----------
    name : str
    folder : str
        With ``X.npy``, ``y.npy``, ``X_test.npy`` and ``y_test.npy``.
    n_rows : int
        The first so many.
    C, gamma : float
    """

    name: str
    folder: str
    n_rows: int
    C: float
    gamma: float

    def load(self) -> tuple[Any, Any, Any, Any]:
        """Return the rows, mapped, their labels, and those held out."""
        folder = Path(self.folder)
        X = np.load(folder / "X.npy", mmap_mode="r")[: self.n_rows]
        y = np.load(folder / "y.npy")[: self.n_rows]
        return X, y, np.load(folder / "X_test.npy"), np.load(folder / "y_test.npy")


def write_clouds(folder: Path, n_rows: int) -> None:
    """Write rows of overlapping clouds of many shapes, as from make_classification, in float32.

    Block by block, so that ten million rows need no memory.
    """
    random = np.random.default_rng(0)
    corners = random.permutation(2**INFORMATIVE)[:CLOUDS]
    centres = 2.0 * ((corners[:, None] >> np.arange(INFORMATIVE)) & 1) - 1.0
    shapes = random.uniform(-1, 1, size=(CLOUDS, INFORMATIVE, INFORMATIVE))
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float32, shape=(n_rows, COLUMNS)
    )
    y = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, BLOCK):
        block = slice(start, min(start + BLOCK, n_rows))
        X[block], y[block] = _clouds(random, centres, shapes, block.stop - block.start)
    np.save(folder / "y.npy", y)
    points, labels = _clouds(random, centres, shapes, HELD_OUT)
    np.save(folder / "X_test.npy", points.astype(np.float32))
    np.save(folder / "y_test.npy", labels)


def _clouds(random: Any, centres: Any, shapes: Any, n: int) -> tuple[Any, Any]:
    cloud = random.integers(CLOUDS, size=n)
    points = random.normal(size=(n, COLUMNS))
    for one in range(CLOUDS):
        rows = cloud == one
        points[rows, :INFORMATIVE] = points[rows, :INFORMATIVE] @ shapes[one] + centres[one]
    points[:, :INFORMATIVE] /= np.sqrt(1.0 + INFORMATIVE / 3.0)  # to a deviation of about 1
    label = (cloud % 2) ^ (random.random(n) < FLIPPED)
    return points, label.astype(np.int8)


def write_classification(folder: Path, n_rows: int) -> None:
    """Write the rows of make_classification on which cells were first tried."""
    X, y = make_classification(
        n_rows + HELD_OUT,
        COLUMNS,
        n_informative=INFORMATIVE,
        n_clusters_per_class=8,
        flip_y=FLIPPED,
        random_state=0,
    )
    _write(folder, X / X.std(axis=0), y, n_rows)


def write_problem(folder: Path, problem: Problem) -> float:
    """Write the rows of a real set, and return gamma as a number."""
    data = problem.load()
    X, y = np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    _write(folder, X, y, len(data.y))
    return data.gamma


def _write(folder: Path, X: Any, y: Any, n_rows: int) -> None:
    np.save(folder / "X.npy", np.ascontiguousarray(X[:n_rows]))
    np.save(folder / "y.npy", y[:n_rows])
    np.save(folder / "X_test.npy", np.ascontiguousarray(X[n_rows:]))
    np.save(folder / "y_test.npy", y[n_rows:])


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield slices that fit into memory when 300 features are made of each row."""
    for start in range(0, n_rows, BLOCK // 5):
        yield slice(start, min(start + BLOCK // 5, n_rows))


# ---- ways ---------------------------------------------------------------------------------------


def exact(task: Task, X: Any, y: Any) -> Any:
    """One machine."""
    from mercer import SVC

    return SVC(C=task.C, gamma=task.gamma).fit(X, y)


def cells(task: Task, X: Any, y: Any, **more: Any) -> Any:
    """A machine for each part of the space, with default settings."""
    from mercer import SVC, CellSVC

    return CellSVC(SVC(C=task.C, gamma=task.gamma), random_state=0, **more).fit(X, y)


def small_cells(task: Task, X: Any, y: Any) -> Any:
    """Cells of 2000 rows."""
    return cells(task, X, y, cell_size=2000)


def few_features(task: Task, X: Any, y: Any, rank: int = 300) -> Any:
    """One machine of a kernel of low rank."""
    from mercer import NystroemSVC

    return NystroemSVC(C=task.C, gamma=task.gamma, rank=rank, random_state=0).fit(X, y)


def features_1000(task: Task, X: Any, y: Any) -> Any:
    """The same with 1000 landmarks."""
    return few_features(task, X, y, 1000)


def _nystroem(task: Task, X: Any, n_components: int) -> Any:
    from sklearn.kernel_approximation import Nystroem

    some = np.sort(np.random.RandomState(0).permutation(len(X))[:20_000])
    return Nystroem(gamma=task.gamma, n_components=n_components, random_state=0).fit(X[some])


def low_rank(task: Task, X: Any, y: Any, n_components: int = 300) -> Any:
    """scikit-learn's Nystroem and LinearSVC."""
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    if len(X) * n_components > 400_000_000:
        raise MemoryError(f"{len(X)} rows of {n_components} features take too much memory")
    features = _nystroem(task, X, n_components)
    machine = LinearSVC(C=task.C, dual=False).fit(features.transform(X), y)
    return make_pipeline(features, machine)


def low_rank_1000(task: Task, X: Any, y: Any) -> Any:
    """The same with 1000 landmarks."""
    return low_rank(task, X, y, 1000)


def stochastic(task: Task, X: Any, y: Any) -> Any:
    """scikit-learn's Nystroem and SGDClassifier, in blocks, five times over all rows."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    features = _nystroem(task, X, 300)
    machine = SGDClassifier(alpha=1e-6, random_state=0, average=True)
    for _ in range(5):
        for block in blocks(len(X)):
            machine.partial_fit(features.transform(X[block]), y[block], classes=[0, 1])
    return make_pipeline(features, machine)


def boosting(task: Task, X: Any, y: Any) -> Any:
    """scikit-learn's HistGradientBoostingClassifier with default settings."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


def boosting_longer(task: Task, X: Any, y: Any) -> Any:
    """The same with 1000 trees of 127 leaves."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=1000, max_leaf_nodes=127, early_stopping=True, random_state=0
    )
    return model.fit(X, y)


class LiquidCells:
    """liquidSVM's cells of 2000 rows at most, with one C and one gamma.

    It keeps the machines of its usual five folds, which vote; it knows no fit without folds.
    """

    def __init__(self, task: Task, X: Any, y: Any) -> None:
        library = liquid()
        with same_processors():
            self.machine = library.mcSVM(
                X,
                np.where(y > 0, 1.0, -1.0),
                gammas=[f"{1.0 / np.sqrt(task.gamma):.10g}"],
                c_values=[f"{task.C:.10g}"],
                folds=5,
                threads=os.cpu_count() or 1,
                random_seed=1,
                display=0,
                voronoi="6 2000",
            )

    def predict(self, X: Any) -> Any:
        """Return 0 and 1."""
        any_labels = np.where(np.arange(len(X)) % 2, 1.0, -1.0)  # it wants some, of both kinds
        with same_processors():
            return (self.machine.test(X, any_labels)[0][:, 0] > 0).astype(np.int64)


WAYS: dict[str, Callable[[Task, Any, Any], Any]] = {
    "mercer, exact": exact,
    "mercer, cells": cells,
    "mercer, cells of 2000": small_cells,
    "mercer, low rank 300": few_features,
    "mercer, low rank 1000": features_1000,
    "Nystroem(300) + LinearSVC": low_rank,
    "Nystroem(1000) + LinearSVC": low_rank_1000,
    "Nystroem(300) + SGDClassifier": stochastic,
    "HistGradientBoosting": boosting,
    "HistGradientBoosting, 1000 trees": boosting_longer,
    "liquidSVM, cells": LiquidCells,
}


def _processor_time() -> float:
    """Return the seconds of this process and of those it has waited for."""
    return time.process_time() + sum(os.times()[2:4])


def measure(way: str, task: Task) -> dict[str, float]:
    """Fit once; return seconds, processor seconds, megabytes beyond the data, error, and time of
    prediction.
    """
    X, y, X_test, y_test = task.load()
    y = y.astype(np.int64) if y.dtype != np.int64 else y
    if y.min() < 0:
        y, y_test = (y > 0).astype(np.int64), (y_test > 0).astype(np.int64)
    few = np.concatenate([np.flatnonzero(y[:BLOCK] == label)[:100] for label in (0, 1)])
    WAYS[way](task, X[few], y[few])  # what is imported is no part of the fit
    before = restart_peak_memory()
    start, worked = time.perf_counter(), _processor_time()
    model = WAYS[way](task, X, y)
    seconds, worked = time.perf_counter() - start, _processor_time() - worked
    peak = peak_memory() - before
    model.predict(X_test[:100])
    start = time.perf_counter()
    wrong = np.mean(model.predict(X_test) != y_test)
    return {
        "seconds": seconds,
        "processor": worked,
        "megabytes": peak / 1e6,
        "error": 100.0 * float(wrong),
        "microseconds": 1e6 * (time.perf_counter() - start) / len(y_test),
    }
