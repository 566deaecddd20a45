"""Support vector classifiers on fewer and fewer features, each started from the one before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._machine import warn_unless_converged
from mercer.feature_selection._criteria import Trained, criterion_for, join
from mercer.feature_selection._restriction import restricted
from mercer.feature_selection._rounds import Look
from mercer.feature_selection._sampling import RowSampler
from mercer.gram import Gram, make_gram
from mercer.gram.downdated import DowndatedGram, suits
from mercer.kernels import Kernel, Linear
from mercer.model_selection._two_class import Penalty
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution
from mercer.solvers.linear import linear_is_worthwhile
from mercer.solvers.several import Job
from mercer.svm import SVC
from mercer.svm._decomposition import TwoClassTask, decompose

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
        self._starts: list[Any] = []
        self._memories: list[dict[str, Floats]] = []

    # ---- one round --------------------------------------------------------------------------

    def look(self, features: Features) -> Look:
        """Train on some of the features."""
        drawn = self.sampler.rows(features.size)
        rows = np.arange(len(self.X)) if drawn is None else drawn
        points = np.ascontiguousarray(self.X[np.ix_(rows, features)])
        codes, weights = self.codes[rows], self.weights[rows]
        kernel = restricted(self._kernel, features, self.X.shape[1]).resolve(points, weights)
        tasks = decompose(codes, self.n_classes, self.estimator.multi_class)
        classes = np.arange(self.n_classes)
        factors = self.estimator._class_factors(classes, codes, weights)
        penalties = self.estimator.C * weights * factors
        problems = [self.estimator._problem(task, penalties) for task in tasks]
        gram = self._gram(kernel, points, features, whole=drawn is None)
        solutions = self._solve(gram, tasks, problems, whole=drawn is None)
        penalty = Penalty.of(self.estimator, factors, weights)
        importances = self._importances(kernel, points, tasks, solutions, penalty)
        accuracy = self._accuracy(gram, tasks, problems, solutions, codes, weights)
        return Look(importances, accuracy, max(s.gap for s in solutions), rows.size)

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

    def _solve(
        self, gram: Gram, tasks: list[TwoClassTask], problems: list[Any], whole: bool
    ) -> list[Solution]:
        starts = self._starts if whole and self._starts else [None] * len(tasks)
        jobs: list[Job] = [
            (problem, lambda task=task: _part(gram, task), start)  # type: ignore[misc]
            for problem, task, start in zip(problems, tasks, starts)
        ]
        solutions = self._solve_jobs(jobs)
        self.n_fits += len(solutions)
        if whole and self.warm_start:
            self._starts = [solution.beta for solution in solutions]
        return solutions

    def _solve_jobs(self, jobs: list[Job]) -> list[Solution]:
        solutions = self.estimator._solve_all(jobs, self.tol)
        if any(solution.status == "unbounded" for solution in solutions):
            raise ValueError(not_separable())
        warn_unless_converged(solutions, self.tol)
        return solutions

    def _solve_alone(self, problem: QuadraticProgram, gram: Gram) -> Solution:
        """Solve one problem without a start."""
        return self._solve_jobs([(problem, lambda: gram, None)])[0]

    def _importances(
        self,
        kernel: Kernel,
        points: Floats,
        tasks: list[TwoClassTask],
        solutions: list[Solution],
        penalty: Penalty,
    ) -> Floats:
        criterion = criterion_for(self.criterion, kernel)
        if len(self._memories) != len(tasks) or self.sampler.share is not None:
            self._memories = [{} for _ in tasks]
        values = [
            criterion(Trained(kernel, points, task, solution, penalty, memory))
            for task, solution, memory in zip(tasks, solutions, self._memories)
        ]
        return values[0] if len(values) == 1 else join(np.array(values), self.joint, self.power)

    def _accuracy(
        self,
        gram: Gram,
        tasks: list[TwoClassTask],
        problems: list[Any],
        solutions: list[Solution],
        codes: Rows,
        weights: Floats,
    ) -> float:
        """Return the share of the rows that the machines classify rightly."""
        if len(tasks) == 1:
            problem, solution = problems[0], solutions[0]
            values = solution.gradient - problem.p - problem.ridge * solution.beta
            found = (values + solution.offset > 0).astype(np.intp)
        else:
            found = _votes(gram, tasks, solutions, codes.size, self.n_classes)
        return float(weights[found == codes].sum() / weights.sum())


def _part(gram: Gram, task: TwoClassTask) -> Gram:
    return gram if task.rows.size == gram.n else gram.subset(task.rows)


def _votes(
    gram: Gram, tasks: list[TwoClassTask], solutions: list[Solution], n: int, n_classes: int
) -> Rows:
    """Return the class of each row by the largest value, or by the votes of all pairs."""
    values = np.empty((n, len(tasks)))
    for m, (task, solution) in enumerate(zip(tasks, solutions)):
        beta = np.zeros(n)
        beta[task.rows] = solution.beta
        values[:, m] = gram.times(beta) + solution.offset
    if all(task.rows.size == n for task in tasks):
        return values.argmax(axis=1)
    votes = np.zeros((n, n_classes), dtype=np.intp)
    first, second = np.triu_indices(n_classes, 1)
    for m in range(len(tasks)):
        winner = np.where(values[:, m] > 0, first[m], second[m])
        votes[np.arange(n), winner] += 1
    return votes.argmax(axis=1)


def not_separable() -> str:
    """Return what to say when a hard margin has no solution any more."""
    return (
        "The classes cannot be separated any more with the features that are left, so that C=inf "
        "(hard margin) has no solution; use a finite C or keep more features."
    )
