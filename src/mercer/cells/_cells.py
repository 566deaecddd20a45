"""What machines in cells have in common: a partition, a machine for each cell, and their mean."""

from __future__ import annotations

import math
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
from mercer.cells._budget import Cost
from mercer.cells._given import Given, OnlyClass, fit_cell
from mercer.cells._sample import Sample
from mercer.cells._tuning import chosen_once, for_all_rows
from mercer.cells.metric import gradient_directions
from mercer.cells.partition import Partition, learn_partition

Floats = NDArray[np.float64]

FEW_ROWS = 20_000
"""Up to so many rows one machine takes about a second, and there is one cell."""

FEWEST_CELLS = 16
"""So many cells take about a fifth of the time of one machine where that takes long."""

LARGEST_SIZE = 10_000
"""Rows of a cell beyond which the error hardly falls, while time and support vectors grow."""

LEAST_OF_METRIC, LARGEST_OF_METRIC = 2000, 10_000
"""Rows of the machine whose gradients say where to cut: a tenth of all between these bounds."""

ROWS_OF_WIDTH = 50_000
"""Rows from which ``gamma="scale"`` is known."""

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
        self._check_machine()
        given = Given.of(X, y, weights)
        random = check_random_state(self.random_state)
        # Of its own numbers, so that what follows does not depend on how many rows there are.
        order = np.random.RandomState(random.randint(2**31)).permutation(given.n_rows)
        template = for_all_rows(self._machine(), given, order[:ROWS_OF_WIDTH], classes)
        size = self._size(given, template, order)
        sample = Sample.of(given, order, size, random)
        directions = self._directions(given, template, order, size, sample)
        partition = learn_partition(sample, size, self.overlap, random, directions)
        members = partition.members(given.X, wanted_threads(self.n_jobs))
        cells = [rows_of(members, cell) for cell in range(len(partition))]
        self._tell(given.n_rows, cells)
        if self.tune_on is not None:
            template = self._tuned(template, given, cells, random)
        machines = list(self._fitted(template, given, cells))
        self.partition_, self.estimators_ = partition, machines
        self.n_cells_ = len(machines)
        self.cell_sizes_ = np.array([rows.size for rows in cells])

    def _check_machine(self) -> None:
        """Refuse machines of another kind, and those of kernel values."""
        machine = self._machine()
        tags = get_tags(machine)
        if tags.estimator_type not in (self._kind, None):
            raise ValueError(
                f"{type(self).__name__} needs a machine that is {_one(self._kind)}; "
                f"{type(machine).__name__} is {_one(tags.estimator_type)}."
            )
        if tags.input_tags.pairwise:
            raise ValueError(
                f"{type(self).__name__} needs points, not kernel values: cells are places in the "
                "space of the features."
            )

    def _size(self, given: Given, template: Any, order: Any) -> int:
        """Return the rows of a cell that are asked for."""
        n_rows = math.ceil(given.count)
        if self.cell_size != "auto":
            return int(self.cell_size)
        if self.time_budget is None:
            return n_rows if n_rows <= FEW_ROWS else min(n_rows // FEWEST_CELLS, LARGEST_SIZE)
        cost = Cost.measured(lambda rows: given.fit(template, order[:rows]), given.n_rows)
        n_threads = available_threads(wanted_threads(self.n_jobs))
        size = cost.size_within(float(self.time_budget), n_rows, self.overlap, n_threads)
        seconds = cost.of_cells(n_rows, size, self.overlap, n_threads)
        say(self, f"cells of {size:,} rows, in about {seconds:.3g} s")
        return size

    def _directions(
        self, given: Given, template: Any, order: Any, size: int, sample: Sample
    ) -> Floats | None:
        """Return the directions of the metric, from a machine of some rows."""
        if self.metric == "euclidean" or size >= sample.n_rows:
            return None
        n_rows = min(LARGEST_OF_METRIC, max(given.n_rows // 10, LEAST_OF_METRIC))
        model = given.fit(template, order[:n_rows])
        return gradient_directions(getattr(model, "best_estimator_", model), sample.X)

    def _tell(self, n_rows: int, cells: list[Any]) -> None:
        sizes = [rows.size for rows in cells]
        say(
            self,
            f"{n_rows:,} rows in {len(cells):,} cells of {min(sizes):,} to {max(sizes):,}, each in "
            f"{sum(sizes) / n_rows:.2f} of them",
        )

    def _tuned(self, search: Any, given: Given, cells: list[Any], random: Any) -> Any:
        """Let a search find the parameters in some cells, and return the machine that has them."""
        fitted: list[Any] = []
        for cell in random.permutation(len(cells)):
            machine = given.fit(search, cells[cell])
            fitted += [] if isinstance(machine, OnlyClass) else [machine]
            if len(fitted) == self.tune_on:
                break
        if not fitted or not hasattr(fitted[0], "best_params_"):
            raise ValueError(
                f"tune_on={self.tune_on} needs a search as estimator, such as GradientSearch(SVC())"
                f", and a cell with several classes; got {type(self._machine()).__name__}."
            )
        chosen = chosen_once(fitted)
        say(self, f"{chosen}, from {len(fitted)} cells")
        return chosen

    def _fitted(self, template: Any, given: Given, cells: list[Any]) -> Iterator[Any]:
        """Yield the machine of each cell."""
        n_threads = min(available_threads(wanted_threads(self.n_jobs)), len(cells))
        if n_threads == 1:
            machines = (given.fit(template, rows) for rows in cells)
        else:
            machines = Parallel(n_threads, prefer="threads", return_as="generator")(
                delayed(fit_cell)(template, *given.part(rows)) for rows in cells
            )
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


def _one(kind: str) -> str:
    """Return the name of a kind with its article."""
    return f"a{'n' if kind[0] in 'aeiou' else ''} {kind.replace('_', ' ')}"
