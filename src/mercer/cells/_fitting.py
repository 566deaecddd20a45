"""The machines of all cells: by one call of the engine for many of them, or one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.base import clone

from mercer._threads import available_threads
from mercer.cells._given import Given, OnlyClass, fit_cell
from mercer.gram import make_gram
from mercer.machines import shared_rows, solve_together
from mercer.svm import SVC, SVR

TOGETHER = (SVC, SVR)
"""Machines whose programs the engine solves for many cells in one call."""

ENTRIES_TOGETHER = 1 << 23
"""Numbers in the rows of cells that are solved in one call, so that copies of them are few."""


def fitted_cells(
    template: Any, given: Given, cells: Sequence[Any], n_threads: int | None
) -> Iterator[Any]:
    """Yield the machine of each cell.

    Parameters
    ----------
    template : estimator
        With numbers where its parameters speak of all rows.
    given : Given
    cells : sequence of ndarray of int
        The rows of each.
    n_threads : int or None
        None uses all processors.
    """
    threads = min(available_threads(n_threads), len(cells))
    if len(cells) > 1 and _go_together(template, given.X):
        for some in _batches(cells, given.X.shape[1]):
            yield from _together(template, given, some, available_threads(n_threads))
    elif threads == 1:
        yield from (given.fit(template, rows) for rows in cells)
    else:
        yield from Parallel(threads, prefer="threads", return_as="generator")(
            delayed(fit_cell)(template, *given.part(rows)) for rows in cells
        )


def _go_together(template: Any, X: Any) -> bool:
    """Tell whether the engine knows kernel and program, and nothing is asked of single fits."""
    if type(template) not in TOGETHER or sp.issparse(X) or template.solver not in ("auto", "smo"):
        return False
    asks = template.verbose or template.warm_start or getattr(template, "probability", False)
    form = template._make_kernel().pairwise_form()
    backend = type(get_active_backend(prefer="threads")[0]).__name__
    return (
        not asks
        and template.time_limit is None
        and template.device == "cpu"
        and form is not None
        and form.family != "linear"
        and backend in ("ThreadingBackend", "SequentialBackend")
    )


def _batches(cells: Sequence[Any], n_features: int) -> Iterator[list[Any]]:
    """Yield some cells after others, of a bounded number of rows together."""
    some: list[Any] = []
    count = 0
    for rows in cells:
        if some and (count + rows.size) * n_features > ENTRIES_TOGETHER:
            yield some
            some, count = [], 0
        some.append(rows)
        count += rows.size
    yield some


def _together(template: Any, given: Given, cells: list[Any], n_threads: int) -> list[Any]:
    """Return the machines of some cells, their programs solved in one call."""
    template._validate_params()
    used = np.unique(np.concatenate(cells))
    if used.size < given.n_rows:
        given, cells = Given(*given.part(used)), [np.searchsorted(used, rows) for rows in cells]
    X, kernel = np.ascontiguousarray(given.X, dtype=np.float64), template._make_kernel()
    gram = make_gram(kernel, X)
    machines: list[Any] = []
    begun, own = [], []
    for rows in cells:
        y = given.y[rows]
        if isinstance(template, SVC) and (y == y[0]).all():
            machines.append(OnlyClass(y[0]))
            continue
        machines.append(clone(template))
        machines[-1].n_features_in_ = X.shape[1]
        own.append(rows)
        begun.append(machines[-1]._begin(shared_rows(X, given.weights, gram, kernel, rows), y))
    if begun:
        solve_together(begun, own, gram, replace(template._options(), n_threads=n_threads))
    return machines
