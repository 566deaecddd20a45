"""The compiled loops against NumPy: all kernels, precisions, odd sizes and instruction sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _engine
from mercer.gram import available_threads
from mercer.gram.pairwise import FAMILIES

GAMMA, COEF0, DEGREE, FACTOR = 0.3, 0.7, 3, 2.5
SIZES = [
    (1, 1, 1),
    (1, 17, 2),
    (2, 16, 3),
    (3, 15, 1),
    (7, 31, 5),
    (8, 32, 16),
    (9, 33, 20),
    (40, 70, 7),
    (33, 64, 4),
    (31, 48, 8),
    (17, 1, 3),
    (40, 3, 19),
]


def reference(family: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the kernel values by the formulas, in float64."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    difference = left[:, None] - right[None]
    product = GAMMA * (left @ right.T) + COEF0
    values = {
        "linear": lambda: left @ right.T,
        "polynomial": lambda: product**DEGREE,
        "rbf": lambda: np.exp(-GAMMA * (difference**2).sum(axis=2)),
        "laplacian": lambda: np.exp(-GAMMA * np.abs(difference).sum(axis=2)),
        "euclidean_laplacian": lambda: np.exp(-GAMMA * np.sqrt((difference**2).sum(axis=2))),
        "sigmoid": lambda: np.tanh(product),
    }[family]()
    return FACTOR * values


def filled(
    family: str, left: np.ndarray, right: np.ndarray, n_threads: int = 1, degree: int = DEGREE
) -> np.ndarray:
    """Return the kernel values of the engine; nothing but the result may be written to."""
    frame = np.full((len(left) + 2, len(right)), -77.0, dtype=left.dtype)
    out = frame[1:-1]
    number = FAMILIES.index(family)
    _engine.fill_kernel_matrix(left, right, number, GAMMA, COEF0, degree, FACTOR, out, n_threads)
    assert (frame[[0, -1]] == -77.0).all(), "rows outside the result were written to"
    return out


def points(seed: int, n: int, d: int, dtype: Any) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def assert_close(values: np.ndarray, family: str, left: np.ndarray, right: np.ndarray) -> None:
    """Compare to a few roundings for each feature, of the largest number that goes into a value."""
    steps = np.finfo(values.dtype).eps * (left.shape[1] + 8)
    sizes = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)
    largest = {"linear": sizes, "polynomial": DEGREE * (GAMMA * sizes + COEF0) ** DEGREE}
    exponent = 1.0 + GAMMA * sizes
    allowed = steps * FACTOR * largest.get(family, exponent)
    if family == "euclidean_laplacian":  # the root of a rounding error, for points close together
        allowed = np.maximum(allowed, FACTOR * GAMMA * np.sqrt(steps * sizes) * (sizes > 0))
    expected = reference(family, left, right)
    assert (np.abs(values - expected) <= allowed).all(), np.abs(values - expected).max()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "d"), SIZES)
def test_values(family: str, dtype: Any, n: int, m: int, d: int) -> None:
    left, right = points(1, n, d, dtype), points(2, m, d, dtype)
    assert_close(filled(family, left, right), family, left, right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    family=st.sampled_from(FAMILIES),
    n=st.integers(1, 40),
    m=st.integers(1, 70),
    d=st.integers(1, 20),
)
@settings(max_examples=150)
def test_any_size(dtype: Any, family: str, n: int, m: int, d: int) -> None:
    left, right = points(n, n, d, dtype), points(m + 100, m, d, dtype)
    assert_close(filled(family, left, right), family, left, right)


@pytest.mark.parametrize("degree", range(8))
def test_degrees(degree: int) -> None:
    left, right = points(3, 9, 4, np.float64), points(4, 21, 4, np.float64)
    expected = FACTOR * (GAMMA * (left @ right.T) + COEF0) ** degree
    np.testing.assert_allclose(
        filled("polynomial", left, right, degree=degree), expected, rtol=1e-12
    )


@pytest.mark.parametrize("family", ["rbf", "laplacian", "euclidean_laplacian"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_points_have_the_value_of_the_diagonal(family: str, dtype: Any) -> None:
    """A radial kernel is its factor where the distance is 0, or the rows of twins would differ."""
    X = points(5, 30, 6, dtype)
    values = np.diag(filled(family, X, X))
    # The square root of a rounding error is all that the Euclidean distance of equal points may be.
    eps = np.finfo(dtype).eps
    allowed = 16 * (np.sqrt(eps) if family == "euclidean_laplacian" else eps) * FACTOR
    np.testing.assert_allclose(values, FACTOR, rtol=0, atol=allowed)
    assert (values <= FACTOR).all()


@pytest.mark.parametrize("family", ["rbf", "laplacian", "euclidean_laplacian", "sigmoid"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_points_and_saturation(family: str, dtype: Any) -> None:
    """Exponents that underflow give 0 and tanh gives +-1; nothing becomes NaN or infinite."""
    left = np.array([[0.0], [1e3], [-1e3], [1e4]], dtype=dtype)
    values = filled(family, left, left)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, reference(family, left, left), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_over_its_whole_range(dtype: Any) -> None:
    """One feature makes the exponent any number: 0 down to where the result is denormal."""
    end = 85.0 if dtype is np.float32 else 700.0
    exponents = np.concatenate([np.linspace(0, end, 4001), np.logspace(-12, 0, 200)])
    left = (exponents / GAMMA).astype(dtype)[:, None]
    values = filled("laplacian", left, np.zeros((1, 1), dtype=dtype))[:, 0]
    expected = FACTOR * np.exp(-GAMMA * left[:, 0].astype(np.float64))
    # The exponent itself is rounded once, so that the error grows with it.
    allowed = 4 * np.finfo(dtype).eps * (1 + exponents)
    assert (np.abs(values / expected - 1) <= allowed).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_change_nothing(family: str) -> None:
    left, right = points(6, 333, 9, np.float64), points(7, 129, 9, np.float64)
    one = filled(family, left, right, 1)
    for n_threads in (2, 4, 7):
        np.testing.assert_array_equal(filled(family, left, right, n_threads), one)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "m", "d", "r"), [(1, 1, 1, 1), (5, 17, 3, 2), (70, 300, 4, 9), (33, 16, 2, 1)]
)
def test_products(family: str, dtype: Any, n: int, m: int, d: int, r: int) -> None:
    """Sums of kernel values over segments, an empty one among them, are those of the matrix."""
    left, right = points(1, n, d, dtype), points(2, m, d, dtype)
    coefficients = points(3, r, m, np.float64)
    ends = np.array([0, m // 3, m // 3, m])
    number = FAMILIES.index(family)
    matrix = reference(family, left, right)
    # Products of points have the precision of the data; sums are float64, and values if asked for.
    largest = np.abs(matrix).max() * (1.0 + GAMMA * np.abs(left).max() * np.abs(right).max() * d)
    steps = np.finfo(dtype).eps * (d + 8) * largest * np.abs(coefficients).sum(axis=1).max()
    for n_threads, wide in product((1, 3), (False, True)):
        frame = np.full((n + 2, 3 * r), -77.0)
        packed = _engine.pack_points(right, number, GAMMA, COEF0, DEGREE, FACTOR, n_threads)
        _engine.fill_kernel_products(left, packed, coefficients, ends, wide, frame[1:-1], n_threads)
        assert (frame[[0, -1]] == -77.0).all(), "rows outside the result were written to"
        for s, (start, stop) in enumerate(pairwise(ends)):
            expected = matrix[:, start:stop] @ coefficients[:, start:stop].T
            np.testing.assert_allclose(frame[1:-1, s * r : (s + 1) * r], expected, atol=steps)


def test_many_features() -> None:
    left, right = points(8, 12, 3000, np.float64), points(9, 18, 3000, np.float64)
    np.testing.assert_allclose(filled("linear", left, right), FACTOR * left @ right.T, atol=1e-10)


def test_nothing_to_do() -> None:
    assert filled("rbf", np.empty((0, 3)), points(1, 4, 3, np.float64)).shape == (0, 4)
    assert filled("rbf", points(1, 4, 3, np.float64), np.empty((0, 3))).shape == (4, 0)
    no_features = filled("rbf", np.empty((2, 0)), np.empty((3, 0)))
    np.testing.assert_array_equal(no_features, np.full((2, 3), FACTOR))


def test_memory_is_given_back() -> None:
    left = points(10, 400, 8, np.float64)
    filled("rbf", left, left)
    assert _engine.release_kept_memory() >= 0
    assert _engine.release_kept_memory() == 0


SCRIPT = """
import json, sys
import numpy as np
from mercer import _engine
from mercer.gram import StoredGram, make_gram
from mercer.kernels import RBF
from mercer.problems import hinge_svc
from mercer.solvers import solve_smo
rng = np.random.default_rng(0)
values = {"set": _engine.instruction_set()}
for dtype in ("float32", "float64"):
    left, right = (rng.normal(size=(n, 7)).astype(dtype) for n in (37, 53))
    for family in range(6):
        out = np.empty((37, 53), dtype=dtype)
        _engine.fill_kernel_matrix(left, right, family, 0.3, 0.7, 3, 2.5, out, 1)
        values[f"{dtype} {family}"] = out.astype(float).tolist()
