"""What is said about a program before it is solved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mercer.problems import QuadraticProgram, hinge_svc, one_class
from mercer.solvers._presolve import only_point, without_far_bounds

INF = np.inf


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_the_only_point_is_where_the_sum_forces_all_to_one_side(unit: float) -> None:
    bounds = unit * np.array([1.0, 2.0, 3.0])
    for delta, expected in ((6.0, bounds), (0.0, 0.0 * bounds), (5.999, None), (0.001, None)):
        found = only_point(QuadraticProgram(np.zeros(3), 0.0, bounds, unit * delta))
        assert (found is None) == (expected is None)
        if expected is not None:
            np.testing.assert_array_equal(found, expected)
    assert only_point(QuadraticProgram(np.zeros(2), 0.0, INF, unit)) is None


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("span", [1e-12, 1.0, 1e12])
def test_bounds_are_far_beside_what_a_variable_would_move_by_itself(
    span: float, size: float
) -> None:
    far = 1e8 * span / size
    lower = far * np.array([0.0, -1.1, -0.1, 0.0, -INF])
    upper = far * np.array([1.1, 0.0, 0.1, 0.9, 0.0])
    problem = QuadraticProgram(span * np.array([0.0, 1.0, 0.5, 0.0, 1.0]), lower, upper)
    found = without_far_bounds(problem, size)
    assert found is not None
    np.testing.assert_array_equal(found.lower, np.where(np.arange(5) == 1, -INF, lower))
    np.testing.assert_array_equal(found.upper, np.where(np.arange(5) == 0, INF, upper))
    near = replace(problem, lower=np.maximum(lower, -0.5 * far), upper=np.minimum(upper, 0.4 * far))
    assert without_far_bounds(near, size) is None


def test_nothing_is_far_where_nothing_moves_or_nothing_holds() -> None:
    assert without_far_bounds(one_class(4, 0.5), 1.0) is None
    assert without_far_bounds(hinge_svc([1, -1], 1.0), 0.0) is None
