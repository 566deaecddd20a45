"""The engine's rounds are solved exactly, whatever the data are like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.gram import StoredGram
from mercer.gram.downdated import DowndatedGram
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from mercer.problems import hard_margin_svc, hinge_svc, squared_hinge_svc
from mercer.solvers import Options, solve
from mercer.solvers.elimination import eliminate_features

OPTIONS = Options(tol=1e-6)


def run(
    X: np.ndarray, problem: Any, counts: list[int], fixed: Any = None, options: Options = OPTIONS
) -> Any:
    """Eliminate from a start at a feasible point; return what happened, and the last state."""
    kernel = X @ X.T
    beta = problem.feasible_point()
    gradient = kernel @ beta + problem.ridge * beta + problem.p
    found = eliminate_features(
        np.ascontiguousarray(X.T),
        np.array(counts, dtype=np.int64),
        kernel,
        problem,
        beta,
        gradient,
        options,
        fixed=np.zeros(X.shape[1], np.uint8) if fixed is None else fixed,
        row_weights=np.ones(len(X)),
    )
    return found, kernel, beta, gradient


def check_rounds(X: np.ndarray, problem: Any, counts: list[int]) -> None:
    """Every feature dropped has the smallest weight at an optimum found without the engine."""
    found, kernel, beta, gradient = run(X, problem, counts)
    assert found.status == "converged"
    left, start = np.arange(X.shape[1]), 0
    for r in range(found.n_rounds):
        exact = solve(problem, StoredGram(X[:, left] @ X[:, left].T), solver="exact", tol=1e-9)
        weights = X[:, left].T @ exact.beta
        scale = np.abs(weights).max() + 1e-9
        end = start + counts[r]
        gone = found.dropped[start:end]
        own = np.array([weights[left == j][0] for j in gone])
        assert_allclose(found.importances[start:end], own**2, atol=2e-4 * scale**2)
        others = np.abs(weights[~np.isin(left, gone)])
        if others.size:
            assert np.abs(own).max() <= others.min() + 2e-4 * scale
        left, start = np.setdiff1d(left, gone), end
    assert_allclose(kernel, X[:, left] @ X[:, left].T, atol=1e-9 * (X**2).sum())
    expected = kernel @ beta + problem.ridge * beta + problem.p
    assert_allclose(gradient, expected, atol=1e-7 * (1 + np.abs(expected).max()))
    assert abs(beta.sum()) < 1e-9 * (1 + np.abs(beta).sum())
    assert (beta >= problem.lower - 1e-12).all()
    assert (beta <= problem.upper + 1e-12).all()


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(4, 25),
    st.integers(2, 20),
    st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
    st.sampled_from(["hinge", "squared"]),
    st.sampled_from(["plain", "rows twice", "columns twice", "whole numbers", "zeros", "scales"]),
    st.integers(1, 3),
)
def test_rounds_are_exact(
    seed: int, n: int, d: int, C: float, loss: str, kind: str, step: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=n)
    y[:2] = [-1.0, 1.0]
    if kind == "rows twice":
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    elif kind == "columns twice":
        X = np.repeat(X, 2, axis=1)
    elif kind == "whole numbers":
        X = X.round()
    elif kind == "zeros":
        X[:, :: max(1, d // 2)] = 0.0
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-2, 2, size=d)
        C /= (X**2).sum(axis=1).max()
    problem = (hinge_svc if loss == "hinge" else squared_hinge_svc)(y, C)
    rounds = (X.shape[1] - 1) // step
    check_rounds(X, problem, [step] * rounds)


def test_fixed_features_stay() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 6)), np.repeat([-1.0, 1.0], 10)
    fixed = np.array([1, 0, 1, 0, 0, 0], np.uint8)
    found, *_ = run(X, hinge_svc(y, 1.0), [1] * 4, fixed)
    assert set(found.dropped[: found.n_rounds]) <= {1, 3, 4, 5}


def test_a_margin_that_vanishes_is_noticed() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.repeat([-1.0, 1.0], 10)
    problem = hard_margin_svc(y)
    left = np.arange(30)
    status = "converged"
    while status == "converged":  # now and then the matrix is computed anew
        found, *_ = run(X[:, left], problem, [1] * (left.size - 1))
        status = found.status
        left = np.delete(left, found.dropped[: found.n_rounds])
    assert status == "unbounded"
    assert 3 < left.size < 20


def test_rounds_end_where_rounding_would_tell() -> None:
    """A feature that makes up nearly all of the matrix leaves only rounding errors behind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6))
    X[:, 3] *= 1e3
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    found, *_ = run(X, hinge_svc(y, 1.0), [1] * 5)
    assert 0 < found.n_rounds < 5
    assert found.dropped[found.n_rounds - 1] == 3


