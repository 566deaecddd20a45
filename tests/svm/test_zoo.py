"""Every problem of the zoo, solved to tol=1e-5, against the exact optimum.

Nothing that the classifier says of itself is believed: coefficients and support vectors are put
into a kernel matrix made without the engine, and everything follows from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from zoo import ZOO, Problem

from mercer import SVC
from mercer.solvers import Solution
from mercer.solvers.exact import solve_exact

# One problem of the zoo has a sigmoid kernel; tests/test_warnings.py has the warning.
pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")

TOL = 1e-5
OBJECTIVE_TOL = 1e-6
DECISION_TOL = 1e-4


@dataclass
class Case:
    """A fitted problem, its exact solution, and what follows from the coefficients."""

    problem: Problem
    model: SVC
    K: np.ndarray
    exact: Solution
    beta: np.ndarray

    @property
    def gradient(self) -> np.ndarray:
        program = self.problem.program()
        return self.K @ self.beta + program.ridge * self.beta + program.p

    @property
    def rounding(self) -> float:
        """By how much two float64 computations of a decision value may differ."""
        return 1e-14 * float((np.abs(self.K) @ np.abs(self.beta)).max(initial=0.0))


_CASES: dict[str, Case] = {}


def solved(problem: Problem) -> Case:
    """Fit and solve a problem once for all tests."""
    if problem.name not in _CASES:
        model = SVC(tol=TOL, **problem.params)
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
        K = problem.matrix()
        exact = reference(problem, K)
        beta = np.zeros(len(problem.y))
        beta[model.support_] = model.dual_coef_[0]
        _CASES[problem.name] = Case(problem, model, K, exact, beta)
    return _CASES[problem.name]


@pytest.fixture(params=ZOO, ids=[problem.name for problem in ZOO])
def case(request: Any) -> Case:
    """One problem after the other."""
    return solved(request.param)


def test_zoo_is_large() -> None:
    assert len(ZOO) >= 40
    assert len({problem.name for problem in ZOO}) == len(ZOO)


def test_reference_is_optimal(case: Case) -> None:
    """The reference is only as good as its gap, computed here once more."""
    program, beta = case.problem.program(), case.exact.beta
    gradient = case.K @ beta + program.ridge * beta + program.p
    assert abs(beta.sum()) <= 1e-11 * max(np.abs(beta).sum(), np.finfo(float).tiny)
    assert program.kkt(beta, gradient)[1] <= 1e-6


def test_converged_without_warning(case: Case) -> None:
    assert case.model.converged_


def test_dual_is_feasible(case: Case) -> None:
    """Inside the box without any tolerance; the sum is zero up to rounding."""
    program = case.problem.program()
    assert (case.beta >= program.lower).all()
    assert (case.beta <= program.upper).all()
    assert abs(case.beta.sum()) <= 1e-12 * max(np.abs(case.beta).sum(), np.finfo(float).tiny)


def test_gap_is_true(case: Case) -> None:
    """The gap recomputed in float64 is at most tol, and is the one that was reported."""
    gap = case.problem.program().kkt(case.beta, case.gradient)[1]
    assert gap <= TOL + 4 * case.rounding
    assert case.model.gap_[0] == pytest.approx(gap, abs=1e-8 + 4 * case.rounding)
    assert case.model.gap_[0] <= TOL


def test_conditions_by_kind(case: Case) -> None:
    """y f(x) >= 1 for the others, = 1 on the margin, <= 1 at the bound, each to tol."""
    problem, model = case.problem, case.model
    decision = case.K @ case.beta + model.intercept_[0]
    excess = problem.signs * decision - 1.0
    if problem.loss == "squared_hinge" and not problem.is_hard:
        used = case.beta != 0
        excess[used] += np.abs(case.beta[used]) / problem.penalties()[used]
    kinds = np.full(len(problem.y), "other", dtype="<U6")
    kinds[model.support_] = model.support_kind_[0]
    kinds[problem.penalties() == 0] = "absent"
    slack = TOL + 4 * case.rounding
    assert (excess[kinds == "other"] >= -slack).all()
    assert (np.abs(excess[kinds == "margin"]) <= slack).all()
    assert (excess[kinds == "bound"] <= slack).all()
    assert not (kinds == "").any()


def test_kinds_name_the_bounds(case: Case) -> None:
    """A support vector is "bound" exactly if its coefficient is C."""
    program = case.problem.program()
    beta = case.beta[case.model.support_]
    bounds = np.maximum(program.upper, -program.lower)[case.model.support_]
    at_bound = np.abs(beta) == bounds
    np.testing.assert_array_equal(case.model.support_kind_[0] == "bound", at_bound)
    np.testing.assert_array_equal(case.model.support_kind_[0] == "margin", ~at_bound)


def test_objective(case: Case) -> None:
    """The objective is that of the exact optimum, and the one that was reported."""
    objective = case.problem.program().objective(case.beta, case.gradient)
    assert objective == pytest.approx(case.exact.objective, rel=OBJECTIVE_TOL, abs=1e-10)
    assert case.model.objective_[0] == pytest.approx(objective, rel=OBJECTIVE_TOL, abs=1e-10)


def test_primal_bounds_the_objective(case: Case) -> None:
    """No reference needed: the optimum lies between the dual and the primal value.

    Each row adds at most its violation, tol, times what it may still cost: C under the hinge, its
    coefficient (and half C times the violation) under the squared hinge.
    """
    problem, costs = case.problem, case.problem.penalties()
    if problem.is_hard:
        pytest.skip("a hard margin has no primal value before it is exactly feasible")
    if problem.loss == "squared_hinge":
        costs = np.abs(case.beta) + costs * TOL
    value = primal(problem, case.K, case.beta, case.model.intercept_[0])
    dual = -problem.program().objective(case.beta, case.gradient)
    rounding = 1e-12 * abs(dual) + case.rounding * costs.sum()
    assert dual - rounding <= value <= dual + TOL * costs.sum() + rounding


def test_decision_values(case: Case) -> None:
    """Training rows and new points; relative to |f| where it is above 1.

    The normal vector w is unique. The offset is so only if some row is free; else any value of an
    interval is optimal, and the two parts are compared by themselves.
    """
    exact, program = case.exact, case.problem.program()
    X = points_to_judge(case.problem)
    kernel = case.problem.kernel()
    values = kernel(X) if kernel.is_pairwise else kernel(X, case.problem.X)
    ours = case.model.decision_function(X) - case.model.intercept_[0]
    reference = np.asarray(values @ exact.beta)
    size = np.maximum(1.0, np.abs(reference + exact.offset))
    assert (np.abs(ours - reference) / size).max() <= DECISION_TOL
    level = -exact.gradient
    highest = level[exact.beta < program.upper].max(initial=-np.inf)
    lowest = level[exact.beta > program.lower].min(initial=np.inf)
    slack = DECISION_TOL * max(1.0, abs(exact.offset))
    assert min(highest, lowest) - slack <= case.model.intercept_[0] <= max(highest, lowest) + slack


def test_prediction_follows_decision(case: Case) -> None:
    X = points_to_judge(case.problem)
    labels = np.unique(case.problem.y)
    expected = np.where(case.model.decision_function(X) > 0, labels[1], labels[0])
    np.testing.assert_array_equal(case.model.predict(X), expected)


def test_slack(case: Case) -> None:
    """The slack of each row is what its decision value lacks, to the tolerance of the fit."""
    decision = case.K @ case.beta + case.model.intercept_[0]
    expected = np.maximum(0.0, 1.0 - case.problem.signs * decision)
    expected[case.problem.penalties() == 0] = 0.0
    np.testing.assert_allclose(case.model.slack_, expected, rtol=0, atol=TOL + 4 * case.rounding)


def test_margin(case: Case) -> None:
    """1 / |w|, with |w|^2 from the coefficients; infinite if there is no w."""
    squared = case.beta @ case.K @ case.beta
    rounding = 1e-15 * np.abs(case.beta) @ np.abs(case.K) @ np.abs(case.beta)
    assert case.model.margin_[0] ** -2 == pytest.approx(squared, rel=2e-5, abs=8 * rounding)


def reference(problem: Problem, K: np.ndarray) -> Solution:
    """Return the exact solution; the ridge, by which alone it may be definite, is in its matrix."""
    program = problem.program()
    gram = SimpleNamespace(matrix=lambda: K + np.diag(program.ridge))
    return solve_exact(replace(program, ridge=0.0), gram, tol=1e-9)


def primal(problem: Problem, K: np.ndarray, beta: np.ndarray, offset: float) -> float:
    """Return the value of the primal problem: half of |w|^2, and the price of the slack."""
    slack = np.maximum(0.0, 1.0 - problem.signs * (K @ beta + offset))
    price = slack if problem.loss == "hinge" else 0.5 * slack**2
    return float(0.5 * beta @ K @ beta + problem.penalties() @ price)


def points_to_judge(problem: Problem) -> Any:
    """Return the training rows and, where points can be made, as many midpoints of pairs."""
    if problem.kernel().is_pairwise:
        return problem.X
    dense = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    partner = np.random.default_rng(0).permutation(len(dense))
    return np.vstack([dense, 0.5 * (dense + dense[partner])])
