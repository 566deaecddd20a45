"""Machines in cells: rows move once, to where the machine of their cell is fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mercer.cells import CellOneClassSVM
from mercer.cells.cell_one_class_svm import level_rows, rejection_level
from mercer.cells.planning import (
    Drawn,
    Given,
    Plan,
    cell_size,
    check_machine,
    drawn_order,
    fit_cell,
    fitted_cells,
    keep_cells,
    plan_cells,
    rows_needed,
    told_sizes,
    tuned,
)
from mercer.distributed._cluster import Cluster
from mercer.distributed._collections import Blocks
from mercer.distributed._rows import Facts, Part, opened, picked, together

BUCKETS_A_SLOT = 4
"""Groups of cells for each task that runs at a time, so that nobody waits long for the last."""

SHARE_OF_GROUP = 1 / 16
"""How much of a worker's memory the rows of a group may take, of which a fit makes copies."""

SHARE_HELD = 1 / 4
"""How much of the workers' memory the rows of all groups may take that are worked on in a round.

Rows that dask puts on disk as blocks are read back as blocks for each group: far more is read.
"""


def fit_cells(
    model: Any, blocks: Blocks, facts: Facts, cluster: Cluster, tell: Callable[[str], None]
) -> None:
    """Fit machines in cells.

    With the same seed the cells are those of a fit on one computer. A plan is made on a worker,
    from rows drawn at random; every block is cut into groups of cells; each group is put together
    on a worker, which fits its machines. What comes here is the plan and the machines. Where the
    workers cannot hold all rows, some of the cells come after others, and blocks are cut again.

    Parameters
    ----------
    model : CellSVC, CellSVR or CellOneClassSVM
        Gets the attributes of a fit.
    blocks : Blocks
    facts : Facts
    cluster : Cluster
    tell : callable
        Is given lines that say how far the work has come.
    """
    from dask import delayed

    check_machine(model)
    count = max(facts.n_rows, facts.total)
    size = cell_size(model, count)
    if size is None:
        raise ValueError("time_budget is meant for one computer; give cell_size instead.")
    random = check_random_state(model.random_state)
    drawn = drawn_order(random, facts.n_rows)[: rows_needed(size, count)]
    modest = clone(model).set_params(estimator=cluster.modest(model._machine()))
    planned = cluster.held([delayed(_plan)(modest, picked(blocks, facts, drawn), facts, random)])[0]
    ((plan, bytes_a_row),) = cluster.fetched([planned])
    n_bytes = facts.n_rows * (1 + model.overlap) * bytes_a_row
    rounds = _rounds(len(plan.partition), n_bytes, cluster)
    pieces = [_pieces(blocks, facts, planned, bounds) for bounds in rounds]
    template = plan.template
    if model.tune_on is not None:
        if len(rounds) == 1:
            pieces = [[cluster.held(group) for group in pieces[0]]]
        template = tuned(model, _searches(template, pieces, rounds, plan.random, cluster))
    done: list[tuple[Any, int]] = []
    for groups in pieces:
        done += _fitted(template, groups, cluster, tell, len(done))
    machines, sizes = zip(*done)
    tell(told_sizes(facts.n_rows, sizes))
    keep_cells(model, plan.partition, machines, sizes)
    if isinstance(model, CellOneClassSVM):
        some = np.arange(facts.n_rows)[level_rows(facts.n_rows)]
        model.offset_ = cluster.value(delayed(_level)(model, picked(blocks, facts, some)))


def _plan(model: Any, drawn: Any, facts: Facts, random: Any) -> tuple[Plan, float]:
    """Return the plan, and the bytes of a row; runs on a worker."""
    X, y, weights = drawn
    given = Drawn(X, y, weights, facts.n_rows, facts.total, facts.class_counts)
    order = np.arange(X.shape[0])
    return plan_cells(model, given, order, random, facts.classes), _bytes(X) / X.shape[0]


def _bytes(X: Any) -> float:
    return float(sum(part.nbytes for part in ([X] if isinstance(X, np.ndarray) else [X.data] * 2)))


