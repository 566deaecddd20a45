"""What a solution must satisfy, computed from its variables alone."""

from __future__ import annotations

import numpy as np

from mercer.problems import QuadraticProgram
from mercer.solvers.solution import Solution


def snapped(problem: QuadraticProgram, beta: np.ndarray) -> np.ndarray:
    """Put rows within 1e-9 of the room between their bounds, or of the largest, on the bound."""
    room = np.minimum(problem.upper - problem.lower, np.abs(beta).max(initial=0.0))
    found = np.where(beta - problem.lower <= 1e-9 * room, problem.lower, beta)
    return np.where(problem.upper - beta <= 1e-9 * room, problem.upper, found)


def optimal_offset(problem: QuadraticProgram, beta: np.ndarray, gradient: np.ndarray) -> float:
    """Return the mean of -G over the rows between their bounds, or the middle of the allowed."""
    between, can_rise, can_fall = [], [], []
    for low, high, value, slope in zip(problem.lower, problem.upper, beta, gradient):
        if low < value < high:
            between.append(-slope)
        if value < high:
            can_rise.append(-slope)
        if value > low:
            can_fall.append(-slope)
    if between:
        return float(np.mean(between))
    ends = ([max(can_rise)] if can_rise else []) + ([min(can_fall)] if can_fall else [])
    return float(np.mean(ends)) if ends else 0.0


def kkt_residual(
    problem: QuadraticProgram, matrix: np.ndarray, beta: np.ndarray, offset: float
) -> float:
    """Largest violation of the optimality conditions over the rows, for a given offset."""
    level = matrix @ beta + problem.ridge * beta + problem.p + offset
    too_low = np.where(beta < problem.upper, np.maximum(-level, 0.0), 0.0)
    too_high = np.where(beta > problem.lower, np.maximum(level, 0.0), 0.0)
    return float(max(too_low.max(initial=0.0), too_high.max(initial=0.0)))


def rounding(problem: QuadraticProgram, matrix: np.ndarray, beta: np.ndarray) -> float:
    """How far a gradient computed in float64 may be off."""
    terms = np.abs(matrix).max(initial=0.0) * np.abs(beta).sum()
    terms += np.abs(problem.ridge * beta).max() + np.abs(problem.p).max()
    return 1e-15 * float(terms)


def assert_feasible(problem: QuadraticProgram, beta: np.ndarray) -> None:
    """The box holds exactly, the sum up to rounding."""
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    # Variables that came from far away to nearly zero bring the rounding of where they were.
    bounds = np.abs(np.concatenate([problem.lower, problem.upper]))
    reach = bounds[np.isfinite(bounds)].max(initial=0.0)
    allowed = 1e-12 * (np.abs(beta).sum() + abs(problem.delta)) + 1e-14 * reach
    assert abs(beta.sum() - problem.delta) <= allowed


def assert_kkt(
    problem: QuadraticProgram, matrix: np.ndarray, solution: Solution, tol: float
) -> None:
    """The solution is feasible, optimal to ``tol``, and says of itself what is true."""
    beta = solution.beta
    assert_feasible(problem, beta)
    noise = rounding(problem, matrix, beta)
    gradient = matrix @ beta + problem.ridge * beta + problem.p
    np.testing.assert_allclose(solution.gradient, gradient, rtol=1e-9, atol=1e-12 + noise)
    # One offset for all rows has residuals between half the gap and the gap, but for rows that only
    # rounding keeps from a bound: these count for the gap and not for the offset.
    at_bounds = snapped(problem, beta)
    residual = kkt_residual(problem, matrix, at_bounds, solution.offset)
    assert residual <= min(tol, solution.gap) + noise
    if (at_bounds == beta).all():
        assert 0.5 * solution.gap - noise <= residual
    expected = optimal_offset(problem, at_bounds, solution.gradient)
    np.testing.assert_allclose(solution.offset, expected, rtol=1e-12, atol=1e-15 + noise)
    np.testing.assert_allclose(
        solution.objective,
        0.5 * beta @ matrix @ beta + 0.5 * problem.ridge @ beta**2 + problem.p @ beta,
        rtol=1e-9,
        atol=1e-12 + noise * np.abs(beta).sum(),
    )
    assert solution.converged == (solution.gap <= tol)
    assert solution.converged == (solution.status == "converged")