X = rng.normal(size=(2100, 3))
problem = hinge_svc(np.where(X[:, 0] + 0.3 * rng.normal(size=2100) > 0, 1.0, -1.0), 1.0)
for tol in (1e-3, 1e-6):
    solution = solve_smo(problem, make_gram(RBF(0.5), X), tol=tol, n_threads=1)
    values[f"{tol} status"] = solution.status
    values[f"{tol} objective"] = solution.objective
print(json.dumps(values))
"""


@cache
def run_with(instruction_set: str) -> dict[str, Any]:
    environment = os.environ | {"MERCER_INSTRUCTION_SET": instruction_set}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(result.stdout)


@pytest.mark.parametrize("instruction_set", ["avx2", "avx512"])
def test_instruction_sets_agree(instruction_set: str) -> None:
    """Each set that this processor has gives the values of the plainest one, to rounding."""
    values = run_with(instruction_set)
    if values["set"] != instruction_set:
        pytest.skip(f"this processor does not have {instruction_set}")
    plain = run_with("baseline")
    for name, expected in plain.items():
        if name == "set":
            continue
        if name.endswith("status"):
            assert values[name] == expected == "converged"
        elif name.endswith("objective"):
            assert values[name] == pytest.approx(expected, rel=1e-5)
        else:
            steps = 16 * np.finfo(name.split()[0]).eps
            if name.endswith(str(FAMILIES.index("euclidean_laplacian"))):
                steps = np.sqrt(steps)
            largest = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(values[name], expected, rtol=0, atol=steps * largest)


def test_number_of_threads() -> None:
    assert available_threads(3) == 3
    assert available_threads(0) == 1
    assert 1 <= available_threads() <= (os.cpu_count() or 1)
