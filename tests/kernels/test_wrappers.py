"""The constant kernel and scaled features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mercer.kernels import RBF, Constant, Linear, Precomputed, Weighted


def test_a_scale_of_zero_leaves_the_feature_out(X, W):
    kernel = Weighted(RBF(0.4), [1.0, 0.0, 1.0, 1.0])
    assert_allclose(kernel(X), RBF(0.4)(X[:, [0, 2, 3]]), rtol=1e-13)
    assert kernel.theta_names == ["scales[0]", "scales[2]", "scales[3]", "kernel__gamma"]
    moved = kernel.with_theta(kernel.theta + 1.0)
    assert moved.scales[1] == 0.0
    assert_allclose(RBF(0.4).leave_feature_out(X, W)[1], np.vdot(W, kernel(X)), rtol=1e-10)


def test_weighted_sparse_points_stay_sparse(X):
    seen = []

    class Spy(Linear):
        def __call__(self, X, Y=None):
            seen.append(X)
            return super().__call__(X, Y)

    scales = [1.0, 2.0, 0.5, 3.0]
    sparse = sp.csr_array(X)
    assert_allclose(Weighted(Spy(), scales)(sparse), (X * scales) @ (X * scales).T)
    assert sp.issparse(seen[0])
    assert_array_equal(sparse.toarray(), X)


def test_constant_takes_sparse_points(X):
    assert_array_equal(Constant(2.0)(sp.csr_array(X)), np.full((12, 12), 2.0))
    assert_array_equal(Constant(2.0).diag(sp.csr_array(X)), np.full(12, 2.0))


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ([1.0, -1.0, 1.0, 1.0], "scales must hold one number at least 0 for each feature"),
        (2.0, "scales must hold one number at least 0 for each feature; got 2.0"),
        ("wide", "scales must hold one number at least 0 for each feature; got 'wide'"),
        ([1.0, 2.0], "scales holds 2 values, but the data have 4 columns"),
    ],
)
def test_bad_scales(scales, message, X):
    with pytest.raises(ValueError, match=message):
        Weighted(Linear(), scales)(X)


def test_offset_data_keep_their_accuracy(X, Y):
    X, Y = np.round(X * 2**20) / 2**20, np.round(Y * 2**20) / 2**20
    kernel = Weighted(RBF(0.4), [0.3, 0.7, 1.1, 1.3])
    assert_allclose(kernel(X + 1e6), kernel(X), rtol=1e-11)
    assert_allclose(kernel(X + 1e6, Y + 1e6), kernel(X, Y), rtol=1e-11)


def test_kernel_values_have_no_features_to_scale(X):
    with pytest.raises(ValueError, match="a precomputed kernel has none"):
        Weighted(Precomputed(), np.ones(12))(X @ X.T)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "one", None, True])
def test_bad_constants(value, X):
    with pytest.raises(ValueError, match="Constant: value must be a number above 0; got"):
        Constant(value)(X)
