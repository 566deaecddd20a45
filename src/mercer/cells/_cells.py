"""What machines in cells have in common: a partition, a machine for each cell, and their mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._progress import say
from mercer._sklearn import HasMethods, Interval, StrOptions
from mercer._threads import available_threads, wanted_threads
from mercer.cells._fitting import fitted_cells
from mercer.cells._given import Given
from mercer.cells.partition import Partition
from mercer.cells.planning import drawn_order, keep_cells, plan_cells, told_sizes, tuned

Floats = NDArray[np.float64]

ROWS_AT_ONCE = 1 << 18
"""Rows for which values are computed before the next are looked at, so that memory is bounded."""

WORTH_A_THREAD = 4000
"""Rows from which values are computed by several threads."""

OF_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
"""Which rows are taken as they are: those of a file that is mapped into memory stay there."""


class CellMachine(MetaEstimatorMixin, BaseEstimator):
    """Base of the machines in cells."""

    estimator: Any
    cell_size: Any
    overlap: float
    metric: str
    blend: bool
    tune_on: int | None
    time_budget: float | None
    n_jobs: int | None
    verbose: int
    random_state: Any

    partition_: Partition
    estimators_: list[Any]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "cell_size": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "overlap": [Interval(Real, 0.0, None, closed="left")],
        "metric": [StrOptions({"gradients", "euclidean"})],
        "blend": ["boolean"],
        "tune_on": [Interval(Integral, 1, None, closed="left"), None],
        "time_budget": [Interval(Real, 0.0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        cell_size: Any = "auto",
        overlap: float = 0.3,
        metric: str = "gradients",
        blend: bool = True,
        tune_on: int | None = None,
        time_budget: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cell_size = cell_size
        self.overlap = overlap
        self.metric = metric
        self.blend = blend
        self.tune_on = tune_on
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # ---- what the kinds of machines differ in -----------------------------------------------

    _kind: ClassVar[str]
    """What its machines are, in the words of scikit-learn."""

    def _default(self) -> Any:
        """Return the machine that None stands for."""
        raise NotImplementedError

    def _machine(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    # ---- fit --------------------------------------------------------------------------------

    def _fit_cells(self, X: Any, y: Any, weights: Any, classes: Any = None) -> None:
        """Cut the rows into cells, fit a machine in each, and keep them once all have worked."""
        given = Given.of(X, y, weights)
        random = check_random_state(self.random_state)
        order = drawn_order(random, given.n_rows)
        n_threads = available_threads(wanted_threads(self.n_jobs))
        plan = plan_cells(self, given, order, random, classes, n_threads)
        members = plan.partition.members(given.X, wanted_threads(self.n_jobs))
        cells = [rows_of(members, cell) for cell in range(len(plan.partition))]
        say(self, told_sizes(given.n_rows, [rows.size for rows in cells]))
        template = plan.template
        if self.tune_on is not None:
            searches = (given.fit(template, cells[cell]) for cell in random.permutation(len(cells)))
            template = tuned(self, searches)
        machines = list(self._fitted(template, given, cells))
        keep_cells(self, plan.partition, machines, [rows.size for rows in cells])

    def _fitted(self, template: Any, given: Given, cells: list[Any]) -> Iterator[Any]:
        """Yield the machine of each cell."""
        machines = fitted_cells(template, given, cells, wanted_threads(self.n_jobs))
        step = max(1, len(cells) // 10)
        for done, machine in enumerate(machines, start=1):
            yield machine
            if done % step == 0 or done == len(cells):
                say(self, f"{done:,} of {len(cells):,} cells")

    # ---- values -----------------------------------------------------------------------------

    def _values(self, X: Any, ask: Callable[[int, Any], Floats], width: int) -> Floats:
        """Return the mean of what the machines of each row's cells say of it."""
        check_is_fitted(self)
        return self._mean_values(validate_data(self, X, reset=False, **OF_ROWS), ask, width)

    def _mean_values(self, X: Any, ask: Callable[[int, Any], Floats], width: int) -> Floats:
        found = np.empty((X.shape[0], width))
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            found[block] = self._block_values(X[block], ask, width)
        return found

    def _block_values(self, X: Any, ask: Callable[[int, Any], Floats], width: int) -> Floats:
        near = self.partition_.members if self.blend else self.partition_.own
        members = near(X, wanted_threads(self.n_jobs))
        cells = np.flatnonzero(np.diff(members.indptr)).tolist()
        n_threads = 1
        if X.shape[0] >= WORTH_A_THREAD:
            n_threads = min(available_threads(wanted_threads(self.n_jobs)), len(cells))
        asked = ((cell, X[rows_of(members, cell)]) for cell in cells)
        if n_threads == 1:
            answers = (ask(*one) for one in asked)
        else:
            answers = Parallel(n_threads, prefer="threads", return_as="generator")(
                delayed(ask)(*one) for one in asked
            )
        found, total = np.zeros((X.shape[0], width)), np.zeros(X.shape[0])
        for cell, values in zip(cells, answers):
            inside = slice(*members.indptr[cell : cell + 2])
            rows, weights = members.indices[inside], members.data[inside]
            found[rows] += weights[:, None] * values.reshape(rows.size, width)
            total[rows] += weights
        return found / total[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._machine()).input_tags.sparse
        return tags


def rows_of(members: sp.csc_array, cell: int) -> Any:
    """Return the rows of a cell."""
    return members.indices[members.indptr[cell] : members.indptr[cell + 1]]
