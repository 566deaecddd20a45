"""What workers do for a cascade: machines of parts, machines of what was left, and looks at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.distributed._conditions import Conditions
from mercer.distributed._rows import Part, opened, together

Numbered = tuple[Any, Any, Any, NDArray[np.int64]]
"""X, y, weights and the numbers of rows among all: a tuple, whose size dask can tell."""

ROWS_OF_PART = 10_000
"""Rows of the machines whose support vectors come first."""

ROWS_AT_ONCE = 1 << 14
"""Rows that are looked at together."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A machine, and the numbers of the rows that it was fitted to."""

    model: Any
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Measure:
    """How much a piece is: its rows, their bytes, and the weight of the rows it stands for."""

    count: int
    n_bytes: float
    weight: float


def taken(block: Any, classes: Any, rows: Any, start: int) -> Numbered:
    """Return some rows of a block."""
    return opened(block, classes).numbered(rows, start)


def as_one(pieces: Sequence[Numbered]) -> tuple[Numbered, tuple[Measure]]:
    """Return several pieces as one, and how much it is."""
    piece = united(pieces)
    return piece, (_measure(piece, 0.0),)


def supports_of_block(
    block: Any, classes: Any, start: int, kind: Conditions, template: Any, seed: Sequence[Numbered]
) -> tuple[Numbered, tuple[Measure]]:
    """Return the support vectors of machines of parts of a block, each with the seed.

    The parts are taken crosswise, since neighbours may be alike.
    """
    part = opened(block, classes)
    n = part.X.shape[0]
    n_parts = -(-n // ROWS_OF_PART)
    found = []
    for first in range(n_parts):
        own = part.numbered(np.arange(first, n, n_parts), start)
        fitted = fit_pieces(kind, template, [own, *seed], None)
        found.append(_some(own, np.isin(own[3], fitted.rows[fitted.model.support_])))
    piece = united(found)
    weight = float(n if part.weights is None else part.weights.sum())
    return piece, (_measure(piece, weight),)


def supports(
    kind: Conditions, template: Any, pieces: Sequence[Numbered], weight: float
) -> tuple[Numbered, tuple[Measure]]:
    """Return the support vectors of a machine of some pieces."""
    rows = united(pieces)
    fitted = fit_pieces(kind, template, [rows], weight)
    piece = _some(rows, fitted.model.support_)
    return piece, (_measure(piece, weight),)


def fit_pieces(
    kind: Conditions, template: Any, pieces: Sequence[Numbered], total: float | None
) -> Fitted:
    """Return the machine of some pieces.

    Parameters
    ----------
    kind : Conditions
    template : estimator
    pieces : sequence
    total : float or None
        Weight of the rows for which they stand; None is their own.
    """
    X, y, weights, rows = united(pieces)
    weight = float(rows.size if weights is None else weights.sum())
    model = kind.for_part(template, weight, weight if total is None else total)
    known = {} if weights is None else {"sample_weight": weights}
    return Fitted(model.fit(X, y, **known), rows)


def looked(
    block: Any, classes: Any, start: int, kind: Conditions, fitted: Fitted, tol: float
) -> tuple[Numbered, tuple[Measure, Any, Any]]:
    """Look at all rows of a block: which break the conditions, and by how much.

    Returns
    -------
    piece
        Rows outside of the machine that break the conditions by more than ``tol``, or nearly.
    measure
    up, down : ndarray of shape (n_machines,)
        Largest violations of all rows, where variables would have to grow, and to fall.
    """
    part = opened(block, classes)
    n = part.X.shape[0]
    places = np.arange(n) if part.places is None else part.places
    support = fitted.rows[fitted.model.support_]
    order = np.argsort(support)
    joining, ups, downs = [], [], []
    for first in range(0, n, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, n))
        numbers = start + places[rows]
        at = np.searchsorted(support, numbers, sorter=order).clip(max=support.size - 1)
        inside = np.flatnonzero(support[order[at]] == numbers)
        found = kind.variables(fitted.model, Part(*part.take(rows)), order[at[inside]], inside)
        up, down = found.violations()
        worst = np.full(rows.size, -np.inf)
        np.maximum.at(worst, found.rows, np.maximum(up, down))
        outside = ~np.isin(numbers, fitted.rows)
        joining.append(rows[outside & (worst > tol)])
        if joining[-1].size:  # else those that come near would only be of use by chance
            joining[-1] = rows[outside & (worst > min(tol, -kind.near))]
        ups.append(_largest(up, found.ends))
        downs.append(_largest(down, found.ends))
    piece = part.numbered(np.concatenate(joining), start)
    return piece, (_measure(piece, 0.0), np.max(ups, axis=0), np.max(downs, axis=0))


def _largest(values: Any, ends: Any) -> Any:
    """Return the largest value of each machine, -inf where it has none."""
    return np.array([values[a:b].max(initial=-np.inf) for a, b in pairwise(ends)])


def united(pieces: Sequence[Numbered]) -> Numbered:
    """Return the rows of several pieces in order, each once."""
    X, y, weights = together([piece[:3] for piece in pieces])
    rows, first = np.unique(np.concatenate([piece[3] for piece in pieces]), return_index=True)
    return (*Part(X, y, weights).take(first), rows)


def _some(piece: Numbered, kept: Any) -> Numbered:
    return (*Part(*piece[:3]).take(kept), piece[3][kept])


def _measure(piece: Numbered, weight: float) -> Measure:
    X = piece[0]
    n_bytes = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    return Measure(X.shape[0], float(n_bytes), weight)
