"""Sums of kernel values from float32 products of points: only where the error is small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.gram import kernel_products
from mercer.gram import rounding as module
from mercer.kernels import RBF, Kernel, Laplacian, Polynomial


def problem(n: int, m: int, d: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return points, centres and coefficients that add up to values around 0."""
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(1, m))
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)), coefficients - coefficients.mean()


def both(kernel: Kernel, X: Any, Y: Any, coefficients: Any) -> tuple[Any, Any]:
    """Return the sums in float64 and those that may be rounded."""
    exact = kernel_products(kernel, X, Y, coefficients)
    return exact[:, 0], kernel_products(kernel, X, Y, coefficients, rounded=True)[:, 0]


@pytest.fixture
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small problems, too, ask whether float32 will do."""
    monkeypatch.setattr(module, "WORTHWHILE", 0)
    monkeypatch.setattr(module, "FEW_FEATURES", 0)


KERNELS = [RBF(0.02), RBF(0.2), Laplacian(0.02), Polynomial(2, 0.02, 1.0)]


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [2, 50])
def test_error_is_below_the_bound(kernel: Kernel, d: int) -> None:
    X, Y, coefficients = problem(3000, 700, d)
    exact, rounded = both(kernel, X, Y, coefficients)
    largest = 0.5 * np.ptp(exact)
    assert np.abs(rounded - exact).max() < module.ROUNDING * largest


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("kernel", [RBF(0.02), RBF(0.2), Laplacian(0.02)], ids=repr)
@pytest.mark.parametrize("d", [2, 20])
def test_kernel_values_are_rounded_where_that_is_allowed(
    kernel: Kernel, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = 2e-5
    monkeypatch.setattr(module, "ROUNDING", allowed)
    X, Y, coefficients = problem(3000, 700, d)
    exact, rounded = both(kernel, X, Y, coefficients)
    error = np.abs(rounded - exact).max() / (0.5 * np.ptp(exact))
    assert 0 < error < allowed


def test_large_problems_are_rounded_and_small_ones_are_not() -> None:
    X, Y, coefficients = problem(4000, 1000, 60)
    exact, rounded = both(RBF(0.01), X, Y, coefficients)
    assert (rounded != exact).any()
    exact, rounded = both(RBF(0.01), X[:200], Y, coefficients)
    assert (rounded == exact).all()


@pytest.mark.usefixtures("every_size")
def test_no_rounding_where_large_terms_cancel() -> None:
    """Pairs of neighbours with opposite coefficients: all of the sum is in the last digits."""
    X, Y, coefficients = problem(500, 300, 40)
    Y = np.concatenate([Y, Y + 1e-6])
    coefficients = 1e4 * np.concatenate([coefficients, -coefficients], axis=1)
    exact, rounded = both(RBF(0.01), X, Y, coefficients)
    assert (rounded == exact).all()


@pytest.mark.usefixtures("every_size")
def test_an_outlier_does_not_excuse_the_others() -> None:
    """A row whose value is a million times the others' does not set the measure for them."""
    X, Y, coefficients = problem(2000, 500, 40)
    X[700] *= 1e4
    exact, rounded = both(Polynomial(2, 0.02, 1.0), X, Y, coefficients)
    others = np.delete(np.arange(len(X)), 700)
    range_of_others = 0.5 * np.ptp(exact[others])
    assert np.abs(rounded - exact)[others].max() < module.ROUNDING * range_of_others


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("distance", [30.0, 100.0, 300.0])
def test_a_few_centres_far_out_do_not_go_unseen(distance: float) -> None:
    """Rows near them are hard, and hide behind rows still farther out, where nothing is."""
    X, Y, coefficients = problem(3000, 600, 40)
    Y[:20] += distance
    X[1:21] = Y[:20] + 0.1 * X[1:21]
    X[200:240] -= 6.0 * distance
    for gamma in (0.005, 0.025):
        exact, rounded = both(RBF(gamma), X, Y, coefficients)
        assert np.abs(rounded - exact).max() < module.ROUNDING * 0.5 * np.ptp(exact)


@pytest.mark.usefixtures("every_size")
def test_equal_rows_have_no_range() -> None:
    X, Y, coefficients = problem(100, 50, 5)
    X[:] = X[0]
    exact, rounded = both(RBF(0.1), X, Y, coefficients)
    assert (rounded == exact).all()


@pytest.mark.usefixtures("every_size")
@pytest.mark.parametrize("n", [1, 31, 63])
def test_few_rows_are_not_rounded(n: int) -> None:
    X, Y, coefficients = problem(n, 50, 5)
    exact, rounded = both(RBF(0.1), X, Y, coefficients)
    assert (rounded == exact).all()


@pytest.mark.usefixtures("every_size")
def test_segments_are_never_rounded() -> None:
    """The sums of segments are added to each other later, so that their range tells nothing."""
    X, Y, coefficients = problem(100, 50, 5)
    exact = kernel_products(RBF(0.1), X, Y, coefficients, [20, 30])
    rounded = kernel_products(RBF(0.1), X, Y, coefficients, [20, 30], rounded=True)
    assert (rounded == exact).all()
