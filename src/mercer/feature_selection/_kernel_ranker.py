"""Support vector classifiers on fewer and fewer features, each started from the one before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection._criteria import Trained, criterion_for, join
from mercer.feature_selection._restriction import restricted
from mercer.feature_selection._rounds import RoundResult
from mercer.feature_selection._sampling import RowSampler
from mercer.gram import Gram, make_gram
from mercer.gram.downdated import DowndatedGram, suits
from mercer.kernels import Kernel, Linear
from mercer.machines import (
    Penalty,
    Training,
    class_factors,
    class_votes,
    decompose,
    warn_unless_converged,
)
from mercer.problems import QuadraticProgram
from mercer.solvers.linear import linear_is_worthwhile
from mercer.svm import SVC

Floats = NDArray[np.float64]
Features = NDArray[np.intp]
Rows = NDArray[np.intp]

LARGEST_MATRIX = 4000
"""Rows up to which the matrix of dot products or distances is held."""


class KernelRanker:
    """Trains a `SVC` round by round.

    Parameters
    ----------
    estimator : SVC
        With the parameters; it is not fitted.
    X : ndarray of shape (n, d)
    codes : ndarray of int
        Class of each row, from 0.
    weights : ndarray of shape (n,)
        Above 0.
    criterion, joint : str
    power : float
    tol : float
    warm_start : bool
        Whether the dual variables of a round are those that the next one starts from.
    sampler : RowSampler
    """

    def __init__(
        self,
        estimator: SVC,
        X: Floats,
        codes: Rows,
        weights: Floats,
        *,
        criterion: str,
        joint: str,
        power: float,
        tol: float,
        warm_start: bool,
        sampler: RowSampler,
    ) -> None:
        self.estimator = estimator
        self._kernel = estimator._make_kernel()
        # As the dual variables add up to 0, a shift changes nothing but rounding errors.
        self.X = X - X.mean(axis=0) if isinstance(self._kernel, Linear) else X
        self.codes, self.weights = codes, weights
        self.criterion, self.joint, self.power = criterion, joint, power
        self.tol, self.warm_start, self.sampler = tol, warm_start, sampler
        self.n_classes = int(codes.max()) + 1
        counts = np.bincount(codes, weights=weights)
        self.chance = float(counts.max() / counts.sum())
        self.n_fits = 0
        self._held: DowndatedGram | None = None
        self._starts: list[Any] | None = None
        self._memories: list[dict[str, Floats]] = []

    # ---- one round --------------------------------------------------------------------------

    def look(self, features: Features) -> RoundResult:
        """Train on some of the features."""
        drawn = self.sampler.rows(features.size)
        rows = np.arange(len(self.X)) if drawn is None else drawn
        points = np.ascontiguousarray(self.X[np.ix_(rows, features)])
        codes, weights = self.codes[rows], self.weights[rows]
        kernel = restricted(self._kernel, features, self.X.shape[1]).resolve(points, weights)
        gram = self._gram(kernel, points, features, whole=drawn is None)
        training = self._train(gram, codes, weights, whole=drawn is None)
        self.n_fits += len(training.tasks)
        penalty = self._penalty(codes, weights)
        importances = self._importances(kernel, points, training, penalty)
        accuracy = self._accuracy(training, codes, weights)
        return RoundResult(importances, accuracy, float(training.solutions.gap.max()), rows.size)

    def forget(self, features: Features) -> None:
        """Take features away for good."""
        if self._held is not None:
            self._held.forget(features)

    def _gram(self, kernel: Kernel, points: Floats, features: Features, whole: bool) -> Gram:
        """Return the kernel matrix, from the one that is held where there is one."""
        n, d = points.shape
        form = kernel.pairwise_form()
        if (
            not whole
            or n > LARGEST_MATRIX
            or form is None
            or form.scales is not None
            or not suits(form.family)
            or (form.family == "linear" and linear_is_worthwhile(n, d))
        ):
            return make_gram(kernel, points, memory=self.estimator.cache_size * 1e6)
        if self._held is None:
            self._held = DowndatedGram(self.X, form.family, features)
        return self._held.gram(kernel)

    def _penalty(self, codes: Rows, weights: Floats) -> Penalty:
        classes = np.arange(self.n_classes)
        factors = class_factors(self.estimator.class_weight, classes, codes, weights)
        return Penalty.of(self.estimator, factors, weights)

    def program(self) -> QuadraticProgram:
        """Return the program of a two-class machine of all rows."""
        tasks = decompose(self.codes, self.n_classes, self.estimator.multi_class)
        return self._penalty(self.codes, self.weights).program(tasks)

    def train_all(self, gram: Gram) -> Training:
        """Train the machines on all rows."""
        return self._train(gram, self.codes, self.weights, whole=True)

    def start_from(self, solutions: list[Floats]) -> None:
        """Let the next machines of all rows start from given solutions."""
        self._starts = solutions

    def _train(self, gram: Gram, codes: Rows, weights: Floats, whole: bool) -> Training:
        """Train the machines; those of all rows start from the last ones."""
        training = Training.of(
            gram,
            decompose(codes, self.n_classes, self.estimator.multi_class),
            self._penalty(codes, weights),
            replace(self.estimator._options(), tol=self.tol),
            self._starts if whole else None,
            refusal=not_separable(),
        )
        warn_unless_converged(training.solutions, self.tol)
        if whole and self.warm_start:
            self._starts = training.warm_start()
        return training

    def _importances(
        self, kernel: Kernel, points: Floats, training: Training, penalty: Penalty
    ) -> Floats:
        criterion = criterion_for(self.criterion, kernel)
        if len(self._memories) != len(training.tasks) or self.sampler.share is not None:
            self._memories = [{} for _ in training.tasks]
        values = [
            criterion(Trained(kernel, points, task, solution, penalty, memory))
            for task, solution, memory in zip(training.tasks, training.solutions, self._memories)
        ]
        return values[0] if len(values) == 1 else join(np.array(values), self.joint, self.power)

    def _accuracy(self, training: Training, codes: Rows, weights: Floats) -> float:
        """Return the share of the rows that the machines classify rightly."""
        if len(training.tasks) == 1:
            found = (training.decision > 0).astype(np.intp)
        else:
            found = _winners(training, codes.size, self.n_classes)
        return float(weights[found == codes].sum() / weights.sum())


def _winners(training: Training, n: int, n_classes: int) -> Rows:
    """Return the class of each row by the largest value, or by the votes of all pairs."""
    values = np.empty((n, len(training.tasks)))
    for m, (task, solution) in enumerate(zip(training.tasks, training.solutions)):
        beta = np.zeros(n)
        beta[task.rows] = solution.beta
        values[:, m] = training.gram.times(beta) + solution.offset
    if len(training.tasks.rows) == n * len(training.tasks):
        return values.argmax(axis=1)
    return class_votes(values, n_classes)[0].argmax(axis=1)


def not_separable() -> str:
    """Return what to say when a hard margin has no solution any more."""
    return (
        "The classes cannot be separated any more with the features that are left, so that C=inf "
        "(hard margin) has no solution; use a finite C or keep more features."
    )
