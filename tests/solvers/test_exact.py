"""The exact solver: right to the last digits, and clear about what it cannot do."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from oracles import assert_feasible, assert_kkt
from scipy.spatial.distance import cdist

from mercer.problems import (
    QuadraticProgram,
    enclosing_radius,
    epsilon_svr,
    hard_margin_svc,
    hinge_svc,
    one_class,
    squared_hinge_svc,
    svdd,
)
from mercer.solvers._polish import pair_steps
from mercer.solvers.exact import _factor, _units, solve_exact
from mercer.solvers.solution import Solution


def gram(matrix: np.ndarray) -> Any:
    return SimpleNamespace(matrix=lambda: matrix)


def two_classes(seed: int, n: int = 60, d: int = 4, noise: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def rbf(X: np.ndarray) -> np.ndarray:
    return np.exp(-0.2 * cdist(X, X, "sqeuclidean"))


MACHINES = {
    "hinge, tiny C": lambda K, y: hinge_svc(y, 1e-4),
    "hinge": lambda K, y: hinge_svc(y, 1.0),
    "hinge, large C": lambda K, y: hinge_svc(y, 1e6),
    "hinge, C of its own for each row": lambda K, y: hinge_svc(y, np.geomspace(0.01, 100, len(y))),
    "squared hinge": lambda K, y: squared_hinge_svc(y, 1.0),
    "squared hinge, large C": lambda K, y: squared_hinge_svc(y, 1e6),
    "one class": lambda K, y: one_class(len(y), 0.3),
    "one class, nu = 1": lambda K, y: one_class(len(y), 1.0),
    "ball": lambda K, y: svdd(np.diag(K), 1.0),
    "radius": lambda K, y: enclosing_radius(np.diag(K), 0.1),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", ["rbf", "linear", "near-duplicates"])
def test_optimal_to_rounding(machine: str, kind: str) -> None:
    X, y = two_classes(0)
    if kind == "near-duplicates":
        X[30:] = X[:30] + 1e-7
    K = X @ X.T if kind == "linear" else rbf(X)
    problem = MACHINES[machine](K, y)
    solution = solve_exact(problem, gram(K), tol=1e-8)
    # Large variables carry rounding of their own size into the gradient.
    assert_kkt(problem, K, solution, max(1e-8, 1e-15 * np.abs(solution.beta).sum()))
    assert solution.converged


NEAR = [name for name in MACHINES if "large C" not in name]


@pytest.mark.parametrize("machine", NEAR)
@pytest.mark.parametrize("kind", ["rbf", "linear"])
def test_the_library_itself_comes_near(
    machine: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is given is the program, so that little is left to be improved."""
    monkeypatch.setattr("mercer.solvers.exact._MOST_IMPROVEMENTS", 0)
    X, y = two_classes(0)
    K = X @ X.T if kind == "linear" else rbf(X)
    assert solve_exact(MACHINES[machine](K, y), gram(K)).gap < 1e-7


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_digits_are_the_same_in_any_unit(unit: float) -> None:
    """Of the objective, and of the variables."""
    X, y = two_classes(0)
    K, problem = rbf(X), hinge_svc(y, 1e6)
    problem = QuadraticProgram(unit * problem.p, problem.lower, problem.upper)
    told: list[float] = []

    def listen(_: int, gap: float) -> None:
        told.append(gap)

    found = solve_exact(problem, gram(unit * K), tol=0.0, callback=listen)
    assert found.gap < 1e-11 * unit
    assert 0.0 < max(told) < 1e-6 * unit
    assert found.n_iter < 25  # 13: the first units are good enough
    X[30:] = X[:30] + 1e-7  # where bounds have to be put right afterwards
    problem = QuadraticProgram(-unit * y, np.minimum(y, 0.0), np.maximum(y, 0.0))
    assert solve_exact(problem, gram(unit * rbf(X)), tol=0.0).gap < 1e-9 * unit
    told.clear()
    solve_exact(hinge_svc(y, unit), gram(K / unit), callback=listen)
    assert 0.0 < max(told) < 1e-9


