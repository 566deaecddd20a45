"""One exact machine of rows on many computers: a cascade of support vectors, with feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from mercer._warnings import warn
from mercer.distributed._cascade_work import (
    ROWS_OF_PART,
    Fitted,
    Measure,
    as_one,
    fit_pieces,
    looked,
    supports,
    supports_of_block,
    taken,
)
from mercer.distributed._cluster import Cluster
from mercer.distributed._collections import Blocks
from mercer.distributed._conditions import conditions_of
from mercer.distributed._rows import Facts
from mercer.distributed._settled import settled

ROWS_OF_SEED = 200
"""Rows that every part is given, so that it has more than one class."""

STILL_FALLING = 0.7
"""Support vectors are merged in groups while at most such a share of them is left each time."""

COPIES = 3
"""How often the rows of a machine are in memory while it is fitted."""


def fit_cascade(
    model: Any, blocks: Blocks, facts: Facts, cluster: Cluster, tell: Callable[[str], None]
) -> None:
    """Fit one machine to all rows.

    Machines of parts of each block leave their support vectors, which are merged until one worker
    has them all. Its machine is then shown all rows, block by block; those that break its
    optimality conditions, or nearly, join, until none does. Rows that have joined stay, and so
    the work ends, at the optimum of all rows.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Gets the attributes of a fit.
    blocks : Blocks
    facts : Facts
    cluster : Cluster
    tell : callable
        Is given lines that say how far the work has come.

    References
    ----------
    H. P. Graf, E. Cosatto, L. Bottou, I. Durdanovic, V. Vapnik, "Parallel support vector
    machines: the cascade SVM", Neural Information Processing Systems (2004).
    """
    _check(model)
    cascade = Cascade(model, blocks, facts, cluster)
    pieces = cascade.merged(cascade.supports())
    while True:
        fitted = cascade.fit(pieces)
        joining, up, down = cascade.look(fitted)
        gap = up + down
        tell(f"{pieces.count:,} rows, gap {gap.max():.3g}; {joining.count:,} more")
        if joining.count == 0 or (gap <= model.tol).all():
            break
        pieces += joining
    (found,) = cluster.fetched([fitted])
    _keep(model, found, up, down, int(facts.sizes.sum()))


def _check(model: Any) -> None:
    """Refuse what a cascade cannot do."""
    if get_tags(model).input_tags.pairwise:
        raise ValueError("Distributed needs points, not kernel values.")
    if getattr(model, "probability", False):
        raise ValueError("probability=True is not there on many computers; use decision values.")


def _keep(model: Any, found: Fitted, up: Any, down: Any, n_rows: int) -> None:
    """Give a model the attributes of the machine of all rows."""
    parameters = model.get_params(deep=False)
    state = {name: value for name, value in vars(found.model).items() if name not in parameters}
    model.__dict__.update(state)
    conditions_of(model).finish(model, up)
    model.__dict__.pop("slack_", None)  # known of the last rows only
    model.support_ = found.rows[model.support_]
    model.shape_fit_ = (n_rows, model.shape_fit_[1])
    model.gap_ = up + down
    model.converged_ = bool((model.gap_ <= model.tol).all())
    if not model.converged_:
        warn(
            f"The cascade stopped at a gap of {model.gap_.max():.3g} over all rows instead of "
            f"tol={model.tol:g}. Scale the features (for instance with StandardScaler), lower C, "
            "or raise max_iter, time_limit or tol.",
            ConvergenceWarning,
        )


@dataclass(frozen=True, eq=False)
class Pieces:
    """Rows on workers, and how much each piece is."""

    held: list[Any]
    measures: list[Measure]

    @property
    def count(self) -> int:
        """Rows; those that several pieces have are counted in each."""
        return sum(one.count for one in self.measures)

    @property
    def weight(self) -> float:
        """Of the rows for which they stand."""
        return sum(one.weight for one in self.measures)

    def __add__(self, others: Pieces) -> Pieces:
        return Pieces(self.held + others.held, self.measures + others.measures)

    def groups(self, n_rows: int) -> list[Pieces]:
        """Return neighbours together, at least two, up to so many rows."""
        found, start = [], 0
        for stop in range(1, len(self.held) + 1):
            with_next = [one.count for one in self.measures[start : stop + 1]]
            if stop == len(self.held) or (len(with_next) > 2 and sum(with_next) > n_rows):
                found.append(Pieces(self.held[start:stop], self.measures[start:stop]))
                start = stop
        return found


class Cascade:
    """The steps of a cascade, each done by the workers."""

    def __init__(self, model: Any, blocks: Blocks, facts: Facts, cluster: Cluster) -> None:
        from dask import delayed

        self.blocks, self.facts, self.cluster = blocks, facts, cluster
        self.kind = conditions_of(model)
        self.tol = model.tol / 2  # half for the machine, half for rows that it is not shown
        template = settled(model, blocks, facts, cluster).set_params(tol=self.tol)
        self.template = cluster.held([delayed(cluster.modest(template))])[0]
        self.seed = self._seed()

    def _filled(self) -> list[tuple[Any, int]]:
        """Return the blocks that have rows, and the number of the first row of each."""
        known = zip(self.blocks.parts, self.facts.starts, self.facts.counts)
        return [(part, start) for part, start, count in known if count]

    def _pieces(self, tasks: Sequence[Any]) -> tuple[Pieces, list[Any]]:
        """Have tasks done that return a piece and what is told of it, which comes here."""
        futures = self.cluster.held([one[part] for one in tasks for part in (0, 1)])
        told = self.cluster.fetched(futures[1::2])
        return Pieces(futures[::2], [one[0] for one in told]), told

    def _seed(self) -> Pieces:
        """Return some rows drawn at random, and one of each class."""
        from dask import delayed

        facts = self.facts
        drawn = np.random.default_rng(0).integers(facts.n_rows, size=ROWS_OF_SEED)
        if facts.class_rows is not None:
            drawn = np.concatenate([drawn, facts.class_rows])
        starts = facts.starts
        some = [
            delayed(taken)(self.blocks.parts[block], facts.classes, places, starts[block])
            for block, places, _ in facts.by_block(np.unique(drawn))
        ]
        # One piece of them, since each block is given all: pieces times blocks would be many.
        return self._pieces([delayed(as_one, nout=2)(some)])[0]

    def supports(self) -> Pieces:
        """Return the support vectors of machines of the parts of each block."""
        from dask import delayed

        find, known = delayed(supports_of_block, nout=2), (self.kind, self.template, self.seed.held)
        tasks = [find(part, self.facts.classes, start, *known) for part, start in self._filled()]
        return self._pieces(tasks)[0]

    def merged(self, pieces: Pieces) -> Pieces:
        """Merge pieces in groups, of which only support vectors are left, while that helps."""
        from dask import delayed

        find = delayed(supports, nout=2)
        while len(pieces.held) > 2 and pieces.count > 2 * ROWS_OF_PART:
            before = pieces.count
            groups = [(self.seed + some, some.weight) for some in pieces.groups(2 * ROWS_OF_PART)]
            tasks = [find(self.kind, self.template, some.held, weight) for some, weight in groups]
            pieces = self._pieces(tasks)[0]
            if pieces.count > STILL_FALLING * before:
                break
        return self.seed + pieces

    def fit(self, pieces: Pieces) -> Any:
        """Return the machine of all pieces, which stays on its worker."""
        from dask import delayed

        needed = COPIES * sum(one.n_bytes for one in pieces.measures)
        if needed > self.cluster.memory:
            raise MemoryError(
                f"The machine of {pieces.count:,} rows needs about {needed / 1e9:.2g} GB on one "
                f"worker, which has {self.cluster.memory / 1e9:.2g} GB; give workers more memory, "
                "or use machines in cells (CellSVC, CellSVR, CellOneClassSVM)."
            )
        fit = delayed(fit_pieces)
        return self.cluster.held([fit(self.kind, self.template, pieces.held, self.facts.total)])[0]

    def look(self, fitted: Any) -> tuple[Pieces, Any, Any]:
        """Show a machine all rows, block by block.

        Returns
        -------
        joining : Pieces
            Rows that break the conditions by more than half of the tolerance, or nearly.
        up, down : ndarray of shape (n_machines,)
            Largest violations, where variables would have to grow, and to fall.
        """
        from dask import delayed

        look, known = delayed(looked, nout=2), (self.kind, fitted, self.tol)
        tasks = [look(part, self.facts.classes, start, *known) for part, start in self._filled()]
        pieces, told = self._pieces(tasks)
        _, ups, downs = zip(*told)
        return pieces, np.max(ups, axis=0), np.max(downs, axis=0)
