"""Positive semi-definite or not, and by how much."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from mercer.kernels import RBF, Constant, Linear, Sigmoid, is_mercer


def with_eigenvalues(values, seed=0):
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


def test_says_by_how_much_not():
    report = is_mercer(with_eigenvalues(np.array([-0.5, 0.0, 1.0, 10.0])))
    assert not report
    assert_allclose([report.smallest, report.norm, report.shortfall], [-0.5, 10.0, 0.05])
    assert "not positive semi-definite: smallest eigenvalue -0.5, largest in" in str(report)


def test_tolerance_is_relative():
    K = with_eigenvalues(np.array([-1e-7, 1.0, 2.0]))
    for scale in (1e-9, 1.0, 1e9):
        assert not is_mercer(scale * K)
        assert is_mercer(scale * K, tolerance=1e-6)


def test_a_matrix_must_be_symmetric():
    report = is_mercer([[1.0, 0.3], [0.2, 1.0]])
    assert not report
    assert_allclose(report.asymmetry, 0.1)
    assert str(report).startswith("not symmetric: entries differ by 0.1")


def test_negative_and_zero_matrices():
    assert not is_mercer(-np.eye(3))
    assert is_mercer(np.zeros((3, 3)))
    assert is_mercer(sp.csr_array(np.eye(3)))


def test_the_sigmoid_is_no_mercer_kernel(X):
    assert not is_mercer(Sigmoid(1.0, -1.0)(X))


def test_large_matrices_by_lanczos(monkeypatch):
    monkeypatch.setattr("mercer.kernels.mercer_condition.EXACT_ROWS", 300)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    for kernel in (RBF(0.1), RBF(100.0), Linear(), Constant()):
        report = is_mercer(kernel(X))
        assert report, report
        assert_allclose(report.norm, np.linalg.norm(kernel(X), 2), rtol=1e-5)
    values = rng.uniform(0.0, 1.0, size=400)
    values[:2] = [-1e-3, 30.0]
    for tolerance in (0.0, 1e-10):
        report = is_mercer(with_eigenvalues(values), tolerance)
        assert not report
    assert_allclose([report.smallest, report.norm], [-1e-3, 30.0], rtol=1e-4)
    report = is_mercer(-with_eigenvalues(values))
    assert_allclose([report.smallest, report.norm], [-30.0, 30.0], rtol=1e-5)
    assert is_mercer(np.zeros((400, 400)))


@given(arrays(np.float64, (5, 3), elements=st.floats(-100, 100)))
def test_gram_matrices_pass_and_shifted_ones_do_not(Z):
    K = Z @ Z.T
    assert is_mercer(K)
    size = np.linalg.norm(K, 2)
    if size > 1e-6:
        assert not is_mercer(K - 1e-3 * size * np.eye(5))


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), r"must be a square kernel matrix; got shape \(2, 3\)"),
        (np.ones((0, 0)), r"must be a square kernel matrix; got shape \(0, 0\)"),
        (np.array([[np.nan]]), "holds NaN or infinity"),
    ],
)
def test_bad_matrices(K, message):
    with pytest.raises(ValueError, match=message):
        is_mercer(K)
