"""A machine solved for one penalty after another by the engine, against separate solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.gram import StoredGram
from mercer.gram.stored import padded
from mercer.kernels import RBF
from mercer.problems import hinge_svc, squared_hinge_svc
from mercer.solvers import solve_smo

N = 300
PENALTIES = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
OPTIONS: dict[str, Any] = {
    "callback": None,
    "n_threads": 1,
    "cache_bytes": 10**7,
    "block": 2048,
    "shrinking": True,
    "unbounded_below": -np.inf,
    "tol": 1e-6,
    "max_iter": -1,
    "time_limit": -1.0,
}


@pytest.fixture(scope="module", name="problem")
def noisy_problem() -> tuple[Any, Any, Any]:
    """Return a kernel matrix, classes and weights, some of them 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    signs = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=N) > 0.7, 1.0, -1.0)
    weights = rng.uniform(0.5, 2.0, size=N)
    return RBF(0.5)(X), signs, weights


def run(K: Any, signs: Any, weights: Any, squared: bool, **changes: Any) -> Any:
    gram = StoredGram(K)
    start = (np.zeros(len(K)), np.zeros(len(K)), np.inf)
    machine = (signs, weights, np.diag(K).copy(), squared)
    return gram.run_path(machine, PENALTIES, start, OPTIONS | changes)


@pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared_hinge"])
def test_each_solution_is_that_of_a_solve_of_its_own(problem: Any, squared: bool) -> None:
    K, signs, weights = problem
    betas, images, offsets, gaps = run(K, signs, weights, squared)
    formulate = squared_hinge_svc if squared else hinge_svc
    for C, beta, image, offset, gap in zip(PENALTIES, betas, images, offsets, gaps):
        program = formulate(signs, C * weights)
        alone = solve_smo(program, StoredGram(K), tol=1e-6)
        np.testing.assert_allclose(image, K @ beta, atol=1e-7 * max(1.0, C))
        gradient = program.p + program.ridge * beta + image
        own_offset, own_gap = program.kkt(beta, gradient)
        assert gap <= 1e-6
        assert own_gap <= 1e-6 * 1.01
        assert offset == pytest.approx(own_offset, abs=1e-6)
        allowed = 1e-6 * np.abs(beta).sum()
        assert program.objective(beta, gradient) == pytest.approx(alone.objective, abs=allowed)


def test_closed_rows_stay_out_and_get_their_values(problem: Any) -> None:
    K, signs, weights = problem
    inside = np.arange(N) % 5 > 0
    closed = np.where(inside, signs, 0.0), np.where(inside, weights, 0.0)
    betas, images, offsets, _ = run(K, *closed, False)
    part = np.flatnonzero(inside)
    alone, _, others, _ = run(K[np.ix_(part, part)], signs[part], weights[part], False)
    assert not betas[:, ~inside].any()
    np.testing.assert_allclose(images, betas @ K, atol=1e-5)
    values = alone @ K[part] + others[:, None]
    np.testing.assert_allclose(images + offsets[:, None], values, atol=1e-4)


def test_rows_of_a_padded_matrix_and_of_a_part(problem: Any) -> None:
    K, signs, weights = problem
    room = padded(N, np.float64)
    room[:, :N] = K
    expected = run(K, signs, weights, False)
    np.testing.assert_allclose(run(room, signs, weights, False)[0], expected[0], atol=1e-5)


def test_a_callback_that_stops_leaves_nan() -> None:
    """Whatever was not solved is marked as such; labels without meaning take a long time."""
    rng = np.random.default_rng(1)
    K = RBF(0.05)(rng.normal(size=(1500, 3)))
    signs = rng.permuted(np.repeat([1.0, -1.0], 750))
    weights = np.full(1500, 1e6)
    _, images, offsets, gaps = run(K, signs, weights, False, callback=lambda *_: True, tol=1e-12)
    assert np.isnan(gaps).any()
    assert (np.isnan(gaps) == np.isnan(offsets)).all()
    assert (np.isnan(gaps) == np.isnan(images).all(axis=1)).all()


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.nan])
def test_a_penalty_must_be_positive(problem: Any, penalty: float) -> None:
    K, signs, weights = problem
    start = (np.zeros(N), np.zeros(N), np.inf)
    with pytest.raises(ValueError, match="a penalty must be above 0"):
        StoredGram(K).run_path(
            (signs, weights, np.diag(K).copy(), False), np.array([penalty]), start, OPTIONS
        )


@pytest.mark.parametrize("which", range(5))
def test_arrays_must_fit(problem: Any, which: int) -> None:
    K, signs, weights = problem
    arrays = [signs, weights, np.diag(K).copy(), np.zeros(N), np.zeros(N)]
    arrays[which] = np.zeros(N - 1)
    with pytest.raises(ValueError, match="as many entries as the kernel matrix has rows"):
        StoredGram(K).run_path(
            (*arrays[:3], False), PENALTIES, (arrays[3], arrays[4], np.inf), OPTIONS
        )
