"""What the engine refuses, and how errors of others pass through it."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import _engine
from mercer.gram.pairwise import FAMILIES
from mercer.kernels import RBF
from mercer.solvers import Options

BAD_MATRICES = {
    "columns differ": (np.zeros((2, 3)), np.zeros((2, 4)), 0, np.zeros((2, 2)), ValueError),
    "result too small": (np.zeros((2, 3)), np.zeros((2, 3)), 0, np.zeros((2, 1)), ValueError),
    "result turned": (np.zeros((2, 3)), np.zeros((4, 3)), 0, np.zeros((4, 2)), ValueError),
    "family too large": (np.zeros((2, 3)), np.zeros((2, 3)), 6, np.zeros((2, 2)), ValueError),
    "family negative": (np.zeros((2, 3)), np.zeros((2, 3)), -1, np.zeros((2, 2)), ValueError),
    "precisions differ": (
        np.zeros((2, 3), np.float32),
        np.zeros((2, 3)),
        0,
        np.zeros((2, 2)),
        TypeError,
    ),
    "not contiguous": (np.zeros((3, 2)).T, np.zeros((2, 3)), 0, np.zeros((2, 2)), TypeError),
    "a vector": (np.zeros(3), np.zeros((2, 3)), 0, np.zeros((2, 2)), TypeError),
    "integers": (np.zeros((2, 3), int), np.zeros((2, 3), int), 0, np.zeros((2, 2), int), TypeError),
}


@pytest.mark.parametrize(
    ("left", "right", "family", "out", "error"), BAD_MATRICES.values(), ids=BAD_MATRICES
)
def test_bad_matrices(left: Any, right: Any, family: int, out: Any, error: Any) -> None:
    with pytest.raises(error):
        _engine.fill_kernel_matrix(left, right, family, 1.0, 0.0, 3, 1.0, out, 1)


Arguments = dict[str, Any]

OPTIONS = Options()


def vectors(n: int) -> list[Any]:
    """Return p, bounds, ridge and diagonal of a small program with two classes and kernel 1."""
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return [-signs, np.minimum(signs, 0.0), np.maximum(signs, 0.0), np.zeros(n), np.ones(n)]


def programs_call(rows: Any, *sizes: int, **others: Any) -> Arguments:
    """Return arguments for programs of these sizes whose variables have the rows in turn."""
    n, count = sum(sizes), len(sizes)
    counts = (np.full(count, 7), np.full(count, 7, np.uint8))
    report = (np.zeros(n), np.full(n, 7.0), *counts, np.full((3, count), 7.0))
    given = {"rows": rows, "problem": tuple(vectors(n)), "row": np.arange(n) if count > 1 else None}
    given |= {"ends": np.cumsum([0, *sizes]), "tol": np.full(count, 1e-3), "start": None}
    given |= {"rough": False, "options": OPTIONS, "n_threads": 1, "report": report}
    return given | others


def path_call(rows: Any, n: int, **others: Any) -> Arguments:
    """Return arguments for one program and two prices."""
    lines = (np.full((2, n), 7.0), np.full((2, n), 7.0))
    report = (*lines, np.full(2, 7), np.full(2, 7, np.uint8), np.full(2, 7.0), np.full(2, 7.0))
    given = {"rows": rows, "problem": tuple(vectors(n)), "row": None, "prices": np.array([1.0, 2])}
    given |= {"start": (np.zeros(n), np.zeros(n), 1.0), "options": OPTIONS, "report": report}
    return given | {"n_threads": 1} | others


def elimination_call(**others: Any) -> Arguments:
    """Return arguments for an elimination of two of three features of four rows."""
    columns = np.array([[1.0, -1, 1, -1], [0.5, -0.5, 0.5, 0.5], [0.1, 0.1, 0.2, 0.3]])
    p, lower, upper, ridge, _ = vectors(4)
    kernel = columns.T @ columns
    diagonal = kernel.diagonal().copy()
    report = (np.full(2, 7), np.full(2, 7.0), np.full(2, 7.0), np.full(2, 7.0), np.full(2, 7.0))
    given = {"columns": columns, "fixed": np.zeros(3, np.uint8), "counts": np.array([1, 1])}
    given |= {"row_weights": np.ones(4), "kernel": kernel, "options": OPTIONS, "n_threads": 1}
    given |= {"problem": (p, lower, upper, ridge, diagonal), "report": report}
    return given | {"point": (diagonal.copy(), np.zeros(4), p.copy())} | others


def with_item(items: tuple[Any, ...], position: int, item: Any) -> tuple[Any, ...]:
    return (*items[:position], item, *items[position + 1 :])


def is_written(given: Arguments, name: str) -> list[np.ndarray]:
    """Return the arrays among an argument that a call may write to."""
    found = given.get(name, ())
    items = found if isinstance(found, tuple) else (found,)
    return [item for item in items if isinstance(item, np.ndarray)]


def assert_refused(call: Callable[..., Any], given: Arguments, error: Any, words: str) -> None:
    """The call fails with these words, and whatever it could have written to is as it was."""
    written = [
        array
        for name in ("report", "start", "point", "kernel", "problem")
        for array in is_written(given, name)
    ]
    before = [array.copy() for array in written]
    with pytest.raises(error, match=words):
        call(**given)
    for array, copy in zip(written, before):
        np.testing.assert_array_equal(array, copy)


IDENTITY = np.eye(4)
TYPE = r"array \d has the wrong type or shape"
LENGTH = "same length"
ENDS = "must rise from 0 to the number of variables"


def test_the_calls_are_right_as_they_stand() -> None:
    """What is refused below is refused for what is changed."""
    two = programs_call(_engine.matrix_rows(IDENTITY), 2, 2)
    _engine.solve_programs(**two)
    np.testing.assert_allclose(two["report"][0], [1.0, -1.0, 1.0, -1.0])
    np.testing.assert_array_equal(two["report"][3], 0)
    path = path_call(_engine.matrix_rows(IDENTITY), 4)
    assert _engine.solve_path(**path) == 2
    np.testing.assert_allclose(np.abs(path["report"][0]), 1.0)
    assert _engine.eliminate_features(**elimination_call())["n_rounds"] == 2


def test_what_stands_behind_the_prices_is_not_looked_at() -> None:
    path = path_call(_engine.matrix_rows(IDENTITY), 4)
    path["prices"] = np.array([1.0, 2.0, -1.0])[:2]
    assert _engine.solve_path(**path) == 2


BAD_PROGRAMS: dict[str, tuple[Arguments, Any, str]] = {
    "four vectors": ({"problem": tuple(vectors(4)[:4])}, ValueError, "a problem is"),
    "six vectors": ({"problem": (*vectors(4), np.ones(4))}, ValueError, "a problem is"),
    "lengths differ": ({"problem": (*vectors(4)[:4], np.ones(3))}, ValueError, LENGTH),
    "fewer variables": ({"problem": tuple(vectors(3))}, ValueError, "number of rows"),
    "fewer rows": ({"row": np.arange(3)}, ValueError, "number of rows"),
    "more rows": ({"row": np.arange(5) % 4}, ValueError, "number of rows"),
    "row beyond": ({"row": np.array([0, 1, 2, 4])}, ValueError, "outside the kernel matrix"),
    "row before": ({"row": np.array([0, 1, 2, -1])}, ValueError, "outside the kernel matrix"),
    "no rows said": ({"row": None}, ValueError, "number of rows"),
    "ends too few": ({"ends": np.array([0, 4])}, ValueError, ENDS),
    "ends too many": ({"ends": np.array([0, 1, 2, 4])}, ValueError, ENDS),
    "ends start late": ({"ends": np.array([1, 2, 4])}, ValueError, ENDS),
    "ends stop early": ({"ends": np.array([0, 2, 3])}, ValueError, ENDS),
    "ends beyond": ({"ends": np.array([0, 2, 5])}, ValueError, ENDS),
    "ends go back": ({"ends": np.array([0, 5, 4])}, ValueError, ENDS),
    "an empty program": ({"ends": np.array([0, 4, 4])}, ValueError, ENDS),
    "no ends": ({"ends": np.array([], np.int64)}, ValueError, ENDS),
    "tolerances": ({"tol": np.array([1e-3])}, ValueError, ENDS),
    "start of one": ({"start": (np.zeros(4),)}, ValueError, "a start is"),
    "short anchor": ({"start": (np.zeros(3), np.zeros(4))}, ValueError, LENGTH),
    "short image": ({"start": (np.zeros(4), np.zeros(5))}, ValueError, LENGTH),
    "words as image": ({"start": (np.zeros(4), "abcd")}, TypeError, TYPE),
    "no options": ({"options": object()}, AttributeError, "time_limit"),
    "a dict of options": ({"options": {"tol": 1e-3}}, AttributeError, "time_limit"),
    "a matrix as rows": ({"rows": IDENTITY}, TypeError, "incompatible"),
}


@pytest.mark.parametrize(("changes", "error", "words"), BAD_PROGRAMS.values(), ids=BAD_PROGRAMS)
def test_bad_programs(changes: Arguments, error: Any, words: str) -> None:
    given = programs_call(_engine.matrix_rows(IDENTITY), 2, 2) | changes
    assert_refused(_engine.solve_programs, given, error, words)


def as_read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


WRONG_ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda array: array.astype(np.float32),
    "whole numbers": lambda array: array.astype(np.int32),
    "one more axis": lambda array: array[None],
    "every second": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "read-only": as_read_only,
    "a list": lambda array: array.tolist(),
}


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("wrong", WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_results_of_another_kind_are_refused(wrong: Any, position: int) -> None:
    """Results are written in place, so that nothing may be converted on the way."""
    matrix = _engine.matrix_rows(IDENTITY)
    calls = (
        (_engine.solve_programs, programs_call(matrix, 2, 2)),
        (_engine.solve_path, path_call(matrix, 4)),
        (_engine.eliminate_features, elimination_call()),
    )
    for call, given in calls:
        report = given["report"]
        given["report"] = with_item(report, position, wrong(report[position]))
        assert_refused(call, given, TypeError, TYPE)


@pytest.mark.parametrize("position", range(4))
def test_results_of_another_length_are_refused(position: int) -> None:
    matrix = _engine.matrix_rows(IDENTITY)
    given = programs_call(matrix, 2, 2)
    given["report"] = with_item(given["report"], position, given["report"][position][:-1])
    assert_refused(_engine.solve_programs, given, ValueError, LENGTH)
    given["report"] = given["report"][:3]
    assert_refused(_engine.solve_programs, given, ValueError, "a report is")
    given = path_call(matrix, 4)
    given["report"] = with_item(given["report"], position, given["report"][position][:-1])
    assert_refused(_engine.solve_path, given, ValueError, "a line for each price")
    given = elimination_call()
    given["report"] = with_item(given["report"], position, given["report"][position][:-1])
    assert_refused(_engine.eliminate_features, given, ValueError, "wrong size")


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_vectors_that_are_only_read_may_be_converted(position: int, kind: Any) -> None:
    given = programs_call(_engine.matrix_rows(IDENTITY), 2, 2)
    vector = given["problem"][position].astype(kind)
    given["problem"] = with_item(given["problem"], position, vector)
    _engine.solve_programs(**given)
    np.testing.assert_allclose(given["report"][0], [1.0, -1.0, 1.0, -1.0])


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("item", [np.ones((4, 1)), "abcd", None, np.float64(1.0)], ids=repr)
def test_vectors_that_are_none_are_refused(position: int, item: Any) -> None:
    given = programs_call(_engine.matrix_rows(IDENTITY), 2, 2)
    given["problem"] = with_item(given["problem"], position, item)
    assert_refused(_engine.solve_programs, given, TypeError, TYPE)


BAD_PATHS: dict[str, tuple[Arguments, Any, str]] = {
    "start of two": ({"start": (np.zeros(4), np.zeros(4))}, ValueError, "a path has"),
    "short start": ({"start": (np.zeros(3), np.zeros(4), 1.0)}, ValueError, LENGTH),
    "short image": ({"start": (np.zeros(4), np.zeros(3), 1.0)}, ValueError, LENGTH),
    "read-only start": ({"start": (as_read_only(np.zeros(4)), np.zeros(4), 1.0)}, TypeError, TYPE),
    "start without a price": ({"start": (np.zeros(4), np.zeros(4), 0.0)}, ValueError, "the start"),
    "start at no number": ({"start": (np.zeros(4), np.zeros(4), np.nan)}, ValueError, "the start"),
    "no price": ({"prices": np.array([1.0, 0.0])}, ValueError, "above 0"),
    "a price below": ({"prices": np.array([-1.0, 1.0])}, ValueError, "above 0"),
    "a price of nan": ({"prices": np.array([np.nan, 1.0])}, ValueError, "above 0"),
    "more prices": ({"prices": np.ones(3)}, ValueError, "a line for each price"),
    "fewer variables": ({"problem": tuple(vectors(3))}, ValueError, "number of rows"),
    "row beyond": ({"row": np.array([0, 1, 2, 4])}, ValueError, "outside the kernel matrix"),
    "four vectors": ({"problem": tuple(vectors(4)[:4])}, ValueError, "a problem is"),
    "no options": ({"options": None}, TypeError, "incompatible"),
}


@pytest.mark.parametrize(("changes", "error", "words"), BAD_PATHS.values(), ids=BAD_PATHS)
def test_bad_paths(changes: Arguments, error: Any, words: str) -> None:
    given = path_call(_engine.matrix_rows(IDENTITY), 4, **changes)
    assert_refused(_engine.solve_path, given, error, words)


BAD_ELIMINATIONS: dict[str, tuple[Arguments, Any, str]] = {
    "too many": ({"counts": np.array([2, 2])}, ValueError, "fewer features"),
    "too many of those free": ({"fixed": np.ones(3, np.uint8)}, ValueError, "fewer features"),
    "a round without": ({"counts": np.array([2, 0])}, ValueError, "must drop a feature"),
    "fewer columns": ({"columns": np.zeros((3, 3))}, ValueError, "as many rows as the problem"),
    "kernel not square": ({"kernel": np.zeros((4, 3))}, ValueError, "as many rows as the problem"),
    "a smaller kernel": ({"kernel": np.zeros((3, 3))}, ValueError, "number of rows"),
    "fewer weights": ({"row_weights": np.ones(3)}, ValueError, "as many rows as the problem"),
    "fewer marks": ({"fixed": np.zeros(2, np.uint8)}, ValueError, "marked as fixed"),
    "a point of two": ({"point": (np.ones(4), np.zeros(4))}, ValueError, "a point is"),
    "a short point": ({"point": (np.ones(4), np.zeros(3), np.ones(4))}, ValueError, LENGTH),
    "a report of four": ({"report": (np.zeros(2),) * 4}, ValueError, "a report is"),
    "read-only kernel": ({"kernel": as_read_only(np.eye(4))}, TypeError, "incompatible"),
}


@pytest.mark.parametrize(
    ("changes", "error", "words"), BAD_ELIMINATIONS.values(), ids=BAD_ELIMINATIONS
)
def test_bad_eliminations(changes: Arguments, error: Any, words: str) -> None:
    assert_refused(_engine.eliminate_features, elimination_call(**changes), error, words)


def test_bad_rows() -> None:
    with pytest.raises(ValueError, match="square"):
        _engine.matrix_rows(np.zeros((4, 3)))
    for matrix in (np.zeros(4), np.zeros((4, 4), int), np.zeros((4, 8))[:, ::2]):
        with pytest.raises(TypeError, match="incompatible"):
            _engine.matrix_rows(matrix)
    for family in (-1, 6):
        with pytest.raises(ValueError, match="family"):
            _engine.point_rows(np.zeros((4, 2)), family, 1.0, 0.0, 3, 1.0)
    for points in (np.zeros(4), np.zeros((4, 2), np.float32), np.zeros((2, 4)).T):
        with pytest.raises(TypeError, match="incompatible"):
            _engine.point_rows(points, 0, 1.0, 0.0, 3, 1.0)
    for rows in (_engine.point_rows(np.zeros((5, 2)), 2, 1.0, 0.0, 3, 1.0), identity_rows(5)):
        given = programs_call(rows, 4)
        assert_refused(_engine.solve_programs, given, ValueError, "number of rows")


def test_rows_outlive_what_they_were_made_from() -> None:
    """The engine keeps the matrix, the points and the function as long as it needs them."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    made = [
        _engine.matrix_rows(RBF(1.0)(X)),
        _engine.point_rows(X.copy(), FAMILIES.index("rbf"), 1.0, 0.0, 3, 1.0),
        _engine.requested_rows(lambda indices, out: np.copyto(out, RBF(1.0)(X[indices], X)), 300),
    ]
    gc.collect()
    found = []
    for rows in made:
        given = programs_call(rows, 300, tol=np.array([1e-6]))
        _engine.solve_programs(**given)
        found.append(given["report"][0])
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    np.testing.assert_allclose(found[2], found[0], atol=1e-4)


