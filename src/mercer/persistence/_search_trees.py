"""Trees for the search of neighbours, which files leave out and `load` grows again from the rows.

The settings come from the file: a metric that is a function would be called while its tree grows,
and many models around the same rows would make many trees of little. So metrics are names, trees of
the same rows and settings are one, and what all of them take is known before the first one grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log2
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.neighbors import BallTree, KDTree

from mercer.persistence.errors import RefusalError

KINDS = ("kd_tree", "ball_tree")
MOST_GROWN = 24
"""Bytes of trees for each byte of rows. One column of eight bytes and leaves of one row take 13."""

SLACK = 2**24
"""Bytes of trees that need no reason."""


def check_search_trees(parts: Iterable[Any]) -> None:
    """Raise RefusalError where trees could not be grown, or would be large beside their rows."""
    rows: dict[int, int] = {}
    trees: dict[tuple[Any, ...], int] = {}
    for owner in _owners(parts):
        key = _settings(owner)
        rows[id(owner._fit_X)] = owner._fit_X.nbytes
        trees[key] = _bytes_of_tree(owner._fit_X, owner.leaf_size)
    if sum(trees.values()) > MOST_GROWN * sum(rows.values()) + SLACK:
        raise RefusalError("its trees for the search of neighbours would be large beside its rows")


def grow_search_trees(parts: Iterable[Any]) -> None:
    """Give their trees to all models that search neighbours, after the check above."""
    kinds = dict(zip(KINDS, (KDTree, BallTree), strict=True))
    grown: dict[tuple[Any, ...], Any] = {}
    for owner in _owners(parts):
        key = _settings(owner)
        if key not in grown:
            grown[key] = kinds[owner._fit_method](
                owner._fit_X,
                owner.leaf_size,
                metric=owner.effective_metric_,
                **owner.effective_metric_params_,
            )
        owner._tree = grown[key]


def _owners(parts: Iterable[Any]) -> Iterator[Any]:
    for part in parts:
        state = getattr(part, "__dict__", {})
        if "_fit_X" in state and state.get("_fit_method") in KINDS:
            yield part


def _settings(owner: Any) -> tuple[Any, ...]:
    """Return what makes trees the same, once it is seen to be names and numbers."""
    state = vars(owner)
    rows, kind, leaf_size = owner._fit_X, owner._fit_method, state.get("leaf_size")
    metric, named = state.get("effective_metric_"), state.get("effective_metric_params_")
    known = (KDTree if kind == "kd_tree" else BallTree).valid_metrics
    if not isinstance(metric, str) or metric == "pyfunc" or metric not in known:
        raise RefusalError("neighbours are searched by a metric that is not one of the named ones")
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise RefusalError("rows among which neighbours are searched are no numbers")
    if not isinstance(leaf_size, Integral) or leaf_size < 1:
        raise RefusalError("a tree for the search of neighbours has leaves of no size")
    if not isinstance(named, dict) or not all(map(_is_numeric, named.values())):
        raise RefusalError("the parameters of a metric are no numbers")
    parameters = sorted((k, id(v) if isinstance(v, np.ndarray) else v) for k, v in named.items())
    return (id(rows), kind, leaf_size, metric, *parameters)


def _is_numeric(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub"
    return isinstance(value, Real | None)


def _bytes_of_tree(rows: Any, leaf_size: int) -> int:
    """Return about how much a tree takes: order of rows, nodes with bounds, rows as doubles."""
    n, columns = rows.shape
    levels = int(log2(max(1, (n - 1) / leaf_size))) + 1
    copied = 0 if rows.dtype == np.float64 else 8 * rows.size
    return int(8 * n + 2**levels * (32 + 16 * columns) + copied)
