"""Widths from data, with weights that count as repetition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from mercer.kernels import (
    RBF,
    Laplacian,
    Polynomial,
    Sigmoid,
    auto_gamma,
    median_gamma,
    scale_gamma,
)

KERNELS = [
    RBF("scale"),
    RBF("auto"),
    RBF("median"),
    Laplacian("median"),
    Laplacian("median", metric="euclidean"),
    Polynomial(3, "scale", 0.5),
    Sigmoid("scale"),
]


def test_scale_is_that_of_scikit_learn(wide):
    model = SVC().fit(wide, np.arange(30) % 2)
    assert_allclose(scale_gamma(wide), model._gamma, rtol=1e-14)
    wide[np.abs(wide) < 1] = 0.0
    model = SVC().fit(sp.csr_matrix(wide), np.arange(30) % 2)
    assert_allclose(scale_gamma(sp.csr_matrix(wide)), model._gamma, rtol=1e-12)
    assert auto_gamma(wide) == 1 / 25


def test_median_is_that_of_all_pairs(wide):
    assert_allclose(median_gamma(wide), 1 / np.median(pdist(wide, "sqeuclidean")), rtol=1e-12)
    for metric, name in (("l1", "cityblock"), ("euclidean", "euclidean")):
        gamma = Laplacian("median", metric=metric).resolve(wide).gamma
        assert_allclose(gamma, 1 / np.median(pdist(wide, name)), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(
    X=arrays(np.float64, (9, 3), elements=st.floats(-10, 10, width=16)),
    weights=arrays(np.int64, 9, elements=st.integers(0, 4)),
    order=st.permutations(range(9)),
    factor=st.floats(0.01, 100.0),
)
def test_weights_count_as_repetition(kernel, X, weights, order, factor):
    weights[0] += 1
    expected = kernel.resolve(np.repeat(X, weights, axis=0)).gamma
    assert_allclose(kernel.resolve(X, weights).gamma, expected, rtol=1e-9)
    assert_allclose(kernel.resolve(X[order], weights[order]).gamma, expected, rtol=1e-9)
    assert_allclose(kernel.resolve(X, factor * weights).gamma, expected, rtol=1e-9)
    assert_allclose(kernel.resolve(sp.csr_array(X), weights).gamma, expected, rtol=1e-9)


def test_the_median_of_many_rows_is_a_draw_that_weights_and_order_do_not_change():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    weights = rng.integers(0, 3, size=1500)
    gamma = median_gamma(X, weights)
    repeated = np.repeat(X, weights, axis=0)
    assert_allclose(median_gamma(rng.permutation(repeated)), gamma, rtol=1e-12)
    assert_allclose(median_gamma(sp.csr_array(X), weights), gamma, rtol=1e-12)
    assert_allclose(gamma, 1 / np.median(pdist(X, "sqeuclidean")), rtol=0.1)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.3])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.7]])
def test_constant_data_give_one(value, weights):
    X = np.full((3, 5), value)
    assert scale_gamma(X, weights) == 1.0
    assert median_gamma(X, weights) == 1.0


def test_resolving_makes_a_new_kernel(X):
    kernel = RBF("scale")
    resolved = kernel.resolve(X)
    assert kernel.gamma == "scale"
    assert isinstance(resolved.gamma, float)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one weight for each of the 12 rows; got shape \(2,\)"),
        (np.zeros(12), "must be finite, not negative, and not 0 for every row"),
        (np.full(12, -1.0), "must be finite, not negative, and not 0 for every row"),
        (np.full(12, np.nan), "must be finite, not negative, and not 0 for every row"),
    ],
)
def test_bad_weights(weights, message, X):
    for kernel in (RBF("scale"), RBF("median")):
        with pytest.raises(ValueError, match=message):
            kernel.resolve(X, weights)