@pytest.mark.parametrize("kind", ["stored", "requested"])
def test_rough_rows_are_a_permission_only(kind: str) -> None:
    """Supplies without rows of single precision use those that they have."""
    rows = _engine.matrix_rows(np.eye(400)) if kind == "stored" else identity_rows(400)
    given = programs_call(rows, 400, rough=True)
    _engine.solve_programs(**given)
    np.testing.assert_allclose(np.abs(given["report"][0]), 1.0, atol=1e-3)


# ---- errors of others ------------------------------------------------------------------------


def identity_rows(n: int, before: Callable[[], None] = lambda: None) -> Any:
    """Return rows of the identity from Python, which does something else first."""

    def request(indices: np.ndarray, out: np.ndarray) -> None:
        before()
        out[...] = (indices[:, None] == np.arange(out.shape[1])).astype(float)

    return _engine.requested_rows(request, n)


class FailingCall:
    """Fails the one time that it is told to, whoever calls."""

    def __init__(self, which: int) -> None:
        self.which, self.n_calls, self.lock = which, 0, threading.Lock()

    def __call__(self) -> None:
        with self.lock:
            self.n_calls += 1
            fails = self.n_calls == self.which
        if fails:
            raise LookupError("no such row")


# One program, or many side by side: together they have enough rows for several threads.
SIZES = {"one": (40,), "many": (40,) * 30}


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("call", [1, 2, 3])
def test_errors_of_a_request_come_through(call: int, sizes: Any, n_threads: int) -> None:
    failing = FailingCall(call)
    how = {"options": Options(block=2), "n_threads": n_threads}
    given = programs_call(identity_rows(sum(sizes), failing), *sizes, **how)
    with pytest.raises(LookupError, match="no such row"):
        _engine.solve_programs(**given)
    assert failing.n_calls >= call
    assert failing.n_calls == call or (n_threads > 1 and len(sizes) > 1)


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_errors_of_a_callback_come_through(sizes: Any, n_threads: int) -> None:
    """The first call comes after a twentieth of a second, so the request takes its time."""
    how = {"options": Options(callback=give_up, block=2), "n_threads": n_threads}
    rows = identity_rows(sum(sizes), lambda: time.sleep(0.06))
    with pytest.raises(LookupError, match="enough"):
        _engine.solve_programs(**programs_call(rows, *sizes, **how))


