"""One class seen as two: the data and their reflection."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC, OneClassSVM
from mercer.kernels import RBF
from mercer.spheres import reflect

X = 3.0 + np.random.default_rng(0).normal(size=(40, 3))


def test_shapes_and_labels() -> None:
    points, labels = reflect(X)
    np.testing.assert_array_equal(points[labels == 1], X)
    np.testing.assert_array_equal(points[labels == -1], -X)
    K, _ = reflect(X @ X.T, is_kernel_matrix=True)
    np.testing.assert_allclose(K, points @ points.T)
    with pytest.raises(ValueError, match="square"):
        reflect(X, is_kernel_matrix=True)


def test_hard_margin_has_the_same_normal() -> None:
    one = OneClassSVM(kernel="linear", nu=0.5 / len(X), tol=1e-10).fit(X)
    two = SVC(kernel="linear", C=np.inf, tol=1e-10).fit(*reflect(X))
    np.testing.assert_allclose(two.coef_, one.coef_ / one.offset_, rtol=1e-6)
    assert two.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    # The distance of the hyperplane from the origin is the margin.
    assert two.margin_[0] == pytest.approx(one.offset_ / np.linalg.norm(one.coef_), rel=1e-6)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_soft_margin_has_the_same_normal(nu: float, kernel: str) -> None:
    """In feature space too, where the reflection of phi(x) is no image of any point."""
    K = X @ X.T if kernel == "linear" else RBF(0.3)(X)
    n = len(X)
    one = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-11).fit(K)
    rho = one.offset_ / (nu * n)
    points, labels = reflect(K, is_kernel_matrix=True)
    two = SVC(kernel="precomputed", C=1 / (2 * nu * n * rho), tol=1e-11).fit(points, labels)
    np.testing.assert_allclose(
        two.decision_function(points)[:n], one.score_samples(K) / one.offset_, atol=1e-5
    )
    assert two.intercept_[0] == pytest.approx(0.0, abs=1e-6)
    # Outliers of the one are margin errors of the other.
    outside = one.decision_function(K) < -1e-6
    np.testing.assert_array_equal(two.slack_[:n] > 1e-6, outside)


@pytest.mark.parametrize("nu", [0.1, 0.4])
def test_outliers_are_targets_reflected(nu: float) -> None:
    """The machine on the reflected rows is that of y <w, x> >= rho, an SVC without an offset."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(40) % 4 == 0, -1, 1)
    rows = X - 2.0 * 3.0 * (y[:, None] < 0) + 0.5 * rng.normal(size=X.shape)
    K = rows @ rows.T
    points, labels = reflect(rows, y)
    np.testing.assert_array_equal(points, np.vstack([y[:, None] * rows, -y[:, None] * rows]))
    matrix, _ = reflect(K, y, is_kernel_matrix=True)
    np.testing.assert_allclose(matrix, points @ points.T)
    one = OneClassSVM(kernel="linear", nu=nu, tol=1e-11).fit(points[labels > 0])
    rho = one.offset_ / (nu * 40)
    two = SVC(kernel="linear", C=1 / (2 * nu * 40 * rho), tol=1e-11).fit(points, labels)
    np.testing.assert_allclose(two.coef_, one.coef_ / one.offset_, atol=1e-5)
    # At most a share nu lies on the wrong side of its own hyperplane.
    outside = y * (rows @ one.coef_[0]) < one.offset_ - 1e-9
    assert outside.mean() <= nu
    with pytest.raises(ValueError, match=r"y must be 40 numbers, \+1 or -1"):
        reflect(rows, np.arange(40))
