"""What a solution says of itself."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.problems import hard_margin_svc
from mercer.solvers import Solution, StartingPoint
from mercer.solvers.solution import Status, starting_point

PROBLEM = hard_margin_svc([-1.0, 1.0])
GRADIENT = np.array([1.0, -2.0])  # of which the gap is 3
BETA = np.array([-1.0, 1.0])


@pytest.mark.parametrize("ended", ["converged", "max_iter", "stalled", "unbounded"])
@pytest.mark.parametrize("tol", [2.9, 3.0])
def test_a_gap_up_to_the_tolerance_has_converged_whatever_ended_the_work(
    tol: float, ended: Status
) -> None:
    found = Solution.at(PROBLEM, BETA, GRADIENT, tol=tol, n_iter=7, status=ended)
    assert (found.gap, found.n_iter) == (3.0, 7)
    if ended == "unbounded":  # stands, however near the point is
        expected = "unbounded"
    elif tol < 3.0:
        expected = "stalled" if ended == "converged" else ended
    else:
        expected = "converged"
    assert (found.status, found.converged) == (expected, expected == "converged")


def test_every_kind_of_start_is_made_feasible() -> None:
    found = Solution.at(PROBLEM, BETA, GRADIENT, tol=1.0)
    preferred = StartingPoint(np.zeros(2), np.zeros(2), preferred=BETA)
    for start in (BETA, [-3.0, 1.0], found, StartingPoint(BETA, BETA), preferred):
        beta = starting_point(PROBLEM, start)
        assert beta is not None
        assert beta.sum() == 0.0
        assert beta[1] >= 1.0
    assert starting_point(PROBLEM, None) is None
