"""Regression to tol=1e-5 on every problem of the zoo, against the exact optimum.

Nothing that the machine says of itself is believed: coefficients and support vectors are put into a
kernel matrix made without the engine, and everything follows from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from regression_zoo import SQUARED, ZOO, Problem, plane

from mercer import SVR
from mercer.solvers import Solution
from mercer.solvers.exact import solve_exact

TOL = 1e-5
OBJECTIVE_TOL = 1e-6
PREDICTION_TOL = 1e-4


@dataclass
class Case:
    """A fitted problem, its exact solution, and what follows from the coefficients."""

    problem: Problem
    model: SVR
    K: np.ndarray
    exact: Solution
    coef: np.ndarray

    @property
    def beta(self) -> np.ndarray:
        """The variables of the program: multipliers of the upper and of the lower side."""
        return np.concatenate([np.maximum(self.coef, 0.0), np.minimum(self.coef, 0.0)])

    @property
    def gradient(self) -> np.ndarray:
        program = self.problem.program()
        return np.tile(self.K @ self.coef, 2) + program.ridge * self.beta + program.p

    @property
    def rounding(self) -> float:
        """By how much two float64 computations of a prediction may differ."""
        largest = float((np.abs(self.K) @ np.abs(self.coef)).max(initial=0.0))
        return 1e-14 * (largest + np.abs(self.problem.y).max())

    @property
    def residuals(self) -> np.ndarray:
        """y - f(x)."""
        return self.problem.y - self.K @ self.coef - self.model.intercept_[0]


_CASES: dict[str, Case] = {}


@pytest.fixture(params=ZOO, ids=[problem.name for problem in ZOO])
def case(request: Any) -> Case:
    """One problem after the other, fitted and solved once for all tests."""
    problem = request.param
    if problem.name not in _CASES:
        model = SVR(tol=TOL, **problem.params)
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
        coef = np.zeros(len(problem.y))
        coef[model.support_] = model.dual_coef_[0]
        K = problem.matrix()
        _CASES[problem.name] = Case(problem, model, K, reference(problem, K), coef)
    return _CASES[problem.name]


def reference(problem: Problem, K: np.ndarray) -> Solution:
    """Return the exact solution of the program with its matrix written out."""
    gram = SimpleNamespace(matrix=lambda: np.block([[K, K], [K, K]]))
    return solve_exact(problem.program(), gram, tol=1e-9)


def test_zoo_is_large() -> None:
    assert len(ZOO) >= 40
    assert len({problem.name for problem in ZOO}) == len(ZOO)


def test_dual_is_feasible(case: Case) -> None:
    """Inside the box without any tolerance; the sum is zero up to rounding."""
    bounds = case.problem.C * np.where(case.problem.weights > 0, case.problem.weights, 0.0)
    if not case.problem.is_squared:
        assert (np.abs(case.coef) <= np.nan_to_num(bounds, posinf=np.inf)).all()
    assert not case.coef[case.problem.weights == 0].any()
    assert abs(case.coef.sum()) <= 1e-12 * max(np.abs(case.coef).sum(), np.finfo(float).tiny)


def test_gap_is_true(case: Case) -> None:
    """The gap recomputed in float64 is at most tol, and is the one that was reported."""
    gap = case.problem.program().kkt(case.beta, case.gradient)[1]
    assert gap <= TOL + 4 * case.rounding
    assert case.model.gap_[0] == pytest.approx(gap, abs=1e-8 + 4 * case.rounding)
    assert case.model.gap_[0] <= TOL
    assert case.model.converged_ is True


def test_objective(case: Case) -> None:
    """The objective is that of the exact optimum, and the one that was reported."""
    objective = case.problem.program().objective(case.beta, case.gradient)
    assert objective == pytest.approx(case.exact.objective, rel=OBJECTIVE_TOL, abs=1e-10)
    assert case.model.objective_[0] == pytest.approx(objective, rel=OBJECTIVE_TOL, abs=1e-10)


def test_primal_bounds_the_objective(case: Case) -> None:
    """No reference and no formulation needed: the optimum lies between dual and primal value."""
    problem = case.problem
    slack = np.maximum(0.0, np.abs(case.residuals) - problem.epsilon)
    if np.isinf(problem.C):
        assert slack.max() <= TOL
        return
    price = 0.5 * slack**2 if problem.is_squared else slack
    costs = problem.C * problem.weights
    primal = 0.5 * case.coef @ case.K @ case.coef + costs @ price
    dual = problem.y @ case.coef - problem.epsilon * np.abs(case.coef).sum()
    dual -= 0.5 * case.coef @ case.K @ case.coef
    if problem.is_squared:
        used = costs > 0
        dual -= 0.5 * (case.coef[used] ** 2 / costs[used]).sum()
        costs = np.abs(case.coef) + costs * TOL
    rounding = 1e-11 * abs(dual) + case.rounding * (costs.sum() + np.abs(case.coef).sum())
    assert dual - rounding <= primal <= dual + TOL * costs.sum() + rounding


def test_conditions_by_kind(case: Case) -> None:
    """Inside the tube for the others, on its edge for "margin", outside for "bound", to tol."""
    problem, model = case.problem, case.model
    outside = np.abs(case.residuals) - problem.epsilon
    if problem.is_squared:
        used = case.coef != 0
        outside[used] -= np.abs(case.coef[used]) / (problem.C * problem.weights[used])
    kinds = np.full(len(problem.y), "other", dtype="<U6")
    kinds[model.support_] = model.support_kind_[0]
    kinds[problem.weights == 0] = "absent"
    slack = TOL + 4 * case.rounding
    assert (outside[kinds == "other"] <= slack).all()
    assert (np.abs(outside[kinds == "margin"]) <= slack).all()
    assert (outside[kinds == "bound"] >= -slack).all()
    positive = np.abs(case.residuals) > slack  # the sign of a coefficient is that of the residual
    agree = np.sign(case.coef) * np.sign(case.residuals) >= 0
    assert agree[positive].all()


def test_kinds_name_the_bounds(case: Case) -> None:
    """A support vector is "bound" exactly if its coefficient is C or -C."""
    problem, model = case.problem, case.model
    bounds = (problem.C * problem.weights)[model.support_]
    at_bound = (np.abs(model.dual_coef_[0]) == bounds) & (not problem.is_squared)
    np.testing.assert_array_equal(model.support_kind_[0] == "bound", at_bound)
    np.testing.assert_array_equal(model.support_kind_[0] == "margin", ~at_bound)


def test_predictions(case: Case) -> None:
    """Training rows and new points, relative to the range of the targets where it is above 1.

    w is unique. The intercept is so only if some row is free; else any value of an interval is
    optimal, and the two parts are compared by themselves.
    """
    exact, program = case.exact, case.problem.program()
    X = points_to_judge(case.problem)
    kernel = case.problem.kernel()
    values = kernel(X) if kernel.is_pairwise else kernel(X, case.problem.X)
    ours = case.model.predict(X) - case.model.intercept_[0]
    allowed = PREDICTION_TOL * max(1.0, np.ptp(case.problem.y))
    np.testing.assert_allclose(ours, values @ sum(np.split(exact.beta, 2)), rtol=0, atol=allowed)
    level = -exact.gradient
    highest = level[exact.beta < program.upper].max(initial=-np.inf)
    lowest = level[exact.beta > program.lower].min(initial=np.inf)
    intercept = case.model.intercept_[0]
    assert min(highest, lowest) - allowed <= intercept <= max(highest, lowest) + allowed


def test_slack(case: Case) -> None:
    """How far each target is outside the tube, to the tolerance of the fit."""
    expected = np.maximum(0.0, np.abs(case.residuals) - case.problem.epsilon)
    expected[case.problem.weights == 0] = 0.0
    np.testing.assert_allclose(case.model.slack_, expected, rtol=0, atol=TOL + 4 * case.rounding)


@pytest.mark.parametrize("solver", ["smo", "exact", "linear"])
@pytest.mark.parametrize("name", ["linear", "linear_squared", "no_slack_linear"])
def test_solvers_agree(solver: str, name: str) -> None:
    problem = next(problem for problem in ZOO if problem.name == name)
    model = SVR(tol=1e-6, solver=solver, **problem.params).fit(problem.X, problem.y)
    auto = SVR(tol=1e-6, **problem.params).fit(problem.X, problem.y)
    assert model.objective_ == pytest.approx(auto.objective_, rel=1e-6)
    np.testing.assert_allclose(model.coef_, auto.coef_, atol=1e-4)


def test_squared_loss_without_a_tube_is_ridge_regression() -> None:
    """|w|^2 / 2 + C/2 sum (y - <w, x> - b)^2, whose normal equations are solved here."""
    X, y = plane(1, 400, 4)
    weights = np.random.default_rng(0).exponential(size=400)
    model = SVR(kernel="linear", loss=SQUARED, epsilon=0.0, C=0.5, tol=1e-9)
    model.fit(X, y, sample_weight=weights)
    A = np.column_stack([X, np.ones(400)])
    normal = A.T @ (0.5 * weights[:, None] * A) + np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    expected = np.linalg.solve(normal, A.T @ (0.5 * weights * y))
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, atol=1e-7)


def test_many_rows_take_the_linear_solver() -> None:
    X, y = plane(0, 1000, 5)
    auto, linear = SVR(kernel="linear").fit(X, y), SVR(kernel="linear", solver="linear").fit(X, y)
    np.testing.assert_array_equal(auto.dual_coef_, linear.dual_coef_)
    assert auto.n_iter_ == linear.n_iter_


def points_to_judge(problem: Problem) -> Any:
    """Return the training rows and, where points can be made, as many midpoints of pairs."""
    if problem.kernel().is_pairwise:
        return problem.X
    dense = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    partner = np.random.default_rng(0).permutation(len(dense))
    return np.vstack([dense, 0.5 * (dense + dense[partner])])
