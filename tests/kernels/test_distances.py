"""Squared distances: exact where they must be, accurate everywhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from mercer.kernels import squared_distances
from mercer.kernels._distances import (
    contract_squared_differences,
    distances_without_features,
    dot_products,
)


def exact(X, Y):
    X, Y = np.asarray(X, dtype=np.longdouble), np.asarray(Y, dtype=np.longdouble)
    return np.array([[((x - y) ** 2).sum() for y in Y] for x in X], dtype=float)


@pytest.mark.parametrize("n_columns", [0, 1, 3, 8, 9, 40])
def test_distances_of_any_number_of_columns(n_columns):
    rng = np.random.default_rng(n_columns)
    X, Y = rng.normal(size=(20, n_columns)), rng.normal(size=(15, n_columns))
    assert_allclose(squared_distances(X, Y), exact(X, Y), rtol=1e-11)
    D = squared_distances(X)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)


@pytest.mark.parametrize("n_columns", [3, 20])
def test_offset_data_keep_their_accuracy(n_columns):
    rng = np.random.default_rng(0)
    # Multiples of 2^-20, so that adding the offset rounds nothing away.
    X = np.round(rng.normal(size=(25, n_columns)) * 2**20) / 2**20
    assert_allclose(squared_distances(X + 1e6), squared_distances(X), rtol=1e-10)


def test_nearly_equal_rows_keep_their_accuracy(wide):
    close = wide + 1e-7 * np.random.default_rng(1).normal(size=wide.shape)
    both = np.vstack([wide, close])
    assert_allclose(squared_distances(both), exact(both, both), rtol=1e-11)


def test_tight_clusters_far_apart_keep_their_accuracy(wide):
    both = np.vstack([1e-4 * wide, 1e-4 * wide[::-1] + 1e-5 + 10.0])
    assert_allclose(squared_distances(both), exact(both, both), rtol=1e-10)


def test_equal_rows_are_at_distance_zero_in_both_arguments(wide):
    assert_array_equal(np.diag(squared_distances(wide + 1e5, wide.copy() + 1e5)), 0.0)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_is_dense(kind, wide):
    wide[np.abs(wide) < 1] = 0.0
    D = squared_distances(kind(wide))
    assert_allclose(D, squared_distances(wide), rtol=1e-12, atol=1e-13)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert_allclose(squared_distances(kind(wide), wide[:5]), D[:, :5], rtol=1e-12)


def test_sparse_entries_given_twice_are_added_without_changing_the_matrix():
    X = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 3))
    assert_allclose(squared_distances(X), [[0.0, 9.0], [9.0, 0.0]])
    assert X.nnz == 2


@given(
    arrays(np.float64, (6, 11), elements=st.floats(-1e3, 1e3, width=32)),
    st.floats(-1e3, 1e3, width=32),
)
def test_distances_are_a_metric(X, shift):
    D = squared_distances(X)
    assert (D >= 0).all()
    assert_array_equal(D, D.T)
    assert_allclose(D, cdist(X, X, "sqeuclidean"), rtol=1e-9)
    assert_allclose(squared_distances(X + shift), D, rtol=1e-6, atol=1e-6)
    lengths = np.sqrt(D)
    longest = lengths.max()
    assert (lengths[:, None, :] <= lengths[:, :, None] + lengths[None] + 1e-9 * longest).all()


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_distances_without_a_feature_even_where_one_dominates(scale, wide):
    wide[:, 7] *= scale
    for k, D in enumerate(distances_without_features(wide)):
        rest = np.delete(wide, k, axis=1)
        assert_allclose(D, exact(rest, rest), rtol=1e-9)


def test_distances_without_a_feature_of_rows_that_differ_in_it_alone(wide):
    wide[1] = wide[0]
    wide[1, 3] += 1.0
    distances = [D.copy() for D in distances_without_features(wide)]
    assert distances[3][0, 1] == 0.0
    assert_allclose(distances[4][0, 1], 1.0)


def test_contraction_of_squared_differences_where_it_cancels(wide):
    # Weight on close pairs far from the centre only: three large terms, a small result.
    X = np.vstack([wide, wide + 1e-6, 100.0 - wide])
    T = np.zeros((90, 90))
    T[:30, 30:60] = np.diag(np.arange(30.0))
    expected = [((X[:, k, None] - X[:, k]) ** 2 * T).sum() for k in range(25)]
    assert_allclose(contract_squared_differences(X, X, T), expected, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-155, 1e-160])
def test_tiny_sparse_points_keep_their_digits(scale: float) -> None:
    """Sums of products that are subnormal one by one are those of larger points."""
    points = np.random.default_rng(0).normal(size=(6, 200))
    left, right = sp.csr_array(points * scale), sp.csr_array(points[:3] * scale)
    expected = np.ldexp(dot_products(left * 2.0**500, right * 2.0**500), -1000)
    assert_array_equal(dot_products(left, right), expected)
    assert_array_equal(dot_products(left, left), dot_products(left, left).T)
    assert expected.any()


def test_points_of_zeros_have_products_of_zeros() -> None:
    nothing = sp.csr_array((2, 3))
    assert_array_equal(dot_products(nothing, nothing), np.zeros((2, 2)))
