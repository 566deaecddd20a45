"""Steps always come to an end, drop what they say, and take what scikit-learn takes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer import SVC, KernelRFE
from mercer.feature_selection import (
    RoundState,
    annealing,
    around,
    constant,
    entropy,
    estimated_accuracy,
    halving,
    optimal_size,
    percent,
    square_root,
    step_sizes,
)

SHARES = st.floats(0.01, 0.99)
STEPS = st.one_of(
    st.builds(constant, st.integers(1, 500)),
    st.builds(percent, SHARES),
    st.builds(square_root),
    st.builds(annealing),
    st.builds(halving),
    st.builds(around, st.integers(0, 300), SHARES, st.integers(1, 50)),
    st.integers(1, 500),
    SHARES,
)


@given(STEPS, st.integers(1, 1000), st.integers(1, 20))
def test_sizes_go_down_to_the_least(step: Any, n: int, least: int) -> None:
    sizes = step_sizes(step, n, min(least, n))
    assert sizes[0] == n
    assert sizes[-1] == min(least, n)
    assert all(a > b for a, b in pairwise(sizes))


@given(SHARES, st.integers(1, 5000))
def test_percent_drops_its_share(share: float, n: int) -> None:
    sizes = step_sizes(percent(share), n)
    for a, b in pairwise(sizes):
        assert a - b == max(1, min(int(share * a), a - 1))


@given(st.integers(2, 5000))
def test_annealing_leaves_one_over_the_round(n: int) -> None:
    """After i rounds about n / (i + 1) features are left, as long as steps are whole."""
    for i, size in enumerate(step_sizes(annealing(), n)):
        if size < 3 * (i + 1):
            break
        assert n / (i + 1) <= size <= n / (i + 1) + i + 1


@given(st.integers(2, 5000))
def test_halving_visits_powers_of_two(n: int) -> None:
    sizes = step_sizes(halving(), n)
    assert all(size & (size - 1) == 0 for size in sizes[1:])
    assert all(a == 2 * b for a, b in pairwise(sizes[1:]))


@given(st.integers(1, 400), SHARES, st.integers(1, 30), st.integers(1, 500))
def test_around_is_the_equation(target: int, share: float, minimum: int, n: int) -> None:
    expected = max(int(share * abs(target - n)), minimum)
    assert around(target, share, minimum)(RoundState(n, 500, 0)) == expected


def test_square_root() -> None:
    assert [square_root()(RoundState(n, 100, 0)) for n in (100, 99, 10, 1)] == [10, 9, 3, 1]


@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=400),
    st.integers(0, 50),
)
def test_entropy_drops_some_but_not_all(values: list[float], few: int) -> None:
    state = RoundState(len(values), len(values), 0, np.array(values))
    count = entropy(few)(state)
    assert 0 <= count <= len(values)
    if len(values) <= few:
        assert count == 1


def test_entropy_of_well_spread_importances_takes_the_lowest_bin() -> None:
    values = np.linspace(0, 1, 400)
    assert entropy()(RoundState(400, 400, 0, values)) == int((values <= 1 / 20).sum())


def test_entropy_is_careful_where_nearly_all_are_small() -> None:
    values = np.r_[np.full(390, 1e-3) * np.linspace(1, 2, 390), np.linspace(0.5, 1, 10)]
    lowest = int((values <= values.max() / 20).sum())
    assert entropy()(RoundState(400, 400, 0, values)) <= lowest // 2


@given(
    st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.floats(0, 0.5), st.floats(0.5, 1)
)
def test_estimate_goes_from_chance_to_the_accuracy(
    values: list[float], lowest: float, highest: float
) -> None:
    accuracy = estimated_accuracy(values, lowest, highest)
    assert_allclose([accuracy[0], accuracy[-1]], [lowest, highest], atol=1e-12)
    assert (np.diff(accuracy) >= -1e-12).all()
    lost = np.cumsum(values[::-1])[::-1] / np.sum(values)  # by leaving out the i-th and all after
    assert_allclose(accuracy[:-1], (1 - lost) * (highest - lowest) + lowest, atol=1e-9)


def test_estimate_of_nothing_but_zeros_is_a_line() -> None:
    assert_allclose(estimated_accuracy([0.0, 0.0], 0.5, 1.0), [0.5, 0.75, 1.0])


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=60), st.floats(0.05, 0.95))
def test_optimal_size_has_the_least_cost(values: list[float], error: float) -> None:
    values = sorted(values, reverse=True)
    size = optimal_size(values, lowest=0.4, highest=0.9, trade_off=(error, 1 - error))
    accuracy = estimated_accuracy(values, 0.4, 0.9)
    sizes = np.arange(len(values) + 1)
    cost = error * (1 - accuracy) + (1 - error) * sizes / len(values)
    assert cost[size] == pytest.approx(cost[1:].min())


@pytest.mark.parametrize("step", [percent(0.2), around(20, 0.1, 3), entropy(), halving()], ids=str)
def test_steps_are_values(step: Any) -> None:
    copy = clone(KernelRFE(SVC(), step=step)).step
    assert copy == step
    assert copy is not step


@pytest.mark.parametrize(
    "make", [lambda: percent(1.0), lambda: percent(0), lambda: constant(0), lambda: around(5, 2.0)]
)
def test_bad_steps(make: Any) -> None:
    with pytest.raises(ValueError, match=r"got [0-9.]+\.$"):
        make()


def test_around_needs_something_to_estimate_from() -> None:
    with pytest.raises(ValueError, match="importances"):
        step_sizes(around(None), 10)
