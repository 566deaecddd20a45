"""The sigmoid is the constrained maximum of the likelihood, and keeps its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_expit

from mercer.calibration import PlattSigmoid, fit_sigmoid


def reference(f: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Minimise the negative log likelihood over A <= 0 and B with a general optimiser."""
    n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        z = point[0] * f + point[1]
        value = -weight @ (target * log_expit(-z) + (1 - target) * log_expit(z))
        residual = weight * (target - 1 / (1 + np.exp(z)))
        return value, np.array([residual @ f, residual.sum()])

    best = minimize(
        loss,
        [-1.0, 0.0],
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, 0.0), (None, None)],
        options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10_000},
    )
    return best.x[0], best.x[1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_slope_and_shift_are_those_of_a_reference(seed: int, weighted: bool) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 400))
    positive = random.random(n) < random.uniform(0.1, 0.9)
    positive[:2] = [True, False]
    f = random.normal(size=n) + random.uniform(0, 3) * np.where(positive, 1, -1)
    weight = random.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    sigmoid = fit_sigmoid(f, positive, weight if weighted else None)
    A, B = reference(f, positive, weight)
    assert sigmoid.A == pytest.approx(A, rel=1e-6, abs=1e-6)
    assert sigmoid.B == pytest.approx(B, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_one_value_far_away_does_not_mislead(seed: int) -> None:
    """Full steps of Newton's method overshoot here; at the minimum the slopes of the loss are 0."""
    random = np.random.default_rng(seed)
    positive = random.random(150) < 0.1
    positive[:2] = [True, False]
    f = random.normal(size=150) + 3.0 * np.where(positive, 1, -1)
    f[0] += 1e3
    n_positive = positive.sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (150 - n_positive + 2))
    residual = target - fit_sigmoid(f, positive).probability(f)
    assert abs(residual.sum()) < 1e-6
    assert abs(residual @ f) < 1e-6 * np.abs(f).max()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(scale: float) -> None:
    random = np.random.default_rng(0)
    positive = random.random(100) < 0.4
    f = random.normal(size=100) + positive
    plain, scaled = fit_sigmoid(f, positive), fit_sigmoid(scale * f, positive)
    assert scaled.A * scale == pytest.approx(plain.A, rel=1e-9)
    assert scaled.B == pytest.approx(plain.B, rel=1e-9)


def test_the_origin_does_not_matter() -> None:
    random = np.random.default_rng(0)
    positive = random.random(100) < 0.4
    f = random.normal(size=100) + positive
    plain, moved = fit_sigmoid(f, positive), fit_sigmoid(f + 2.0**24, positive)
    assert moved.A == pytest.approx(plain.A, rel=1e-7)
    assert moved.B + moved.A * 2.0**24 == pytest.approx(plain.B, abs=1e-6)


def test_weight_is_repetition() -> None:
    random = np.random.default_rng(1)
    positive, f = random.random(60) < 0.5, random.normal(size=60)
    f += positive
    counts = random.integers(0, 4, 60)
    weighted = fit_sigmoid(f, positive, counts)
    repeated = fit_sigmoid(np.repeat(f, counts), np.repeat(positive, counts))
    assert weighted.A == pytest.approx(repeated.A, rel=1e-9)
    assert weighted.B == pytest.approx(repeated.B, rel=1e-9)


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40),
    labels=st.integers(0, 2**40 - 1),
)
def test_any_values_give_a_rising_curve_inside_the_targets(
    values: list[float], labels: int
) -> None:
    f = np.array(values)
    positive = np.array([bool(labels >> i & 1) for i in range(f.size)])
    sigmoid = fit_sigmoid(f, positive)
    probability = sigmoid.probability(np.sort(f))
    assert sigmoid.A <= 0
    assert np.isfinite([sigmoid.A, sigmoid.B]).all()
    assert (np.diff(probability) >= 0).all()
    assert ((probability >= 0) & (probability <= 1)).all()


def test_values_that_point_the_wrong_way_give_the_share_of_the_class() -> None:
    positive = np.array([True, False, False, False])
    sigmoid = fit_sigmoid([-1.0, 0.0, 1.0, 2.0], positive)
    # The mean target: (2/3 + 3 * 1/5) / 4.
    assert sigmoid.A == 0.0
    np.testing.assert_allclose(sigmoid.probability([-5.0, 5.0]), (2 / 3 + 3 / 5) / 4, rtol=1e-12)


def test_log_odds_and_probability_agree() -> None:
    sigmoid = PlattSigmoid(-1.5, 0.3)
    p = sigmoid.probability([-2.0, 0.1, 4.0])
    np.testing.assert_allclose(np.log(p / (1 - p)), sigmoid.log_odds([-2.0, 0.1, 4.0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [True]), "one length"),
        (([1.0, np.nan], [True, False]), "finite"),
        (([1.0, 2.0], [True, False], [0.0, 0.0]), "above 0"),
    ],
)
def test_bad_input_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_sigmoid(*arguments)
