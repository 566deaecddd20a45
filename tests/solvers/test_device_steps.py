"""What Newton's method on a device rests on, on torch's CPU device."""

import sys

import numpy as np
import pytest

from mercer.gram import make_gram
from mercer.kernels import RBF
from mercer.problems import hinge_svc, squared_hinge_svc
from mercer.solvers import solve

torch = pytest.importorskip("torch", reason="torch is not installed")

from mercer.gram.device import DeviceGram  # noqa: E402
from mercer.solvers.device.nystroem import Approximation  # noqa: E402
from mercer.solvers.device.path import has_path  # noqa: E402
from mercer.solvers.device.program import DeviceProgram  # noqa: E402
from mercer.solvers.device.squares import RunningSquare  # noqa: E402

CPU = torch.device("cpu")
torch.set_num_threads(1)  # small products, beside other processes of the tests


@pytest.fixture(autouse=True)
def small_programs_too(monkeypatch):
    """Sizes at which a few hundred variables meet what hundreds of thousands do otherwise."""
    monkeypatch.setattr(sys.modules["mercer.solvers.solve"], "SMALL", 0)
    for name in ("FEW", "USUAL"):
        monkeypatch.setattr(f"mercer.solvers.device.nystroem.{name}", 128)


def data(n=400, d=4, shift=0.4):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


X, Y = data()


def gram_of(gamma, points=X):
    return DeviceGram(RBF(gamma).pairwise_form(), points, CPU)


def test_a_square_follows_its_rows(monkeypatch):
    monkeypatch.setattr("mercer.solvers.device.squares.CHUNK", 350)
    rng = np.random.default_rng(0)
    P, weights = torch.as_tensor(rng.normal(size=(100, 7))).float(), torch.rand(100).double()
    square = RunningSquare(P.__getitem__, 7, weights)
    for share in (0.9, 0.85, 0.8, 0.1, 0.5, 0.45, 1.0, 0.0, 0.3):
        at = torch.as_tensor(np.flatnonzero(rng.random(100) < share))
        exact = P[at].double().T @ (weights[at, None] * P[at].double())
        found = square.of(at)
        np.testing.assert_allclose(found.numpy(), exact.numpy(), rtol=0, atol=1e-12)
        found.fill_(np.nan)  # the caller's own


def test_the_path_begins_from_smoother_kernels_where_rows_are_many(monkeypatch):
    program = DeviceProgram(hinge_svc(Y, 1.0), gram_of(0.1), None)
    approximation = Approximation(program, 64)
    assert 1e-3 < approximation.mean_rest < 0.1
    assert not has_path(program, approximation)
    monkeypatch.setattr("mercer.solvers.device.path.FEW_ROWS", 4)  # as if rows were many
    assert has_path(program, approximation)


def noisy_products(monkeypatch, size):
    """Let fast products round much more, as they do in the last digits of millions of rows."""
    exact, rng = DeviceProgram.times, np.random.default_rng(0)

    def times(self, rows, columns, v):
        product = exact(self, rows, columns, v)
        if self.is_exact or not len(v):
            return product
        noise = torch.as_tensor(rng.normal(size=len(product)))
        return product + size * float(v.double().norm()) * noise

    monkeypatch.setattr(DeviceProgram, "times", times)
    monkeypatch.setattr("mercer.solvers.device.program.SINGLE_ROUNDING", size)


def test_where_rounding_misleads_newtons_method_digits_are_added(monkeypatch):
    noisy_products(monkeypatch, 6e-4)
    renewed = []
    original = sys.modules["mercer.solvers.device.newton"].exact_gradient

    def exact_gradient(program, state, at):
        renewed.append(at)
        return original(program, state, at)

    monkeypatch.setattr("mercer.solvers.device.newton.exact_gradient", exact_gradient)
    monkeypatch.setattr("mercer.solvers.device.solve._by_steps", None)  # which would raise
    problem = hinge_svc(Y, 1.0)
    found = solve(problem, gram_of(2.0), tol=1e-3)
    assert len(renewed) == 1
    assert found.converged
    gradient = RBF(2.0)(X) @ found.beta + problem.p
    assert problem.kkt(found.beta, gradient)[1] <= 1e-3


@pytest.mark.parametrize("problem", [hinge_svc(Y, 10.0), squared_hinge_svc(Y, 10.0)])
def test_a_limit_leaves_what_there_is(problem):
    full = solve(problem, make_gram(RBF(0.3), X), tol=1e-6)
    found = solve(problem, gram_of(0.3), tol=1e-9, max_iter=12)
    assert found.status == "max_iter"
    assert problem.contains(found.beta)
    assert full.objective < found.objective < 0.02 * full.objective  # not what it began with
    assert found.n_iter <= 16  # conjugate gradients are stopped, too


def test_a_limit_does_not_make_a_start_worse():
    problem = hinge_svc(Y, 10.0)
    start = solve(problem, make_gram(RBF(0.3), X), tol=0.05)
    for most in (1, 3, 6):
        found = solve(problem, gram_of(0.3), tol=1e-9, warm_start=start, max_iter=most)
        assert found.objective <= start.objective + 1e-6 * abs(start.objective)
