"""Bad parameters and bad points are told in one sentence when the kernel is used."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernels import RBF, Laplacian, Linear, Normalized, Polynomial, Sigmoid

BAD = [
    (RBF(0), "RBF: gamma must be a number above 0; got 0."),
    (RBF(-1.5), "RBF: gamma must be a number above 0; got -1.5."),
    (RBF(np.nan), "RBF: gamma must be a number above 0; got nan."),
    (RBF(None), "RBF: gamma must be a number above 0; got None."),
    (RBF([1.0, 2.0]), "RBF: gamma holds 2 values, but the data have 4 columns; give one value"),
    (RBF([1.0, 2.0, 0.0, 1.0]), "RBF: gamma must hold one number above 0 for each feature; got"),
    (RBF([[1.0, 2.0, 3.0, 1.0]]), "RBF: gamma must hold one number above 0 for each feature; got"),
    (Laplacian(0.0), "Laplacian: gamma must be a number above 0; got 0.0."),
    (Laplacian([1.0, 2.0]), "Laplacian: gamma must be a number above 0; got [1.0, 2.0]."),
    (Laplacian(1.0, metric="l2"), "Laplacian: metric must be 'l1' or 'euclidean'; got 'l2'."),
    (Polynomial(2.5, 1.0), "Polynomial: degree must be an integer of at least 0; got 2.5."),
    (Polynomial(-1, 1.0), "Polynomial: degree must be an integer of at least 0; got -1."),
    (Polynomial(2, 0.0), "Polynomial: gamma must be a number above 0; got 0.0."),
    (Polynomial(2, 1.0, "1"), "Polynomial: coef0 must be a finite number; got '1'."),
    (Sigmoid(1.0, np.inf), "Sigmoid: coef0 must be a finite number; got inf."),
]


@pytest.mark.parametrize(("kernel", "message"), BAD, ids=lambda value: repr(value)[:50])
def test_bad_parameters(kernel, message, X):
    for use in (kernel, kernel.resolve, Normalized(kernel), (2 * kernel + 1).resolve):
        with pytest.raises(ValueError, match="^" + _literal(message)):
            use(X)


def _literal(text):
    return "".join("\\" + letter if letter in "[].()" else letter for letter in text)


@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Polynomial(), Sigmoid()], ids=repr)
def test_what_depends_on_data_must_be_resolved(kernel, X, W):
    message = "gamma='scale' is no number yet; call kernel.resolve"
    for use in (
        lambda: kernel(X),
        lambda: kernel.theta,
        lambda: kernel.pairwise_form(),
        lambda: kernel.contract_gradient(X, W),
        lambda: kernel.leave_feature_out(X, W),
        lambda: kernel.diag(X),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    assert kernel.resolve(X)(X).shape == (12, 12)


@pytest.mark.parametrize("kernel", [RBF("wide"), Laplacian("wide")])
def test_unknown_words_for_widths(kernel, X):
    with pytest.raises(ValueError, match="must be 'scale' or 'auto' or 'median'; got 'wide'"):
        kernel.resolve(X)


@pytest.mark.parametrize("kernel", [Polynomial(2, "median"), Sigmoid("median")])
def test_the_median_distance_is_nothing_to_dot_products(kernel, X):
    with pytest.raises(ValueError, match="gamma must be 'scale' or 'auto'; got 'median'"):
        kernel.resolve(X)


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Laplacian(1.0)])
def test_bad_points(kernel, X, Y):
    with pytest.raises(ValueError, match=r"X must have two dimensions, .*; got 1"):
        kernel(X[0])
    with pytest.raises(ValueError, match="X has 4 columns but Y has 3; a kernel compares"):
        kernel(X, Y[:, :3])
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="X holds NaN or infinity"):
        kernel(broken)
    with pytest.raises(ValueError, match="Y holds NaN or infinity"):
        kernel(X, np.full((2, 4), np.inf))


def test_large_points_whose_sum_overflows_are_finite():
    assert np.isfinite(Linear()(np.array([[1e154, 0.0], [0.0, 1e154]]))).all()
    assert RBF(1.0).diag(np.full((4, 2), 1e308)).tolist() == [1.0] * 4