REFUSED = {
    "too many": ({"counts": np.array([3, 3])}, "fewer features"),
    "none": ({"counts": np.array([0])}, "must drop a feature"),
    "kernel": ({"kernel": np.zeros((3, 3))}, "same length"),
    "beta": ({"beta": np.zeros(3)}, "same length"),
    "gradient": ({"gradient": np.array([1.0, -1.0, -1.0, 1.0, 0.0])}, "same length"),
    "weights": ({"row_weights": np.ones(3)}, "rows"),
    "fixed": ({"fixed": np.zeros(2, np.uint8)}, "marked as fixed"),
}


@pytest.mark.parametrize(("changes", "words"), REFUSED.values(), ids=REFUSED)
def test_engine_refuses(changes: Any, words: str) -> None:
    problem = hinge_svc(np.array([-1.0, 1.0, 1.0, -1.0]), 1.0)
    given = {
        "columns": np.ones((5, 4)),
        "counts": np.array([1]),
        "kernel": np.ones((4, 4)),
        "problem": problem,
        "beta": np.zeros(4),
        "gradient": problem.p.copy(),
        "options": OPTIONS,
        "fixed": np.zeros(5, np.uint8),
        "row_weights": np.ones(4),
    } | changes
    with pytest.raises(ValueError, match=words):
        eliminate_features(**given)
    np.testing.assert_array_equal(given["gradient"][: problem.n], problem.p)
    assert not given["beta"].any()
    assert (given["kernel"] == given["kernel"][0, 0]).all()


LIMITS: dict[str, tuple[Any, str]] = {
    "time": ({"time_limit": 0.0}, "time_limit"),
    "steps": ({"max_iter": 0}, "max_iter"),
}


@pytest.mark.parametrize(("limit", "status"), LIMITS.values(), ids=LIMITS)
def test_limits_end_the_rounds(limit: Any, status: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 10)), rng.permuted(np.repeat([-1.0, 1.0], 20))
    found, *_ = run(X, hinge_svc(y, 1.0), [1] * 8, options=Options(tol=1e-6, **limit))
    assert found.status == status
    assert found.n_rounds == 0


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        RBF(0.05),
        Polynomial(3, 0.1, 1.0),
        Sigmoid(0.01),
        Laplacian(0.1, "euclidean"),
        2.0 * RBF(0.1),
    ],
    ids=str,
)
@given(st.integers(0, 1000), st.integers(1, 6), st.booleans())
def test_downdated_matrices_are_those_of_the_rest(
    kernel: Any, seed: int, step: int, scaled: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 20))
    if scaled:
        X *= 10.0 ** rng.uniform(-3, 1, size=20)
    held = DowndatedGram(X, kernel.pairwise_form().family)
    left = np.arange(20)
    while left.size > step:
        gone = rng.choice(left, step, replace=False)
        held.forget(gone)
        left = np.setdiff1d(left, gone)
        expected = kernel(X[:, left])
        found = held.gram(kernel).values
        size = np.abs(expected).max()
        if "Laplacian" in str(kernel):  # the root of a rounding error
            assert_allclose(found, expected, atol=1e-6)
        else:
            assert_allclose(found, expected, atol=1e-9 * max(1.0, size))


def test_downdated_matrices_refuse_other_kernels() -> None:
    with pytest.raises(ValueError, match="No matrix"):
        DowndatedGram(np.ones((2, 2)), "laplacian")
    with pytest.raises(ValueError, match="not a rbf kernel"):
        DowndatedGram(np.ones((2, 2)), "rbf").gram(Linear())