def test_bounds_far_away_hold_where_the_program_without_them_is_unbounded() -> None:
    X, y = two_classes(4)
    found = solve_exact(hinge_svc(y, 1e12), gram(X @ X.T))
    assert found.status != "unbounded"
    assert np.abs(found.beta).max() == 1e12


def test_rows_taken_twice_have_a_singular_matrix() -> None:
    X, _ = two_classes(1)
    K = np.kron(np.ones((2, 2)), rbf(X))
    problem = epsilon_svr(X @ [1.0, -2.0, 0.0, 1.0], 10.0, 0.1)
    assert_kkt(problem, K, solve_exact(problem, gram(K), tol=1e-9), 1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_features_of_any_size(scale: float, C: float) -> None:
    X, y = two_classes(2, noise=0.0)
    K = scale**2 * (X @ X.T)
    problem = hinge_svc(y, C)
    solution = solve_exact(problem, gram(K), tol=1e-5)
    assert solution.converged
    assert_kkt(problem, K, solution, 1e-5)


@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e40])
def test_the_factor_is_that_of_the_matrix_in_any_unit(unit: float) -> None:
    X, _ = two_classes(15)
    for K in (X @ X.T, rbf(X)):
        factor = _factor(unit * K, unit * K.diagonal().max())
        np.testing.assert_allclose(factor @ factor.T, unit * K, atol=1e-13 * unit * K.max())


LEFT = 1.0 / 9.0  # what bounds that sum to 1 / 0.9 leave beyond a sum of 1
UNITS = {
    "room": (hinge_svc([1, -1, 1], 5.0), [(5.0, 10.0), (0.5, 1.0), (2.5**0.5, 2 * 2.5**0.5)]),
    "room above": (one_class(4, 0.9), [(LEFT, 4 * LEFT**2)]),
    "room below": (
        QuadraticProgram(np.zeros(4), -1 / 3.6, 0.0, -1.0),
        [(LEFT, 4 * LEFT**2)],
    ),
    "curvature": (hard_margin_svc([1, -1]), [(0.5, 1.0)]),
    "ridge": (squared_hinge_svc([1, -1], 4.0), [(8.0, 16.0), (2 / 4.25, 4 / 4.25)]),
}


@pytest.mark.parametrize(("problem", "expected"), UNITS.values(), ids=UNITS)
def test_units_are_of_the_size_of_variables(problem: QuadraticProgram, expected: Any) -> None:
    """As far as bounds and sum let them go, or to the minimum along one; K is 4 times one."""
    found = _units(problem, 2.0 * np.eye(problem.n))
    np.testing.assert_allclose(found[: len(expected)], expected)


@pytest.mark.filterwarnings("error")
def test_pairs_of_rows_of_zeros_move_to_their_bounds() -> None:
    problem = QuadraticProgram(np.array([1.0, -1.0]), np.full(2, -3.0), np.full(2, 3.0), 0.0)
    start = Solution.at(problem, np.zeros(2), problem.p, tol=1e-9)
    assert_array_equal(pair_steps(problem, np.zeros((2, 2)), start, 1e-9), [-3.0, 3.0])


def test_fixed_rows_and_rows_without_bounds() -> None:
    X, _ = two_classes(3, n=30)
    K = rbf(X)
    rng = np.random.default_rng(0)
    lower, upper = np.full(30, -1.0), np.full(30, 1.0)
    lower[:10] = upper[:10] = rng.uniform(-1, 1, size=10)
    lower[10:15], upper[15:20] = -np.inf, np.inf
    lower[20:25], upper[20:25] = -np.inf, np.inf
    problem = QuadraticProgram(rng.normal(size=30), lower, upper, 0.7)
    solution = solve_exact(problem, gram(K), tol=1e-9)
    assert_kkt(problem, K, solution, 1e-9)


