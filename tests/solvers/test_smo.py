"""Block SMO on quadratic programs of every shape, from every kind of matrix, in any company."""

from __future__ import annotations

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assert_feasible

from mercer.gram import ComputedGram, RequestedGram, StoredGram, make_gram
from mercer.gram.base import padded
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from mercer.problems import (
    Programs,
    QuadraticProgram,
    epsilon_svr,
    hard_margin_svc,
    hinge_svc,
    one_class,
    squared_hinge_svc,
    svdd,
)
from mercer.solvers import Options, Solution, StartingPoint, solve, solve_all, solve_smo
from mercer.solvers.exact import solve_exact
from mercer.solvers.solve import FAR, _came_from_afar
from mercer.svm import SVC


def assert_optimal(
    problem: QuadraticProgram, K: np.ndarray, solution: Solution, tol: float
) -> None:
    """Feasible, and the conditions hold to ``tol``, all computed from beta alone."""
    beta = solution.beta
    assert_feasible(problem, beta)
    gradient = K @ beta + problem.ridge * beta + problem.p
    rounding = 1e-13 * (1.0 + np.abs(K).max(initial=0.0) * np.abs(beta).sum())
    offset, gap = problem.kkt(beta, gradient)
    assert gap <= tol + rounding
    assert solution.converged
    assert solution.status == "converged"
    assert solution.gap <= tol
    assert solution.gap == pytest.approx(gap, abs=1e-8 + rounding)
    assert solution.offset == pytest.approx(offset, abs=tol)
    assert solution.objective == pytest.approx(
        problem.objective(beta, gradient), rel=1e-6, abs=1e-7 + rounding
    )


