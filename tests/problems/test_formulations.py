"""Every machine against its own primal problem, solved on explicit features by another road."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from oracles import assert_kkt

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
from mercer.solvers.exact import solve_exact
from mercer.solvers.solution import Solution

SEEDS = [0, 1, 2]


def solve_dual(problem: QuadraticProgram, matrix: np.ndarray) -> Solution:
    solution = solve_exact(problem, SimpleNamespace(matrix=lambda: matrix), tol=1e-9)
    assert_kkt(problem, matrix, solution, 1e-9)
    return solution


def minimise(quadratic: Any, linear: Any, constraints: list[Any], cones: list[Any]) -> np.ndarray:
    """Minimise x'Qx/2 + q'x with b - Ax in the cones, for constraints [(A, b), ...]."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    matrix = sp.csc_matrix(np.vstack([A for A, _ in constraints]))
    bound = np.concatenate([b for _, b in constraints])
    arguments = sp.csc_matrix(np.triu(quadratic)), np.asarray(linear), matrix, bound
    return np.array(clarabel.DefaultSolver(*arguments, cones, settings).solve().x)


def minimise_linear(quadratic: Any, linear: Any, A: Any, b: Any) -> np.ndarray:
    """Minimise x'Qx/2 + q'x with Ax <= b."""
    return minimise(quadratic, linear, [(A, b)], [clarabel.NonnegativeConeT(len(b))])


@dataclass
class Data:
    Z: np.ndarray
    y: np.ndarray
    C: np.ndarray
    target: np.ndarray

    @property
    def K(self) -> np.ndarray:
        return self.Z @ self.Z.T

    @property
    def squares(self) -> np.ndarray:
        return np.sum(self.Z**2, axis=1)


