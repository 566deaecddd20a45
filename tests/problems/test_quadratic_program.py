"""The quadratic program: what is refused, feasible points, and its measure of optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_feasible, kkt_residual

from mercer.problems import Programs, QuadraticProgram, hinge_svc, one_class

numbers = st.floats(-10, 10, allow_subnormal=False).map(lambda x: round(x, 3))


@st.composite
def programs(draw: Any) -> QuadraticProgram:
    """Bounds of every kind, infinite and equal ones too, and any sum that they allow."""
    n = draw(st.integers(1, 12))
    vector = st.lists(numbers, min_size=n, max_size=n)
    a, b = np.array(draw(vector)), np.array(draw(vector))
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    open_below = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    open_above = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    lower[open_below & ~(a == b)] = -np.inf
    upper[open_above & ~(a == b)] = np.inf
    share = draw(st.floats(0, 1))
    least, most = max(lower.sum(), -50.0), min(upper.sum(), 50.0)
    delta = float(np.clip(least + share * (most - least), lower.sum(), upper.sum()))
    return QuadraticProgram(np.array(draw(vector)), lower, upper, delta)


@given(programs())
def test_feasible_point_is_feasible(problem: QuadraticProgram) -> None:
    assert_feasible(problem, problem.feasible_point())


@given(programs(), st.lists(st.floats(-30, 30), min_size=12, max_size=12))
def test_repair_returns_a_feasible_point_and_keeps_it(
    problem: QuadraticProgram, values: list[float]
) -> None:
    repaired = problem.repair(np.array(values[: problem.n]))
    assert_feasible(problem, repaired)
    np.testing.assert_array_equal(problem.repair(repaired), repaired)


@given(programs())
def test_repair_leaves_a_feasible_point_alone(problem: QuadraticProgram) -> None:
    beta = problem.feasible_point()
    np.testing.assert_array_equal(problem.repair(beta), beta)


@given(programs(), st.integers(0, 1000))
def test_gap_and_offset_agree_with_the_conditions_row_by_row(
    problem: QuadraticProgram, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(problem.n, 2))
    matrix = factor @ factor.T
    beta = problem.feasible_point()
    gradient = matrix @ beta + problem.p
    offset, gap = problem.kkt(beta, gradient)
    # No offset does better than half the gap; the middle of the violating interval attains it.
    residuals = [kkt_residual(problem, matrix, beta, b) for b in (offset, *(-gradient))]
    assert min(residuals) >= 0.5 * gap - 1e-12
    assert residuals[0] <= gap + 1e-12


def test_objective_is_the_quadratic_form() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(6, 3))
    matrix, beta = factor @ factor.T, rng.normal(size=6)
    problem = QuadraticProgram(rng.normal(size=6), -10.0, 10.0, beta.sum(), rng.random(6))
    gradient = matrix @ beta + problem.ridge * beta + problem.p
    expected = 0.5 * beta @ (matrix + np.diag(problem.ridge)) @ beta + problem.p @ beta
    assert problem.objective(beta, gradient) == pytest.approx(expected, rel=1e-14)


def test_offset_is_the_mean_over_free_rows_else_the_middle_else_the_one_end() -> None:
    problem = QuadraticProgram(np.zeros(3), np.zeros(3), np.ones(3), 1.5)
    assert problem.kkt(np.array([0.5, 0.5, 0.5]), np.array([1.0, 2.0, 6.0])) == (-3.0, 5.0)
    corner = QuadraticProgram(np.zeros(2), np.zeros(2), np.ones(2), 1.0)
    assert corner.kkt(np.array([1.0, 0.0]), np.array([-3.0, 1.0])) == (1.0, 0.0)
    full = QuadraticProgram(np.zeros(2), np.zeros(2), np.ones(2), 2.0)
    assert full.kkt(np.ones(2), np.array([-3.0, 1.0])) == (-1.0, 0.0)
    fixed = QuadraticProgram(np.zeros(2), np.ones(2), np.ones(2), 2.0)
    assert fixed.kkt(np.ones(2), np.array([-3.0, 1.0])) == (0.0, 0.0)


def test_feasible_point_is_zero_where_zero_is_feasible() -> None:
    np.testing.assert_array_equal(hinge_svc([1, -1, 1], 2.0).feasible_point(), 0.0)


def test_feasible_point_of_the_one_class_machine_fills_the_first_rows() -> None:
    np.testing.assert_allclose(one_class(4, 0.6).feasible_point(), [5 / 12, 5 / 12, 1 / 6, 0])


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_repair_of_values_beside_which_the_sum_is_nothing(unit: float) -> None:
    """All of them are taken away, and what is left must not count as the sum."""
    problem = QuadraticProgram(np.zeros(4), 0.0, np.inf, delta=unit, ridge=0.0)
    values = unit * np.array([3e140, 7e139, 1.1e140, 9e138])
    assert_feasible(problem, problem.repair(values))


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_repair_prefers_free_rows_then_support_vectors(unit: float) -> None:
    def repaired(problem: QuadraticProgram, *values: float) -> np.ndarray:
        return problem.repair(unit * np.array(values)) / unit

    problem = hinge_svc([1, 1, 1, -1], unit)
    np.testing.assert_allclose(repaired(problem, 0.5, 1.0, 0.0, -1.0), [0.0, 1.0, 0.0, -1.0])
    np.testing.assert_allclose(repaired(problem, 1.0, 1.0, 0.0, -1.0), [0.5, 0.5, 0.0, -1.0])
    np.testing.assert_allclose(repaired(problem, 0.0, 0.0, 0.0, -0.6), [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(repaired(problem, 0.2, 0.6, 0.0, -1.0), [1 / 3, 2 / 3, 0.0, -1.0])
    wider = hinge_svc([1, 1, -1, -1], 2.0 * unit)
    np.testing.assert_allclose(repaired(wider, 2.0, 0.0, 0.0, 0.0), [0.0, 0.0, 0.0, 0.0])


def test_a_box_contains_its_bounds_and_nothing_beyond_them() -> None:
    problem = QuadraticProgram(np.zeros(2), 0.0, 1.0, 1.0)
    for beta, expected in (([0, 1], True), ([0.5, 1.1], False), ([-0.1, 0.5], False)):
        assert problem.contains(np.array(beta)) is expected


def test_subset_keeps_the_rows_and_may_change_the_sum() -> None:
    problem = QuadraticProgram([1.0, 2.0, 3.0], 0.0, [1.0, 2.0, 3.0], 1.0, [0.1, 0.2, 0.3])
    part = problem.subset([2, 0])
    np.testing.assert_array_equal(part.p, [3.0, 1.0])
    np.testing.assert_array_equal(part.upper, [3.0, 1.0])
    np.testing.assert_array_equal(part.ridge, [0.3, 0.1])
    assert part.delta == 1.0
    assert problem.subset(np.array([True, False, False]), 0.5).delta == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan, 0.0], 0.0, 1.0, 1.0), "p must be finite"),
        (([[0.0]], 0.0, 1.0, 1.0), "p must be a vector"),
        (([0.0, 0.0], [0.0], 1.0, 1.0), "lower must be a number or a vector of 2"),
        (([0.0, 0.0], [1.0, 2.0], 1.0, 1.0), "in row 1 they are 2 and 1"),
        (([0.0, 0.0], [0.0, np.nan], 1.0, 1.0), "must not be NaN"),
        (([0.0, 0.0], 0.0, [1.0, np.nan], 1.0), "must not be NaN"),
        (([0.0, 0.0], [0.0, np.inf], np.inf, 1.0), r"lower bound must not be \+inf"),
        (([0.0, 0.0], [0.0, -np.inf], [1.0, -np.inf], 1.0), "nor an upper bound -inf"),
        (([0.0, 0.0], 0.0, 1.0, np.inf), "delta must be finite"),
        (([0.0, 0.0], 0.0, 1.0, 3.0), "sum to 3, but their bounds allow only sums from 0 to 2"),
        (([0.0, 0.0], -1.0, 1.0, -3.0), "sum to -3, but their bounds allow only sums from -2 to 2"),
        (([0.0, 0.0], 0.0, 1.0, 1.0, [0.0, np.inf]), "ridge must be finite and not negative"),
        (([0.0, 0.0], 0.0, 1.0, 1.0, [1.0, -1.0]), "ridge must be finite and not negative"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        QuadraticProgram(*arguments)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_that_bounds_reach_but_for_rounding(sign: int) -> None:
    """Ten times 0.1 is less than 1 in floating point."""
    ends = np.full(10, 0.1 * sign)
    problem = QuadraticProgram(np.zeros(10), np.minimum(ends, 0), np.maximum(ends, 0), sign)
    np.testing.assert_array_equal(problem.feasible_point(), ends)
    np.testing.assert_array_equal(problem.repair(ends), ends)


INF = np.inf


@pytest.mark.parametrize(
    ("lower", "upper", "ridge", "expected"),
    [
        ([-INF, 0.0], [0.0, INF], [0.0, 0.0], True),
        ([-INF, 0.0], [0.0, INF], [1.0, 0.0], False),
        ([-INF, 0.0], [0.0, INF], [0.0, 1.0], False),
        ([-INF, -INF], [0.0, 0.0], [0.0, 0.0], False),
        ([0.0, 0.0], [INF, INF], [0.0, 0.0], False),
        ([-INF, 0.0], [0.0, 1.0], [0.0, 0.0], False),
        ([-INF, 0.0, -INF], [0.0, INF, INF], [1.0, 1.0, 0.0], True),
    ],
)
def test_only_what_has_neither_bound_nor_ridge_may_diverge(
    lower: list[float], upper: list[float], ridge: list[float], expected: bool
) -> None:
    problem = QuadraticProgram(np.zeros(len(lower)), lower, upper, 0.0, ridge)
    assert problem.may_diverge() is expected


def some_programs() -> list[QuadraticProgram]:
    """Return programs of unlike sizes and sums, two of them with a bound away from zero."""
    above = QuadraticProgram([1.0, -1.0], [0.5, -2.0], [1.0, 1.0], 0.0, [0.1, 0.2])
    below = QuadraticProgram([1.0, -1.0], [-1.0, -2.0], [1.0, -0.5], 0.0, [0.1, 0.2])
    return [hinge_svc([1, -1, 1], 2.0), one_class(5, 0.5), above, below]


def test_programs_laid_end_to_end_are_those_that_went_in() -> None:
    alone = some_programs()
    together = Programs.of(alone)
    assert (len(together), together.largest) == (4, 5)
    np.testing.assert_array_equal(together.starts, [0, 3, 8, 10])
    for one, other in zip(alone, together, strict=True):
        assert one.delta == other.delta
        for name in ("p", "lower", "upper", "ridge"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_repeated_programs_are_those_laid_end_to_end_again() -> None:
    alone = some_programs()
    found, expected = Programs.of(alone).repeated(3), Programs.of(3 * alone)
    for name in ("p", "lower", "upper", "ridge", "delta", "ends"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("kept", [slice(k, end) for end in (1, 2, 3, 4) for k in (0, end - 1)])
def test_points_of_programs_are_those_of_each(kept: slice) -> None:
    alone = some_programs()[kept]
    together = Programs.of(alone)
    expected = np.concatenate([problem.feasible_point() for problem in alone])
    np.testing.assert_array_equal(together.feasible_point(), expected)
    beta = np.random.default_rng(0).normal(size=expected.size)
    pieces = np.split(beta, together.ends[1:-1])
    repaired = np.concatenate([problem.repair(own) for problem, own in zip(alone, pieces)])
    np.testing.assert_array_equal(together.repair(beta), repaired)
    gradient = np.random.default_rng(1).normal(size=expected.size)
    images = [
        problem.image(*own)
        for problem, own in zip(alone, zip(pieces, np.split(gradient, together.ends[1:-1])))
    ]
    np.testing.assert_array_equal(together.image(beta, gradient), np.concatenate(images))
    with pytest.raises(ValueError, match=f"vector of {beta.size} values"):
        together.repair(beta[1:])


def test_image_is_the_matrix_times_the_point() -> None:
    random = np.random.default_rng(0)
    factor, beta = random.normal(size=(4, 2)), random.normal(size=4)
    problem = QuadraticProgram(random.normal(size=4), -9.0, 9.0, 0.0, random.random(4))
    image = factor @ (factor.T @ beta)
    gradient = image + problem.ridge * beta + problem.p
    np.testing.assert_allclose(problem.image(beta, gradient), image, atol=1e-14)


def test_repair_shares_by_room_and_endless_rooms_alike() -> None:
    bounded = QuadraticProgram(np.zeros(3), 0.0, [1.0, 3.0, 5.0], 4.0)
    np.testing.assert_allclose(bounded.repair([0.5, 1.0, 0.0]), [0.5 + 0.5, 1.0 + 2.0, 0.0])
    np.testing.assert_allclose(bounded.repair([0.5, 1.5, 5.0]), [0.5 - 0.5, 1.5 - 1.5, 4.0])
    endless = QuadraticProgram(np.zeros(3), [0.0, 0.0, -INF], [INF, 1.0, INF], 4.0)
    np.testing.assert_allclose(endless.repair([1.0, 0.5, -0.5]), [2.5, 0.5, 1.0])


@pytest.mark.filterwarnings("error")
def test_repair_of_zero_divides_by_nothing() -> None:
    for bounds in (0.0, 1.0):
        problem = QuadraticProgram(np.zeros(2), -bounds, bounds)
        np.testing.assert_array_equal(problem.repair(np.zeros(2)), 0.0)


def test_repair_refuses_what_is_no_point() -> None:
    problem = hinge_svc([1, -1], 1.0)
    with pytest.raises(ValueError, match="must be finite"):
        problem.repair([np.nan, 0.0])
    with pytest.raises(ValueError, match="vector of 2 values"):
        problem.repair([0.0, 0.0, 0.0])


def test_repair_of_several_looks_at_the_boxes_too() -> None:
    """A point with the right sum is not feasible for that."""
    programs = Programs.of([hinge_svc([1.0, -1.0], C=1.0), hinge_svc([1.0, -1.0], C=4.0)])
    found = programs.repair([3.0, -3.0, 3.0, -3.0])
    np.testing.assert_array_equal(found, [1.0, -1.0, 3.0, -3.0])


def test_sums_are_right_where_those_of_all_programs_are() -> None:
    programs = Programs.of([one_class(2, nu=1.0), hinge_svc([1.0, -1.0], C=4.0)])
    for sums, expected in (((1.0, 0.0), True), ((1.0, 1.0), False), ((0.0, 0.0), False)):
        beta = np.array([0.5, sums[0] - 0.5, 3.0, sums[1] - 3.0])
        assert programs.have_their_sums(beta) is expected


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_sums_may_miss_by_digits_of_the_values(unit: float) -> None:
    programs = Programs.of([hinge_svc([1.0, -1.0], C=4.0 * unit)])
    for missing, expected in ((1e-7, True), (3e-6, False)):
        beta = unit * np.array([1.0, missing - 1.0])
        assert programs.have_their_sums(beta, digits=1e-6) is expected
    assert programs.have_their_sums(np.zeros(2))  # exactly
