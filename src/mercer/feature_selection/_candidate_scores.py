"""Scores on folds of a classifier on sets of features that differ in one from a common set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection._kernel_ranker import restricted
from mercer.gram import StackedGram, make_gram
from mercer.gram.downdated import DowndatedGram, suits
from mercer.kernels import Kernel, Linear, PairwiseForm
from mercer.machines import Penalty, class_factors, decompose, warn_about
from mercer.model_selection.grid.shared_search import KnownValues, accuracy
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers import Solution, Solutions, solve_all
from mercer.svm import SVC

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Features = NDArray[np.intp]
Score = Callable[[Any, Any, Any], float]

CHUNK_BYTES = 16 * 2**20
"""Kernel matrices of candidates that are held at a time: as many as a processor's cache holds."""


MOST_BYTES = 512 * 2**20
"""The kernel matrices of one candidate may take so much."""

HIDDEN = 1e-6
"""Share of the mean square below which a variance is not computed from it."""


def are_held(n: int, n_folds: int) -> bool:
    """Say whether the kernel matrices of n rows, one for each fold, can be held."""
    return 8 * n * n * n_folds <= MOST_BYTES


@dataclass(frozen=True, eq=False)
class Machine:
    """A two-class machine of a fold, with the rows left out as variables that are closed to zero.

    So the gradient of its solution tells the decision values of these rows.

    Parameters
    ----------
    rows : ndarray of int
        Those of the machine and those left out, rising.
    problem : QuadraticProgram
    tested : ndarray of int
        Places of the rows left out among ``rows``.
    """

    rows: Rows
    problem: QuadraticProgram
    tested: Rows


@dataclass(frozen=True, eq=False)
class Fold:
    """The machines of a fold.

    Parameters
    ----------
    train, test : ndarray of int
    classes : ndarray
        Labels of the training rows.
    machines : tuple of Machine
    """

    train: Rows
    test: Rows
    classes: Any
    machines: tuple[Machine, ...]

    @classmethod
    def of(cls, model: SVC, y: Any, train: Rows, test: Rows) -> Fold:
        """Return the machines that a model trains on some rows, to be judged by others."""
        classes, codes = np.unique(y[train], return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                f"A fold has training rows of one class only, {classes[0]}; use fewer folds or "
                "folds stratified by class."
            )
        weights = np.ones(train.size)
        factors = class_factors(model.class_weight, classes, codes, weights)
        penalty = Penalty.of(model, factors, weights)
        machines = []
        for task in decompose(codes, classes.size, model.multi_class):
            own = penalty.program(task)
            rows = np.concatenate([train[task.rows], test])
            order = np.argsort(rows, kind="stable")
            spread = np.zeros((4, rows.size))
            spread[:, : own.n] = own.p, own.lower, own.upper, own.ridge
            p, lower, upper, ridge = spread[:, order]
            problem = QuadraticProgram.known(p, lower, upper, own.delta, ridge)
            machines.append(Machine(rows[order], problem, np.argsort(order)[own.n :]))
        return cls(train, test, classes, tuple(machines))