@st.composite
def programs(draw: Any) -> tuple[QuadraticProgram, np.ndarray]:
    """A random program: rank, bounds (some infinite, with a ridge), sum, ridge."""
    n = draw(st.integers(2, 25))
    rank = draw(st.integers(0, n))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    factor = rng.normal(size=(n, rank)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    if draw(st.booleans()) and rank > 0:  # equal rows
        factor[n // 2 :] = factor[: n - n // 2]
    ridge = np.where(
        rng.random(n) < draw(st.sampled_from([0.0, 0.5, 1.0])), rng.random(n) + 0.01, 0.0
    )
    lower = -rng.exponential(size=n) * (rng.random(n) < 0.8)
    upper = rng.exponential(size=n) * (rng.random(n) < 0.8)
    if draw(st.booleans()):  # endless, where the ridge keeps the objective bounded below
        upper[(rng.random(n) < 0.5) & (ridge > 0)] = np.inf
        lower[(rng.random(n) < 0.5) & (ridge > 0)] = -np.inf
    within = np.clip(rng.normal(size=n), lower, upper)
    delta = draw(st.sampled_from([0.0, 0.3, 1.0])) * float(within.sum())
    p = rng.normal(size=n) * draw(st.sampled_from([0.0, 1.0, 5.0]))
    return QuadraticProgram(p, lower, upper, delta, ridge), factor @ factor.T


@given(programs(), st.sampled_from([1e-3, 1e-8]))
@settings(max_examples=120)
def test_random_programs(program: Any, tol: float) -> None:
    problem, K = program
    solution = solve_smo(problem, StoredGram(K), tol=tol, n_threads=1)
    assert_optimal(problem, K, solution, tol)


@given(programs())
@settings(max_examples=60)
def test_random_programs_against_exact(program: Any) -> None:
    problem, K = program
    solution = solve_smo(problem, StoredGram(K), tol=1e-7, n_threads=1)
    exact = solve_exact(problem, SimpleNamespace(matrix=lambda: K), tol=1e-7)
    assert exact.gap <= 1e-6
    span = np.abs(solution.beta - exact.beta).sum()
    assert solution.objective == pytest.approx(exact.objective, rel=1e-7, abs=1e-6 * (span + 1e-3))


@given(programs(), st.integers(0, 2**31))
@settings(max_examples=40)
def test_any_start_leads_to_the_optimum(program: Any, seed: int) -> None:
    """A start is made feasible first; where it is does not matter to the objective."""
    problem, K = program
    start = np.random.default_rng(seed).normal(size=problem.n) * 3
    cold = solve_smo(problem, StoredGram(K), tol=1e-7, n_threads=1)
    warm = solve_smo(problem, StoredGram(K), tol=1e-7, n_threads=1, warm_start=start)
    assert_optimal(problem, K, warm, 1e-7)
    span = np.abs(warm.beta - cold.beta).sum()
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7, abs=1e-6 * (span + 1e-3))
    # Rounding may bring the gap just above the tolerance again: a few steps that gain nothing.
    again = solve_smo(problem, StoredGram(K), tol=1e-7, n_threads=1, warm_start=warm)
    assert_optimal(problem, K, again, 1e-7)
    assert again.objective == pytest.approx(warm.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("size", [1e8, 1e14, 1e17, 1e30])
@pytest.mark.parametrize("n", [30, 300])
def test_a_start_far_out_leads_to_the_optimum(n: int, size: float) -> None:
    """Before, digits of the sum were lost on the way, or the solve ended where the start was."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    problem = squared_hinge_svc(np.sign(X[:, 0]), C=10.0)
    start = size * X[:, 1]
    found = solve_smo(problem, make_gram(RBF(0.5), X), tol=1e-6, warm_start=start)
    assert found.converged
    assert abs(found.beta.sum()) <= 1e-11 * np.abs(found.beta).sum()
    cold = solve_smo(problem, make_gram(RBF(0.5), X), tol=1e-6)
    assert found.objective == pytest.approx(cold.objective, rel=1e-6)


def with_padding(K: np.ndarray, dtype: Any = np.float64) -> StoredGram:
    values = padded(len(K), dtype)
    values[:, : len(K)] = K
    return StoredGram(values)


@given(programs(), st.sampled_from([1e-3, 1e-8]))
@settings(max_examples=120)
def test_random_programs_on_a_matrix_used_where_it_lies(program: Any, tol: float) -> None:
    problem, K = program
    gram = with_padding(K)
    solution = solve_smo(problem, gram, tol=tol, n_threads=1)
    assert_optimal(problem, K, solution, tol)
    np.testing.assert_array_equal(gram.values, K)  # the matrix belongs to the caller


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_used_where_it_lies_gives_the_same_machine(C: float, dtype: Any) -> None:
    """Large enough that settled variables are left out on the way."""
    X, y = classes(11, 900)
    K = RBF(0.2)(X)
    problem = hinge_svc(y, C=C)
    tol = 1e-5 if dtype == np.float64 else 1e-2
    copied = solve_smo(problem, StoredGram(K), tol=1e-5)
    borrowed = solve_smo(problem, with_padding(K, dtype), tol=tol)
    gradient = K @ borrowed.beta + problem.p
    assert problem.kkt(borrowed.beta, gradient)[1] <= 1.1 * tol
    assert_feasible(problem, borrowed.beta)
    assert borrowed.objective == pytest.approx(copied.objective, rel=tol)


def test_what_lies_behind_a_matrix_is_not_part_of_it() -> None:
    """Variables that share a row, twice as many as rows: the next matrix begins behind them."""
    n = 40
    X, y = classes(17, n)
    K, rows = RBF(0.5)(X), np.tile(np.arange(n), 2)
    room = padded(n, np.float64, 2)
    room[:n, :n] = K
    room[n:, n : 2 * n] = RBF(5.0)(X)
    problem = epsilon_svr(X[:, 0] + y, 1.0, 0.1)
    found = solve_all(Programs.of([problem]), StoredGram(room[:n]), Options(tol=1e-6), rows=rows)
    assert_optimal(problem, K[np.ix_(rows, rows)], found[0], 1e-6)


def classes(seed: int, n: int, d: int = 3, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


MACHINES = {
    "hinge": lambda y, K: hinge_svc(y, 2.0),
    "squared_hinge": lambda y, K: squared_hinge_svc(y, 2.0),
    "one_class": lambda y, K: one_class(len(y), 0.2),
    "svdd": lambda y, K: svdd(np.diag(K), 0.05),
    "svr": lambda y, K: epsilon_svr(y[: len(y) // 2], 1.0, 0.1),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_machines(machine: str, tol: float) -> None:
    X, y = classes(0, 300)
    if machine == "svr":  # every row twice
        X = np.vstack([X[:150], X[:150]])
    K = RBF(0.5)(X)
    problem = MACHINES[machine](y, K)
    for gram in (make_gram(RBF(0.5), X), StoredGram(K)):
        assert_optimal(problem, K, solve_smo(problem, gram, tol=tol), tol)


KERNELS = {
    "rbf": RBF(0.5),
    "linear": Linear(),
    "polynomial": Polynomial(2, 0.3, 1.0),
    "laplacian": Laplacian(0.5),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n", [300, 2300])
def test_single_and_double_rows(kernel: Any, n: int) -> None:
    """Rows of either precision lead to the same optimum, each to the gap asked for."""
    X, y = classes(1, n)
    problem, K = hinge_svc(y, 1.0), kernel(X)
    tol = 1e-3
    double = solve_smo(problem, StoredGram(K), tol=tol)
    single = solve_smo(problem, make_gram(kernel, X), tol=tol)
    stored = solve_smo(problem, StoredGram(K.astype(np.float32)), tol=tol)
    assert make_gram(kernel, X).allows_single(tol)
    for solution in (double, single):
        assert_optimal(problem, K, solution, tol)
        beta = solution.beta
        off = abs(solution.objective - (0.5 * beta @ K @ beta + problem.p @ beta))
        assert off <= (1e-12 if solution is double else tol) * np.abs(beta).sum()
    # A float32 matrix is taken at its word, rounded as it is.
    assert_optimal(problem, K.astype(np.float32).astype(float), stored, tol)
    assert single.objective == pytest.approx(double.objective, rel=1e-4)
    assert stored.objective == pytest.approx(double.objective, rel=1e-4)


def test_single_rows_that_are_not_enough() -> None:
    """Values that float32 cannot hold to the tolerance: the gap is still true in the end."""
    X, y = classes(2, 400, noise=0.1)
    X = 30.0 * X
    problem, kernel = hinge_svc(y, 1e3), Polynomial(3, 0.01, 1.0)
    solution = solve_smo(problem, make_gram(kernel, X), tol=1e-3, max_iter=2_000_000)
    K = kernel(X)
    gradient = K @ solution.beta + problem.p
    rounding = 1e-15 * np.abs(K).max() * np.abs(solution.beta).sum()
    assert problem.kkt(solution.beta, gradient)[1] == pytest.approx(
        solution.gap, abs=1e-6 + rounding
    )


@pytest.mark.parametrize("scales", [[1e3, 1.0, 1e-2], [3.0, 3.0, 3.0]])
@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_kept_where_the_optimum_cannot_be_had(seed: int, scales: list[float]) -> None:
    """Kernel values far beyond the bounds: what is tried then may fail, but stays feasible."""
    rng = np.random.default_rng(seed)
    X, target = scales * rng.normal(size=(30, 3)), rng.normal(size=30)
    problem = epsilon_svr(target, 0.1, 0.1)
    K = Polynomial(4, 45.0, 1.0)(X)
    solution = solve_smo(problem, StoredGram(np.tile(K, (2, 2))), tol=1e-5)
    assert_feasible(problem, solution.beta)


@pytest.mark.parametrize("n", [200, 2500])
def test_views_of_a_stored_matrix(n: int) -> None:
    """A part of a matrix is solved exactly as the same matrix cut out."""
    X, y = classes(3, n + 300)
    K = RBF(1.0)(X)
    chosen = np.random.default_rng(3).permutation(n + 300)[:n]
    problem = hinge_svc(y[chosen], 1.0)
    view = solve_smo(problem, StoredGram(K).subset(chosen), tol=1e-5, n_threads=1)
    cut = solve_smo(problem, StoredGram(K[np.ix_(chosen, chosen)]), tol=1e-5, n_threads=1)
    np.testing.assert_array_equal(view.beta, cut.beta)
    np.testing.assert_array_equal(view.gradient, cut.gradient)
    assert_optimal(problem, K[np.ix_(chosen, chosen)], view, 1e-5)


@pytest.mark.parametrize("n", [200, 2500])
def test_requested_rows_are_computed_rows(n: int) -> None:
    X, y = classes(4, n)
    problem, K = hinge_svc(y, 1.0), RBF(1.0)(X)
    computed = solve_smo(problem, ComputedGram(RBF(1.0).pairwise_form(), X), tol=1e-6)
    requested = solve_smo(problem, RequestedGram(RBF(1.0), X), tol=1e-6)
    for solution in (computed, requested):
        assert_optimal(problem, K, solution, 1e-6)
    assert requested.objective == pytest.approx(computed.objective, rel=1e-8)


@pytest.mark.parametrize("kind", ["computed", "requested", "stored"])
@pytest.mark.parametrize("cache_bytes", [0, 1, 200_000, 3_000_000])
def test_small_caches(kind: str, cache_bytes: int) -> None:
    """Rows that do not fit are computed again: the same optimum, whatever the memory."""
    X, y = classes(5, 2200, d=2, noise=0.3)
    K = RBF(2.0)(X)
    problem = hinge_svc(y, 10.0)
    gram = {
        "computed": lambda: make_gram(RBF(2.0), X),
        "requested": lambda: RequestedGram(RBF(2.0), X),
        "stored": lambda: StoredGram(K),
    }[kind]()
    tol = 1e-3
    solution = solve_smo(problem, gram, tol=tol, cache_bytes=cache_bytes)
    assert_optimal(problem, K, solution, tol)
    plenty = solve_smo(problem, StoredGram(K), tol=tol)
    assert solution.objective == pytest.approx(plenty.objective, rel=1e-4)


@pytest.mark.parametrize("machine", ["hinge", "squared_hinge", "one_class"])
def test_many_rows_in_blocks(machine: str) -> None:
    """More rows than one block holds."""
    X, y = classes(6, 3000, d=5)
    K = RBF(0.3)(X)
    problem = MACHINES[machine](y, K)
    solution = solve_smo(problem, make_gram(RBF(0.3), X), tol=1e-4)
    assert_optimal(problem, K, solution, 1e-4)


@pytest.mark.parametrize("n", [500, 3000])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_threads_lead_to_the_same_gap(n: int, tol: float) -> None:
    X, y = classes(7, n)
    problem, K = hinge_svc(y, 5.0), RBF(0.5)(X)
    solutions = [
        solve_smo(problem, make_gram(RBF(0.5), X), tol=tol, n_threads=t) for t in (1, 2, 4)
    ]
    for solution in solutions:
        assert_optimal(problem, K, solution, tol)
        assert solution.objective == pytest.approx(solutions[0].objective, rel=10 * tol)


@pytest.mark.parametrize("n", [500, 3000])
@pytest.mark.parametrize("kind", ["computed", "requested", "stored"])
def test_one_thread_gives_the_same_bits(n: int, kind: str) -> None:
    X, y = classes(8, n)
    problem = hinge_svc(y, 5.0)
    gram = {
        "computed": lambda: make_gram(RBF(0.5), X),
        "requested": lambda: RequestedGram(RBF(0.5), X),
        "stored": lambda: StoredGram(RBF(0.5)(X)),
    }[kind]
    first, second = (solve_smo(problem, gram(), tol=1e-4, n_threads=1) for _ in range(2))
    assert first.n_iter == second.n_iter
    assert first.beta.tobytes() == second.beta.tobytes()
    assert first.gradient.tobytes() == second.gradient.tobytes()


def test_several_solves_at_once() -> None:
    """Python threads that solve different problems at the same time get what they would alone."""
    tasks = []
    for seed in range(12):
        X, y = classes(100 + seed, 2100 if seed % 4 == 0 else 150 + 20 * seed)
        C = 10.0 ** (seed % 3)
        gram = RequestedGram(RBF(0.5), X) if seed % 3 == 1 else make_gram(RBF(0.5), X)
        tasks.append((hinge_svc(y, C), gram))
    alone = [solve_smo(problem, gram, n_threads=1) for problem, gram in tasks]
    start = threading.Barrier(6)

    def work(task: Any) -> Solution:
        start.wait(timeout=600)
        return solve_smo(*task, n_threads=1)

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(work, tasks))
    for one, other in zip(alone, together):
        assert one.beta.tobytes() == other.beta.tobytes()
        assert one.n_iter == other.n_iter


def test_several_threaded_solves_at_once() -> None:
    """Each with helpers of its own."""
    X, y = classes(9, 2500)
    problem, K = hinge_svc(y, 2.0), RBF(0.5)(X)

    def work(_: int) -> Solution:
        return solve_smo(problem, make_gram(RBF(0.5), X), tol=1e-3, n_threads=3)

    with ThreadPoolExecutor(3) as pool:
        for solution in pool.map(work, range(4)):
            assert_optimal(problem, K, solution, 1e-3)


def test_inputs_are_left_alone() -> None:
    X, y = classes(10, 100)
    problem, K = hinge_svc(y, 1.0), RBF(0.5)(X)
    start = np.zeros(100)
    copies = [array.copy() for array in (K, problem.p, problem.lower, problem.upper, start)]
    solve_smo(problem, StoredGram(K), warm_start=start)
    for array, copy in zip((K, problem.p, problem.lower, problem.upper, start), copies):
        np.testing.assert_array_equal(array, copy)


def test_callback_watches_and_stops() -> None:
    X, y = classes(11, 2500, noise=2.0)
    problem = hinge_svc(y, 1e4)
    seen: list[tuple[int, float]] = []

    def watch(n_iter: int, gap: float) -> bool:
        seen.append((n_iter, gap))
        time.sleep(0.06)  # the solver calls again 50 ms later at the earliest
        return len(seen) == 3

    solution = solve(problem, make_gram(RBF(1.0), X), tol=1e-9, callback=watch)
    assert len(seen) == 3
    assert solution.status == "interrupted"
    assert not solution.converged
    assert solution.gap > 1e-9
    counts = [n_iter for n_iter, _ in seen]
    assert counts == sorted(counts)
    assert solution.n_iter >= counts[-1] > 0
    assert all(gap > 0 for _, gap in seen)


def test_callback_that_answers_nothing_goes_on() -> None:
    X, y = classes(12, 400)
    assert solve(hinge_svc(y, 1.0), make_gram(RBF(1.0), X), callback=lambda *_: None).converged


@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 31, 33, 2047, 2048, 2049])
def test_sizes_around_the_vectors_and_the_block(n: int) -> None:
    X, y = classes(13, n, d=2)
    y[:2] = [1.0, -1.0]
    problem, K = hinge_svc(y, 1.0), RBF(1.0)(X)
    assert_optimal(problem, K, solve_smo(problem, make_gram(RBF(1.0), X), tol=1e-3), 1e-3)


def test_nothing_to_move() -> None:
    """Bounds that leave no room, and a sum that forces every variable."""
    K = np.eye(3)
    fixed = QuadraticProgram([1.0, 2.0, 3.0], [0.5] * 3, [0.5] * 3, 1.5)
    np.testing.assert_array_equal(solve_smo(fixed, StoredGram(K)).beta, [0.5] * 3)
    forced = one_class(4, 1.0)
    np.testing.assert_allclose(solve_smo(forced, StoredGram(np.eye(4))).beta, 0.25)
    alone = QuadraticProgram([1.0], [0.0], [2.0], 1.0)
    np.testing.assert_array_equal(solve_smo(alone, StoredGram(np.eye(1))).beta, [1.0])


def test_two_variables_by_hand() -> None:
    """min 1/2 (b1^2 + b2^2) - b1 - 3 b2 with b1 + b2 = 1 has b = (-1/2, 3/2)."""
    problem = QuadraticProgram([-1.0, -3.0], [-10.0] * 2, [10.0] * 2, 1.0)
    solution = solve_smo(problem, StoredGram(np.eye(2)), tol=1e-10)
    np.testing.assert_allclose(solution.beta, [-0.5, 1.5], atol=1e-9)
    assert solution.offset == pytest.approx(1.5, abs=1e-9)


def test_unknown_solver() -> None:
    with pytest.raises(ValueError, match="'auto', 'smo', 'exact', 'linear'"):
        solve(hinge_svc([1, -1], 1.0), StoredGram(np.eye(2)), solver="newton")


def test_matrix_of_another_size() -> None:
    with pytest.raises(ValueError, match=r"rows|length|size"):
        solve_smo(hinge_svc([1, -1, 1], 1.0), StoredGram(np.eye(2)))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("far", "gamma"), [(1e4, "scale"), (1e4, 1e3), (1e6, 1.0)])
def test_gradients_beyond_the_penalties_end_the_solve(loss: str, far: float, gamma: Any) -> None:
    """No padding behind the last variable is ever chosen, however large the numbers."""
    rng = np.random.default_rng(257)
    X = rng.normal(size=(257, 7))
    y = X[:, 0] * X[:, -1] + 0.5 * rng.normal(size=257) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            model = SVC(kernel="poly", gamma=gamma, loss=loss, max_iter=20_000)
            try:
                model.fit(X + far, y)
            except ValueError:  # not positive semi-definite, as far as rounding can tell
                continue
            assert np.isfinite(model.dual_coef_).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 5, 17, 40, 300])
@pytest.mark.parametrize("value", [-0.125, 0.0])
def test_a_diagonal_that_is_not_positive(value: float, n: int, dtype: Any) -> None:
    """Nobody is chosen who is not there: the padding behind the last variable must not win."""
    signs = np.resize([1.0, -1.0, 1.0], n)
    for problem in (hinge_svc(signs, 1.0), squared_hinge_svc(signs, 1.0)):
        matrix = padded(n, dtype)
        matrix[:, :n] = value
        solution = solve_smo(problem, StoredGram(matrix), max_iter=1000)
        assert np.isfinite(solution.beta).all()
        assert_feasible(problem, solution.beta)


def test_endless_steps_are_not_taken() -> None:
    """Nothing holds these variables, neither bounds nor the matrix."""
    problem = squared_hinge_svc(np.array([1.0, -1.0, 1.0, -1.0]), 1e14)
    matrix = padded(4, np.float64)
    matrix[:, :4] = -np.eye(4)
    solution = solve_smo(problem, StoredGram(matrix))
    assert not solution.converged
    assert np.isfinite(solution.beta).all()


@pytest.mark.parametrize("missing", [1, 2, 450])
def test_no_step_too_many(missing: int) -> None:
    """Blocks share the steps that are allowed: the last one has what the others left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    signs = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1500) > 0, 1.0, -1.0)
    problem, gram = hinge_svc(signs, C=1.0), make_gram(RBF(0.5), X)
    needed = solve_smo(problem, gram).n_iter
    solution = solve_smo(problem, gram, max_iter=needed - missing)
    assert solution.status == "max_iter"
    assert solution.n_iter == needed - missing > 0