def _rounds(n_cells: int, n_bytes: float, cluster: Cluster) -> list[list[int]]:
    """Return where groups of neighbouring cells begin and end, those of a round together."""
    held = SHARE_HELD * cluster.memory * cluster.n_slots
    n_rounds = min(n_cells, max(1, math.ceil(n_bytes / held)))
    wanted = max(
        n_rounds * BUCKETS_A_SLOT * cluster.n_slots,
        math.ceil(n_bytes / (SHARE_OF_GROUP * cluster.memory)),
    )
    bounds = np.linspace(0, n_cells, min(n_cells, wanted) + 1).astype(int).tolist()
    ends = np.linspace(0, len(bounds) - 1, n_rounds + 1).astype(int).tolist()
    return [bounds[first : last + 1] for first, last in pairwise(ends)]


def _pieces(blocks: Blocks, facts: Facts, planned: Any, bounds: list[int]) -> list[list[Any]]:
    """Return for each group of cells the task that has its rows of each block."""
    from dask import delayed

    n_groups = len(bounds) - 1
    split = delayed(_split, nout=n_groups)
    cut = [
        split(part, facts.classes, planned, bounds)
        for part, count in zip(blocks.parts, facts.counts)
        if count
    ]
    return [[block[group] for block in cut] for group in range(n_groups)]


def _split(
    block: tuple[Any, Any, Any], classes: Any, planned: tuple[Plan, float], bounds: list[int]
) -> list[Any]:
    """Cut a block into groups of cells, the rows of a cell side by side; runs on a worker."""
    part = opened(block, classes)
    members = planned[0].partition.members(part.X)
    groups = []
    for first, last in pairwise(bounds):
        ends = members.indptr[first : last + 1]
        rows = members.indices[ends[0] : ends[-1]]
        groups.append((*part.take(rows), ends - ends[0]))
    return groups


def _fitted(
    template: Any,
    pieces: list[list[Any]],
    cluster: Cluster,
    tell: Callable[[str], None],
    done: int,
) -> list[tuple[Any, int]]:
    """Return machine and rows of all cells of a round."""
    from dask import delayed

    fit = delayed(_fit_group)
    template = delayed(template)
    groups: list[Any] = [None] * len(pieces)
    for place, group in cluster.as_done([fit(template, some) for some in pieces]):
        groups[place] = group
        done += len(group)
        tell(f"{done:,} cells done")
    return [cell for group in groups for cell in group]


def _fit_group(template: Any, pieces: Sequence[Any]) -> list[tuple[Any, int]]:
    """Return machine and rows of each cell of a group; runs on a worker."""
    ends = np.stack([piece[3] for piece in pieces])
    starts = np.cumsum(ends[:, -1]) - ends[:, -1]
    cells = [
        np.concatenate([np.arange(a, b) for a, b in zip(starts + first, starts + last)])
        for first, last in pairwise(ends.T)
    ]
    given = Given(*together([piece[:3] for piece in pieces]))
    return list(zip(fitted_cells(template, given, cells, None), map(len, cells)))


def _fit_one(template: Any, pieces: Sequence[Any], cell: int) -> Any:
    return fit_cell(template, *_rows_of(pieces, cell))


def _rows_of(pieces: Sequence[Any], cell: int) -> tuple[Any, Any, Any]:
    """Return the rows of a cell, put together from all blocks."""
    parts = []
    for X, y, weights, ends in pieces:
        if ends[cell] < ends[cell + 1]:
            parts.append(Part(X, y, weights).take(slice(ends[cell], ends[cell + 1])))
    return together(parts)


def _searches(
    search: Any,
    pieces: list[list[list[Any]]],
    rounds: list[list[int]],
    random: Any,
    cluster: Cluster,
) -> Any:
    """Yield fitted searches, of cells in random order; as many at a time as the workers can do."""
    from dask import delayed

    where = [
        (group, cell)
        for groups, bounds in zip(pieces, rounds)
        for group, (first, last) in zip(groups, pairwise(bounds))
        for cell in range(last - first)
    ]
    order = random.permutation(len(where))
    for start in range(0, order.size, cluster.n_slots):
        some = [where[cell] for cell in order[start : start + cluster.n_slots]]
        yield from cluster.values([delayed(_fit_one)(search, group, cell) for group, cell in some])


def _level(model: Any, rows: tuple[Any, Any, Any]) -> float:
    return rejection_level(model, rows[0])
