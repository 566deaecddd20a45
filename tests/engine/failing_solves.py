"""Calls of the engine in which an allocation fails: ``python failing_solves.py``.

Run by test_failures.py, with the library of failing_allocations.cpp preloaded, in a process of its
own: a failure that nobody catches ends the process.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mercer import _engine
from mercer.gram.pairwise import FAMILIES
from mercer.solvers import Options

THREADS = 3
N = 1500
SHAPE = (FAMILIES.index("rbf"), 0.5, 0.0, 3, 1.0)
X = np.random.default_rng(0).normal(size=(N, 3))
SIGNS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
# A cache of few rows and a small block: every way to a kernel row is taken, and in several rounds.
OPTIONS = Options(tol=0.1, block=200, cache_bytes=100 * N * 8)
# Four programs, each on half of the points: so many are worth a thread each.
HALVES = np.concatenate([np.random.default_rng(k).permutation(N)[: N // 2] for k in range(4)])
MANY = (SIGNS[HALVES], HALVES)
PRICES = np.array([0.1, 1.0])
# From one allocation that fails to the next it is this part of the way so far; sanitizers, which
# make each solve slow, ask for fewer.
STRIDE = int(os.environ.get("MERCER_FAILING_STRIDE", "8"))


def vectors(signs: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a machine with hinge loss as the engine takes it."""
    bounds = np.minimum(signs, 0.0), np.maximum(signs, 0.0)
    return (-signs, *bounds, np.zeros(signs.size), np.ones(signs.size))


def solved(
    rows: Any, signs: np.ndarray, row: np.ndarray | None = None, count: int = 1, rough: bool = False
) -> np.ndarray:
    """Solve one program, or several of equal size side by side."""
    ends = np.linspace(0, signs.size, count + 1).astype(np.int64)
    beta, gradient = np.zeros(signs.size), np.zeros(signs.size)
    ends_of = (np.zeros(count, np.int64), np.zeros(count, np.uint8))
    report = (beta, gradient, *ends_of, np.zeros((3, count)))
    gaps = np.full(count, OPTIONS.tol)
    how = (gaps, None, rough, OPTIONS, THREADS)
    _engine.solve_programs(rows, vectors(signs), row, ends, *how, report)
    return beta


def points() -> Any:
    return _engine.point_rows(X, *SHAPE)


def computed() -> np.ndarray:
    return solved(points(), SIGNS)


def single() -> np.ndarray:
    return solved(points(), SIGNS, rough=True)


def shared_rows() -> np.ndarray:
    return solved(points(), np.tile(SIGNS, 2), np.tile(np.arange(N), 2))


def batch() -> np.ndarray:
    """Programs on some of the points, a thread each."""
    return solved(points(), *MANY, count=4)


def single_batch() -> np.ndarray:
    return solved(points(), *MANY, count=4, rough=True)


def matrix() -> np.ndarray:
    out = np.empty((N, N))
    _engine.fill_kernel_matrix(X, X, *SHAPE, out, THREADS)
    return out


@cache
def values() -> np.ndarray:
    return matrix()


def stored() -> np.ndarray:
    return solved(_engine.matrix_rows(values()), SIGNS, np.arange(N))


def stored_batch() -> np.ndarray:
    return solved(_engine.matrix_rows(values()), *MANY, count=4)


def requested_batch() -> np.ndarray:
    rows = _engine.requested_rows(lambda indices, out: np.copyto(out, values()[indices]), N)
    return solved(rows, *MANY, count=4)


def path() -> np.ndarray:
    betas, images = np.zeros((2, PRICES.size, N))
    ends = (np.zeros(PRICES.size, np.int64), np.zeros(PRICES.size, np.uint8))
    report = (betas, images, *ends, np.zeros(PRICES.size), np.zeros(PRICES.size))
    start = (np.zeros(N), np.zeros(N), np.inf)
    rows = _engine.matrix_rows(values())
    how = (PRICES, start, OPTIONS, THREADS)
    _engine.solve_path(rows, vectors(SIGNS), np.arange(N), *how, report)
    return betas


def products() -> np.ndarray:
    out = np.empty((N, 1))
    packed = _engine.pack_points(X, *SHAPE, THREADS)
    weights, ends = np.ones((1, N)), np.array([0, N])
    _engine.fill_kernel_products(X, packed, weights, ends, False, out, THREADS)
    return out


@cache
def library() -> ctypes.CDLL:
    """Return the library that lets allocations fail."""
    found = ctypes.CDLL(os.environ["MERCER_FAILING_ALLOCATIONS"])
    found.fail_allocation.argtypes = [ctypes.c_long, ctypes.c_int]
    return found


def fails(work: Callable[[], np.ndarray], expected: np.ndarray, which: int, helpers: bool) -> bool:
    """Let one allocation fail; return whether the work came to it.

    Only a thread that cannot be started does no harm: the others do its work.
    """
    library().fail_allocation(which, int(helpers))
    try:
        found = work()
    except MemoryError:
        assert library().allocation_has_failed()
        return True
    failed = bool(library().allocation_has_failed())
    assert not (failed and helpers), "a failure in a helper was not told"
    np.testing.assert_array_equal(found, expected)
    return failed


def check_caller(work: Callable[[], np.ndarray], expected: np.ndarray) -> int:
    """Let the first allocation fail, then a later one, and so on until there are no more."""
    n_failed = which = 0
    while fails(work, expected, which, helpers=False):
        n_failed += 1
        which += 1 + which // STRIDE
    return n_failed


def check_helpers(
    work: Callable[[], np.ndarray], expected: np.ndarray, wanted: int = 3, trials: int = 8
) -> int:
    """The same in helpers, where they get to do anything at all before the caller has."""
    n_failed = 0
    for trial in range(trials):
        n_failed += fails(work, expected, trial % 4, helpers=True)
        if n_failed == wanted:
            break
    return n_failed


SOLVES = (computed, single, shared_rows, stored, path)
BATCHES = (batch, single_batch, stored_batch, requested_batch)

if __name__ == "__main__":
    for work in (*SOLVES, *BATCHES, matrix, products):
        right = work()
        print(f"{work.__name__}: {check_helpers(work, right)} failures in helpers", flush=True)
        print(f"{work.__name__}: {check_caller(work, right)} failures in the caller", flush=True)
        np.testing.assert_array_equal(work(), right)
