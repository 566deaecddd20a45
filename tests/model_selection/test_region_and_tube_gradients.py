"""Gradients of regressions and of one class against central differences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict

from mercer import SVDD, SVR, OneClassSVM
from mercer.kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Weighted
from mercer.model_selection import (
    evidence,
    press,
    region_error,
    regression_error,
    regression_radius_margin,
)

STEP = 1e-5

KERNELS: dict[str, Kernel] = {
    "widths": RBF([0.5, 0.2, 0.1]),
    "polynomial": Polynomial(2, 0.3, 1.0),
    "sum": 0.7 * RBF(0.3) + 0.2 * Linear(),
    "weighted": Weighted(Laplacian(0.3), [1.0, 0.5, 0.7]),
}

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(50, 3))
Y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * RANDOM.normal(size=50)
NEW = RANDOM.normal(size=(30, 3))
VALIDATION = NEW, np.sin(2 * NEW[:, 0]) + 0.5 * NEW[:, 1]
LINEAR, SQUARED = "epsilon_insensitive", "squared_epsilon_insensitive"

REGRESSIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "evidence": (evidence, (LINEAR,)),
    "press": (press, (LINEAR,)),
    "folds": (partial(regression_error, cv=3), (LINEAR, SQUARED)),
    "validation": (partial(regression_error, validation=VALIDATION), (LINEAR, SQUARED)),
    "radius": (regression_radius_margin, (SQUARED,)),
}


def differences(value: Any, point: np.ndarray) -> np.ndarray:
    """Central differences."""
    steps = STEP * np.eye(point.size)
    return np.array([value(point + step) - value(point - step) for step in steps]) / (2 * STEP)


def assert_slope(found: Any, expected: np.ndarray) -> None:
    scale = np.abs(expected).max()
    assert scale > 1e-3  # there is something to compare
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * scale + 1e-7)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize(
    ("name", "loss"), [(name, loss) for name, (_, losses) in REGRESSIONS.items() for loss in losses]
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_of_regression(kernel: str, name: str, loss: str, epsilon: float) -> None:
    criterion, start = REGRESSIONS[name][0], KERNELS[kernel]
    n_prices = 1 if epsilon == 0 else 2

    def model(point: np.ndarray) -> SVR:
        tube = 0.0 if epsilon == 0 else float(np.exp(point[1]))
        own = start.with_theta(point[n_prices:])
        C = float(np.exp(point[0]))
        return SVR(C=C, epsilon=tube, kernel=own, loss=loss, tol=1e-11).fit(X, Y)

    point = np.concatenate([np.log([1.5, 0.2])[:n_prices], start.theta])
    found = criterion(model(point), X, Y)
    assert found.names == ("C", "epsilon")[:n_prices] + tuple(start.theta_names)
    expected = differences(lambda p: criterion(model(p), X, Y, gradient=False).value, point)
    assert_slope(found.gradient, expected)
    if name in ("evidence", "press") and epsilon:
        assert found.gradient[1] == 0.0  # the least-squares machine has no tube


@pytest.mark.parametrize("kind", ["nu", "ball", "squared", "outliers"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_of_a_region(kernel: str, kind: str) -> None:
    start = KERNELS[kernel]
    signs = np.where(np.arange(50) % 7 == 3, -1, 1) if kind == "outliers" else None
    settings = {"tol": 1e-11}
    models: dict[str, Any] = {
        "nu": lambda own: OneClassSVM(nu=0.3, kernel=own, **settings).fit(X),
        "ball": lambda own: SVDD(nu=0.2, kernel=own, **settings).fit(X),
        "squared": lambda own: SVDD(C=0.1, loss="squared_hinge", kernel=own, **settings).fit(X),
        "outliers": lambda own: SVDD(nu=0.2, C_outlier=0.3, kernel=own, **settings).fit(X, signs),
    }

    def found(theta: np.ndarray, gradient: bool = False) -> Any:
        model = models[kind](start.with_theta(theta))
        more = {"outliers": 2.0 * NEW, "cv": 3, "mix": 0.4}
        return region_error(model, X, signs, gradient=gradient, **more)

    slope = found(start.theta, gradient=True)
    assert slope.names == tuple(start.theta_names)
    assert_slope(slope.gradient, differences(lambda theta: found(theta).value, start.theta))


@pytest.mark.parametrize("loss", [LINEAR, SQUARED])
def test_regression_error_is_that_of_other_fits(loss: str) -> None:
    model = SVR(C=2.0, epsilon=0.1, gamma=0.3, loss=loss, tol=1e-9).fit(X, Y)
    folds = KFold(4)
    predicted = cross_val_predict(model, X, Y, cv=folds)
    found = regression_error(model, X, Y, cv=folds).value
    assert found == pytest.approx(np.mean((predicted - Y) ** 2), rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [OneClassSVM(nu=0.3, gamma=0.4, tol=1e-9), SVDD(nu=0.3, kernel=Polynomial(2, 0.3), tol=1e-9)],
    ids=["nu", "ball"],
)
def test_region_error_is_that_of_other_fits(model: Any) -> None:
    """With a steep sigmoid it is the share of errors of machines that have not seen the rows."""
    splits = list(KFold(2).split(X))
    parts = [clone(model).fit(X[seen]) for seen, _ in splits]
    rejected = [part.predict(X[out]) < 0 for part, (_, out) in zip(parts, splits)]
    accepted = [part.predict(NEW[k::2]) > 0 for k, part in enumerate(parts)]
    expected = 0.7 * np.concatenate(rejected).mean() + 0.3 * np.concatenate(accepted).mean()
    options = {"outliers": NEW, "cv": splits, "mix": 0.7, "slope": 1e6}
    found = region_error(clone(model).fit(X), X, **options).value
    assert 0.05 < expected < 0.95
    assert found == pytest.approx(expected, abs=1e-6)


def test_other_models_and_data_are_refused() -> None:
    regression, region = SVR().fit(X, Y), OneClassSVM().fit(X)
    with pytest.raises(TypeError, match=r"needs a fitted mercer.SVR; got OneClassSVM"):
        regression_error(region, X, Y)
    with pytest.raises(TypeError, match=r"mercer.SVDD or mercer.OneClassSVM; got SVR"):
        region_error(regression, X)
    with pytest.raises(ValueError, match=r"rows and labels on which"):
        regression_error(regression, X[:20], Y[:20])
    with pytest.raises(ValueError, match=r"rows on which"):
        region_error(region, X[:20])
    with pytest.raises(ValueError, match=r"squared_epsilon_insensitive"):
        regression_radius_margin(regression, X, Y)
    matrix = X @ X.T
    with pytest.raises(ValueError, match=r"give outliers"):
        region_error(OneClassSVM(kernel="precomputed").fit(matrix), matrix)


def test_bound_holds_for_the_error_without_each_row() -> None:
    model = SVR(C=3.0, epsilon=0.1, gamma=0.3, loss=SQUARED, tol=1e-8).fit(X, Y)
    left_out = cross_val_predict(model, X, Y, cv=LeaveOneOut())
    assert np.abs(left_out - Y).mean() <= regression_radius_margin(model, X, Y).value
