"""What is taken for a kernel."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels

from mercer.kernels import (
    RBF,
    CallableKernel,
    Constant,
    GaussianProcessKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", Linear()),
        ("poly", Polynomial(2, 0.5, 1.5)),
        ("polynomial", Polynomial(2, 0.5, 1.5)),
        ("rbf", RBF(0.5)),
        ("laplacian", Laplacian(0.5)),
        ("sigmoid", Sigmoid(0.5, 1.5)),
        ("constant", Constant()),
        ("precomputed", Precomputed()),
    ],
)
def test_names(name, kernel):
    assert as_kernel(name, gamma=0.5, degree=2, coef0=1.5) == kernel


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
def test_names_mean_what_they_mean_in_scikit_learn(name, X, Y):
    kernel = as_kernel(name, gamma=0.3, degree=2, coef0=0.5)
    params = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    expected = pairwise_kernels(X, Y, metric=name, filter_params=True, **params)
    assert_allclose(kernel(X, Y), expected, rtol=1e-12)


def test_a_kernel_is_itself():
    kernel = RBF(0.3)
    assert as_kernel(kernel, gamma=5.0) is kernel


def test_further_parameters():
    kernel = RBF(0.3)
    assert as_kernel(kernel, params={"gamma": 2.0}) == RBF(2.0)
    assert kernel.gamma == 0.3
    assert as_kernel("laplacian", params={"metric": "euclidean"}) == Laplacian(metric="euclidean")
    changed = as_kernel(gp.RBF(1.0), params={"length_scale": 3.0})
    assert changed == GaussianProcessKernel(gp.RBF(3.0))
    assert as_kernel(len, params={"a": 1}) == CallableKernel(len, {"a": 1})


def test_functions_and_gaussian_process_kernels():
    assert isinstance(as_kernel(lambda X, Y: X @ Y.T), CallableKernel)
    assert isinstance(as_kernel(gp.RBF(1.0)), GaussianProcessKernel)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("gauss", ValueError, "name of a kernel must be one of 'linear', 'poly'.*; got 'gauss'"),
        (RBF, TypeError, r"must be an object, not a class; give RBF\(...\), not RBF"),
        (3.0, TypeError, "kernel must be a kernel, a function of X and Y, or one of.*; got 3.0"),
        (None, TypeError, "kernel must be a kernel, a function of X and Y, or one of.*; got None"),
    ],
)
def test_other_things_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        as_kernel(given)
