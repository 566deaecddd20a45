"""Evaluating the candidates of a grid with common kernel matrices and solutions."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._sklearn import take_rows, validate_parameter_constraints
from mercer._threads import available_threads, blas_threads, wanted_threads
from mercer.gram import ComputedGram, Gram, SquaredDistances, make_gram
from mercer.gram.base import StoredGram, padded
from mercer.kernels import Kernel
from mercer.machines import BoundedStart, FoldPath, Penalty, class_factors, warn_about
from mercer.model_selection.grid.known_values import KnownValues
from mercer.solvers import Solution
from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSVM
from mercer.svm import SVC, SVR

Rows = NDArray[np.int64]
Splits = Sequence[tuple[Rows, Rows]]
Score = Callable[[KnownValues, Any, Any], Any]

MOST_BYTES = 1 << 30
"""A kernel matrix larger than this is not held; such a search goes the ordinary way."""

CHEAP_FEATURES = 256
"""Up to so many features a kernel matrix is computed sooner than it follows from distances."""

MOST_MATRICES = 3
"""Kernels whose matrices are in memory at a time: one being made while others are worked on."""


MACHINES = (SVC, SVR, SVDD, OneClassSVM, NearestHypersphereClassifier)
"""What searches can share the work of."""

_PATH = ("C", "nu")
"""Parameters along which a machine starts from the solution for the last value."""


@dataclass(eq=False)
class Group:
    """Candidates that differ in a penalty only, with rising penalty, and their positions."""

    key: str
    models: list[Any] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def machine_of(estimator: Any) -> tuple[Any, Any, str] | None:
    """Return the steps before the machine (or None), the machine, and its prefix."""
    if type(estimator) in MACHINES:
        return None, estimator, ""
    if isinstance(estimator, Pipeline) and type(estimator.steps[-1][1]) in MACHINES:
        name, model = estimator.steps[-1]
        before = estimator[:-1] if len(estimator.steps) > 1 else None
        return before, model, f"{name}__"
    return None


def groups_of(estimator: Any, candidates: Sequence[dict[str, Any]]) -> list[Group] | None:
    """Sort candidates into groups, or return None where they cannot share."""
    found = machine_of(estimator)
    if found is None:
        return None
    _, model, prefix = found
    own = model.get_params(deep=False)
    no_path = dict.fromkeys(set(_PATH) & set(own))
    groups: dict[str, Group] = {}
    checked: set[tuple[str, Any]] = set()
    for position, candidate in enumerate(candidates):
        if not all(name.startswith(prefix) for name in candidate):
            return None
        names = {name.removeprefix(prefix): value for name, value in candidate.items()}
        tuned = _tuned(model, own, names, checked)
        if not _can_share(tuned):
            return None
        key = stable_key({**names, **no_path})
        group = groups.setdefault(key, Group(key))
        group.models.append(tuned)
        group.positions.append(position)
    alike = stable_key({**own, **no_path})
    for key, group in groups.items():
        order = sorted(range(len(group.models)), key=lambda k: _penalties(group.models[k]))
        group.models = [group.models[k] for k in order]
        group.positions = [group.positions[k] for k in order]
        group.key = stable_key([alike, key, [_penalties(model) for model in group.models]])
    return list(groups.values())


def _penalties(model: Any) -> list[float]:
    given = [getattr(model, name, None) for name in _PATH]
    return [-1.0 if value is None else float(value) for value in given]


def _can_share(model: Any) -> bool:
    """Say whether a machine can be fitted on a matrix of kernel values without their points."""
    if model._is_pairwise() or model.warm_start:
        return False
    if isinstance(model, (SVC, SVR)):
        return not np.isinf(model.C)
    # Balls need k(x, x) of new points, which is known where it is the same everywhere.
    return isinstance(model.kernel, str) and model.kernel in ("rbf", "laplacian")


def _tuned(
    model: Any, own: dict[str, Any], names: dict[str, Any], checked: set[tuple[str, Any]]
) -> Any:
    """Return the machine with some parameters changed, numbers checked once for all."""
    if names.keys() <= own.keys():  # many times faster than clone and set_params
        numbers = {(k, float(v)) for k, v in names.items() if type(v) in (float, np.float64)}
        known = {name for name, _ in numbers & checked}
        unknown = {name: value for name, value in names.items() if name not in known}
        if unknown:
            kind = type(model)
            validate_parameter_constraints(kind._parameter_constraints, unknown, kind.__name__)
        checked |= numbers
        return type(model)(**{**own, **names})
    return clone(model).set_params(**clone(names, safe=False))


def stable_key(value: Any) -> str:
    """Return a text that is equal for equal values, also in another process where possible."""
    try:
        content = pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):  # functions without a name
        content = repr(value).encode()
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, eq=False)
class FoldScores:
    """What came out for the candidates of one group on one fold."""

    test: list[Any]
    train: list[Any]
    seconds: float

    def as_result(self, k: int, n_test: int) -> dict[str, Any]:
        """Return one candidate in the form in which scikit-learn collects results."""
        result = {
            "fit_error": None,
            "test_scores": self.test[k],
            "n_test_samples": n_test,
            "fit_time": self.seconds / len(self.test),
            "score_time": 0.0,
        }
        if self.train:
            result["train_scores"] = self.train[k]
        return result


class SharedSearch:
    """One search of classifiers on one set of data.

    Parameters
    ----------
    estimator : SVC or Pipeline
    X, y : array-like
    splits : list of (train, test)
    score : callable
        Takes a classifier, rows and labels.
    train_score : bool
        Whether to score the training rows as well.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Splits,
        score: Score,
        train_score: bool,
        n_jobs: int | None,
    ) -> None:
        found = machine_of(estimator)
        assert found is not None, "the estimator has been looked at before"
        self.before, self.tol = found[0], found[1].tol
        self.X, self.y, self.splits, self.score = X, np.asarray(y), splits, score
        self.classes, self.codes = np.unique(self.y, return_inverse=True)
        self.train_score = train_score
        # As for the machines, None and -1 mean all processors.
        self.threads = available_threads(wanted_threads(n_jobs))
        self.idle = 1  # threads that could help to compute the next matrix
        self.stopped = threading.Event()
        self.points = self._points()
        self.last: dict[tuple[int, str], Any] = {}  # matrices of the last group
        self.unsolved: list[Solution] = []  # machines that were not brought to the tolerance
        self.n_solved = 0
        self.refusal: ValueError | None = None  # why a machine could not be fitted to a fold

    def _points(self) -> list[Any]:
        """Return the points of every fold, one and the same object where nothing is fitted."""
        if self.before is None:
            return [_dense(self.X)] * len(self.splits)
        points = []
        for train, test in self.splits:
            steps = clone(self.before)
            inside = _dense(steps.fit_transform(take_rows(self.X, train), self.y[train]))
            values = np.zeros((len(self.y), inside.shape[1]))
            values[train], values[test] = inside, _dense(steps.transform(take_rows(self.X, test)))
            points.append(values)
        return points

    def run(self, groups: Sequence[Group], done: dict[tuple[str, int], FoldScores]) -> None:
        """Evaluate all groups on all folds and put the scores into ``done``.

        What is there already is not evaluated again. An interruption leaves what is finished.
        """
        pending: list[list[Future[None]]] = []
        distances: dict[int, SquaredDistances] = {}
        at_once = self._matrices_at_once()
        with blas_threads(1), ThreadPoolExecutor(self.threads) as pool:
            try:
                for group in middle_first(groups):
                    folds = [k for k in range(len(self.splits)) if (group.key, k) not in done]
                    pending = _unfinished(pending, at_once)
                    waiting = sum(not future.done() for futures in pending for future in futures)
                    self.idle = max(1, self.threads - waiting)
                    matrices = self._matrices(group.models[0], folds, distances)
                    pending.append(
                        [pool.submit(self._evaluate, group, k, matrices[k], done) for k in folds]
                    )
                _unfinished(pending, 1)
            except BaseException:
                self.stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def warn(self) -> None:
        """Warn once about all machines that were not brought to the tolerance."""
        if self.unsolved:
            warn_about(self.unsolved, self.n_solved, self.tol)

    def _matrices_at_once(self) -> int:
        """Return how many kernel matrices to hold: enough for all threads, if memory allows."""
        wanted = 2 + -(-self.threads // max(1, len(self.splits)))
        return max(MOST_MATRICES, min(wanted, MOST_BYTES // (4 * len(self.y) ** 2 + 1)))

    def _matrices(
        self, model: Any, folds: Sequence[int], distances: dict[int, SquaredDistances]
    ) -> dict[int, Any]:
        """Return the kernel matrix of each fold, the same object where it is the same."""
        made: dict[tuple[int, str], Any] = {}
        matrices = {}
        kernel: Kernel | None = None
        for k in folds:
            points = self.points[k]
            if kernel is None or isinstance(model.gamma, str) or not isinstance(model.kernel, str):
                kernel = model._make_kernel().resolve(points[self.splits[k][0]])
                name = stable_key(kernel)
            key = (id(points), name)
            if key not in made:
                known = self.last.get(key)
                made[key] = self._matrix(kernel, points, distances) if known is None else known
            matrices[k] = made[key]
        self.last = made
        return matrices

    def _matrix(self, kernel: Kernel, points: Any, distances: dict[int, SquaredDistances]) -> Any:
        gram, exact = _held(kernel, points, distances, self.idle)
        return _Matrix(gram, BoundedStart(gram, self.codes), exact)

    def _evaluate(
        self, group: Group, k: int, matrix: Any, done: dict[tuple[str, int], FoldScores]
    ) -> None:
        if self.stopped.is_set():
            return
        start = time.perf_counter()
        train, test = self.splits[k]
        present = np.flatnonzero(np.bincount(self.codes[train]))
        known, codes = self.classes[present], np.searchsorted(present, self.codes)
        bounded = matrix.start if present.size == self.classes.size else None
        path = FoldPath(matrix.gram, matrix.exact, codes, present.size, train, test, bounded)
        models, model, ones = group.models, group.models[0], np.ones(train.size)
        factors = class_factors(model.class_weight, known, codes[train], ones)
        prices = np.array([model.C for model in models], dtype=np.float64)
        options = replace(
            model._options(), n_threads=1, callback=lambda n_iter, gap: self.stopped.is_set()
        )
        penalty = Penalty(1.0, model.loss, factors, ones)
        with blas_threads(1):  # some libraries have a limit for each thread
            values, unsolved = path.values(prices, penalty, model.multi_class, options)
        if self.stopped.is_set():
            return
        self.unsolved += unsolved
        self.n_solved += values.shape[0] * values.shape[2]
        test_scores = self._scores(models, known, values[:, test], test)
        train_scores = (
            self._scores(models, known, values[:, train], train) if self.train_score else []
        )
        seconds = time.perf_counter() - start
        done[group.key, k] = FoldScores(test_scores, train_scores, seconds)

    def _scores(self, models: Sequence[SVC], classes: Any, values: Any, rows: Rows) -> list[Any]:
        y = self.y[rows]
        if self.score is accuracy and values.shape[2] == 1:  # all models in one stroke
            right = (values[:, :, 0] > 0) == (y == classes[1])
            return (np.count_nonzero(right, axis=1) / right.shape[1]).tolist()
        X = take_rows(self.X, rows)
        return [
            self.score(KnownValues.of(model, classes, own), X, y)
            for model, own in zip(models, values)
        ]


def accuracy(model: KnownValues, X: Any, y: Any) -> float:
    """Return the share of right labels."""
    return float(np.mean(model.predict(X) == y))


class _Matrix(NamedTuple):
    """A kernel matrix in float32, and the same in float64, computed when asked for."""

    gram: StoredGram
    start: BoundedStart
    exact: Gram


def _held(
    kernel: Kernel, points: Any, distances: dict[int, SquaredDistances], n_threads: int
) -> tuple[StoredGram, Gram]:
    """Compute a matrix in the engine, or from squared distances, which are kept for others."""
    gram = make_gram(kernel, points)
    if isinstance(gram, ComputedGram):
        gram.n_threads = n_threads
    if isinstance(gram, ComputedGram) and points.shape[1] <= CHEAP_FEATURES:
        held = gram.stored(np.arange(gram.n), "single")
    elif not _is_of_distance(kernel):
        held = StoredGram(padded(len(points), np.float32))
        held.values[:] = gram.matrix()
    else:
        if id(points) not in distances:
            if 4 * len(points) ** 2 * (len(distances) + 1) > MOST_BYTES:
                distances.clear()
            distances[id(points)] = SquaredDistances(points, np.float32)
        held = distances[id(points)].gram(kernel)
    if isinstance(gram, ComputedGram):
        gram.n_threads = 1  # the others are at work on other folds
    return held, gram


def _is_of_distance(kernel: Any) -> bool:
    """Say whether squared Euclidean distances tell all that the kernel needs."""
    if not hasattr(kernel, "from_squared_distances") or np.ndim(kernel.gamma):
        return False
    return getattr(kernel, "metric", "euclidean") == "euclidean"


def _dense(points: Any) -> Any:
    values = points.toarray() if sp.issparse(points) else points
    return np.ascontiguousarray(values, dtype=np.float64)


def middle_first(groups: Sequence[Group]) -> list[Group]:
    """Return the groups, those in the middle of the grid first, where the hard problems are.

    What takes longest should not begin last, when the other threads have nothing left to do.
    Groups in a row that have one kernel stay together, since they share its matrix.
    """

    def kernel_of(group: Group) -> str:
        model = group.models[0]
        names = ("kernel", "gamma", "degree", "coef0")
        return repr([getattr(model, name, None) for name in names])

    runs = [list(run) for _, run in groupby(groups, kernel_of)]
    order = sorted(range(len(runs)), key=lambda k: abs(2 * k + 1 - len(runs)))
    return [group for k in order for group in runs[k]]


def _unfinished(pending: list[list[Future[None]]], fewer_than: int) -> list[list[Future[None]]]:
    """Wait until fewer groups than this are at work, and return those."""
    while True:
        ended = [future for futures in pending for future in futures if future.done()]
        for future in ended:
            future.result()  # raises what went wrong
        pending = [futures for futures in pending if not all(f.done() for f in futures)]
        if len(pending) < fewer_than:
            return pending
        wait([f for futures in pending for f in futures if not f.done()], None, FIRST_COMPLETED)
