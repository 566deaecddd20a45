"""Linear kernels on few rows: SMO where it is quick, the linear solver where it would not end."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from mercer.gram import make_gram
from mercer.kernels import Linear
from mercer.problems import Programs, epsilon_svr, hinge_svc, squared_hinge_svc
from mercer.solvers import Options, solve, solve_all
from mercer.solvers.linear import solve_linear
from mercer.solvers.solve import USUAL_STEPS, solve_smo

N, D = 600, 30


def data(overlap: bool, seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, D))
    X[:, 0] += (0.5 if overlap else 6.0) * signs
    return X, signs


@pytest.mark.parametrize("formulate", [hinge_svc, squared_hinge_svc])
def test_overlapping_classes_with_dear_slack_take_few_steps(formulate) -> None:
    X, signs = data(overlap=True)
    problem = formulate(signs, 100.0)
    found = solve(problem, make_gram(Linear(), X), tol=1e-4)
    assert found.converged
    assert found.n_iter < USUAL_STEPS * N + 100  # the last ones are Newton's
    if formulate is squared_hinge_svc:  # hinge loss takes about as many; rounding decides
        assert found.n_iter > USUAL_STEPS * N
    w = X.T @ found.beta  # the primal objective there is the largest that the dual may have
    slack = np.maximum(0.0, 1.0 - signs * (X @ w + found.offset))
    price = 100.0 * slack if formulate is hinge_svc else 50.0 * slack**2
    np.testing.assert_allclose(-found.objective, 0.5 * w @ w + price.sum(), rtol=1e-5)


def test_smo_alone_would_take_many_more() -> None:
    """With more than 1024 variables between their bounds it takes no Newton steps."""
    X, signs = data(overlap=True, n=1200)
    problem = squared_hinge_svc(signs, 100.0)
    alone = solve_smo(problem, make_gram(Linear(), X), tol=1e-4, max_iter=20 * USUAL_STEPS * 1200)
    assert alone.status == "max_iter"


def test_separable_classes_are_left_to_smo() -> None:
    X, signs = data(overlap=False)
    gram, problem = make_gram(Linear(), X), hinge_svc(signs, 1.0)
    found, smo = solve(problem, gram, tol=1e-4), solve_smo(problem, gram, tol=1e-4)
    assert found.n_iter == smo.n_iter
    np.testing.assert_array_equal(found.beta, smo.beta)


def test_each_of_several_programs_has_its_own_solver() -> None:
    """One that SMO solves stands between two that it does not, and keeps its place."""
    X = np.concatenate([data(overlap, seed)[0] for seed, overlap in enumerate((True, False, True))])
    signs = [data(overlap, seed)[1] for seed, overlap in enumerate((True, False, True))]
    parts = [hinge_svc(each, 100.0) for each in signs]
    gram = make_gram(Linear(), X)
    found = solve_all(Programs.of(parts), gram, Options(tol=1e-4), rows=np.arange(3 * N))
    assert found.converged.all()
    for k, (part, one) in enumerate(zip(parts, found)):
        alone = solve_linear(part, X[k * N : (k + 1) * N], tol=1e-6)
        np.testing.assert_allclose(one.objective, alone.objective, rtol=1e-5)


def test_smo_goes_on_where_the_linear_solver_has_stalled(monkeypatch) -> None:
    """From there, and not from the beginning; the others stay where they are."""
    module = sys.modules["mercer.solvers.solve"]
    X, signs = data(overlap=True)
    parts = [squared_hinge_svc(signs, 100.0), hinge_svc(signs[:500], 1e-3)]
    rows, gram = np.concatenate([np.arange(N), np.arange(500)]), make_gram(Linear(), X)
    reached = solve_linear(parts[0], X, tol=1e-3)
    monkeypatch.setattr(module, "_solve_one", lambda *arguments: replace(reached, status="stalled"))
    starts = []
    smo_all = module.smo_all

    def noted(*arguments, **named):
        starts.append(named["warm_start"])
        return smo_all(*arguments, **named)

    monkeypatch.setattr(module, "smo_all", noted)
    found = solve_all(Programs.of(parts), gram, Options(tol=1e-4), rows=rows)
    assert found.converged.all()
    np.testing.assert_array_equal(starts[1][:N], reached.beta)
    np.testing.assert_allclose(starts[1][N:], found[1].beta, atol=1e-12)


def test_rows_that_stand_twice_as_in_regression() -> None:
    X, signs = data(overlap=True)
    target = X[:, 0] + signs
    problem, rows = epsilon_svr(target, C=1000.0, epsilon=0.1), np.tile(np.arange(N), 2)
    gram = make_gram(Linear(), X)
    found = solve_all(Programs.of([problem]), gram, Options(tol=1e-4), rows=rows)[0]
    alone = solve_linear(problem, X[rows], tol=1e-6)
    assert found.converged
    np.testing.assert_allclose(found.objective, alone.objective, rtol=1e-5)


def test_limits_of_the_caller_hold() -> None:
    X, signs = data(overlap=True)
    gram, problem = make_gram(Linear(), X), hinge_svc(signs, 100.0)
    limited = solve(problem, gram, tol=1e-4, max_iter=50)
    assert (limited.status, limited.n_iter) == ("max_iter", 50)
    assert solve(problem, gram, tol=1e-4, time_limit=0.0).status == "time_limit"
    stopped = solve(problem, gram, tol=1e-9, callback=lambda n_iter, gap: True)
    assert stopped.status in ("interrupted", "converged")