def test_a_narrow_margin_is_one() -> None:
    """Classes a ten-thousandth of the radius apart can be separated, in however many rounds."""
    rng = np.random.default_rng(0)
    side = np.where(np.arange(600) < 300, -1.0, 1.0)
    points = side * np.concatenate([[1e-4], rng.uniform(1e-4, 1.0, 598), [1e-4]])
    found = solve_smo(hard_margin_svc(side), make_gram(Linear(), points[:, None]), tol=1e-6)
    assert found.status == "converged"
    assert found.objective == pytest.approx(-0.5e8, rel=1e-3)


@pytest.mark.parametrize("C", [1e-12, 1e-8, 1e-4])
def test_slack_that_costs_next_to_nothing_is_not_endless(C: float) -> None:
    """The objective stays above -p^2/(2r) summed up, however little that is."""
    X, y = classes(18, 60)
    problem, K = squared_hinge_svc(y, C), RBF(0.5)(X)
    solution = solve_smo(problem, StoredGram(K), tol=1e-6)
    assert solution.status == "converged"
    assert_optimal(problem, K, solution, 1e-6)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_start_comes_from_afar_by_its_size_beside_the_end(unit: float) -> None:
    ended = SimpleNamespace(beta=unit * np.array([-1.0, 0.5]), n_iter=np.array([3, 0]))
    for size, expected in ((0.9, False), (1.1, True)):
        start = size * FAR * unit * np.array([0.1, -1.0])
        assert _came_from_afar(start, ended) is expected
        assert _came_from_afar(StartingPoint(start, start), ended) is expected
    unmoved = SimpleNamespace(beta=ended.beta, n_iter=np.zeros(2, dtype=int))
    assert _came_from_afar(ended.beta, unmoved) is True
