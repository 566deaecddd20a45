"""Programs whose optimum lies along directions without curvature, small and not so small."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_feasible

from mercer import SVC, SVR
from mercer.gram import make_gram
from mercer.kernels import Linear
from mercer.problems import QuadraticProgram, hinge_svc, squared_hinge_svc
from mercer.solvers import solve, solve_smo


def objective_in_long_doubles(problem: QuadraticProgram, X: np.ndarray, beta: np.ndarray) -> float:
    wide, rows = beta.astype(np.longdouble), X.astype(np.longdouble)
    image = rows @ (rows.T @ wide) + problem.ridge * wide
    return 0.5 * wide @ image + problem.p @ wide


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("formulate", [hinge_svc, squared_hinge_svc])
def test_low_rank_and_large_values(seed: int, formulate: object) -> None:
    """Few whole-numbered features with copies and zeros: the optimum, at which the sum holds.

    Objectives in more digits than float64 has: products of large numbers cancel to small ones.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 120)), int(rng.integers(1, 4))
    X = rng.integers(-5, 6, size=(n, d)) * 10.0 ** rng.integers(-1, 4)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    problem = formulate(signs, 10.0 ** rng.uniform(-2, 3))  # type: ignore[operator]
    gram = make_gram(Linear(), X)
    found, exact = solve_smo(problem, gram), solve(problem, gram, solver="exact", tol=1e-6)
    assert_feasible(problem, found.beta)
    ours, theirs = (objective_in_long_doubles(problem, X, one.beta) for one in (found, exact))
    assert ours - theirs <= found.gap * np.abs(found.beta).sum() + 1e-7 * abs(theirs)
    size = np.abs(found.beta)
    lost = n * np.finfo(float).eps * (size @ np.abs(X @ X.T) @ size + size @ np.abs(problem.p))
    assert abs(found.objective - ours) <= lost + 1e-12 * abs(ours)
    assert found.converged or found.status == "stalled"


def test_data_that_two_variables_at_a_time_do_not_solve() -> None:
    X = np.array([[-2000.0], [-1000], [1000], [0], [0], [-1000], [0], [0]])
    y = np.array([-1, -1, -1, 1, 1, 0, 0, 0])
    model = SVC(kernel="linear", C=15.49).fit(X, y)
    exact = SVC(kernel="linear", C=15.49, solver="exact").fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.objective_, exact.objective_, rtol=1e-9)


def test_a_sum_that_must_not_drift() -> None:
    """Weights from a thousandth to a thousand on rows that differ in the last of their digits."""
    X = np.full((13, 3), 1e5)
    X[1], X[2], X[5] = 99000, 101000, [98000, 101000, 99000]
    X[11], X[12] = [101000, 99000, 100000], [100000, 98000, 100000]
    y = np.ones(13)
    y[[9, 12]] = -1
    weight = np.array([1, 0.01, 10, 100, 0.001, 10, 100, 10, 10, 10, 1000, 1000, 1000])
    model = SVC(C=0.1, kernel="linear", loss="squared_hinge").fit(X, y, sample_weight=weight)
    exact = SVC(C=0.1, kernel="linear", loss="squared_hinge", solver="exact")
    exact.fit(X, y, sample_weight=weight)
    assert abs(model.dual_coef_.sum()) <= 1e-10 * np.abs(model.dual_coef_).sum()
    np.testing.assert_allclose(model.objective_, exact.objective_, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))


@pytest.mark.parametrize("n", [100, 129, 400])
def test_more_variables_than_a_small_program_has(n: int) -> None:
    rng = np.random.default_rng(0)
    X, target = rng.integers(-5, 6, size=(n, 1)) * 10.0, rng.integers(-3, 4, size=n) * 1.0
    model = SVR(kernel="linear", C=100.0, epsilon=0.1, solver="smo").fit(X, target)
    exact = SVR(kernel="linear", C=100.0, epsilon=0.1, solver="exact").fit(X, target)
    assert model.converged_
    np.testing.assert_allclose(model.objective_, exact.objective_, rtol=1e-6)


def test_switches_may_be_those_of_numpy() -> None:
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    assert SVC(shrinking=np.bool_(False)).fit(X, y).converged_