class CandidateScores:
    """Scores of features that may join a set, or leave it.

    What the kernel matrices of all candidates are made of (dot products or squared distances)
    differs from that of the set by one matrix of rank one or two, the matrix of a candidate serves
    all folds where its kernel does not depend on their rows, machines start from those of the set,
    and the machines of many candidates and all folds are one call of the engine.

    Parameters
    ----------
    model : SVC
        With the parameters; it is not fitted.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    splits : list of (train, test)
    score : callable
        Takes a classifier, rows and labels.
    grows : bool
        Whether the set begins with no feature and gains them, or loses those of all.
    n_threads : int or None
    """

    def __init__(
        self,
        model: SVC,
        X: Floats,
        y: Any,
        splits: Sequence[tuple[Rows, Rows]],
        score: Score,
        grows: bool,
        n_threads: int | None,
    ) -> None:
        self.model, self.y, self.score = model, y, score
        self.kernel = model._make_kernel()
        # As the dual variables add up to 0, a shift changes nothing but rounding errors.
        self.X = X - X.mean(axis=0) if isinstance(self.kernel, Linear) else X
        self.folds = [Fold.of(model, y, *split) for split in splits]
        self.grows = grows
        self.left = np.arange(0 if grows else X.shape[1])
        self.options = replace(model._options(), n_threads=n_threads)
        self.n_fits = 0
        self.unsolved: list[Solution] = []
        self._start: Floats | None = None
        self._form = self.kernel.resolve(self.X[self.folds[0].train]).pairwise_form()
        self._held = self._bases()
        self._widths = _Widths.of(self.kernel, self.X, [fold.train for fold in self.folds])

    def best(self, candidates: Features) -> tuple[int, float]:
        """Return the candidate with the highest mean score, the first of equals, and take it."""
        chosen, highest, start = -1, np.nan, None
        for first in range(0, candidates.size, self._at_once):
            some = candidates[first : first + self._at_once]
            scores, betas = self._judge(some)
            for feature, one, beta in zip(some.tolist(), scores, betas):
                if chosen < 0 or one > highest:
                    chosen, highest, start = feature, one, beta
        self._start = start
        self._take(chosen)
        return chosen, highest

    def warn(self) -> None:
        """Warn once about all machines that were not brought to the tolerance."""
        if self.unsolved:
            warn_about(self.unsolved, self.n_fits, self.model.tol)

    # ---- kernel matrices ----------------------------------------------------------------------

    def _bases(self) -> DowndatedGram | None:
        """Return what kernel matrices are made of, where a feature can be added to it."""
        form = self._form
        if form is None or form.scales is not None or not suits(form.family):
            return None
        return DowndatedGram(self.X, form.family, self.left)

    def _take(self, feature: int) -> None:
        self.left = self._with(feature)
        if self._held is not None and self.grows:
            self._held.add(feature)
        elif self._held is not None:
            self._held.forget(np.array([feature]))

    def _with(self, feature: int) -> Features:
        """Return the set after a candidate has joined or left."""
        if self.grows:
            return np.sort(np.append(self.left, feature))
        return self.left[self.left != feature]

    def _forms(self, features: Features) -> Sequence[PairwiseForm | None]:
        """Return the kernel of each fold as a formula of what is held, or one for all of them."""
        widths = None if self._widths is None else self._widths(features)
        if widths is not None and self._form is not None:
            return [replace(self._form, gamma=gamma) for gamma in widths]
        return [kernel.pairwise_form() for kernel in self._kernels(features)]

    def _kernels(self, features: Features) -> list[Kernel]:
        """Return the kernel of each fold, or a single one where they are all the same."""
        points = self.X[:, features]
        kernel = restricted(self.kernel, features, self.X.shape[1])
        return [kernel.resolve(points[fold.train]) for fold in self.folds[: self._n_kernels]]

    @cached_property
    def _n_kernels(self) -> int:
        """One for each fold where parameters are words, which stand for what its rows say."""
        words = (isinstance(value, str) for value in self.kernel.get_params().values())
        return len(self.folds) if any(words) else 1

    @property
    def _at_once(self) -> int:
        """Candidates whose kernel matrices are held at a time."""
        return max(1, CHUNK_BYTES // (8 * len(self.y) ** 2 * self._n_kernels))

    @cached_property
    def _gram(self) -> StackedGram:
        """Room for their kernel matrices, which is used again and again."""
        most = min(self._at_once, self.X.shape[1])
        gram = StackedGram(most * self._n_kernels, len(self.y))
        gram.matrices[:] = 0.0
        return gram

    def _fill(self, matrices: Floats, feature: int) -> None:
        """Compute the kernel matrices of a candidate, one for all folds or one for each."""
        features = self._with(feature)
        if self._held is None:
            points = np.ascontiguousarray(self.X[:, features])
            for matrix, kernel in zip(matrices, self._kernels(features)):
                matrix[:] = make_gram(kernel, points).matrix()
            return
        base = self._held.changed(feature)
        for matrix, form in zip(matrices, self._forms(features)):
            assert form is not None
            matrix[:] = form.values(base)

    # ---- machines -----------------------------------------------------------------------------

    def _judge(self, candidates: Features) -> tuple[list[float], Floats]:
        """Return the mean score and the dual variables of each candidate."""
        gram, each, machines = self._gram, self._n_kernels, self._machines
        for k, feature in enumerate(candidates.tolist()):
            self._fill(gram.matrices[k * each : (k + 1) * each], feature)
        of_fold = np.repeat(np.arange(len(self.folds)), [len(f.machines) for f in self.folds])
        matrix = of_fold if each > 1 else np.zeros_like(of_fold)
        own = np.concatenate(
            [number * gram.n_each + one.rows for number, one in zip(matrix, machines)]
        )
        shift = np.arange(candidates.size)[:, None] * each * gram.n_each
        programs = self._programs.repeated(candidates.size)
        found = solve_all(
            programs,
            gram,
            self.options,
            rows=(shift + own).ravel(),
            warm_start=None if self._start is None else np.tile(self._start, candidates.size),
        )
        self._note(found)
        image = programs.image(found.beta, found.gradient).reshape(candidates.size, -1)
        offsets = found.offset.reshape(candidates.size, -1)
        scores = np.empty((candidates.size, len(self.folds)))
        ends, k = self._programs.ends, 0
        for number, fold in enumerate(self.folds):
            values = np.empty((candidates.size, fold.test.size, len(fold.machines)))
            for m, machine in enumerate(fold.machines):
                values[:, :, m] = image[:, ends[k] + machine.tested] + offsets[:, k, None]
                k += 1
            scores[:, number] = self._scores(fold, values)
        return [float(line.mean()) for line in scores], found.beta.reshape(candidates.size, -1)

    @cached_property
    def _machines(self) -> list[Machine]:
        return [machine for fold in self.folds for machine in fold.machines]

    @cached_property
    def _programs(self) -> Programs:
        return Programs.of([machine.problem for machine in self._machines])

    def _note(self, found: Solutions) -> None:
        self.n_fits += len(found)
        self.unsolved += [found[k] for k in np.flatnonzero(~found.converged).tolist()]

    def _scores(self, fold: Fold, values: Floats) -> Any:
        y = self.y[fold.test]
        if self.score is accuracy and values.shape[2] == 1:  # all candidates in one stroke
            right = (values[:, :, 0] > 0) == (y == fold.classes[1])
            right &= np.isin(y, fold.classes)  # a fold may lack the class of a row it leaves out
            return np.count_nonzero(right, axis=1) / y.size
        X = self.X[fold.test]
        return [self.score(KnownValues.of(self.model, fold.classes, own), X, y) for own in values]


class _Widths:
    """``gamma="scale"`` of any set of features for each fold, from sums over rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    trains : list of ndarray of int
        Rows of each fold.
    """

    def __init__(self, X: Floats, trains: Sequence[Rows]) -> None:
        centred = X - X.mean()
        self.sizes = np.array([train.size for train in trains])
        self.sums = np.array([centred[train].sum(axis=0) for train in trains])
        self.squares = np.array([(centred[train] ** 2).sum(axis=0) for train in trains])

    @classmethod
    def of(cls, kernel: Kernel, X: Floats, trains: Sequence[Rows]) -> _Widths | None:
        """Return the widths of a kernel that needs nothing else of the rows, else None."""
        words = [(name, v) for name, v in kernel.get_params().items() if isinstance(v, str)]
        return cls(X, trains) if words == [("gamma", "scale")] else None

    def __call__(self, features: Features) -> list[float] | None:
        """Return one over number of features times variance, or None where rounding hides it."""
        count = self.sizes * features.size
        mean_square = self.squares[:, features].sum(axis=1) / count
        squared_mean = (self.sums[:, features].sum(axis=1) / count) ** 2
        variance = mean_square - squared_mean
        if not (variance > HIDDEN * mean_square).all():
            return None
        return (1.0 / (features.size * variance)).tolist()
