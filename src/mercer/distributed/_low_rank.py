"""Machines on few features: a pass over the rows is a sum over their blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer.distributed._cluster import Cluster
from mercer.distributed._collections import Blocks
from mercer.distributed._rows import Facts, opened, picked
from mercer.gram import KernelColumns
from mercer.lowrank.given import Sample
from mercer.lowrank.planning import (
    Plan,
    keep,
    limits_of,
    needed_kernel,
    planned,
    rows_of_sample,
    searched,
    told_pass,
)
from mercer.lowrank.rows import ComputedRows, answer
from mercer.lowrank.statistics import Answer, Request, empty_answers
from mercer.lowrank.targets import ClassTargets, Targets, TubeTargets
from mercer.machines import class_factors

TargetsOf = Callable[[Any, Any], Targets]
"""From codes or numbers of rows, and weights, to targets."""

SUMS_AT_ONCE = 8
"""Answers that are added up by one task."""

CURVATURE_BYTES = 1 << 26
"""Second derivatives up to this size are asked of a block at a time."""


def fit_low_rank(
    model: Any, blocks: Blocks, facts: Facts, cluster: Cluster, tell: Callable[[str], None]
) -> None:
    """Fit machines of a kernel of low rank.

    With the same seed the landmarks are those of a fit on one computer. They and a first hyperplane
    are learned on a worker, from rows drawn at random. In each pass every block answers with its
    sums, and neighbours are added up, in an order that is always the same, so that it makes no
    difference which worker did what. What comes here are sums, and the kernel values of the few
    rows near the margin.

    Parameters
    ----------
    model : NystroemSVC or NystroemSVR
        Gets the attributes of a fit.
    blocks : Blocks
    facts : Facts
    cluster : Cluster
    tell : callable
        Is given lines that say how far the work has come.
    """
    from dask import delayed

    needed_kernel(model)
    begun, limits = monotonic(), limits_of(model)
    random = check_random_state(model.random_state)
    drawn = random.permutation(facts.n_rows)[: rows_of_sample(model)]
    targets_of = _targets_of(model, facts)
    share, spent = drawn.size / facts.n_rows, monotonic() - begun
    some = picked(blocks, facts, drawn)
    task = delayed(_plan)(model, some, targets_of, share, random, spent)
    plan, lines = cluster.value(task)
    for line in lines:
        tell(line)
    passes = Passes(blocks, facts, cluster, plan.low_rank.columns, targets_of, tell)
    found = searched(plan.on_columns(), plan.starts, passes, limits, CURVATURE_BYTES)
    keep(model, plan, found)


def _targets_of(model: Any, facts: Facts) -> TargetsOf:
    """Return what makes targets of codes or numbers, and weights."""
    if facts.classes is None:
        return partial(TubeTargets, epsilon=model.epsilon, cost=model.C)
    each = np.arange(facts.classes.size)
    factors = class_factors(model.class_weight, facts.classes, each, facts.class_counts)
    return partial(ClassTargets, prices=model.C * factors)


def _plan(
    model: Any, drawn: Any, targets_of: TargetsOf, share: float, random: Any, spent: float
) -> tuple[Plan, list[str]]:
    """Return the plan, and what there is to tell of it; runs on a worker."""
    lines: list[str] = []
    X, y, weights = drawn
    sample = Sample(X.astype(np.float64, copy=False), targets_of(y, weights), share)
    return planned(model, sample, random, limits_of(model, spent), lines.append), lines


class Passes:
    """What asks all rows, each block where it lies."""

    def __init__(
        self,
        blocks: Blocks,
        facts: Facts,
        cluster: Cluster,
        columns: KernelColumns,
        targets_of: TargetsOf,
        tell: Callable[[str], None],
    ) -> None:
        from dask import delayed

        self.filled = [part for part, count in zip(blocks.parts, facts.counts) if count]
        self.known = (facts.classes, targets_of, cluster.held([delayed(columns)])[0])
        self.cluster, self.tell = cluster, tell

    def __call__(self, requests: list[Request]) -> list[Answer]:
        """Return the answers of all rows."""
        from dask import delayed

        asked = delayed(requests, traverse=False)
        found = [delayed(_answered)(part, asked, *self.known) for part in self.filled]
        while len(found) > 1:
            starts = range(0, len(found), SUMS_AT_ONCE)
            found = [delayed(_added)(asked, found[one : one + SUMS_AT_ONCE]) for one in starts]
        answers: list[Answer] = self.cluster.value(found[0])
        self.tell(told_pass(requests, "all"))
        return answers


def _answered(
    block: Any, requests: list[Request], classes: Any, targets_of: TargetsOf, columns: KernelColumns
) -> list[Answer]:
    """Return the answers of a block; runs on a worker, beside others."""
    part = opened(block, classes)
    rows = ComputedRows(lambda: iter([(part.X, targets_of(part.y, part.weights))]), columns)
    return answer(requests, rows, n_threads=1)


def _added(requests: list[Request], parts: Sequence[list[Answer]]) -> list[Answer]:
    """Return the sums of some answers, which stay as they are, for they may be asked for again."""
    total = empty_answers(requests)
    for part in parts:
        for place, one in enumerate(part):
            total[place] += one
    return total
