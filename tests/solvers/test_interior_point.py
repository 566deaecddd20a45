"""Where the interior-point method of the linear solver begins."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.problems import QuadraticProgram
from mercer.solvers._interior_point import central_variables

INF = np.inf
MU = 0.3


def start(level: list[float], lower: float, upper: float, ridge: float, unit: float) -> np.ndarray:
    """Return the variables, in a unit of the objective."""
    n = len(level)
    delta = n * min(max(0.0, lower), upper)
    problem = QuadraticProgram(np.zeros(n), lower, upper, delta, unit * ridge)
    return central_variables(problem, unit * np.array(level), unit * MU)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_between_two_bounds_their_pulls_differ_by_the_level(unit: float) -> None:
    level = [-40.0, -1.0, 0.0, 0.1, 70.0]
    beta = start(level, -1.0, 2.0, 0.0, unit)
    np.testing.assert_allclose(MU / (beta + 1.0) - MU / (2.0 - beta), level, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_beside_one_bound_its_pull_is_that_of_level_and_ridge(side: float, unit: float) -> None:
    level, bound = np.array([-40.0, -1.0, 0.0, 0.1, 70.0]), 0.5
    lower, upper = (bound, INF) if side > 0 else (-INF, bound)
    beta = start(level.tolist(), lower, upper, 2.0, unit)
    assert (side * (beta - bound) > 0).all()
    np.testing.assert_allclose(MU / (beta - bound), level + 2.0 * beta, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_without_a_ridge_slopes_are_a_tenth_of_their_mean_at_least(
    side: float, unit: float
) -> None:
    lower, upper = (0.5, INF) if side > 0 else (-INF, 0.5)
    beta = start((side * np.array([6.0, 2.0, 0.1, -3.9])).tolist(), lower, upper, 0.0, unit)
    np.testing.assert_allclose(beta, 0.5 + side * MU / np.array([6.0, 2.0, 0.3, 0.3]))


def test_where_nothing_slopes_the_start_is_far_away_and_a_number() -> None:
    beta = start([0.0, 0.0], 0.5, INF, 0.0, 1.0)
    assert ((beta > 1e100) & (beta < INF)).all()


def test_without_bounds_variables_begin_at_zero() -> None:
    np.testing.assert_array_equal(start([-1.0, 1.0], -INF, INF, 1.0, 1.0), 0.0)
