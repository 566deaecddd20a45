"""A program solved for one price after another by the engine, against separate solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from slow_kernel import SlowKernel

from mercer.gram import Gram, RequestedGram, StoredGram, make_gram
from mercer.gram.base import padded
from mercer.kernels import RBF
from mercer.problems import (
    QuadraticProgram,
    epsilon_svr,
    hinge_svc,
    one_class,
    squared_hinge_svc,
)
from mercer.solvers import Options, solve_path, solve_smo

N = 300
PRICES = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
EXACTLY = Options(tol=1e-6, n_threads=1)


@pytest.fixture(scope="module", name="machine")
def noisy_machine() -> tuple[Any, Any, Any]:
    """Return a kernel matrix, classes and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    signs = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=N) > 0.7, 1.0, -1.0)
    weights = rng.uniform(0.5, 2.0, size=N)
    return RBF(0.5)(X), signs, weights


@pytest.mark.parametrize("formulate", [hinge_svc, squared_hinge_svc])
def test_each_solution_is_that_of_a_solve_of_its_own(machine: Any, formulate: Any) -> None:
    K, signs, weights = machine
    found = solve_path(formulate(signs, weights), StoredGram(K), PRICES, EXACTLY)
    assert found.converged.all()
    for k, price in enumerate(PRICES):
        program, solution = found.program(k), found[k]
        direct = formulate(signs, price * weights)
        for name in ("p", "lower", "upper", "ridge"):
            np.testing.assert_allclose(getattr(program, name), getattr(direct, name), rtol=1e-15)
        alone = solve_smo(direct, StoredGram(K), tol=1e-6)
        gradient = direct.p + direct.ridge * solution.beta + K @ solution.beta
        np.testing.assert_allclose(solution.gradient, gradient, atol=1e-7 * max(1.0, price))
        offset, gap = direct.kkt(solution.beta, gradient)
        assert gap <= 1e-6 * 1.01
        assert solution.offset == pytest.approx(offset, abs=1e-6)
        allowed = 1e-6 * np.abs(solution.beta).sum()
        assert solution.objective == pytest.approx(alone.objective, abs=allowed)
        assert solution.n_iter > 0


def test_regressions_have_prices_too() -> None:
    rng = np.random.default_rng(0)
    K = RBF(0.5)(np.repeat(rng.normal(size=(60, 3)), 2, axis=0))
    tube = epsilon_svr(rng.normal(size=60), 1.0, 0.1)
    order = np.concatenate([np.arange(0, 120, 2), np.arange(1, 120, 2)])
    matrix = StoredGram(K[np.ix_(order, order)])
    found = solve_path(tube, matrix, [0.1, 10.0], EXACTLY)
    alone = solve_smo(replace(tube, lower=10 * tube.lower, upper=10 * tube.upper), matrix, tol=1e-6)
    assert found[1].objective == pytest.approx(alone.objective, abs=1e-4)


def test_closed_rows_stay_out_and_get_their_values(machine: Any) -> None:
    K, signs, weights = machine
    inside = np.arange(N) % 5 > 0
    problem = hinge_svc(signs, np.where(inside, weights, 0.0))
    found = solve_path(problem, StoredGram(K), PRICES, EXACTLY)
    part = np.flatnonzero(inside)
    small = hinge_svc(signs[part], weights[part])
    others = solve_path(small, StoredGram(K[np.ix_(part, part)]), PRICES, EXACTLY)
    betas, images = found.betas, found.images
    assert not betas[:, ~inside].any()
    np.testing.assert_allclose(images, betas @ K, atol=1e-5)
    values = others.betas @ K[part] + others.offset[:, None]
    np.testing.assert_allclose(images + found.offset[:, None], values, atol=1e-4)


def test_rows_of_a_padded_matrix_and_of_a_part(machine: Any) -> None:
    K, signs, weights = machine
    room = padded(N, np.float64)
    room[:, :N] = K
    problem = hinge_svc(signs, weights)
    expected = solve_path(problem, StoredGram(K), PRICES, EXACTLY)
    found = solve_path(problem, StoredGram(room), PRICES, EXACTLY)
    np.testing.assert_allclose(found.betas, expected.betas, atol=1e-5)
    part = np.arange(0, N, 2)
    few = hinge_svc(signs[part], weights[part])
    view = solve_path(few, StoredGram(K).subset(part), PRICES, EXACTLY)
    copy = solve_path(few, StoredGram(K[np.ix_(part, part)]), PRICES, EXACTLY)
    np.testing.assert_allclose(view.betas, copy.betas, atol=1e-5)


