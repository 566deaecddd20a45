"""What machines on few features have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import OF_LINEAR_MACHINES, RememberedParameters, given_weights, refuse_dates
from mercer._progress import say
from mercer._sklearn import Interval, StrOptions
from mercer._threads import wanted_threads
from mercer.gram import gives_numbers
from mercer.kernels import Kernel
from mercer.kernels.blocks import row_blocks
from mercer.lowrank.arrow_batches import ArrowBatches
from mercer.lowrank.batches import Batch, GivenBatches, Survey, checked, survey
from mercer.lowrank.given import Given
from mercer.lowrank.landmarks import WAYS
from mercer.lowrank.planning import (
    asking,
    keep,
    limits_of,
    needed_kernel,
    planned,
    rows_of_sample,
    searched,
)
from mercer.lowrank.rows import ComputedRows, HeldRows, Rows
from mercer.machines import KERNEL_CONSTRAINTS

Floats = NDArray[np.float64]

OF_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
"""Which rows are taken as they are: those of a file that is mapped into memory stay there."""

SAYS_INSTEAD = {
    **OF_LINEAR_MACHINES,
    "dual": "there is one solver, which tells the gap of the dual program",
    "n_components": "the number of features is `rank`",
}
"""Arguments of scikit-learn's linear machines and of its Nystroem."""

HELD_BYTES = 1 << 28
"""Features up to this size are kept; others are computed again in each pass, which costs less than
one would think: a kernel value is a thousandth of what is done with a row."""

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

        def tell(line: str) -> None:
            say(self, line)

        needed_kernel(self)
        limits, n_threads = limits_of(self), wanted_threads(self.n_jobs)
        sample = given.sample(rows_of_sample(self), random)
        plan = planned(self, sample, random, limits, tell)
        low_rank, task = plan.low_rank, plan.task
        rows: Rows
        if 8 * given.n_rows * low_rank.rank <= HELD_BYTES:
            held = [(low_rank.features(X, n_threads), part) for X, part in given.parts()]
            rows = HeldRows(held)
        else:
            task, rows = plan.on_columns(), ComputedRows(given.parts, low_rank.columns)
        keep(self, plan, searched(task, plan.starts, asking(rows, n_threads, tell), limits))

    def _surveyed(
        self, batches: Any, random: Any, targets: bool
    ) -> tuple[Callable[[], Iterator[Batch]], Survey]:
        """Return what reads batches, and what a look through them shows."""
        is_first = True

        def check(X: Any, y: Any, sample_weight: Any) -> Batch:
            nonlocal is_first
            refuse_dates(X)
            if targets:
                refuse_dates(y, "y")
            X, y = validate_data(self, X, y, reset=is_first, y_numeric=targets, **OF_ROWS)
            is_first = False
            some = sample_weight is None or np.any(sample_weight)
            return X, y, given_weights(sample_weight, X) if some else np.zeros(len(y))

        read = checked(batches, check)
        return read, survey(read(), rows_of_sample(self), random, counts=not targets)

    def _keep_names(self, batches: Any) -> None:
        """Keep the names of columns that are read as arrays."""
        if isinstance(batches, ArrowBatches):
            self.feature_names_in_ = np.array(batches.columns, dtype=object)

    # ---- values -----------------------------------------------------------------------------

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
