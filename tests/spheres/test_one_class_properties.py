"""The theorems about one class, as properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import SVDD, OneClassSVM
from mercer.kernels import RBF, Laplacian, Linear, Normalized, Polynomial

GENERAL = st.sampled_from([RBF(0.3), RBF(5.0), Linear(), Polynomial(2, 0.5, 1.0), Laplacian(0.5)])
CONSTANT_DIAGONAL = st.sampled_from(
    [RBF(0.1), RBF(3.0), Laplacian(0.5), Normalized(Polynomial(2, 0.5, 1.0)), 2.5 * RBF(0.5)]
)


@st.composite
def rows(draw: Any, least: int = 2) -> np.ndarray:
    """Return points of a coarse grid, among them copies, moved off the grid a little or not."""
    shape = st.tuples(st.integers(least, 30), st.integers(1, 3))
    X = draw(arrays(np.float64, shape, elements=st.integers(-4, 4).map(float)))
    noise = draw(st.sampled_from([0.0, 0.1]))
    return X + noise * np.random.default_rng(len(X)).normal(size=X.shape)


@given(rows(), GENERAL, st.floats(0.01, 1.0))
def test_nu_bounds_outliers_and_support_vectors(X: np.ndarray, kernel: Any, nu: float) -> None:
    for machine in (SVDD(kernel=kernel, nu=nu), OneClassSVM(kernel=kernel, nu=nu)):
        machine.fit(X)
        n_outside = (machine.predict(X) < 0).sum()
        assert n_outside <= nu * len(X) + 1e-9
        assert len(machine.support_) >= nu * len(X) - 1e-9
        assert n_outside <= (machine.support_kind_ == "bound").sum()


@given(rows(), GENERAL, st.floats(0.05, 1.0), st.integers(0, 2**16))
def test_nu_counts_weights(X: np.ndarray, kernel: Any, nu: float, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    weights[0] = 1.0
    for machine in (SVDD(kernel=kernel, nu=nu), OneClassSVM(kernel=kernel, nu=nu)):
        machine.fit(X, sample_weight=weights)
        used = X[weights > 0]
        outside = (machine.predict(used) < 0) @ weights[weights > 0]
        assert outside <= nu * weights.sum() + 1e-9
        assert weights[machine.support_].sum() >= nu * weights.sum() - 1e-9


def test_nu_bounds_outliers_at_a_loose_tolerance() -> None:
    """Also where the solver stops early."""
    X = np.random.default_rng(0).normal(size=(6000, 2))
    for nu in (0.003, 0.05, 0.4):
        for machine in (SVDD(nu=nu, tol=0.1), OneClassSVM(nu=nu, tol=0.5)):
            machine.fit(X)
            assert (machine.predict(X) < 0).mean() <= nu
            assert len(machine.support_) >= nu * len(X)


@given(rows(), CONSTANT_DIAGONAL, st.floats(0.05, 1.0), rows())
def test_ball_and_hyperplane_describe_one_region(
    X: np.ndarray, kernel: Any, nu: float, other: np.ndarray
) -> None:
    """For constant k(x, x): R^2 - d^2 = 2 (<w, phi> - rho) with multipliers of sum 1."""
    new = np.resize(other, (len(other), X.shape[1]))
    ball = SVDD(kernel=kernel, nu=nu, tol=1e-9).fit(X)
    plane = OneClassSVM(kernel=kernel, nu=nu, tol=1e-9).fit(X)
    for points in (X, new):
        inside = ball.decision_function(points)
        above = 2.0 * plane.decision_function(points) / (nu * len(X))
        np.testing.assert_allclose(inside, above, atol=1e-7)
        clear = np.abs(inside) > 1e-6
        np.testing.assert_array_equal(ball.predict(points)[clear], plane.predict(points)[clear])


@given(rows(), st.sampled_from([Linear(), Polynomial(2, 0.5, 1.0), RBF(0.5)]), st.floats(0.0, 0.9))
def test_centring_in_feature_space_changes_nothing(X: np.ndarray, kernel: Any, nu: float) -> None:
    K = kernel(X)
    mean = K.mean(axis=0)
    centred = K - mean - mean[:, None] + K.mean()
    scale = max(1.0, np.abs(K).max())
    ball = SVDD(kernel="precomputed", nu=nu, tol=1e-10).fit(K)
    moved = SVDD(kernel="precomputed", nu=nu, tol=1e-10).fit(centred)
    assert moved.radius_**2 == pytest.approx(ball.radius_**2, abs=1e-7 * scale)
    assert moved.objective_ == pytest.approx(ball.objective_, abs=1e-7 * scale)
    np.testing.assert_allclose(
        moved.decision_function(centred, np.diagonal(centred)),
        ball.decision_function(K, np.diagonal(K)),
        atol=1e-6 * scale,
    )


@given(rows(), GENERAL, st.floats(1.0, 50.0))
def test_a_price_of_at_least_one_allows_no_slack(X: np.ndarray, kernel: Any, C: float) -> None:
    rigid = SVDD(kernel=kernel, nu=0, tol=1e-10).fit(X)
    dear = SVDD(kernel=kernel, C=C, tol=1e-10).fit(X)
    assert dear.radius_ == pytest.approx(rigid.radius_, rel=1e-6, abs=1e-6)
    assert (rigid.predict(X) == 1).all()
    assert (dear.predict(X) == 1).all()


@given(rows(), st.floats(0.01, 0.99))
def test_a_price_below_one_over_n_is_refused(X: np.ndarray, share: float) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SVDD(C=share / len(X)).fit(X)
    assert SVDD(C=1.0 / len(X)).fit(X).converged_


@settings(max_examples=25)
@given(rows(), GENERAL, st.floats(0.0, 1.0), st.integers(0, 2**16))
def test_weight_is_repetition(X: np.ndarray, kernel: Any, nu: float, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 3, len(X))
    counts[0] = 1
    repeated = SVDD(kernel=kernel, nu=nu, tol=1e-10).fit(np.repeat(X, counts, axis=0))
    weighted = SVDD(kernel=kernel, nu=nu, tol=1e-10).fit(X, sample_weight=counts)
    scale = max(1.0, np.abs(kernel.diag(X)).max())
    assert weighted.radius_**2 == pytest.approx(repeated.radius_**2, abs=1e-6 * scale)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5 * scale
    )
