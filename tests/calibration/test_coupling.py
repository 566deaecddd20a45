"""Coupled probabilities solve the problem that defines them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.calibration import couple_pairs


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_consistent_pairs_give_their_classes_back(n_classes: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), 20)
    pairs = [p[:, j] / (p[:, i] + p[:, j]) for i, j in combinations(range(n_classes), 2)]
    np.testing.assert_allclose(couple_pairs(np.stack(pairs, axis=1), n_classes), p, atol=1e-6)


def test_inconsistent_pairs_give_the_constrained_minimum() -> None:
    random = np.random.default_rng(1)
    for _ in range(10):
        second = random.uniform(0.05, 0.95, 6)
        r = np.zeros((4, 4))
        for value, (i, j) in zip(second, combinations(range(4), 2)):
            r[j, i], r[i, j] = value, 1 - value

        def loss(p: np.ndarray, r: np.ndarray = r) -> float:
            return sum(
                (r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j
            )

        best = minimize(
            loss,
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(couple_pairs(second[None], 4)[0], best.x, atol=1e-4)
        assert loss(couple_pairs(second[None], 4)[0]) <= best.fun + 1e-12


def test_certain_pairs_give_probabilities() -> None:
    """Zeros and ones, contradictory in a circle or not, lead to sums of 1 without warnings."""
    second = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    p = couple_pairs(second, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[2], 1 / 3)
    assert p[0].argmax() == 0
    assert p[1].argmax() == 2


def test_rows_are_coupled_alone_however_many_there_are() -> None:
    """Thirty classes are coupled a thousand rows at a time, the last rows by themselves."""
    second = np.random.default_rng(0).uniform(0.1, 0.9, (2300, 435))
    together = couple_pairs(second, 30)
    assert together.shape == (2300, 30)
    some = np.arange(0, 2300, 7)
    np.testing.assert_allclose(together[some], couple_pairs(second[some], 30), atol=1e-14)


def test_two_classes_pass_through() -> None:
    """Also where they are certain, which more classes may not be."""
    second = np.array([[0.3], [1e-9], [1.0]])
    np.testing.assert_array_equal(couple_pairs(second, 2), np.hstack([1 - second, second]))


def test_no_rows() -> None:
    assert couple_pairs(np.empty((0, 3)), 3).shape == (0, 3)


def test_wrong_number_of_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="3 pairs"):
        couple_pairs([[0.5, 0.5]], 3)
