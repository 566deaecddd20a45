"""What is settled before the machines of the cells are fitted, here or on other computers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from mercer._progress import say
from mercer.cells._budget import Cost
from mercer.cells._fitting import fitted_cells
from mercer.cells._given import Drawn, Given, OnlyClass, fit_cell
from mercer.cells._sample import Sample, sampled_rows
from mercer.cells._tuning import chosen_once, for_all_rows
from mercer.cells.metric import gradient_directions
from mercer.cells.partition import Partition, learn_partition

__all__ = [
    "Drawn",
    "Given",
    "Plan",
    "cell_size",
    "check_machine",
    "drawn_order",
    "fit_cell",
    "fitted_cells",
    "keep_cells",
    "plan_cells",
    "rows_needed",
    "told_sizes",
    "tuned",
]

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


@dataclass(frozen=True, eq=False)
class Plan:
    """The cells, and the machine that each of them is to have.

    Parameters
    ----------
    partition : Partition
    template : estimator
        With numbers where the parameters of the machine speak of all rows.
    random : RandomState
        What is drawn next.
    """

    partition: Partition
    template: Any
    random: np.random.RandomState


def drawn_order(random: np.random.RandomState, n_rows: int) -> NDArray[np.int64]:
    """Return all rows in random order.

    By numbers of its own, so that what is drawn next does not depend on how many rows there are.
    """
    return np.random.RandomState(random.randint(2**31)).permutation(n_rows)


def check_machine(model: Any) -> None:
    """Refuse machines of another kind than the cells', and those of kernel values."""
    machine = model._machine()
    tags = get_tags(machine)
    if tags.estimator_type not in (model._kind, None):
        raise ValueError(
            f"{type(model).__name__} needs a machine that is {_one(model._kind)}; "
            f"{type(machine).__name__} is {_one(tags.estimator_type)}."
        )
    if tags.input_tags.pairwise:
        raise ValueError(
            f"{type(model).__name__} needs points, not kernel values: cells are places in the "
            "space of the features."
        )


def plan_cells(
    model: Any,
    given: Given,
    order: Any,
    random: np.random.RandomState,
    classes: Any = None,
    n_threads: int = 1,
) -> Plan:
    """Settle the machine and cut the space, from rows in random order.

    Parameters
    ----------
    model : CellSVC, CellSVR or CellOneClassSVM
    given : Given
        All rows with weight, or some that stand for them.
    order : ndarray of int
        Rows of ``given`` in random order.
    random : RandomState
    classes : ndarray or None, default=None
        Labels for which the codes of a classifier stand.
    n_threads : int, default=1
        Cells that are worked on at a time, where a time budget must be kept.

    Returns
    -------
    Plan
    """
    check_machine(model)
    template = for_all_rows(model._machine(), given, order[:ROWS_OF_WIDTH], classes)
    size = cell_size(model, given.count)
    if size is None:
        size = _size_in_time(model, given, template, order, n_threads)
    sample = Sample.of(given, order, size, random)
    directions = _directions(model, given, template, order, size, sample)
    partition = learn_partition(sample, size, model.overlap, random, directions)
    return Plan(partition, template, random)


def cell_size(model: Any, count: float) -> int | None:
    """Return the rows of a cell that are asked for; None where the clock has to say.

    Parameters
    ----------
    model : CellSVC, CellSVR or CellOneClassSVM
    count : float
        All rows, those of larger weight counted as often.
    """
    if model.cell_size != "auto":
        return int(model.cell_size)
    if model.time_budget is not None:
        return None
    n_rows = math.ceil(count)
    return n_rows if n_rows <= FEW_ROWS else min(n_rows // FEWEST_CELLS, LARGEST_SIZE)


def rows_needed(size: int, count: float) -> int:
    """Return how many rows in random order `plan_cells` looks at.

    Parameters
    ----------
    size : int
        Of a cell.
    count : float
        As of `cell_size`.
    """
    return max(ROWS_OF_WIDTH, LARGEST_OF_METRIC, sampled_rows(size, count))


def _size_in_time(model: Any, given: Given, template: Any, order: Any, n_threads: int) -> int:
    """Return the largest size of cells that the time budget allows."""
    n_rows = math.ceil(given.count)
    cost = Cost.measured(lambda rows: given.fit(template, order[:rows]), given.n_rows)
    size = cost.size_within(float(model.time_budget), n_rows, model.overlap, n_threads)
    seconds = cost.of_cells(n_rows, size, model.overlap, n_threads)
    say(model, f"cells of {size:,} rows, in about {seconds:.3g} s")
    return size


def _directions(
    model: Any, given: Given, template: Any, order: Any, size: int, sample: Sample
) -> NDArray[np.float64] | None:
    """Return the directions of the metric, from a machine of some rows."""
    if model.metric == "euclidean" or size >= sample.n_rows:
        return None
    n_rows = min(LARGEST_OF_METRIC, max(given.n_rows // 10, LEAST_OF_METRIC))
    machine = given.fit(template, order[:n_rows])
    return gradient_directions(getattr(machine, "best_estimator_", machine), sample.X)


def tuned(model: Any, searches: Iterable[Any]) -> Any:
    """Return the machine that has the parameters which searches find in some cells.

    Parameters
    ----------
    model : CellSVC, CellSVR or CellOneClassSVM
    searches : iterable
        Fitted, of cells in random order; no more are asked for than needed.
    """
    fitted: list[Any] = []
    for machine in searches:
        fitted += [] if isinstance(machine, OnlyClass) else [machine]
        if len(fitted) == model.tune_on:
            break
    if not fitted or not hasattr(fitted[0], "best_params_"):
        raise ValueError(
            f"tune_on={model.tune_on} needs a search as estimator, such as GradientSearch(SVC())"
            f", and a cell with several classes; got {type(model._machine()).__name__}."
        )
    chosen = chosen_once(fitted)
    say(model, f"{chosen}, from {len(fitted)} cells")
    return chosen


def told_sizes(n_rows: int, sizes: Sequence[int]) -> str:
    """Return a line about the cells.

    Examples
    --------
    >>> told_sizes(10, [6, 7])
    '10 rows in 2 cells of 6 to 7, each in 1.30 of them'
    """
    return (
        f"{n_rows:,} rows in {len(sizes):,} cells of {min(sizes):,} to {max(sizes):,}, each in "
        f"{sum(sizes) / n_rows:.2f} of them"
    )


def keep_cells(
    model: Any, partition: Partition, machines: Sequence[Any], sizes: Sequence[int]
) -> None:
    """Make a fitted model of its parts.

    Parameters
    ----------
    model : CellSVC, CellSVR or CellOneClassSVM
    partition : Partition
    machines : sequence
        Of each cell.
    sizes : sequence of int
        Rows of each cell.
    """
    model.partition_, model.estimators_ = partition, list(machines)
    model.n_cells_ = len(machines)
    model.cell_sizes_ = np.array(sizes)


def _one(kind: str) -> str:
    """Return the name of a kind with its article."""
    return f"a{'n' if kind[0] in 'aeiou' else ''} {kind.replace('_', ' ')}"
