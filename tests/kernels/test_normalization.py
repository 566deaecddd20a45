"""Points of length one, in feature space and in input space."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mercer.kernels import RBF, Laplacian, Linear, Normalized, Polynomial, unit_rows


def test_all_points_have_length_one(entry, X):
    if entry.mercer:
        kernel = Normalized(entry.kernel)
        K = kernel(X)
        assert_array_equal(np.diag(K), 1.0)
        assert_array_equal(kernel.diag(X), 1.0)
        assert np.abs(K).max() <= 1 + 1e-14


def test_normalising_twice_changes_nothing(X, Y):
    once = Normalized(Polynomial(3, 0.2, 0.7))
    assert_allclose(Normalized(once)(X, Y), once(X, Y), rtol=1e-13)


def test_multiples_do_not_matter(X, Y):
    kernel = Polynomial(3, 0.2, 0.7)
    assert_allclose(Normalized(5.0 * kernel)(X, Y), Normalized(kernel)(X, Y), rtol=1e-13)


def test_radial_kernels_are_their_own_normalisation(X, Y):
    for kernel in (RBF(0.3), Laplacian(0.3), Laplacian(0.3, metric="euclidean")):
        assert_allclose(Normalized(2.0 * kernel)(X, Y), kernel(X, Y), rtol=1e-13)
        form = Normalized(2.0 * kernel).pairwise_form()
        assert form.factor == 1.0
        assert form.gamma == 0.3
    assert Normalized(Linear()).pairwise_form() is None


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_monic_polynomials_can_be_normalised_in_input_space(degree, X, Y):
    kernel = Polynomial(degree, 1.0)
    assert_allclose(Normalized(kernel)(X, Y), kernel(unit_rows(X), unit_rows(Y)), atol=1e-14)


def test_an_extra_component_normalises_any_polynomial_in_input_space(X, Y):
    kernel = Polynomial(3, 0.2, 0.7)
    extra = np.sqrt(0.7 / 0.2)
    assert_allclose(
        Normalized(kernel)(X, Y),
        Polynomial(3, 1.0)(unit_rows(X, extra), unit_rows(Y, extra)),
        rtol=1e-12,
    )


def test_unit_rows_of_sparse_points(X):
    for extra in (None, 1.0):
        rows = unit_rows(sp.csr_matrix(X), extra)
        assert sp.issparse(rows)
        assert_allclose(rows.toarray(), unit_rows(X, extra))
    assert_allclose(np.linalg.norm(unit_rows(X, 1.0), axis=1), 1.0)


def test_a_zero_row_has_no_direction():
    X = np.array([[1.0, 2.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"Row 1 is zero and has no direction; give extra=1\.0"):
        unit_rows(X)
    with pytest.raises(ValueError, match=r"k\(x, x\) must be above 0 for every row; row 1 has 0"):
        Normalized(Linear())(X)
    assert_array_equal(unit_rows(X, extra=1.0)[1], [0.0, 0.0, 1.0])
    assert_allclose(Normalized(Linear() + 1)(X)[0, 1], 1 / np.sqrt(6.0))
