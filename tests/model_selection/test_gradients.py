"""Every gradient against central differences, for every criterion, loss and kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
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
    radius_margin_count,
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
    "laplacian": Laplacian(0.3),
    "sum": 0.7 * RBF(0.3) + 0.2 * Linear() + 0.4 * Laplacian(0.2),
    "product": RBF(0.2) * Polynomial(2, 0.3, 1.0),
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
    "radius_margin_count": (radius_margin_count, ("hinge",)),  # of others: as radius_margin
    "span": (span, ("hinge", "squared_hinge", "hard")),
    "gacv": (gacv, ("hinge",)),
    "smoothed error on folds": (
        partial(smoothed_validation_error, cv=3),
        ("hinge", "squared_hinge", "hard"),
    ),
    "smoothed error": (
        partial(smoothed_validation_error, validation=VALIDATION),
        ("hinge", "squared_hinge", "hard"),
    ),
    "posterior error": (
        partial(posterior_error, validation=VALIDATION),
        ("hinge", "squared_hinge", "hard"),
    ),
    "posterior error on folds": (
        partial(posterior_error, cv=3),
        ("hinge", "squared_hinge", "hard"),
    ),
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


WEIGHTED = {
    "evidence": (evidence, "squared_hinge"),
    "press": (press, "squared_hinge"),
    "radius_margin": (radius_margin, "squared_hinge"),
    "modified_radius_margin": (modified_radius_margin, "hinge"),
}


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("name", WEIGHTED)
def test_gradient_with_weights_and_many_classes(name: str, multi_class: str) -> None:
    criterion, loss = WEIGHTED[name]
    X = X_ALL[:45]
    y = np.where(X[:, 3] > 0.8, 2, NOISY[:45])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 45)
    kernel = KERNELS["widths"]

    def found(point: np.ndarray, gradient: bool = False) -> Any:
        model = classifier(loss, kernel.with_theta(point[1:]), point[0])
        model.set_params(class_weight={0: 2.0}, multi_class=multi_class)
        model.fit(X, y, sample_weight=weights)
        return criterion(model, X, y, gradient=gradient, sample_weight=weights)

    point = np.append(np.log(2.0), kernel.theta)
    expected = differences(lambda p: found(p).value, point)
    scale = np.abs(expected).max()
    gradient = found(point, gradient=True).gradient
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5 * scale + 1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "widths"])
def test_sparse_rows_have_the_same_gradient(kernel: str) -> None:
    X, y = np.where(np.abs(X_ALL[:55]) > 0.5, X_ALL[:55], 0.0), NOISY[:55]
    for criterion in (evidence, press, radius_margin, span):
        dense, sparse = (
            criterion(classifier("squared_hinge", KERNELS[kernel]).fit(rows, y), rows, y)
            for rows in (X, sp.csr_matrix(X))
        )
        assert sparse.value == pytest.approx(dense.value, rel=1e-8)
        np.testing.assert_allclose(sparse.gradient, dense.gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_widths_far_from_the_origin(offset: float) -> None:
    """Only differences of rows count, however far away the rows are."""
    X, y = X_ALL[:55], NOISY[:55]
    near, far = (
        evidence(classifier("squared_hinge", KERNELS["widths"]).fit(rows, y), rows, y)
        for rows in (X, X + offset)
    )
    np.testing.assert_allclose(far.gradient, near.gradient, rtol=1e-6)
