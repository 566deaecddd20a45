"""What the engine refuses, and how errors of others pass through it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from mercer import _engine
from mercer.gram import StoredGram
from mercer.problems import hinge_svc
from mercer.solvers import solve_smo

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


def problem(n: int) -> list[np.ndarray]:
    """Return the seven arrays of a small program: two bounds, zero start."""
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    arrays = [-signs, np.minimum(signs, 0.0), np.maximum(signs, 0.0), np.zeros(n), np.ones(n)]
    return [*arrays, np.zeros(n), -signs]


class RecordingGram(StoredGram):
    """Keeps the options that the solver hands to the engine."""

    def run_smo(self, problem: Any, options: dict[str, Any], precision: Any) -> Any:
        self.options = options
        return super().run_smo(problem, options, precision)


def usual_options() -> dict[str, Any]:
    gram = RecordingGram(np.eye(2))
    solve_smo(hinge_svc([1, -1], 1.0), gram, n_threads=1)
    return gram.options


OPTIONS = usual_options()


def test_bad_programs() -> None:
    arrays = problem(4)
    with pytest.raises(ValueError, match="square"):
        _engine.smo_matrix(np.zeros((4, 3)), None, tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="rows"):
        _engine.smo_matrix(np.eye(5), None, tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="outside"):
        _engine.smo_matrix(np.eye(4), np.array([0, 1, 2, 4]), tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="outside"):
        _engine.smo_matrix(np.eye(4), np.array([0, 1, 2, -1]), tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="rows"):
        _engine.smo_computed(np.zeros((5, 2)), 0, 1.0, 0.0, 3, 1.0, tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="family"):
        _engine.smo_computed(np.zeros((4, 2)), 9, 1.0, 0.0, 3, 1.0, tuple(arrays), OPTIONS)
    with pytest.raises(ValueError, match="a problem is"):
        _engine.smo_matrix(np.eye(4), None, tuple(arrays[:-1]), OPTIONS)
    with pytest.raises(ValueError, match="same length"):
        _engine.smo_matrix(np.eye(4), None, (*arrays[:-1], np.zeros(3)), OPTIONS)
    for rows in ([0, 1, 0], [0, 1, 0, 2, 1]):
        with pytest.raises(ValueError, match="number of rows"):
            _engine.smo_matrix(np.eye(3), None, (*arrays, np.array(rows)), OPTIONS)
    for row in (-1, 3):
        with pytest.raises(ValueError, match="outside the kernel matrix"):
            _engine.smo_matrix(np.eye(3), None, (*arrays, np.array([0, 1, 2, row])), OPTIONS)
    with pytest.raises((KeyError, IndexError)):
        _engine.smo_matrix(np.eye(4), None, tuple(arrays), {"tol": 1e-3})


@pytest.mark.parametrize("position", range(7))
def test_arrays_of_another_kind_are_refused(position: int) -> None:
    """Results are written in place, so that nothing may be converted on the way."""
    arrays: list[Any] = problem(4)
    arrays[position] = arrays[position].astype(np.int64)
    if position < 5:  # what is only read may be converted, but must then mean the same
        try:
            _engine.smo_matrix(np.eye(4), None, tuple(arrays), OPTIONS)
        except (TypeError, RuntimeError, ValueError):
            return
        np.testing.assert_allclose(np.abs(arrays[5]), 1.0)
    else:
        with pytest.raises((TypeError, RuntimeError, ValueError)):
            _engine.smo_matrix(np.eye(4), None, tuple(arrays), OPTIONS)


def test_read_only_results_are_refused() -> None:
    arrays = problem(4)
    arrays[5].flags.writeable = False
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        _engine.smo_matrix(np.eye(4), None, tuple(arrays), OPTIONS)
    assert (arrays[5] == 0).all()


@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_errors_of_a_request_come_through(call: int, n_threads: int) -> None:
    n_calls = 0

    def request(indices: np.ndarray, out: np.ndarray) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == call:
            raise LookupError("no such row")
        out[...] = (indices[:, None] == np.arange(out.shape[1])).astype(float)

    options = OPTIONS | {"block": 2, "n_threads": n_threads}
    with pytest.raises(LookupError, match="no such row"):
        _engine.smo_requested_f64(request, 40, tuple(problem(40)), options)
    assert n_calls == call


@pytest.mark.parametrize("n_threads", [1, 4])
def test_errors_of_a_callback_come_through(n_threads: int) -> None:
    """The first call comes after a twentieth of a second, so the request takes its time."""

    def request(indices: np.ndarray, out: np.ndarray) -> None:
        time.sleep(0.06)
        out[...] = (indices[:, None] == np.arange(out.shape[1])).astype(float)

    options = OPTIONS | {"callback": give_up, "block": 2, "n_threads": n_threads}
    with pytest.raises(LookupError, match="enough"):
        _engine.smo_requested_f64(request, 40, tuple(problem(40)), options)


def give_up(n_iter: int, gap: float) -> bool:
    raise LookupError("enough")


@pytest.mark.parametrize("n_threads", [1, 4])
def test_errors_of_a_callback_come_through_while_helpers_compute_rows(n_threads: int) -> None:
    """A solve without an end: unrelated labels, next to no regularisation, and a tolerance of 0."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(3000, 2)), rng.choice([-1.0, 1.0], size=3000)
    bounds = 1e6 * np.minimum(signs, 0.0), 1e6 * np.maximum(signs, 0.0)
    arrays = (-signs, *bounds, np.zeros(3000), np.ones(3000), np.zeros(3000), -signs)
    effort = {"block": 64, "n_threads": n_threads, "tol": 0.0, "max_iter": -1}
    options = OPTIONS | effort | {"callback": give_up}
    with pytest.raises(LookupError, match="enough"):
        _engine.smo_computed(X, 2, 1.0, 0.0, 3, 1.0, arrays, options)


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
    arrays = (np.zeros(left), np.zeros(right), 0, 1.0, 0.0, 3, 1.0, np.zeros(coefficients))
    with pytest.raises(ValueError):
        _engine.fill_kernel_products(*arrays, np.array(ends), True, np.zeros(out), 1)
