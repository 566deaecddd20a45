"""Every gradient against central differences, for every criterion, loss and kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from mercer import SVC
from mercer.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Weighted,
    as_kernel,
)
from mercer.model_selection import (
    evidence,
    gacv,
    modified_radius_margin,
    posterior_error,
    press,
    radius_margin,
    smoothed_validation_error,
    span,
)

STEP = 1e-5

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.3),
    "widths": RBF([0.5, 0.2, 0.1, 0.4]),
    "weighted linear": Weighted(Linear(), [1.0, 0.5, 0.7, 1.5]),
    "weighted polynomial": Weighted(Polynomial(2, 0.3, 0.7), [1.0, 0.5, 0.7, 1.5]),
    "polynomial": Polynomial(3, 0.2, 1.0),
    "sum": 0.7 * RBF(0.3) + 0.2 * Linear() + 0.4 * Laplacian(0.2),
    "normalized": Normalized(Polynomial(2, 0.5, 1.0)),
    "matern": as_kernel(Matern(1.5, nu=1.5)),
}

RANDOM = np.random.default_rng(3)
X_ALL = RANDOM.normal(size=(90, 4))
# A quadratic rule, with a gap that lets all but the linear kernel separate the classes.
SCORE = X_ALL[:, 0] + 0.7 * X_ALL[:, 1] + 0.6 * X_ALL[:, 2] ** 2 - 0.6
X_ALL, SCORE = X_ALL[np.abs(SCORE) > 0.15], SCORE[np.abs(SCORE) > 0.15]
CLEAN = (SCORE > 0).astype(int)
NOISY = np.where(RANDOM.random(SCORE.size) < 0.1, 1 - CLEAN, CLEAN)
VALIDATION = X_ALL[55:], NOISY[55:]

CRITERIA: dict[str, tuple[Any, tuple[str, ...]]] = {
    "evidence": (evidence, ("hinge", "squared_hinge")),
    "press": (press, ("hinge", "squared_hinge")),
    "radius_margin": (radius_margin, ("squared_hinge", "hard")),
    "modified_radius_margin": (modified_radius_margin, ("hinge",)),
    "span": (span, ("hinge", "squared_hinge", "hard")),
    "gacv": (gacv, ("hinge",)),
    "smoothed error on folds": (
        partial(smoothed_validation_error, cv=3),
        ("hinge", "squared_hinge"),
    ),
    "smoothed error": (
        partial(smoothed_validation_error, validation=VALIDATION),
        ("hinge", "squared_hinge", "hard"),
    ),
    "posterior error": (
        partial(posterior_error, validation=VALIDATION),
        ("hinge", "squared_hinge", "hard"),
    ),
    "posterior error on folds": (partial(posterior_error, cv=3), ("hinge", "squared_hinge")),
}

CASES = [
    pytest.param(criterion, loss, kernel, id=f"{name}-{loss}-{kernel}")
    for name, (criterion, losses) in CRITERIA.items()
    for loss in losses
    for kernel in KERNELS
    if not (loss == "hard" and "linear" in kernel)  # the classes must be separable
]


def classifier(loss: str, kernel: Kernel, log_C: float = np.log(2.0)) -> SVC:
    if loss == "hard":
        return SVC(C=np.inf, kernel=kernel, tol=1e-11)
    return SVC(C=float(np.exp(log_C)), kernel=kernel, loss=loss, tol=1e-11)


def differences(value: Any, point: np.ndarray) -> np.ndarray:
    """Central differences."""
    steps = STEP * np.eye(point.size)
    return np.array([value(point + step) - value(point - step) for step in steps]) / (2 * STEP)


@pytest.mark.parametrize(("criterion", "loss", "kernel"), CASES)
def test_gradient(criterion: Any, loss: str, kernel: str) -> None:
    X, y = X_ALL[:55], (CLEAN if loss == "hard" else NOISY)[:55]
    resolved = KERNELS[kernel]
    n_free = 0 if loss == "hard" else 1

    def model(point: np.ndarray) -> SVC:
        log_C = point[0] if n_free else 0.0
        return classifier(loss, resolved.with_theta(point[n_free:]), log_C).fit(X, y)

    point = np.concatenate([[np.log(2.0)] * n_free, resolved.theta])
    found = criterion(model(point), X, y)
    assert found.names == ("C",) * n_free + tuple(resolved.theta_names)
    expected = differences(lambda p: criterion(model(p), X, y, gradient=False).value, point)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-4, atol=1e-5 * scale + 1e-7)
