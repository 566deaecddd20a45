"""Landmarks, and the kernel seen through them."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernels import RBF, Polynomial
from mercer.lowrank import LowRankKernel, choose_landmarks

random = np.random.RandomState(0)
X = np.concatenate([random.normal(size=(900, 3)), 8.0 + 0.1 * random.normal(size=(900, 3))])
X = X[random.permutation(len(X))]


def test_the_kernel_is_that_of_nystroem() -> None:
    kernel, landmarks = RBF(0.3), X[:40]
    Z = LowRankKernel(kernel, landmarks).features(X[:300])
    inverse = np.linalg.pinv(kernel(landmarks), rcond=1e-13)
    expected = kernel(X[:300], landmarks) @ inverse @ kernel(landmarks, X[:300])
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-6)


def test_what_is_missing_is_the_distance_from_the_span() -> None:
    low_rank = LowRankKernel(RBF(0.3), X[:40])
    rows = X[:200]
    Z = low_rank.features(rows)
    np.testing.assert_allclose(low_rank.missing(rows), 1.0 - (Z**2).sum(axis=1), atol=1e-12)
    assert low_rank.missing(rows[:40]).max() < 1e-8
    assert (low_rank.missing(rows) >= 0).all()


def test_landmarks_that_depend_on_each_other_count_once() -> None:
    twice = np.concatenate([X[:20], X[:20]])
    assert LowRankKernel(RBF(0.3), twice).rank == LowRankKernel(RBF(0.3), X[:20]).rank == 20
    # Polynomials of degree 2 of three features have ten coefficients.
    assert LowRankKernel(Polynomial(2, gamma=1.0, coef0=1.0), X[:50]).rank == 10


@pytest.mark.parametrize("way", ["kmeans", "leverage", "uniform"])
def test_landmarks_are_as_many_as_asked_for(way: str) -> None:
    found = choose_landmarks(X, 25, way, RBF(0.3), np.random.RandomState(0))
    assert found.shape == (25, 3)
    again = choose_landmarks(X, 25, way, RBF(0.3), np.random.RandomState(0))
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("way", ["kmeans", "leverage"])
def test_chosen_landmarks_see_more_of_the_kernel(way: str) -> None:
    """Half of the rows are nearly one point, on which uniform landmarks are wasted."""
    kernel = RBF(0.3)

    def missing(way: str) -> float:
        found = choose_landmarks(X, 30, way, kernel, np.random.RandomState(1))
        return float(LowRankKernel(kernel, found).missing(X).mean())

    assert missing(way) < 0.8 * missing("uniform")


def test_few_rows_are_all_landmarks() -> None:
    found = choose_landmarks(X[:9], 25, "kmeans", RBF(0.3), np.random.RandomState(0))
    np.testing.assert_array_equal(found, X[:9])


def test_heavy_rows_draw_landmarks() -> None:
    heavy = np.where(X[:, 0] > 4, 1e6, 1.0)
    found = choose_landmarks(X, 30, "leverage", RBF(30.0), np.random.RandomState(0), heavy)
    assert (found[:, 0] > 4).all()
