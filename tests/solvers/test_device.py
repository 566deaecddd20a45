"""Programs solved with products from torch, on its CPU device: the same optima as the engine's."""

import sys

import numpy as np
import pytest

from mercer.gram import make_gram
from mercer.kernels import RBF, Laplacian, Polynomial
from mercer.problems import (
    Programs,
    enclosing_radius,
    epsilon_svr,
    hinge_svc,
    one_class,
    squared_epsilon_svr,
    squared_hinge_svc,
    svdd,
)
from mercer.solvers import Options, StartingPoint, solve, solve_all

torch = pytest.importorskip("torch", reason="torch is not installed")

from mercer.gram.device import DeviceGram  # noqa: E402

CPU = torch.device("cpu")
torch.set_num_threads(1)  # small products, beside other processes of the tests
DEVICES = [
    CPU,
    pytest.param(
        torch.device("cuda"),
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    ),
]


@pytest.fixture(autouse=True)
def small_programs_too(monkeypatch):
    """Sizes at which a few hundred variables meet what hundreds of thousands do otherwise."""
    monkeypatch.setattr(sys.modules["mercer.solvers.solve"], "SMALL", 0)
    for name in ("FEW", "USUAL"):
        monkeypatch.setattr(f"mercer.solvers.device.nystroem.{name}", 128)
    monkeypatch.setattr("mercer.solvers.device.block_smo.BLOCK", 128)


