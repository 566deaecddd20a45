"""What machines on few features have in common."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from time import monotonic
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import RememberedParameters, given_weights
from mercer._progress import say
from mercer._sklearn import Interval, StrOptions
from mercer._threads import blas_for, wanted_threads
from mercer.gram import KernelSums, gives_numbers
from mercer.kernels import Kernel, as_kernel
from mercer.kernels.blocks import row_blocks
from mercer.lowrank.batches import Batch, GivenBatches, Survey, checked, survey
from mercer.lowrank.descent import Found, Limits, Task, search
from mercer.lowrank.given import Given, Sample
from mercer.lowrank.landmarks import WAYS, choose_landmarks
from mercer.lowrank.low_rank_kernel import LowRankKernel
from mercer.lowrank.rows import ComputedRows, HeldRows, Rows, answer, run
from mercer.lowrank.statistics import Answer, Request
from mercer.lowrank.targets import Targets
from mercer.machines import KERNEL_CONSTRAINTS

Floats = NDArray[np.float64]

OF_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
"""Which rows are taken as they are: those of a file that is mapped into memory stay there."""

ROWS_OF_SAMPLE = 20_000
"""Rows, at least, from which widths, landmarks and a first hyperplane are learned."""

ROWS_PER_FEATURE = 20
"""Rows of the sample for each feature."""

KINKS_PER_FEATURE, FEW_KINKS = 3, 200
"""Kinks near the hyperplane that are solved for exactly: no more than one for each feature is on
it."""

ROWS_OF_ERROR = 2000
"""Rows at which the error of the kernel is measured."""

HELD_BYTES = 1 << 28
"""Features up to this size are kept; others are computed again in each pass, which costs less than
one would think: a kernel value is a thousandth of what is done with a row."""

CURVATURE_BYTES = 1 << 29
"""Second derivatives up to this size are worked on at a time: of a few of many machines."""

ROWS_OF_BLOCK = 1 << 16
"""Rows of which values are computed at a time."""


class NystroemMachine(RememberedParameters, BaseEstimator):
    """Base of the machines on few features."""

    kernel: Any
    degree: int
    gamma: Any
    coef0: float
    rank: int
    landmarks: Any
    C: float
    loss: str
    tol: float
    max_iter: int
    time_limit: float | None
    n_jobs: int | None
    verbose: int
    random_state: Any

    kernel_: Kernel
    intercept_: Floats

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "rank": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [StrOptions(set(WAYS)), "array-like", "sparse matrix"],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "time_limit": [Interval(Real, 0.0, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    # ---- fit --------------------------------------------------------------------------------

    def _learn(self, given: Given | GivenBatches, random: np.random.RandomState) -> None:
        """Choose landmarks, solve for all machines, and keep them once all has worked."""
        kernel = as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        if kernel.is_pairwise:
            raise ValueError(
                f"{type(self).__name__} needs points, not kernel values: it computes those with "
                "the landmarks itself."
            )
        limits = self._limits()
        sample = given.sample(self._rows_of_sample(), random)
        kernel = kernel.resolve(sample.X, sample.targets.weights)
        landmarks = self._landmarks(sample, kernel, random)
        with blas_for(landmarks.shape[0]):
            low_rank = LowRankKernel(kernel, landmarks)
        error = self._error(low_rank, sample)
        say(
            self,
            f"rank {low_rank.rank:,}, of k(x, x) {error[0]:.2g} in the mean and {error[1]:.2g} at "
            "most are missing",
        )
        found = self._solve(given, sample, low_rank, limits)
        self.approximation_error_ = error
        self._keep(low_rank, found)

    def _rows_of_sample(self) -> int:
        return max(ROWS_OF_SAMPLE, ROWS_PER_FEATURE * (self.rank + 1))

    def _surveyed(
        self, batches: Any, random: Any, targets: bool
    ) -> tuple[Callable[[], Iterator[Batch]], Survey]:
        """Return what reads batches, and what a look through them shows."""
        is_first = True

        def check(X: Any, y: Any, sample_weight: Any) -> Batch:
            nonlocal is_first
            X, y = validate_data(self, X, y, reset=is_first, y_numeric=targets, **OF_ROWS)
            is_first = False
            some = sample_weight is None or np.any(sample_weight)
            return X, y, given_weights(sample_weight, X) if some else np.zeros(len(y))

        read = checked(batches, check)
        return read, survey(read(), self._rows_of_sample(), random, counts=not targets)

    def _limits(self) -> Limits:
        end = None if self.time_limit is None else monotonic() + self.time_limit
        return Limits(self.max_iter, lambda: end is not None and monotonic() >= end)

    def _landmarks(self, sample: Sample, kernel: Kernel, random: Any) -> Any:
        if not isinstance(self.landmarks, str):
            return validate_data(self, self.landmarks, reset=False, accept_sparse="csr")
        X, weights = sample.different()
        return choose_landmarks(X, self.rank, self.landmarks, kernel, random, weights)

    def _error(self, low_rank: LowRankKernel, sample: Sample) -> Floats:
        """Return mean and maximum of what is missing, at rows that k-means has not seen."""
        missing = low_rank.missing(sample.X[-ROWS_OF_ERROR:], wanted_threads(self.n_jobs))
        return np.array([missing.mean(), missing.max()])

    def _solve(
        self, given: Given | GivenBatches, sample: Sample, low_rank: LowRankKernel, limits: Limits
    ) -> list[Found]:
        """Return the machines, from a sample of the rows first where there are many."""
        size, targets = low_rank.rank, sample.targets
        n_threads = wanted_threads(self.n_jobs)
        diagonal = low_rank.kernel.diag(sample.X)
        task = Task(
            machine=0,
            basis=None,
            size=size,
            squared=self.loss.startswith("squared"),
            tol=self.tol,
            price=float(targets.price().sum()) / sample.share,
            longest=float(np.sqrt(diagonal.max(initial=0.0))),
            few=KINKS_PER_FEATURE * (size + 1) + FEW_KINKS,
        )
        offset, width = self._start(targets)
        starts = [Found(np.append(np.zeros(size), offset), width)] * targets.n_machines
        if sample.share < 0.5:
            part = targets.times(1.0 / sample.share)
            rows = HeldRows([(low_rank.features(sample.X, n_threads), part)])
            starts = self._searched(replace(task, is_sample=True), starts, rows, limits)
        if 8 * given.n_rows * size <= HELD_BYTES:
            held = [(low_rank.features(X, n_threads), part) for X, part in given.parts()]
            return self._searched(task, starts, HeldRows(held), limits)
        task = replace(task, basis=low_rank.basis)
        return self._searched(task, starts, ComputedRows(given.parts, low_rank.columns), limits)

    def _searched(self, task: Task, starts: list[Found], rows: Rows, limits: Limits) -> list[Found]:
        """Return the machines, a few at a time where there are many on many features."""
        at_once = max(1, CURVATURE_BYTES // (8 * (task.size + 1) ** 2))
        found: list[Found] = []
        for first in range(0, len(starts), at_once):
            searches = {
                machine: search(replace(task, machine=machine), starts[machine], limits)
                for machine in range(first, min(first + at_once, len(starts)))
            }
            with blas_for(task.size):
                done = run(searches, lambda asked: self._answered(asked, rows))
            found += [done[machine] for machine in searches]
        return found

    def _answered(self, requests: list[Request], rows: Rows) -> list[Answer]:
        answers = answer(requests, rows, wanted_threads(self.n_jobs))
        if self.verbose:
            name, some = type(requests[0]).__name__.lower(), len(requests)
            say(self, f"{name} at {rows.kind} rows" + (f" for {some} machines" if some > 1 else ""))
        return answers

    def _start(self, targets: Targets) -> tuple[float, float]:
        """Return the offset to begin with, and how much of the losses is rounded there."""
        raise NotImplementedError

    # ---- what is kept, and values -----------------------------------------------------------

    def _keep(self, low_rank: LowRankKernel, found: list[Found]) -> None:
        self.kernel_, self.landmarks_ = low_rank.kernel, low_rank.landmarks
        self.rank_ = low_rank.rank
        self.dual_coef_ = np.stack([low_rank.basis @ one.w[:-1] for one in found])
        self.intercept_ = np.array([one.w[-1] for one in found])
        self.objective_ = np.array([one.objective for one in found])
        self.gap_ = np.array([one.gap for one in found])
        self.n_iter_ = max(max(one.n_steps for one in found), 1)
        self.converged_ = all(one.converged for one in found)
        self._sums = KernelSums(self.kernel_, self.landmarks_, self.dual_coef_)
        if not self.converged_:
            worst = max(one.gap for one in found)
            known = f"at a gap of {worst:.3g}" if np.isfinite(worst) else "with an unknown gap"
            warnings.warn(
                f"{type(self).__name__} stopped {known}, above tol={self.tol:g}; scale the data, "
                "lower C, or raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @gives_numbers
    def _values(self, X: Any) -> Floats:
        """Return f(x) of every machine, one column each."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **OF_ROWS)
        values = np.empty((X.shape[0], self.intercept_.size))
        n_threads = wanted_threads(self.n_jobs)
        for block in row_blocks(X.shape[0], 1, ROWS_OF_BLOCK):
            rows = X[block].astype(np.float64, copy=False)
            values[block] = self._sums(rows, n_threads, rounded=True)[:, 0]
        return values + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