SUPPLIES: dict[str, Callable[[np.ndarray], Gram]] = {
    "computed": lambda X: make_gram(RBF(0.5), X),
    "requested": lambda X: RequestedGram(RBF(0.5), X),
    "part of computed": lambda X: make_gram(RBF(0.5), np.vstack([X, X])).subset(np.arange(len(X))),
    "repeated": lambda X: StoredGram(RBF(0.5)(X)).subset(np.arange(len(X))),
    "float32": lambda X: StoredGram(RBF(0.5)(X).astype(np.float32)),
}


@pytest.mark.parametrize("supply", SUPPLIES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_of_every_kind(supply: str, n_threads: int) -> None:
    """Matrices that are not in memory are allowed, if not advised; values may be float32."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 3))
    problem = hinge_svc(np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0), 1.0)
    options = Options(tol=1e-3, n_threads=n_threads)
    found = solve_path(problem, SUPPLIES[supply](X), PRICES, options)
    K = RBF(0.5)(X)
    for k in range(len(found)):
        program, solution = found.program(k), found[k]
        gradient = K @ solution.beta + program.p
        rounding = 1e-6 * np.abs(solution.beta).sum()
        assert program.kkt(solution.beta, gradient)[1] <= 1e-3 + rounding
        assert solution.converged


def test_points_that_count_twice_on_a_path() -> None:
    X, targets = np.random.default_rng(3).normal(size=(80, 2)), np.linspace(-1.0, 1.0, 80)
    tube, points = epsilon_svr(targets, 1.0, 0.1), np.tile(np.arange(80), 2)
    found = solve_path(tube, make_gram(RBF(0.5), X).subset(points), PRICES, EXACTLY)
    whole = solve_path(tube, StoredGram(RBF(0.5)(X[points])), PRICES, EXACTLY)
    objectives = [[path[k].objective for k in range(len(path))] for path in (found, whole)]
    np.testing.assert_allclose(*objectives, rtol=1e-5)


def test_only_sums_of_zero_have_a_path() -> None:
    with pytest.raises(ValueError, match="sum of 0"):
        solve_path(one_class(4, 0.5), StoredGram(np.eye(4)), PRICES)


def hopeless() -> tuple[QuadraticProgram, StoredGram]:
    """Labels without meaning at a high price, which take a long time."""
    rng = np.random.default_rng(1)
    K = RBF(0.05)(rng.normal(size=(1500, 3)))
    signs = rng.permuted(np.repeat([1.0, -1.0], 750))
    return hinge_svc(signs, np.full(1500, 1e6)), StoredGram(K)


def test_a_callback_that_stops_leaves_nan() -> None:
    """Whatever was not begun is marked as such."""
    X = np.random.default_rng(1).normal(size=(40, 3))
    program = hinge_svc(np.where(X[:, 0] > 0, 1.0, -1.0), 1.0)
    options = Options(n_threads=1, block=2, callback=lambda *_: True)
    found = solve_path(program, RequestedGram(SlowKernel(RBF(0.5)), X), PRICES, options)
    assert found.status == ("interrupted",) * len(PRICES)
    for vectors in (found.betas, found.images):
        assert np.isfinite(vectors[0]).all()
        assert np.isnan(vectors[1:]).all()
    assert not found.n_iter[1:].any()
    assert not found.converged.any()


@pytest.mark.parametrize(
    ("limit", "status"), [({"max_iter": 5}, "max_iter"), ({"time_limit": 0.0}, "time_limit")]
)
def test_limits_are_those_of_each_price(limit: Any, status: str) -> None:
    found = solve_path(*hopeless(), PRICES, Options(tol=1e-9, n_threads=1, **limit))
    assert set(found.status) == {status}
    assert np.isfinite(found.betas).all()
    assert (found.n_iter <= 5).all()


@pytest.mark.parametrize("price", [0.0, -1.0, np.nan])
def test_a_price_must_be_positive(machine: Any, price: float) -> None:
    K, signs, weights = machine
    with pytest.raises(ValueError, match="a price must be above 0"):
        solve_path(hinge_svc(signs, weights), StoredGram(K), [price])


def test_arrays_must_fit(machine: Any) -> None:
    K, signs, weights = machine
    problem = hinge_svc(signs, weights)
    with pytest.raises(ValueError, match=r"same number of rows|same length"):
        solve_path(problem, StoredGram(K[:-1, :-1]), PRICES)
    for beta, image in ((np.zeros(N - 1), np.zeros(N)), (np.zeros(N), np.zeros(N + 1))):
        with pytest.raises(ValueError, match="same length"):
            solve_path(problem, StoredGram(K), PRICES, start=(beta, image, 1.0))