@pytest.fixture(params=SEEDS)
def data(request: pytest.FixtureRequest) -> Data:
    rng = np.random.default_rng(request.param)
    Z = rng.normal(size=(15, 3)) + 0.5
    y = np.where(Z[:, 0] + rng.normal(size=15) > 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Data(Z, y, rng.uniform(0.2, 2.0, size=15), Z @ [1.0, -1.0, 0.5] + rng.normal(size=15))


def classifier(data: Data, power: int, slack: bool = True) -> tuple[np.ndarray, float, np.ndarray]:
    """w, b and slack of the soft margin (power of the slack) or of the hard one."""
    n, d = data.Z.shape
    rows = -data.y[:, None] * np.hstack([data.Z, np.ones((n, 1))])
    Q, q = np.zeros((d + 1 + n, d + 1 + n)), np.zeros(d + 1 + n)
    Q[:d, :d] = np.eye(d)
    if power == 2:
        Q[d + 1 :, d + 1 :] = np.diag(data.C)
    else:
        q[d + 1 :] = data.C
    A = np.block([[rows, -np.eye(n)], [np.zeros((n, d + 1)), -np.eye(n)]])
    if not slack:
        A[:n, d + 1 :] = 0.0
    x = minimise_linear(Q, q, A, np.concatenate([-np.ones(n), np.zeros(n)]))
    return x[:d], float(x[d]), x[d + 1 :]


def assert_same_classifier(data: Data, solution: Solution, w: np.ndarray, b: float) -> None:
    np.testing.assert_allclose(data.Z.T @ solution.beta, w, atol=1e-6)
    assert solution.offset == pytest.approx(b, abs=1e-6)


def test_hinge_svc(data: Data) -> None:
    w, b, slack = classifier(data, power=1)
    solution = solve_dual(hinge_svc(data.y, data.C), data.K)
    assert_same_classifier(data, solution, w, b)
    assert -solution.objective == pytest.approx(0.5 * w @ w + data.C @ slack, rel=1e-7)
    margins = data.y * (data.Z @ w + b)
    np.testing.assert_allclose(np.maximum(0.0, 1.0 - margins), slack, atol=1e-6)
    np.testing.assert_allclose(
        solution.gradient + solution.offset, data.Z @ w + b - data.y, atol=1e-6
    )


def test_squared_hinge_svc(data: Data) -> None:
    w, b, slack = classifier(data, power=2)
    solution = solve_dual(squared_hinge_svc(data.y, data.C), data.K)
    assert_same_classifier(data, solution, w, b)
    assert -solution.objective == pytest.approx(0.5 * w @ w + 0.5 * data.C @ slack**2, rel=1e-7)
    np.testing.assert_allclose(np.abs(solution.beta), data.C * slack, atol=1e-5)


def test_hard_margin_svc(data: Data) -> None:
    data.Z[:, 0] += 3.0 * data.y
    w, b, _ = classifier(data, power=1, slack=False)
    solution = solve_dual(hard_margin_svc(data.y), data.K)
    assert_same_classifier(data, solution, w, b)
    margin = (data.y * (data.Z @ w + b)).min() / np.linalg.norm(w)
    assert 1.0 / np.sqrt(-2.0 * solution.objective) == pytest.approx(margin, rel=1e-7)
    assert np.abs(solution.beta).sum() == pytest.approx(w @ w, rel=1e-7)


@pytest.mark.parametrize("nu", [0.2, 0.55, 1.0])
def test_one_class(data: Data, nu: float) -> None:
    n, d = data.Z.shape
    weight = data.C / (nu * data.C.sum())
    Q = np.zeros((d + 1 + n, d + 1 + n))
    Q[:d, :d] = np.eye(d)
    A = np.block([[-data.Z, np.ones((n, 1)), -np.eye(n)], [np.zeros((n, d + 1)), -np.eye(n)]])
    x = minimise_linear(Q, np.concatenate([np.zeros(d), [-1.0], weight]), A, np.zeros(2 * n))
    problem = one_class(n, nu, sample_weight=data.C)
    solution = solve_dual(problem, data.K)
    np.testing.assert_allclose(data.Z.T @ solution.beta, x[:d], atol=1e-6)
    value = 0.5 * x[:d] @ x[:d] - x[d] + weight @ x[d + 1 :]
    assert -solution.objective == pytest.approx(value, rel=1e-6, abs=1e-8)
    if nu < 1.0:  # at nu = 1 every rho up to the smallest value is optimal
        assert -solution.offset == pytest.approx(x[d], abs=1e-6)
    assert problem.upper.sum() == pytest.approx(1.0 / nu)


def test_weights_of_the_one_class_machine_count_as_repetitions(data: Data) -> None:
    weight = np.arange(15) % 3
    once = solve_dual(one_class(15, 0.3, weight), data.K)
    Z = np.repeat(data.Z, weight, axis=0)
    repeated = solve_dual(one_class(len(Z), 0.3), Z @ Z.T)
    np.testing.assert_allclose(Z.T @ repeated.beta, data.Z.T @ once.beta, atol=1e-8)
    assert repeated.offset == pytest.approx(once.offset, abs=1e-8)


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_weights_of_the_one_class_machine_count_by_their_shares(unit: float) -> None:
    weight = np.array([1.0, 0.0, 2.0, 1.0])
    found = one_class(4, 0.5, unit * weight)
    np.testing.assert_allclose(found.upper, weight / 2.0, rtol=1e-14)


def ball(Z: np.ndarray, C: np.ndarray, power: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Centre, squared radius and slack; squared distances bounded through second-order cones."""
    n, d = Z.shape
    size = d + 1 + 2 * n  # a, R^2, slack, bound t on the squared distance
    Q, q = np.zeros((size, size)), np.zeros(size)
    q[d] = 1.0
    slack, distance = slice(d + 1, d + 1 + n), slice(d + 1 + n, size)
    if power == 2:
        Q[slack, slack] = 2.0 * np.diag(C)
    else:
        q[slack] = C
    inside = np.zeros((2 * n, size))
    inside[:n, d], inside[:n, slack], inside[:n, distance] = -1.0, -np.eye(n), np.eye(n)
    inside[n:, slack] = -np.eye(n)
    constraints, cones = [(inside, np.zeros(2 * n))], [clarabel.NonnegativeConeT(2 * n)]
    for i in range(n):  # |(2(z - a), t - 1)| <= t + 1
        A = np.zeros((d + 2, size))
        A[0, d + 1 + n + i] = A[-1, d + 1 + n + i] = -1.0
        A[1:-1, :d] = 2.0 * np.eye(d)
        constraints.append((A, np.concatenate([[1.0], 2.0 * Z[i], [-1.0]])))
        cones.append(clarabel.SecondOrderConeT(d + 2))
    x = minimise(Q, q, constraints, cones)
    return x[:d], float(x[d]), x[slack]


def squared_radius(solution: Solution, matrix: np.ndarray) -> float:
    return float(solution.beta @ matrix @ solution.beta + 2.0 * solution.offset)


def test_svdd(data: Data) -> None:
    C = 0.15 * data.C
    centre, radius2, slack = ball(data.Z, C, power=1)
    solution = solve_dual(svdd(data.squares, C), data.K)
    np.testing.assert_allclose(data.Z.T @ solution.beta, centre, atol=1e-5)
    assert squared_radius(solution, data.K) == pytest.approx(radius2, abs=1e-5)
    assert -2.0 * solution.objective == pytest.approx(radius2 + C @ slack, rel=1e-6)


def test_svdd_with_a_large_penalty_is_the_smallest_ball(data: Data) -> None:
    solution = solve_dual(svdd(data.squares, 1.0), data.K)
    distances = np.sum((data.Z - data.Z.T @ solution.beta) ** 2, axis=1)
    assert squared_radius(solution, data.K) == pytest.approx(distances.max(), rel=1e-8)
    radius = solve_dual(enclosing_radius(data.squares), data.K)
    assert -2.0 * radius.objective == pytest.approx(distances.max(), rel=1e-8)


def test_squared_svdd(data: Data) -> None:
    centre, radius2, slack = ball(data.Z, data.C, power=2)
    solution = solve_dual(squared_svdd(data.squares, data.C), data.K)
    np.testing.assert_allclose(data.Z.T @ solution.beta, centre, atol=1e-5)
    assert squared_radius(solution, data.K) == pytest.approx(radius2, abs=1e-5)
    assert -2.0 * solution.objective == pytest.approx(radius2 + data.C @ slack**2, rel=1e-6)
    np.testing.assert_allclose(solution.beta / (2.0 * data.C), slack, atol=1e-5)


def test_squared_radius_may_be_negative_under_squared_slack(data: Data) -> None:
    Z = 0.01 * data.Z
    _, radius2, _ = ball(Z, np.full(15, 0.01), power=2)
    solution = solve_dual(squared_svdd(np.sum(Z**2, axis=1), 0.01), Z @ Z.T)
    assert radius2 < -1.0
    assert squared_radius(solution, Z @ Z.T) == pytest.approx(radius2, rel=1e-6)


def test_svdd_with_outliers(data: Data) -> None:
    n, d = data.Z.shape
    C = np.where(data.y > 0, 0.4, 0.1)
    # In a and rho = R^2 - |a|^2: y (|z|^2 - 2 z.a - rho) <= slack.
    Q = np.zeros((d + 1 + n, d + 1 + n))
    Q[:d, :d] = 2.0 * np.eye(d)
    rows = -data.y[:, None] * np.hstack([2.0 * data.Z, np.ones((n, 1))])
    A = np.block([[rows, -np.eye(n)], [np.zeros((n, d + 1)), -np.eye(n)]])
    q = np.concatenate([np.zeros(d), [1.0], C])
    x = minimise_linear(Q, q, A, np.concatenate([-data.y * data.squares, np.zeros(n)]))
    centre, radius2, slack = x[:d], x[d] + x[:d] @ x[:d], x[d + 1 :]

    solution = solve_dual(svdd_with_outliers(data.squares, data.y, 0.4, 0.1), data.K)
    np.testing.assert_allclose(data.Z.T @ solution.beta, centre, atol=1e-6)
    assert squared_radius(solution, data.K) == pytest.approx(radius2, abs=1e-6)
    assert -2.0 * solution.objective == pytest.approx(radius2 + C @ slack, rel=1e-7)
    distances = np.sum((data.Z - centre) ** 2, axis=1)
    np.testing.assert_allclose(np.maximum(0.0, data.y * (distances - radius2)), slack, atol=1e-6)


def test_enclosing_radius_lives_in_the_space_of_the_ridge(data: Data) -> None:
    ridge = 1.0 / data.C
    lifted = np.hstack([data.Z, np.diag(np.sqrt(ridge))])
    _, radius2, _ = ball(lifted, np.full(15, 1e3), power=1)
    solution = solve_dual(enclosing_radius(data.squares, ridge), data.K)
    assert -2.0 * solution.objective == pytest.approx(radius2, rel=1e-6)
    assert squared_radius(solution, data.K + np.diag(ridge)) == pytest.approx(radius2, rel=1e-6)


@pytest.mark.parametrize(("power", "make"), [(1, epsilon_svr), (2, squared_epsilon_svr)])
def test_support_vector_regression(data: Data, power: int, make: Any) -> None:
    n, d = data.Z.shape
    epsilon = 0.3
    size = d + 1 + 2 * n
    Q, q = np.zeros((size, size)), np.zeros(size)
    Q[:d, :d] = np.eye(d)
    penalty = np.concatenate([data.C, data.C])
    if power == 2:
        Q[d + 1 :, d + 1 :] = np.diag(penalty)
    else:
        q[d + 1 :] = penalty
    rows = np.hstack([data.Z, np.ones((n, 1))])
    A = np.block([[np.vstack([-rows, rows]), -np.eye(2 * n)],
                  [np.zeros((2 * n, d + 1)), -np.eye(2 * n)]])  # fmt: skip
    bound = np.concatenate([epsilon - data.target, epsilon + data.target, np.zeros(2 * n)])
    x = minimise_linear(Q, q, A, bound)
    w, b, slack = x[:d], x[d], x[d + 1 :]

    twice = np.vstack([data.Z, data.Z])
    solution = solve_dual(make(data.target, data.C, epsilon), twice @ twice.T)
    np.testing.assert_allclose(twice.T @ solution.beta, w, atol=1e-6)
    assert solution.offset == pytest.approx(b, abs=1e-6)
    value = 0.5 * w @ w + penalty @ slack**power / power
    assert -solution.objective == pytest.approx(value, rel=1e-7)
    above, below = solution.beta[:n], solution.beta[n:]
    assert np.all(np.minimum(np.abs(above), np.abs(below)) < 1e-9)


@pytest.mark.parametrize("make", [epsilon_svr, squared_epsilon_svr])
def test_a_tube_may_have_no_width(make: Any) -> None:
    """Both halves are then one program in the difference of the multipliers."""
    problem = make([1.0, -2.0], 0.5, 0.0)
    np.testing.assert_array_equal(problem.p, [-1.0, 2.0, -1.0, 2.0])
    np.testing.assert_array_equal(problem.lower[2:], -problem.upper[:2])


@pytest.mark.parametrize("make", [hinge_svc, squared_hinge_svc])
def test_rows_without_penalty_play_no_part(data: Data, make: Any) -> None:
    C = np.where(np.arange(15) % 4 == 3, 0.0, data.C)
    kept = C > 0
    whole = solve_dual(make(data.y, C), data.K)
    part = solve_dual(make(data.y[kept], C[kept]), data.K[np.ix_(kept, kept)])
    assert not whole.beta[~kept].any()
    np.testing.assert_allclose(whole.beta[kept], part.beta, atol=1e-8)
    assert whole.objective == pytest.approx(part.objective, rel=1e-9)


def test_the_least_penalty_of_a_ball_is_one_over_the_rows() -> None:
    """Whatever rounding makes of n times 1/n, the centre is then the mean."""
    for n in range(2, 60):
        problem = svdd(np.ones(n), 1.0 / n)
        np.testing.assert_allclose(problem.feasible_point(), 1.0 / n)


def test_squared_slack_of_outliers(data: Data) -> None:
    """In a and rho = R^2 - |a|^2: y (|z|^2 - 2 z.a - rho) <= slack, whose square has the price."""
    n, d = data.Z.shape
    Q = np.diag(np.concatenate([np.full(d, 2.0), [0.0], 2.0 * data.C]))
    rows = -data.y[:, None] * np.hstack([2.0 * data.Z, np.ones((n, 1))])
    q = np.concatenate([np.zeros(d), [1.0], np.zeros(n)])
    A = np.hstack([rows, -np.eye(n)])
    x = minimise_linear(Q, q, A, -data.y * data.squares)
    solution = solve_dual(squared_svdd(data.squares, data.C, data.y), data.K)
    np.testing.assert_allclose(data.Z.T @ solution.beta, x[:d], atol=1e-6)
    assert squared_radius(solution, data.K) == pytest.approx(x[d] + x[:d] @ x[:d], abs=1e-6)


def test_an_infinite_penalty_is_the_hard_margin(data: Data) -> None:
    hard = hard_margin_svc(data.y)
    for soft in (hinge_svc(data.y, np.inf), squared_hinge_svc(data.y, np.inf)):
        for name in ("p", "lower", "upper", "ridge"):
            np.testing.assert_array_equal(getattr(soft, name), getattr(hard, name))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hinge_svc([0, 1], 1.0), r"vector of \+1 and -1"),
        (lambda: hinge_svc([1, -1], 0.0), "C must be positive, got 0"),
        (lambda: hinge_svc([1, -1], [1.0, -1.0]), "negative or NaN"),
        (lambda: hinge_svc([1, -1], np.ones(3)), "a number or 2 numbers"),
        (lambda: squared_hinge_svc([1, -1], np.nan), "C must be positive"),
        (lambda: hinge_svc([[1, -1]], 1.0), r"vector of \+1 and -1"),
        (lambda: hinge_svc([1, -1], [1.0, np.nan]), "negative or NaN"),
        (lambda: one_class(5, 1.5), r"nu must lie in \(0, 1\], got 1.5"),
        (lambda: one_class(2, 0.5, [1.0, np.inf]), "2 finite numbers"),
        (lambda: one_class(2, 0.5, [1.0, 1.0, 1.0]), "2 finite numbers"),
        (lambda: enclosing_radius([[1.0]]), "vector of finite numbers"),
        (lambda: epsilon_svr([[1.0]], 1.0, 0.1), "target must be a vector of finite"),
        (lambda: epsilon_svr([1.0], 1.0, np.inf), "epsilon must be a finite number"),
        (lambda: one_class(5, 0.0), r"nu must lie in \(0, 1\], got 0"),
        (lambda: one_class(2, 0.5, [1.0, -1.0]), "none of them negative"),
        (lambda: one_class(2, 0.5, [0.0, 0.0]), "At least one sample weight"),
        (lambda: svdd([1.0, 1.0, 1.0], 0.3), "sum to at least 1"),
        (lambda: svdd_with_outliers([1.0, 1.0], [1, -1, 1], 1.0, 1.0), "3 labels for 2 rows"),
        (lambda: enclosing_radius([1.0, np.inf]), "vector of finite numbers"),
        (lambda: epsilon_svr([1.0], 1.0, -0.1), "epsilon must be a finite number"),
        (lambda: epsilon_svr([1.0, np.nan], 1.0, 0.1), "target must be a vector of finite"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