def test_fixed_rows_pull_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is solved is right, and is not put right step by step afterwards."""
    monkeypatch.setattr("mercer.solvers.exact._MOST_IMPROVEMENTS", 0)
    X, y = two_classes(3, n=100, d=20)
    rng = np.random.default_rng(0)
    fixed, values = rng.random(100) < 0.3, rng.uniform(0.0, 5.0, 100) * y
    lower = np.where(fixed, values, np.where(y > 0, 0.0, -10.0))
    upper = np.where(fixed, values, np.where(y > 0, 10.0, 0.0))
    problem, K = QuadraticProgram(-y, lower, upper, 0.0), X @ X.T
    assert_kkt(problem, K, solve_exact(problem, gram(K), tol=1e-8), 1e-8)


def test_fixed_rows_take_no_steps() -> None:
    """They are not given to the library, whose barriers would need room between their bounds."""
    X, y = two_classes(3, n=60, d=20)
    free = np.random.default_rng(0).random(60) > 0.9
    K = 1e3 * (X @ X.T)
    with_fixed = solve_exact(hinge_svc(y, np.where(free, 1e3, 0.0)), gram(K), tol=1e-8)
    alone = solve_exact(hinge_svc(y[free], 1e3), gram(K[np.ix_(free, free)]), tol=1e-8)
    np.testing.assert_allclose(with_fixed.beta[free], alone.beta, rtol=1e-9)
    assert with_fixed.n_iter <= alone.n_iter + 1


@pytest.mark.parametrize("seed", range(3))
def test_hard_margin_of_separable_data(seed: int) -> None:
    X, y = two_classes(seed, noise=0.0)
    solution = solve_exact(hard_margin_svc(y), gram(X @ X.T), tol=1e-8)
    assert_kkt(hard_margin_svc(y), X @ X.T, solution, 1e-8)
    w = X.T @ solution.beta
    assert (y * (X @ w + solution.offset)).min() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_hard_margin_of_other_data_has_no_minimum(scale: float) -> None:
    X, y = two_classes(4)
    solution = solve_exact(hard_margin_svc(y), gram(scale**2 * (X @ X.T)))
    assert solution.status == "unbounded"
    assert not solution.converged
    assert solution.n_iter < 100


def test_only_one_feasible_point() -> None:
    X, _ = two_classes(5, n=10)
    solution = solve_exact(hinge_svc(np.ones(10), 1.0), gram(X @ X.T))
    assert solution.converged
    assert solution.n_iter == 0
    assert not solution.beta.any()


def test_warm_start_that_is_good_enough_comes_back() -> None:
    X, y = two_classes(6)
    problem, K = hinge_svc(y, 1.0), rbf(X)
    first = solve_exact(problem, gram(K))
    again = solve_exact(problem, gram(K), warm_start=first)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.beta, first.beta)
    other = solve_exact(problem, gram(K), warm_start=np.zeros(60))
    assert other.n_iter > 0
    np.testing.assert_allclose(other.beta, first.beta, atol=1e-9)


def test_limits_are_kept_and_named() -> None:
    X, y = two_classes(7)
    problem, K = hinge_svc(y, 1.0), rbf(X)
    few = solve_exact(problem, gram(K), tol=1e-9, max_iter=2)
    assert (few.status, few.converged) == ("max_iter", False)
    assert few.n_iter <= 2
    assert few.gap > 1e-9
    assert_feasible(problem, few.beta)
    none = solve_exact(problem, gram(K), tol=1e-9, max_iter=0)
    assert (none.status, none.n_iter) == ("max_iter", 0)
    soon = solve_exact(problem, gram(K), tol=1e-9, time_limit=0.0)
    assert (soon.status, soon.converged) == ("time_limit", False)
    assert_feasible(problem, soon.beta)


def test_another_unit_has_the_steps_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.solvers.exact._ACCURATE", -1.0)  # no unit is good enough
    X, y = two_classes(7)
    problem, K = hinge_svc(y, 1.0), gram(rbf(X))
    n_steps = solve_exact(problem, K, tol=0.0).n_iter
    for missing in (1, 5):
        limited = solve_exact(problem, K, tol=0.0, max_iter=n_steps - missing)
        assert (limited.status, limited.n_iter) == ("max_iter", n_steps - missing)


def test_callback_sees_every_step_and_may_stop() -> None:
    X, y = two_classes(8)
    problem, K = hinge_svc(y, 1.0), rbf(X)
    seen: list[tuple[int, float]] = []
    stopped = solve_exact(
        problem, gram(K), tol=1e-9, callback=lambda n, gap: seen.append((n, gap)) or n >= 3
    )
    assert (stopped.status, stopped.converged) == ("interrupted", False)
    assert [n for n, _ in seen] == [1, 2, 3]
    assert all(gap >= 0 for _, gap in seen)


def test_an_interrupt_in_the_callback_gets_out() -> None:
    X, y = two_classes(9)

    def interrupt(n_iter: int, gap: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_exact(hinge_svc(y, 1.0), gram(rbf(X)), callback=interrupt)


def test_unreachable_tolerance_is_admitted() -> None:
    X, y = two_classes(10)
    solution = solve_exact(hinge_svc(y, 1.0), gram(rbf(X)), tol=0.0)
    assert solution.gap < 1e-10
    assert solution.converged == (solution.gap == 0.0)
    assert solution.status in ("converged", "stalled")


def test_indefinite_matrix_is_refused_with_its_eigenvalue() -> None:
    X, y = two_classes(11)
    K = np.tanh(X @ X.T - 1.0)
    least = np.linalg.eigvalsh(K - K.mean(0) - K.mean(1)[:, None] + K.mean())[0]
    with pytest.raises(ValueError, match="most negative ") as error:
        solve_exact(hinge_svc(y, 1.0), gram(K))
    assert f"{least:.3g}" in str(error.value)


def test_a_single_negative_eigenvalue_is_refused() -> None:
    K = np.eye(4)
    K[:2, :2] += [[-0.75, 0.75], [0.75, -0.75]]
    with pytest.raises(ValueError, match=r"eigenvalue is -0\.5; its largest diagonal entry is 1"):
        solve_exact(hinge_svc([1, -1, 1, -1], 1.0), gram(K))


def test_matrix_indefinite_by_rounding_is_solved() -> None:
    X, y = two_classes(12)
    rng = np.random.default_rng(0)
    noise = 1e-11 * rng.normal(size=(60, 60))
    scales = np.geomspace(1e-5, 1.0, 60)[:, None]  # the largest diagonal entry is the measure
    K = scales * (X @ X.T) * scales.T + noise + noise.T
    assert np.linalg.eigvalsh(K)[0] < 0
    problem = hinge_svc(y, 1.0)
    assert_kkt(problem, K, solve_exact(problem, gram(K), tol=1e-8), 1e-8)


def test_shape_is_checked() -> None:
    with pytest.raises(ValueError, match=r"\(3, 3\), but there are 2 variables"):
        solve_exact(hinge_svc([1, -1], 1.0), gram(np.eye(3)))


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    X, y = two_classes(13)
    with pytest.raises(ImportError, match=r'pip install "mercer\[exact\]"'):
        solve_exact(hinge_svc(y, 1.0), gram(rbf(X)))


def test_one_pair_step_with_a_ridge_leads_to_the_optimum() -> None:
    """Of (b'(K + R)b)/2 + p'b along b = (t, -t) the least is at t = 2 / (1 + 2 + 3 + 4)."""
    matrix, ridge = np.diag([1.0, 2.0]), np.array([3.0, 4.0])
    problem = QuadraticProgram([-1.0, 1.0], -10.0, 10.0, 0.0, ridge)
    start = Solution.at(problem, np.zeros(2), problem.p.copy(), tol=1e-9)
    np.testing.assert_allclose(pair_steps(problem, matrix, start, 1e-9), [0.2, -0.2])


@pytest.mark.parametrize("formulate", [hinge_svc, squared_hinge_svc])
def test_pair_steps_alone_lead_to_the_optimum(formulate: Any) -> None:
    X, y = two_classes(14, n=20)
    problem, K = formulate(y, 1.0), rbf(X)
    start = Solution.at(problem, np.zeros(20), problem.p.copy(), tol=1e-9)
    beta = pair_steps(problem, K, start, 1e-9)
    found = Solution.at(problem, beta, K @ beta + problem.ridge * beta + problem.p, tol=1e-8)
    assert_kkt(problem, K, found, 1e-8)