def classes(n=400, d=4, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


def values_of(X):
    return (
        np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * np.random.default_rng(5).normal(size=len(X))
    )


X, Y = classes()
WEIGHTS = np.random.default_rng(1).uniform(0.1, 5.0, 400)
WEIGHTS[::17] = 0.0
TWINS = np.concatenate([X[:100], X[:100], X[:200]])
PROBLEMS = {
    "hinge": (hinge_svc(Y, 1.0), RBF(0.3), X),
    "small C": (hinge_svc(Y, 1e-3), RBF(0.3), X),
    "large C": (hinge_svc(Y, 1000.0), RBF(0.3), X),
    "weights, some without room": (hinge_svc(Y, 2.0 * WEIGHTS), RBF(0.3), X),
    "nearly linear": (hinge_svc(Y, 1.0), RBF(1e-4), X),
    "nearly diagonal": (hinge_svc(Y, 1.0), RBF(30.0), X),
    "imbalance": (hinge_svc(np.where(np.arange(400) < 12, 1.0, -1.0), 3.0), RBF(0.3), X),
    "equal rows": (hinge_svc(Y, 1.0), RBF(0.5), TWINS),
    "squared hinge": (squared_hinge_svc(Y, 1.0), RBF(0.3), X),
    "squared hinge, smooth": (squared_hinge_svc(Y, 100.0), RBF(1e-3), X),
    "polynomial": (hinge_svc(Y, 0.1), Polynomial(degree=3, gamma=0.5, coef0=1.0), X),
    "laplacian": (hinge_svc(Y, 1.0), 2.0 * Laplacian(0.4), X),
    "one class": (one_class(400, 0.2), RBF(0.3), X),
    "one class, all": (one_class(400, 1.0), RBF(0.3), X),
    "ball": (svdd(np.ones(400), 0.01), RBF(0.3), X),
    "enclosing ball": (enclosing_radius(np.ones(400)), RBF(0.3), X),
}
TUBES = {
    "tube": epsilon_svr(values_of(X), 1.0, 0.1),
    "narrow tube of large values": epsilon_svr(1e3 * values_of(X), 1e3, 1.0),
    "squared tube": squared_epsilon_svr(values_of(X), 1.0, 0.1),
}


def judged(problem, K, beta):
    """Return gap and objective of a point by their definitions."""
    gradient = K @ beta + problem.ridge * beta + problem.p
    return problem.kkt(beta, gradient)[1], problem.objective(beta, gradient)


def check(problem, K, found, tol, expected):
    """Compare a solution with its definition, and with what the engine found."""
    gap, objective = judged(problem, K, found.beta)
    assert problem.contains(found.beta)
    assert abs(found.beta.sum() - problem.delta) <= 1e-9 * np.abs(found.beta).sum()
    assert gap <= tol * (1 + 1e-6)
    assert found.converged
    assert found.gap == pytest.approx(gap, abs=1e-3 * tol + 1e-10)
    assert found.objective == pytest.approx(objective, rel=3e-7)
    other_gap, other = judged(problem, K, expected.beta)
    bound = max(gap, other_gap) * np.abs(found.beta - expected.beta).sum() + 1e-9 * abs(other)
    assert abs(objective - other) <= bound


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_is_that_of_the_engine(name, tol, device):
    problem, kernel, points = PROBLEMS[name]
    tol = tol * max(1e-3, float(np.abs(problem.p).mean()))
    expected = solve(problem, make_gram(kernel, points), tol=tol)
    gram = DeviceGram(kernel.pairwise_form(), points, device)
    found = solve(problem, gram, tol=tol)
    check(problem, kernel(points), found, tol, expected)
    again = solve(problem, DeviceGram(kernel.pairwise_form(), points, device), tol=tol)
    np.testing.assert_array_equal(found.beta, again.beta)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", TUBES)
def test_two_variables_may_share_a_row(name, device):
    problem, rows, kernel = TUBES[name], np.tile(np.arange(400), 2), RBF(0.5)
    tol = 1e-3 * float(np.abs(problem.p).mean())
    programs, options = Programs.of([problem]), Options(tol=tol)
    expected = solve_all(programs, make_gram(kernel, X), options, rows=rows)[0]
    gram = DeviceGram(kernel.pairwise_form(), X, device)
    found = solve_all(programs, gram, options, rows=rows)[0]
    check(problem, kernel(X)[np.ix_(rows, rows)], found, tol, expected)


def test_several_programs_share_the_points():
    parts = [np.arange(0, 400, 2), np.arange(100, 400)]
    programs = Programs.of([hinge_svc(Y[part], 1.0) for part in parts])
    gram = DeviceGram(RBF(0.3).pairwise_form(), X, CPU).subset(np.arange(400)[::-1])
    own = np.arange(400)[::-1]
    found = solve_all(programs, gram, Options(), rows=np.concatenate([own[part] for part in parts]))
    for part, problem, one in zip(parts, programs, found):
        expected = solve(problem, make_gram(RBF(0.3), X[part]), tol=1e-3)
        check(problem, RBF(0.3)(X[part]), one, 1e-3, expected)


@pytest.mark.parametrize("stays", [True, False])
def test_points_may_stay_on_the_host(stays, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.points.POINTS_SHARE", 0.0 if stays else 1.0)
    monkeypatch.setattr("mercer.gram.device.points.TILE_NUMBERS", 500)
    problem, kernel, points = PROBLEMS["hinge"]
    gram = DeviceGram(kernel.pairwise_form(), points, CPU)
    assert gram.there.points.stays == stays
    expected = solve(problem, make_gram(kernel, points))
    check(problem, kernel(points), solve(problem, gram), 1e-3, expected)


@pytest.mark.parametrize("failing", ["path", "all of Newton's method", "the approximation"])
def test_what_fails_is_followed_by_what_does_not(failing, monkeypatch):
    if failing == "path":
        name, value = "solve.solve_along_path", lambda *arguments: None
    elif failing == "the approximation":
        name, value = "nystroem.free_memory", lambda device: 0.0
    else:
        name, value = "newton.Newton.run", lambda *arguments, **named: False
    monkeypatch.setattr(f"mercer.solvers.device.{name}", value)
    problem, kernel, points = PROBLEMS["hinge"]
    found = solve(problem, DeviceGram(kernel.pairwise_form(), points, CPU))
    expected = solve(problem, make_gram(kernel, points))
    check(problem, kernel(points), found, 1e-3, expected)


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "one class"])
def test_a_warm_start_is_taken_up(name):
    problem, kernel, points = PROBLEMS[name]
    tol = 1e-3 * max(1e-3, float(np.abs(problem.p).mean()))
    gram = DeviceGram(kernel.pairwise_form(), points, CPU)
    cold = solve(problem, gram, tol=tol)
    for start in (cold, cold.beta, StartingPoint.of(problem, cold)):
        warm = solve(problem, gram, tol=tol, warm_start=start)
        assert warm.n_iter <= 0.5 * cold.n_iter
        check(problem, kernel(points), warm, tol, cold)
    other = solve(problem, gram, tol=tol, warm_start=np.random.default_rng(0).normal(size=400))
    check(problem, kernel(points), other, tol, cold)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"max_iter": 3}, "max_iter"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"callback": lambda n_iter, gap: True}, "interrupted"),
    ],
)
@pytest.mark.parametrize("name", ["hinge", "one class"])
def test_limits_end_the_work_at_a_feasible_point(name, options, status):
    problem, kernel, points = PROBLEMS[name]
    gram = DeviceGram(kernel.pairwise_form(), points, CPU)
    found = solve(problem, gram, tol=1e-9, **options)
    assert found.status == status
    assert not found.converged
    assert problem.contains(found.beta)
    gradient = kernel(points) @ found.beta + problem.p
    assert found.gap == pytest.approx(problem.kkt(found.beta, gradient)[1], rel=1e-3)


def test_too_little_memory_is_said_beforehand(monkeypatch):
    monkeypatch.setattr("mercer.gram.device.memory.free_memory", lambda device: 1000.0)
    problem, kernel, points = PROBLEMS["hinge"]
    with pytest.raises(MemoryError, match=r"A program of 400 variables needs .* GB on cpu, where"):
        solve(problem, DeviceGram(kernel.pairwise_form(), points, CPU))


def test_small_programs_are_solved_by_the_processor(monkeypatch):
    monkeypatch.setattr(sys.modules["mercer.solvers.solve"], "SMALL", 400)
    monkeypatch.setattr("mercer.solvers.device.solve_on_device", None)
    problem, kernel, points = PROBLEMS["hinge"]
    assert solve(problem, DeviceGram(kernel.pairwise_form(), points, CPU)).converged