def give_up(n_iter: int, gap: float) -> bool:
    raise LookupError("enough")


def endless_call(n: int, count: int, **how: Any) -> Arguments:
    """Solves without an end: unrelated labels, next to no regularisation, and a tolerance of 0."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(n * count, 2)), rng.choice([-1.0, 1.0], size=n * count)
    rows = _engine.point_rows(X, FAMILIES.index("rbf"), 1.0, 0.0, 3, 1.0)
    bounds = 1e6 * np.minimum(signs, 0.0), 1e6 * np.maximum(signs, 0.0)
    problem = (-signs, *bounds, np.zeros(n * count), np.ones(n * count))
    given = programs_call(rows, *(n,) * count, problem=problem, **how)
    return given | {"tol": np.zeros(count)}


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize(("n", "count"), [(3000, 1), (900, 3)])
def test_errors_of_a_callback_come_through_while_helpers_compute(
    n: int, count: int, n_threads: int
) -> None:
    """Helpers of one solve, or solves in helpers."""
    how = {"options": Options(block=64, callback=give_up), "n_threads": n_threads}
    with pytest.raises(LookupError, match="enough"):
        _engine.solve_programs(**endless_call(n, count, **how))


def test_errors_of_a_callback_come_through_on_a_path() -> None:
    rows = identity_rows(40, lambda: time.sleep(0.06))
    given = path_call(rows, 40, options=Options(callback=give_up, block=2), n_threads=2)
    with pytest.raises(LookupError, match="enough"):
        _engine.solve_path(**given)


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from test_refusals import Options, _engine, endless_call

kinds = {"endless": (2000, 2), "many": (80, 3000)}
how = {"options": Options(block=64), "n_threads": int(sys.argv[3])}
given = endless_call(*kinds[sys.argv[2]], **how)
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    _engine.solve_programs(**given)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("kind", ["endless", "many"])
def test_ctrl_c_ends_programs_side_by_side(kind: str, n_threads: int) -> None:
    """In the middle of one, between short ones, and while the caller waits for helpers."""
    command = [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent), kind, str(n_threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "interrupted\n"


BAD_PRODUCTS = {
    "columns differ": ((4, 3), (5, 2), (1, 5), [0, 5], (4, 1)),
    "coefficients differ": ((4, 3), (5, 3), (1, 4), [0, 5], (4, 1)),
    "result too small": ((4, 3), (5, 3), (2, 5), [0, 5], (4, 1)),
    "rows differ": ((4, 3), (5, 3), (1, 5), [0, 5], (3, 1)),
    "segments end early": ((4, 3), (5, 3), (1, 5), [0, 4], (4, 1)),
    "segments start late": ((4, 3), (5, 3), (1, 5), [1, 5], (4, 1)),
    "segments go back": ((4, 3), (5, 3), (1, 5), [0, 7, 5], (4, 2)),
    "no segment": ((4, 3), (5, 3), (1, 5), [0], (4, 0)),
}


@pytest.mark.parametrize(
    ("left", "right", "coefficients", "ends", "out"), BAD_PRODUCTS.values(), ids=BAD_PRODUCTS
)
def test_bad_products(left: Any, right: Any, coefficients: Any, ends: Any, out: Any) -> None:
    packed = _engine.pack_points(np.zeros(right), 0, 1.0, 0.0, 3, 1.0, 1)
    arrays = (np.zeros(left), packed, np.zeros(coefficients), np.array(ends))
    with pytest.raises(ValueError):
        _engine.fill_kernel_products(*arrays, True, np.zeros(out), 1)


def test_bad_packed_points() -> None:
    for family in (-1, 6):
        with pytest.raises(ValueError, match="family"):
            _engine.pack_points(np.zeros((4, 2)), family, 1.0, 0.0, 3, 1.0, 1)
    single = _engine.pack_points(np.zeros((5, 3), np.float32), 0, 1.0, 0.0, 3, 1.0, 1)
    for right in (single, np.zeros((5, 3))):
        with pytest.raises(TypeError, match="incompatible"):
            _engine.fill_kernel_products(
                np.zeros((4, 3)),
                right,
                np.zeros((1, 5)),
                np.array([0, 5]),
                True,
                np.zeros((4, 1)),
                1,
            )
