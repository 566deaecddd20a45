"""The linear solver against the exact one, on all losses, sizes and degenerate data."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_feasible, assert_kkt, rounding
from sklearn.datasets import make_moons

from mercer.problems import (
    QuadraticProgram,
    enclosing_radius,
    epsilon_svr,
    hard_margin_svc,
    hinge_svc,
    one_class,
    squared_epsilon_svr,
    squared_hinge_svc,
    squared_svdd,
    svdd,
    svdd_with_outliers,
)
from mercer.solvers._features import Features
from mercer.solvers._interior_point import InteriorPoint, _Ray, minimise
from mercer.solvers._limits import Limits
from mercer.solvers._newton import Hyperplane, RidgedNewton
from mercer.solvers.exact import solve_exact
from mercer.solvers.linear import (
    _endless_direction,
    _with_exact_sum,
    linear_is_worthwhile,
    solve_linear,
)

CLASSIFIERS = {
    "hinge, C = 1e-4": lambda Z, y: hinge_svc(y, 1e-4),
    "hinge, C = 0.01": lambda Z, y: hinge_svc(y, 0.01),
    "hinge": lambda Z, y: hinge_svc(y, 1.0),
    "hinge, C = 1e3": lambda Z, y: hinge_svc(y, 1e3),
    "hinge, C = 1e6": lambda Z, y: hinge_svc(y, 1e6),
    "hinge, C of its own for each row": lambda Z, y: hinge_svc(y, np.geomspace(0.01, 10, len(y))),
    "squared hinge, C = 1e-4": lambda Z, y: squared_hinge_svc(y, 1e-4),
    "squared hinge": lambda Z, y: squared_hinge_svc(y, 1.0),
    "squared hinge, C = 1e6": lambda Z, y: squared_hinge_svc(y, 1e6),
    "squared hinge, one row without slack": lambda Z, y: squared_hinge_svc(
        y, np.where(np.arange(len(y)) == 5, np.inf, 1.0)
    ),
}
OTHERS = {
    "one class": lambda Z, y: one_class(len(y), 0.2),
    "one class, nu = 1": lambda Z, y: one_class(len(y), 1.0),
    "one class, weighted": lambda Z, y: one_class(len(y), 0.4, np.arange(len(y)) % 3),
    "SVDD": lambda Z, y: svdd(np.sum(Z**2, axis=1), 0.05),
    "ball": lambda Z, y: svdd(np.sum(Z**2, axis=1), 1.0),
    "SVDD, squared slack": lambda Z, y: squared_svdd(np.sum(Z**2, axis=1), 0.1),
    "SVDD with outliers": lambda Z, y: svdd_with_outliers(np.sum(Z**2, axis=1), y, 0.2, 0.05),
    "radius": lambda Z, y: enclosing_radius(np.sum(Z**2, axis=1)),
    "radius with ridge": lambda Z, y: enclosing_radius(np.sum(Z**2, axis=1), 0.5),
}
DATA = {
    "plain": lambda Z, rng: Z,
    "one column": lambda Z, rng: Z[:, :1],
    "equal rows": lambda Z, rng: Z[rng.integers(0, 15, size=len(Z))],
    "whole numbers": lambda Z, rng: np.round(Z),
    "dependent columns": lambda Z, rng: np.hstack([Z, Z @ rng.normal(size=(4, 3))]),
    "constant column": lambda Z, rng: np.hstack([Z, np.full((len(Z), 1), 3.0)]),
    "far from zero": lambda Z, rng: Z + 1e4,
    "columns from 1e-3 to 1e3": lambda Z, rng: Z * np.geomspace(1e-3, 1e3, 4),
}


def exactly(problem: QuadraticProgram, Z: np.ndarray, tol: float = 1e-8) -> Any:
    return solve_exact(problem, SimpleNamespace(matrix=lambda: Z @ Z.T), tol=tol)


def rows(seed: int, n: int = 90, d: int = 4, noise: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    return Z, np.where(Z[:, 0] + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)


def assert_same_optimum(problem: QuadraticProgram, Z: np.ndarray, tol: float) -> None:
    """The objective agrees with the exact one to 1e-9, or as far as rounding lets anyone say."""
    K = Z @ Z.T
    solution = solve_linear(problem, Z, tol=tol)
    noise = rounding(problem, K, solution.beta)
    assert solution.converged or solution.gap <= tol + 10.0 * noise
    assert_feasible(problem, solution.beta)
    exact = exactly(problem, Z)
    # By convexity a gap is worth at most itself times the distance to the optimum.
    allowed = (solution.gap + exact.gap) * np.abs(solution.beta - exact.beta).sum()
    allowed += noise * np.abs(solution.beta).sum() + 1e-9 * abs(exact.objective)
    assert abs(solution.objective - exact.objective) <= allowed


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("machine", [*CLASSIFIERS, *OTHERS])
def test_same_optimum_as_the_exact_solver(machine: str, data: str) -> None:
    Z, y = rows(0)
    Z = np.ascontiguousarray(DATA[data](Z, np.random.default_rng(1)))
    problem = (CLASSIFIERS | OTHERS)[machine](Z, y)
    scale = float(np.ptp(problem.p)) or float(np.sum(Z**2, axis=1).max())
    assert_same_optimum(problem, Z, 1e-6 * scale)


@pytest.mark.parametrize("make", [epsilon_svr, squared_epsilon_svr])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_same_regression_as_the_exact_solver(make: Any, C: float) -> None:
    Z, _ = rows(1)
    target = Z @ [1.0, -1.0, 2.0, 0.0] + np.random.default_rng(0).normal(size=90)
    assert_same_optimum(make(target, C, 0.2), np.vstack([Z, Z]), 1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("make", [hinge_svc, squared_hinge_svc])
def test_features_of_any_size(make: Any, C: float, scale: float) -> None:
    Z, y = rows(2, noise=0.0 if scale > 1 else 1.0)
    problem = make(y, C)
    solution = solve_linear(problem, scale * Z, tol=1e-5)
    assert solution.converged
    exact = exactly(problem, scale * Z)
    assert solution.objective == pytest.approx(exact.objective, rel=1e-6)
    values = scale**2 * (Z @ (Z.T @ (solution.beta - exact.beta)))
    np.testing.assert_allclose(values + solution.offset - exact.offset, 0.0, atol=1e-4)


@pytest.mark.parametrize("machine", ["hinge", "squared hinge", "one class", "ball", "radius"])
def test_many_rows_satisfy_the_conditions_and_never_meet_as_a_matrix(machine: str) -> None:
    Z, y = rows(3, n=4000, d=6)
    problem = (CLASSIFIERS | OTHERS)[machine](Z, y)
    tracemalloc.start()
    solution = solve_linear(problem, Z, tol=1e-6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * Z.nbytes + 2e6 < 0.1 * 8 * 4000**2
    assert solution.converged
    assert_kkt(problem, Z @ Z.T, solution, 1e-6)


@pytest.mark.parametrize("machine", ["hinge", "squared hinge", "SVDD with outliers"])
def test_sparse_features_give_the_same_answer(machine: str) -> None:
    Z, y = rows(4, n=300)
    Z[np.abs(Z) < 0.7] = 0.0
    problem = (CLASSIFIERS | OTHERS)[machine](Z, y)
    dense = solve_linear(problem, Z, tol=1e-8)
    for form in (sp.csr_array(Z), sp.csc_matrix(Z)):
        sparse = solve_linear(problem, form, tol=1e-8)
        assert sparse.objective == pytest.approx(dense.objective, rel=1e-10)
        np.testing.assert_allclose(form.T @ sparse.beta, Z.T @ dense.beta, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shape", [(40, 2), (300, 5), (3000, 10)])
def test_hard_margin_of_separable_data(shape: tuple[int, int], scale: float) -> None:
    Z, y = rows(5, *shape, noise=0.0)
    problem = hard_margin_svc(y)
    solution = solve_linear(problem, scale * Z, tol=1e-7)
    assert solution.converged
    assert solution.n_iter < 60
    w = scale * (Z.T @ solution.beta)
    margins = y * (scale * (Z @ w) + solution.offset)
    assert margins.min() == pytest.approx(1.0, abs=1e-6)
    assert w @ w == pytest.approx(-2.0 * solution.objective, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("shape", "noise"), [((40, 2), 0.5), ((300, 5), 2.0), ((5000, 10), 0.02)])
def test_hard_margin_of_other_data_ends_soon(
    shape: tuple[int, int], noise: float, scale: float
) -> None:
    Z, y = rows(6, *shape, noise=noise)
    solution = solve_linear(hard_margin_svc(y), scale * Z)
    assert solution.status == "unbounded"
    assert not solution.converged
    assert solution.n_iter < 60


STEPS = {
    "hinge": (9, 13, 16),
    "hinge, C = 1e-4": (7, 19, 16),
    "hinge, C = 1e6": (11, 13, 17),
    "squared hinge": (4, 5, 5),
    "one class": (6, 33, 31),
    "SVDD": (10, 14, 15),
    "SVDD, squared slack": (3, 10, 8),
    "ball": (10, 16, 16),
    "radius": (11, 17, 13),
    "radius with ridge": (5, 11, 10),
}
"""What it takes with 90, 600 and 4,000 rows, of which rounding may make a few more."""


@pytest.mark.parametrize("machine", STEPS)
def test_steps_are_few(machine: str) -> None:
    for n, expected in zip((90, 600, 4000), STEPS[machine], strict=True):
        Z, y = rows(3, n=n, d=5)
        solution = solve_linear((CLASSIFIERS | OTHERS)[machine](Z, y), Z, tol=1e-6)
        assert solution.converged
        assert solution.n_iter <= 1.1 * expected + 2


def test_one_point_of_both_classes_is_not_separable() -> None:
    solution = solve_linear(hard_margin_svc([-1, -1, 1, 1]), np.array([[0.0], [1.0], [1.0], [2.0]]))
    assert solution.status == "unbounded"


def test_features_of_size_one_and_a_million_end_honestly() -> None:
    Z, y = rows(7, n=500, d=6)
    Z[:, ::2] *= 1e6
    problem, K = hinge_svc(y, 1.0), Z @ Z.T
    solution = solve_linear(problem, Z, tol=1e-8)
    assert_feasible(problem, solution.beta)
    assert (solution.converged, solution.status) == (False, "stalled")
    # The gap stands at what float64 leaves of a sum of terms of size 1e12.
    assert 1e-8 < solution.gap < 100.0 * rounding(problem, K, solution.beta)


def test_unreachable_tolerance_is_admitted() -> None:
    Z, y = rows(8)
    for make in (hinge_svc, squared_hinge_svc):
        solution = solve_linear(make(y, 10.0), Z, tol=1e-17)
        assert solution.converged == (solution.gap <= 1e-17)
        assert solution.status == ("converged" if solution.converged else "stalled")
        assert solution.gap < 1e-10


@pytest.mark.parametrize("make", [hinge_svc, squared_hinge_svc])
def test_warm_start(make: Any) -> None:
    Z, y = rows(9, n=2000)
    first = solve_linear(make(y, 1.0), Z, tol=1e-6)
    again = solve_linear(make(y, 1.0), Z, tol=1e-6, warm_start=first)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.beta, first.beta)
    neighbour = make(y, 1.3)
    cold = solve_linear(neighbour, Z, tol=1e-6)
    for start in (first, first.beta, np.zeros(2000), 100.0 * first.beta):
        warm = solve_linear(neighbour, Z, tol=1e-6, warm_start=start)
        assert warm.converged
        assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
    assert solve_linear(neighbour, Z, tol=1e-6, warm_start=first).n_iter < cold.n_iter


@pytest.mark.parametrize("machine", ["hinge", "squared hinge", "SVDD", "radius"])
@pytest.mark.parametrize("limit", [0, 1, 3, 12])
def test_iterations_are_limited_and_the_answer_is_feasible(machine: str, limit: int) -> None:
    Z, y = rows(10, n=1500)
    problem = (CLASSIFIERS | OTHERS)[machine](Z, y)
    solution = solve_linear(problem, Z, tol=1e-9, max_iter=limit)
    assert solution.n_iter <= limit
    assert_feasible(problem, solution.beta)
    assert solution.status == ("converged" if solution.gap <= 1e-9 else "max_iter")
    resumed = solve_linear(problem, Z, tol=1e-6, warm_start=solution)
    assert resumed.converged


def test_time_is_limited() -> None:
    Z, y = rows(11, n=20_000, d=40)
    solution = solve_linear(hinge_svc(y, 1.0), Z, tol=1e-12, time_limit=0.0)
    assert solution.n_iter == 0
    assert solution.status == "time_limit"
    assert_feasible(hinge_svc(y, 1.0), solution.beta)
    with pytest.raises(ValueError, match="time_limit"):
        solve_linear(hinge_svc(y, 1.0), Z, time_limit=-1.0)


@pytest.mark.parametrize("make", [hinge_svc, squared_hinge_svc])
def test_callback_sees_every_step_and_may_stop(make: Any) -> None:
    Z, y = rows(12)
    seen: list[tuple[int, float]] = []
    done = solve_linear(make(y, 1.0), Z, callback=lambda *now: seen.append(now))
    assert [n for n, _ in seen] == sorted(n for n, _ in seen)
    assert 0 < len(seen) <= done.n_iter
    assert all(gap > 1e-3 for _, gap in seen)  # at the tolerance it ends without asking
    stopped = solve_linear(make(y, 1.0), Z, tol=1e-9, callback=lambda n, gap: n >= 2)
    assert (stopped.status, stopped.n_iter) == ("interrupted", 2)
    assert_feasible(make(y, 1.0), stopped.beta)


def test_a_single_class_has_one_feasible_point() -> None:
    Z, _ = rows(13)
    solution = solve_linear(hinge_svc(np.ones(90), 1.0), Z)
    assert solution.converged
    assert not solution.beta.any()
    assert solution.offset == 1.0


def test_rows_without_features_or_without_difference() -> None:
    y = np.array([1.0, 1.0, -1.0])
    for Z in (np.zeros((3, 0)), np.zeros((3, 2)), np.ones((3, 2))):
        problem = hinge_svc(y, 1.0)
        solution = solve_linear(problem, Z, tol=1e-9)
        assert_kkt(problem, Z @ Z.T, solution, 1e-9)
        assert solution.objective == pytest.approx(-2.0)


@given(st.integers(0, 10_000))
def test_programs_of_no_machine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 6))
    Z = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2)
    lower = np.where(rng.random(n) < 0.2, -np.inf, -rng.exponential(size=n))
    upper = np.where(rng.random(n) < 0.2, np.inf, rng.exponential(size=n))
    fixed = rng.random(n) < 0.1
    lower[fixed] = upper[fixed] = rng.normal(size=int(fixed.sum()))
    # Where a variable has no end, a ridge must bound the objective.
    ridge = np.where(np.isinf(lower) | np.isinf(upper), rng.uniform(0.1, 1.0, size=n), 0.0)
    delta = float(np.clip(rng.normal(), lower.sum() + 0.01, upper.sum() - 0.01))
    if not lower.sum() < delta < upper.sum():
        return
    problem = QuadraticProgram(rng.normal(size=n), lower, upper, delta, ridge)
    solution = solve_linear(problem, Z, tol=1e-7)
    assert solution.converged
    assert_kkt(problem, Z @ Z.T, solution, 1e-7)


def test_interior_point_alone_solves_from_a_bad_start() -> None:
    Z, y = rows(14)
    features = Features(Z)
    for problem in (
        hinge_svc(y, 1.0),
        squared_hinge_svc(y, 1.0),
        enclosing_radius(np.sum(Z**2, 1)),
    ):
        steps = []
        for tol in (1e-2, 1e-7):
            limits, plane = Limits(), Hyperplane.at(features, 10.0 * np.ones(4), 5.0)
            beta, _ = minimise(InteriorPoint(problem, features, plane, 1.0), tol, limits)
            gradient = Z @ (Z.T @ beta) + problem.ridge * beta + problem.p
            assert_feasible(problem, beta)
            assert problem.kkt(beta, gradient)[1] <= tol
            steps.append(limits.n_iter)
        assert steps[0] < steps[1]  # it ends where it is close enough


def test_newton_residual_is_the_gradient_of_the_primal_function() -> None:
    Z, y = rows(15)
    problem, features = hinge_svc(y, 1.0), Features(Z)
    newton = RidgedNewton(problem, features, 0.3, 0.5 * (problem.lower + problem.upper))
    centre = 0.5 * (problem.lower + problem.upper)

    def primal(v: np.ndarray) -> float:
        level = Z @ v[:-1] + v[-1]
        beta = newton.variables(level)
        inner = beta * (level + problem.p) + 0.15 * (beta - centre) ** 2
        return float(0.5 * v[:-1] @ v[:-1] - inner.sum())

    v = np.random.default_rng(0).normal(size=5)
    view = newton.view(Hyperplane.at(features, v[:-1], v[-1]))
    slopes = [(primal(v + e) - primal(v - e)) / 2e-6 for e in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(view.residual, slopes, atol=1e-5)


def test_bad_features_are_refused_in_one_sentence() -> None:
    problem = hinge_svc([1, -1], 1.0)
    with pytest.raises(ValueError, match=r"one row for each of the 2 variables, got \(3, 1\)"):
        solve_linear(problem, np.ones((3, 1)))
    with pytest.raises(ValueError, match="features must be finite"):
        solve_linear(problem, np.array([[1.0], [np.nan]]))


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_off_centre_is_measured_in_spreads(unit: float) -> None:
    Z, _ = rows(18)
    assert not Features(unit * (Z + 10.0)).far_from_centre()
    assert Features(unit * (Z + 1000.0)).far_from_centre()


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_spreads_of_sparse_columns_are_those_of_dense_ones(unit: float) -> None:
    Z = np.hstack([unit * rows(19)[0], np.zeros((90, 1))])
    spread = Features(sp.csr_array(Z)).column_spread()
    np.testing.assert_allclose(spread, Features(Z).column_spread(), rtol=1e-9)


def test_worthwhile_for_many_rows_and_few_columns() -> None:
    assert linear_is_worthwhile(50_000, 100)
    assert not linear_is_worthwhile(500, 5)  # the fixed cost decides
    assert not linear_is_worthwhile(3_000, 1_000)  # n d^2 decides
    assert not linear_is_worthwhile(1_000_000, 5_000)


@pytest.mark.parametrize("seed", range(5))
def test_classes_that_overlap_have_no_hard_margin(seed: int) -> None:
    """Where rounding ends the search first, a direction along which the objective falls tells."""
    X, y = make_moons(120, noise=0.1, random_state=seed)
    assert solve_linear(hard_margin_svc(2.0 * y - 1.0), X).status == "unbounded"


def test_a_narrow_margin_is_none_the_less_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    signs = np.sign(X[:, 0])
    X[:, 0] += 1e-3 * signs
    solution = solve_linear(hard_margin_svc(signs), X)
    assert solution.status != "unbounded"
    w = X.T @ solution.beta
    assert (signs * (X @ w + solution.offset)).min() > 0.99


@pytest.mark.parametrize("stopped", ["nothing", "a bound", "a ridge"])
@pytest.mark.parametrize("row", [0, 1])
def test_only_what_nothing_stops_is_endless(row: int, stopped: str) -> None:
    """Equal rows of both classes rise for ever together, unless one of them is held."""
    problem = hard_margin_svc([1.0, -1.0, -1.0, 1.0])
    at_row = np.arange(4) == row
    if stopped == "a bound":
        lower = np.where(at_row, np.maximum(problem.lower, -1.0), problem.lower)
        upper = np.where(at_row, np.minimum(problem.upper, 1.0), problem.upper)
        problem = replace(problem, lower=lower, upper=upper)
    elif stopped == "a ridge":
        problem = replace(problem, ridge=np.where(at_row, 1.0, 0.0))
    features = Features.checked(np.array([[1.0], [1.0], [-5.0], [5.0]]), 4)
    assert _endless_direction(problem, features) == (stopped == "nothing")


@pytest.mark.parametrize("price", [-30.0, -0.1, 0.1, 30.0])
def test_what_rises_at_a_price_is_not_endless(price: float) -> None:
    """Both variables of a row rise together without end: the width of the tube is their price."""
    problem = QuadraticProgram([price, -price], [0.0, -np.inf], [np.inf, 0.0], 0.0)
    features = Features(np.array([[2.0], [2.0]]))
    assert _Ray(problem, features).found(np.array([1.0, -1.0])) == (price < 0)


def test_a_ridge_in_some_rows_is_divided_by_in_none() -> None:
    Z, y = rows(16)
    has_ridge = np.arange(len(y)) % 2 == 0
    most = np.where(has_ridge, np.inf, 1.0)
    problem = QuadraticProgram(
        -y, np.where(y > 0, 0.0, -most), np.where(y > 0, most, 0.0), 0.0, 1.0 * has_ridge
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve_linear(problem, Z, tol=1e-7)
    assert solution.converged
    assert_kkt(problem, Z @ Z.T, solution, 1e-7)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_separable_classes_are_not_endless_in_any_unit(scale: float) -> None:
    features = Features.checked(scale * np.array([[1.0], [0.0], [-5.0], [5.0]]), 4)
    assert not _endless_direction(hard_margin_svc([1.0, -1.0, -1.0, 1.0]), features)


def test_bounds_far_away_hold_where_the_program_without_them_is_unbounded() -> None:
    Z, y = rows(4)
    found = solve_linear(hinge_svc(y, 1e12), Z)
    assert found.status != "unbounded"
    assert np.abs(found.beta).max() == 1e12


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_what_is_endless_is_so_in_any_unit_of_the_objective(unit: float) -> None:
    problem = hard_margin_svc([1.0, -1.0, -1.0, 1.0])
    problem = replace(problem, p=unit * np.array([-1.0, 1.0, 1.0, 0.0]))
    for other, expected in ((1.0, True), (0.0, False)):
        features = Features.checked(np.array([[1.0], [other], [-5.0], [5.0]]), 4)
        assert _endless_direction(problem, features) is expected


def test_what_a_sum_lacks_goes_where_most_room_is() -> None:
    problem = QuadraticProgram(np.zeros(3), 0.0, [1.0, 2.0, 5.0], delta=3.0)
    for beta, expected in (
        ([0.9, 0.9, 1.1], [0.9, 0.9, 1.2]),
        ([0.9, 1.0, 1.2], [0.9, 1.0, 1.1]),
        ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),  # no room between the bounds
    ):
        np.testing.assert_allclose(_with_exact_sum(problem, np.array(beta)), expected)


@pytest.mark.parametrize("formulate", [hinge_svc, squared_hinge_svc])
def test_beyond_numbers_the_start_is_the_answer(formulate: Any) -> None:
    """Where every step leads to infinity or NaN, what is known is returned as it is."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    problem = formulate(y, 10.0 ** rng.uniform(86, 89, 40))
    found = solve_linear(problem, 1e109 * rng.normal(size=(40, 4)))
    assert found.status == "stalled"
    assert np.isfinite(found.gradient).all()
    assert found.objective <= 0.0


@pytest.mark.parametrize(("bound", "ridge", "length"), [(1.0, 1.0, 1e308), (np.inf, 1e-250, 1e150)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_beyond_the_range_of_numbers_leaves_the_hyperplane(
    bound: float, ridge: float, length: float, monkeypatch: Any
) -> None:
    """Levels may be endless where bounds hide it, and variables where levels are finite."""
    Z, y = rows(3)
    features = Features(100.0 * Z)
    problem = QuadraticProgram(-y, -bound, bound, 0.0, np.full(90, ridge))
    newton, plane = RidgedNewton(problem, features), Hyperplane(np.ones(4), 0.0, 100.0 * Z.sum(1))
    view = newton.view(plane)
    monkeypatch.setattr(newton, "_line_search", lambda *arguments: length)
    before = plane.w.copy(), plane.b, plane.values.copy()
    with pytest.raises(np.linalg.LinAlgError, match="beyond the range of numbers"):
        newton.step(plane, view)
    np.testing.assert_array_equal(plane.w, before[0])
    assert plane.b == before[1]
    np.testing.assert_array_equal(plane.values, before[2])
