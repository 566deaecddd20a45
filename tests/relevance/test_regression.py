"""Relevance vector regression: noise, deviations, and data that make trouble."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_regression
from sklearn.linear_model import LinearRegression

from mercer import RVR, feature_sensitivity
from mercer.kernels import Linear


@pytest.fixture(scope="module", name="sinc")
def sinc_data() -> tuple[Any, Any]:
    X = np.linspace(-10, 10, 100)[:, None]
    return X, np.sinc(X.ravel() / np.pi) + 0.1 * np.random.default_rng(0).normal(size=100)


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_sinc(method: str, sinc: Any) -> None:
    """Tipping's example: some six vectors, the noise found, the error well below it."""
    X, y = sinc
    model = RVR(gamma=0.1, method=method).fit(X, y)
    assert model.relevance_.size <= 10
    assert model.noise_ == pytest.approx(0.1, rel=0.15)
    truth = np.sinc(X.ravel() / np.pi)
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.05


def test_deviations_cover_what_they_say() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (1800, 1))
    y = np.sin(2 * X.ravel()) + 0.3 * rng.normal(size=1800)
    covered = []
    for start in range(0, 800, 100):
        part = slice(start, start + 100)
        model = RVR(gamma=1.0).fit(X[part], y[part])
        mean, deviation = model.predict(X[800:], return_std=True)
        covered.append(np.mean(np.abs(y[800:] - mean) < 1.96 * deviation))
        assert (deviation > model.noise_).all()
    assert 0.9 < np.mean(covered) < 0.97


def test_units_of_the_target_do_not_matter(sinc: Any) -> None:
    X, y = sinc
    small, large = RVR(gamma=0.1).fit(X, y), RVR(gamma=0.1).fit(X, 1e6 * y)
    np.testing.assert_array_equal(small.relevance_, large.relevance_)
    np.testing.assert_allclose(1e6 * small.predict(X), large.predict(X), rtol=1e-6, atol=1e-3)
    assert large.noise_ == pytest.approx(1e6 * small.noise_, rel=1e-6)
    assert large.log_evidence_ == pytest.approx(small.log_evidence_ - 100 * np.log(1e6), rel=1e-9)


def test_weight_is_repetition() -> None:
    X, y = make_friedman1(60, noise=1.0, random_state=0)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    weighted = RVR().fit(X, y, sample_weight=counts)
    repeated = RVR().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-9)
    assert weighted.noise_ == pytest.approx(repeated.noise_, rel=1e-6)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_columns_name_the_relevant_features() -> None:
    """A third of the others stay too, as q^2 > s happens by chance, but with next to no weight."""
    X, y, truth = make_regression(100, 30, n_informative=4, noise=1.0, coef=True, random_state=0)
    model = RVR(basis="columns").fit(X, y)
    assert set(np.flatnonzero(truth)) <= set(model.relevance_)
    assert model.relevance_.size <= 18
    np.testing.assert_allclose(model.coef_[0], truth, atol=1.0)
    assert model.noise_ == pytest.approx(1.0, rel=0.25)
    assert set(np.argsort(feature_sensitivity(model, X))[-4:]) == set(np.flatnonzero(truth))


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2000))
    y = 3 * X[:, 7] - 2 * X[:, 1500] + 0.1 * rng.normal(size=40)
    model = RVR(basis="columns").fit(X, y)
    assert set(model.relevance_) >= {7, 1500}
    assert np.abs(model.coef_[0, [7, 1500]] - [3, -2]).max() < 0.2


def test_a_linear_kernel_is_a_linear_model() -> None:
    X, y = make_regression(80, 3, noise=2.0, random_state=1)
    model = RVR(kernel=Linear()).fit(X, y)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_[0] + model.intercept_[0])
    assert model.relevance_.size <= 3
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=3.0)


@pytest.mark.parametrize("method", ["fast", "classic"])
@pytest.mark.parametrize("value", [0.0, 5.0])
def test_targets_that_are_all_equal(method: str, value: float) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = RVR(method=method).fit(X, np.full(30, value))
    np.testing.assert_allclose(model.predict(X), value, atol=0.05)
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_targets_without_noise(method: str) -> None:
    X = np.linspace(-3, 3, 60)[:, None]
    y = np.exp(-(X.ravel() ** 2))
    model = RVR(gamma=1.0, method=method, max_iter=2000).fit(X, y)
    assert model.noise_ >= 1e-4 * y.std() * (1 - 1e-9)
    np.testing.assert_allclose(model.predict(X), y, atol=0.01)


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_duplicate_rows_and_constant_columns(method: str, sinc: Any) -> None:
    X, y = sinc
    X = np.column_stack([X, np.ones(100)])
    model = RVR(gamma=0.1, method=method).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert model.relevance_.size < 15
    assert model.score(X, y) > 0.9


def test_one_row() -> None:
    model = RVR().fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]])[0] == pytest.approx(3.0, abs=0.1)


def test_far_from_the_data_only_the_constant_is_left(sinc: Any) -> None:
    X, y = sinc
    model = RVR(gamma=0.1).fit(X, y)
    assert model.predict([[1e3]])[0] == pytest.approx(model.intercept_[0])


def test_same_data_same_model(sinc: Any) -> None:
    X, y = sinc
    order = np.random.default_rng(3).permutation(100)
    model, again, shuffled = (
        RVR(gamma=0.1).fit(X, y), RVR(gamma=0.1).fit(X, y), RVR(gamma=0.1).fit(X[order], y[order])
    )  # fmt: skip
    np.testing.assert_array_equal(model.mu_, again.mu_)
    np.testing.assert_array_equal(
        np.sort(model.relevance_vectors_, axis=0), np.sort(shuffled.relevance_vectors_, axis=0)
    )
    np.testing.assert_allclose(model.predict(X), shuffled.predict(X), atol=1e-6)
