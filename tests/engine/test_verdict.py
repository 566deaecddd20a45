"""Offset, gap and objective of a point: the compiled rule against a slow and obvious one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import optimal_offset, snapped

from mercer import _engine
from mercer.problems import Programs, QuadraticProgram, hinge_svc


def program_and_point(seed: int, n: int, endless: bool) -> tuple[QuadraticProgram, np.ndarray]:
    """Return bounds of very different sizes and a point that has variables of all kinds."""
    rng = np.random.default_rng(seed)
    lower = -(10.0 ** rng.uniform(-3, 3, n)) * rng.integers(0, 2, n)
    upper = 10.0 ** rng.uniform(-3, 3, n) * rng.integers(0, 2, n)
    if endless:
        lower[rng.random(n) < 0.2], upper[rng.random(n) < 0.2] = -np.inf, np.inf
    low, high = np.maximum(lower, -5.0), np.minimum(upper, 5.0)
    share = rng.choice([0.0, 1.0, 0.3, 1e-13, 1.0 - 1e-13], n)
    beta = np.clip(low + share * (high - low), lower, upper)
    return QuadraticProgram(rng.normal(size=n), lower, upper, beta.sum()), beta


def strict_gap(program: QuadraticProgram, beta: np.ndarray, gradient: np.ndarray) -> float:
    highest = max(
        (-g for g, b, end in zip(gradient, beta, program.upper) if b < end), default=-np.inf
    )
    lowest = min(
        (-g for g, b, end in zip(gradient, beta, program.lower) if b > end), default=np.inf
    )
    return max(0.0, highest - lowest)


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_the_rule(seed: int, n: int, endless: bool) -> None:
    program, beta = program_and_point(seed, n, endless)
    gradient = np.random.default_rng(seed + 1).normal(size=n)
    offset, gap, objective = program.verdict(beta, gradient)
    assert gap == strict_gap(program, beta, gradient)
    expected = optimal_offset(program, snapped(program, beta), gradient)
    np.testing.assert_allclose(offset, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(objective, 0.5 * (gradient + program.p) @ beta, rtol=1e-9, atol=1e-9)


def test_rounding_does_not_decide() -> None:
    """All variables are at their bounds but for rounding: the offset is the middle between them."""
    program = hinge_svc([1, 1, -1, -1], C=0.1)
    beta, gradient = program.upper + program.lower, np.array([-1.0, -0.5, 0.75, 1.0])
    beta[1] -= 1e-14
    assert program.kkt(beta, gradient) == ((0.5 - 0.75) / 2, pytest.approx(0.0))


@pytest.mark.parametrize("place", ["beta", "gradient"])
def test_nan_is_never_optimal(place: str) -> None:
    program = hinge_svc([1, -1, 1], C=1.0)
    point = {"beta": np.array([0.5, -0.5, 0.0]), "gradient": np.zeros(3)}
    point[place][1] = np.nan
    offset, gap, _ = program.verdict(**point)
    assert np.isnan(offset)
    assert np.isnan(gap)


def test_programs_laid_end_to_end_are_judged_one_by_one() -> None:
    parts = [program_and_point(seed, 4 + seed, False) for seed in range(5)]
    programs = Programs.of([program for program, _ in parts])
    beta = np.concatenate([point for _, point in parts])
    gradient, found = np.random.default_rng(0).normal(size=beta.size), np.empty((3, 5))
    bounds = (programs.p, programs.lower, programs.upper)
    _engine.judge_programs(*bounds, beta, gradient, programs.ends, found)
    for k, (program, point) in enumerate(parts):
        part = slice(programs.ends[k], programs.ends[k + 1])
        assert tuple(found[:, k]) == program.verdict(point, gradient[part])
        image = program.image(point, gradient[part])
        np.testing.assert_array_equal(programs.image(beta, gradient)[part], image)


@pytest.mark.parametrize(
    ("ends", "shape"), [([0, 3], (3, 1)), ([0, 4], (2, 1)), ([], (3, 0)), ([0, 2, 4], (3, 1))]
)
def test_wrong_sizes_are_refused(ends: list[int], shape: tuple[int, int]) -> None:
    vectors = [np.zeros(4) for _ in range(5)]
    with pytest.raises(ValueError, match=r"must|verdict"):
        _engine.judge_programs(*vectors, np.array(ends, dtype=np.int64), np.empty(shape))
