"""Evaluating the candidates of a grid with common kernel matrices and solutions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from mercer._sklearn import take_rows
from mercer._threads import available_threads, blas_threads, wanted_threads
from mercer.gram import (
    ComputedGram,
    Gram,
    SquaredDistances,
    StoredGram,
    device_of,
    make_gram,
)
from mercer.kernels import Kernel
from mercer.machines import (
    Fold,
    FoldPath,
    PathSettings,
    Penalty,
    SharedMatrix,
    class_factors,
    warn_about,
)
from mercer.model_selection.grid.groups import Group, machine_of, middle_first
from mercer.model_selection.search_record import stable_key
from mercer.solvers import Solution
from mercer.svm import SVC
from mercer.svm.svc import KnownValues

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Splits = Sequence[tuple[Rows, Rows]]
Score = Callable[[SVC, Any, Any], Any]

MOST_BYTES = 1 << 30
"""A kernel matrix larger than this is not held; such a search goes the ordinary way."""

CHEAP_FEATURES = 256
"""Up to so many features a kernel matrix is computed sooner than it follows from distances."""

MOST_MATRICES = 3
"""Kernels whose matrices are in memory at a time: one being made while others are worked on."""


class FoldScores(NamedTuple):
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
        self.folds: dict[tuple[Any, ...], list[tuple[Fold, Rows]]] = {}
        self.last: dict[tuple[int, str], Any] = {}  # matrices of the last group
        self.unsolved: list[Solution] = []  # machines that were not brought to the tolerance
        self.n_solved = 0
        self.refusal: Exception | None = None  # why a machine could not be fitted or scored

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
        # Some libraries have a limit for each thread, so that those of the pool set their own.
        limits, begin = ExitStack(), lambda: limits.enter_context(blas_threads(1))
        with limits, ThreadPoolExecutor(self.threads, initializer=begin) as pool:
            begin()
            try:
                for group in middle_first(groups):
                    folds = [k for k in range(len(self.splits)) if (group.key, k) not in done]
                    pending = _unfinished(pending, at_once)
                    waiting = sum(not future.done() for futures in pending for future in futures)
                    self.idle = max(1, self.threads - waiting)
                    works = self._works(group, self._matrices(group.models[0], folds, distances))
                    pending.append(
                        [pool.submit(self._evaluate, group, k, works[k], done) for k in folds]
                    )
                futures = [future for futures in pending for future in futures]
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()  # raises what went wrong
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
            of_fold = isinstance(model.gamma, str) or not isinstance(model.kernel, str)
            if kernel is None or of_fold:
                known_points = points[self.splits[k][0]] if of_fold else points
                kernel = model._make_kernel().resolve(known_points)
                name = stable_key(kernel)
                if model.device != "cpu":  # that of the last fit is refused before it
                    device_of(kernel, model.device, len(points))
            key = (id(points), name)
            if key not in made:
                known = self.last.get(key)
                made[key] = self._matrix(kernel, points, distances) if known is None else known
            matrices[k] = made[key]
        self.last = made
        return matrices

    def _matrix(self, kernel: Kernel, points: Any, distances: dict[int, SquaredDistances]) -> Any:
        gram, exact = _held(kernel, points, distances, self.idle)
        return SharedMatrix.of(gram, exact, self.codes)

    def _works(self, group: Group, matrices: dict[int, Any]) -> dict[int, Any]:
        """Return what the evaluation of each fold works on."""
        model, prices = group.models[0], np.array([model.C for model in group.models], dtype=float)
        folds = self._folds_for(model)
        options = replace(
            model._options(), n_threads=1, callback=lambda n_iter, gap: self.stopped.is_set()
        )
        settings = PathSettings(prices, options)
        return {k: (matrix, settings, *folds[k]) for k, matrix in matrices.items()}

    def _folds_for(self, model: SVC) -> list[tuple[Fold, Rows]]:
        """Return all folds, in which kernels have no part, and the classes of each."""
        key = (model.loss, model.multi_class, stable_key(model.class_weight))
        if key in self.folds:
            return self.folds[key]
        made = self.folds[key] = []
        for train, test in self.splits:
            present, codes = np.flatnonzero(np.bincount(self.codes[train])), self.codes
            if present.size < self.classes.size:
                codes = np.searchsorted(present, codes)
            ones = np.ones(train.size)
            factors = class_factors(model.class_weight, self.classes[present], codes[train], ones)
            penalty = Penalty(1.0, model.loss, factors, ones)
            fold = Fold(codes, present.size, train, test, penalty, model.multi_class)
            made.append((fold, present))
        return made

    def _evaluate(
        self, group: Group, k: int, work: Any, done: dict[tuple[str, int], FoldScores]
    ) -> None:
        if self.stopped.is_set():
            return
        start = time.perf_counter()
        matrix, settings, fold, present = work
        rows = np.concatenate([fold.test, fold.train]) if self.train_score else fold.test
        values, unsolved = FoldPath(matrix, fold).values(settings, rows)
        if self.stopped.is_set():
            return
        self.unsolved += unsolved
        self.n_solved += values.shape[0] * values.shape[2]
        try:
            n_test = fold.test.size
            test_scores, train_scores = (
                self._scores(group.models, present, values[:, part], rows[part]) if wanted else []
                for part, wanted in ((slice(n_test), True), (slice(n_test, None), self.train_score))
            )
        except Exception as refusal:  # whatever a score may raise
            self.refusal = refusal
            self.stopped.set()
            return
        seconds = time.perf_counter() - start
        done[group.key, k] = FoldScores(test_scores, train_scores, seconds)

    def _scores(self, models: Sequence[SVC], present: Rows, values: Any, rows: Rows) -> list[Any]:
        if self.score is accuracy and values.shape[2] == 1:  # all models in one stroke
            codes = self.codes[rows]
            right = (values[:, :, 0] > 0) == (codes == present[1])
            if self.classes.size > 2:  # a fold may lack the class of a row that it leaves out
                right &= np.isin(codes, present)
            return [np.count_nonzero(line) / line.size for line in right]
        X, y, classes = take_rows(self.X, rows), self.y[rows], self.classes[present]
        return [
            self.score(KnownValues.of(model, classes, own), X, y)
            for model, own in zip(models, values)
        ]


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Return the share of right labels."""
    return float(np.mean(model.predict(X) == y))


def _held(
    kernel: Kernel, points: Any, distances: dict[int, SquaredDistances], n_threads: int
) -> tuple[StoredGram, Gram]:
    """Compute a matrix in the engine, or from squared distances, which are kept for others."""
    gram, is_wide = make_gram(kernel, points), points.shape[1] > CHEAP_FEATURES
    if isinstance(gram, ComputedGram):
        gram.n_threads = n_threads
    # Points that are scaled have other distances, which need not fit.
    if isinstance(gram, ComputedGram) and not (
        is_wide and gram.form.scales is None and gram.fits_single
    ):
        held = gram.stored(np.arange(gram.n), "single")
    elif not _is_of_distance(kernel):
        held = StoredGram.shortened(gram.matrix())
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
