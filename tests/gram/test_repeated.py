"""Points that count several times: the same matrix, the same solutions, kernel values only once."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_kkt

from mercer.gram import ComputedGram, Gram, RequestedGram, StoredGram
from mercer.kernels import RBF, Linear
from mercer.problems import Programs, QuadraticProgram, epsilon_svr, squared_epsilon_svr
from mercer.solvers import Options, solve_all, solve_smo

KERNEL = RBF(0.4)
KINDS = ("computed", "part", "stored", "requested")


def points(n: int = 60) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3))


def make(kind: str, X: np.ndarray) -> Gram:
    """Return the matrix of the points, held in one of the ways there are."""
    if kind == "stored":
        return StoredGram(KERNEL(X))
    if kind == "requested":
        return RequestedGram(KERNEL, X)
    if kind == "part":  # of more points, in another order
        whole = ComputedGram(KERNEL.pairwise_form(), np.vstack([X[::-1], X + 1.0]))
        return whole.subset(np.arange(len(X))[::-1])
    return ComputedGram(KERNEL.pairwise_form(), X)


def places(n: int, size: int) -> np.ndarray:
    """Return points drawn with repetition, so that some are missing and some come often."""
    return np.random.default_rng(1).integers(0, n, size)


@pytest.mark.parametrize("kind", KINDS)
def test_is_the_matrix_of_those_rows(kind: str) -> None:
    X, where = points(), places(60, 100)
    K = KERNEL(X[where])
    gram = make(kind, X).subset(where)
    rng = np.random.default_rng(2)
    rows, columns, vector = rng.permutation(100)[:9], rng.permutation(100)[:7], rng.normal(size=100)
    assert gram.n == 100
    np.testing.assert_allclose(gram.matrix(), K, atol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diag(K), atol=1e-12)
    np.testing.assert_allclose(gram.block(rows, columns), K[np.ix_(rows, columns)], atol=1e-12)
    np.testing.assert_allclose(gram.times(vector), K @ vector, atol=1e-11)
    np.testing.assert_allclose(gram.times(vector, rows), K[rows] @ vector, atol=1e-11)
    np.testing.assert_allclose(gram.times(vector, rows, "single"), K[rows] @ vector, atol=1e-4)
    part = gram.subset(rows).subset(np.arange(5))
    np.testing.assert_allclose(part.matrix(), K[np.ix_(rows[:5], rows[:5])], atol=1e-12)


def test_features_are_repeated_too() -> None:
    X, where = points(), places(60, 100)
    gram = ComputedGram(Linear().pairwise_form(), X).subset(where)
    np.testing.assert_array_equal(gram.features(), X[where])
    assert make("computed", X).subset(where).features() is None


def regression(X: np.ndarray, squared: bool) -> QuadraticProgram:
    target = np.sin(2 * X[:, 0]) + 0.3 * np.random.default_rng(3).normal(size=len(X))
    return (squared_epsilon_svr if squared else epsilon_svr)(target, 20.0, 0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("cache_bytes", [1e4, 1e8])
@pytest.mark.parametrize("shrinking", [False, True])
def test_solutions(kind: str, squared: bool, cache_bytes: float, shrinking: bool) -> None:
    """The optimum in blocks of few variables, with room for few or all kernel rows."""
    X = points(300)
    twice = np.tile(np.arange(300), 2)
    problem = regression(X, squared)
    solution = solve_smo(
        problem,
        make(kind, X).subset(twice),
        tol=1e-6,
        cache_bytes=cache_bytes,
        shrinking=shrinking,
        block=256,
    )
    assert solution.converged
    assert_kkt(problem, KERNEL(X[twice]), solution, 1e-6)
    plain = solve_smo(problem, StoredGram(KERNEL(X[twice])), tol=1e-6, shrinking=shrinking)
    assert solution.objective == pytest.approx(plain.objective, rel=1e-8)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_single_precision(n_threads: int) -> None:
    """Blocks, cache, shrinking and float32 rows as they are in use, on any number of threads."""
    X = points(2000)
    twice = np.tile(np.arange(2000), 2)
    problem, gram = regression(X, squared=False), make("computed", X).subset(twice)
    solution = solve_smo(problem, gram, n_threads=n_threads)
    gradient = problem.p + (KERNEL(X) @ sum(np.split(solution.beta, 2)))[twice]
    assert solution.converged
    assert problem.kkt(solution.beta, gradient)[1] <= 1.01e-3
    once = solve_smo(problem, gram, n_threads=1)
    np.testing.assert_array_equal(solution.beta, once.beta)


def test_rows_that_come_three_times_and_rows_that_never_do() -> None:
    X, where = points(200), places(200, 500)
    signs = np.where(np.random.default_rng(4).random(500) < 0.5, 1.0, -1.0)
    problem = QuadraticProgram(-signs, np.minimum(0, 3 * signs), np.maximum(0, 3 * signs))
    gram = make("computed", X).subset(where)
    solution = solve_smo(problem, gram, tol=1e-6, block=200)
    assert_kkt(problem, KERNEL(X[where]), solution, 1e-6)


def test_kernel_values_are_computed_once() -> None:
    """A kernel of Python sees each of its points once in every row it is asked for."""
    X = points(300)
    columns = []

    def counted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        columns.append(len(B))
        return KERNEL(A, B)

    class Counted(RequestedGram):
        def __init__(self, X: np.ndarray) -> None:
            super().__init__(counted, X)  # type: ignore[arg-type]

        def diag(self) -> np.ndarray:
            return np.ones(self.n)

    programs, twice = Programs.of([regression(X, squared=False)]), np.tile(np.arange(300), 2)
    assert solve_all(programs, Counted(X), Options(tol=1e-6), rows=twice).converged.all()
    assert max(columns) == 300
