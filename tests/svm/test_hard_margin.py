"""C = inf: the largest margin where there is one, and a clear word where there is none."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from zoo import blobs, rings

from mercer import SVC
from mercer.kernels import RBF
from mercer.problems import hard_margin_svc
from mercer.solvers.exact import solve_exact


def largest_margin(K: np.ndarray, y: np.ndarray) -> float:
    """Return 1/|w| from the exact solution."""
    solution = solve_exact(hard_margin_svc(y), SimpleNamespace(matrix=lambda: K), tol=1e-9)
    assert solution.gap <= 1e-8
    return 1 / np.sqrt(-2 * solution.objective)


def hard(**params: Any) -> SVC:
    return SVC(**({"C": np.inf, "tol": 1e-8} | params))


@pytest.mark.parametrize("distance", [1e-3, 1.0, 7.0, 1e4])
def test_two_points(distance: float) -> None:
    """Half the distance of the points, half way between them."""
    X, y = np.array([[1.0, 2.0], [1.0, 2.0 + distance]]), np.array([0, 1])
    model = hard(kernel="linear").fit(X, y)
    assert model.margin_[0] == pytest.approx(distance / 2, rel=1e-6)
    np.testing.assert_allclose(model.coef_, [[0.0, 2 / distance]], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), [-1.0, 1.0], rtol=1e-6)


def test_two_lines() -> None:
    """Points on x = 0 and x = 3: the margin is 1.5 whatever lies behind them."""
    rng = np.random.default_rng(0)
    left = np.column_stack([-rng.exponential(size=30), rng.normal(size=30)])
    right = np.column_stack([3 + rng.exponential(size=30), rng.normal(size=30)])
    left[:3, 0], right[:3, 0] = 0.0, 3.0
    left[:3, 1] = right[:3, 1] = [-1.0, 0.0, 1.0]
    model = hard(kernel="linear").fit(np.vstack([left, right]), np.repeat([0, 1], 30))
    assert model.margin_[0] == pytest.approx(1.5, rel=1e-6)
    np.testing.assert_allclose(model.coef_, [[2 / 3, 0.0]], atol=1e-6)
    assert model.intercept_[0] == pytest.approx(-1.0, abs=1e-6)


def test_circles_under_the_square_kernel() -> None:
    """Two circles around zero: in the space of monomials |phi(x)|^2 alone decides.

    With k(x, y) = <x, y>^2 the classes r = 1 and r = 2 lie in parallel planes: the functional
    x1^2 + x2^2 has norm sqrt(2) and takes the values 1 and 4, so that the margin is 3 / (2 sqrt 2).
    """
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = hard(kernel="poly", degree=2, gamma=1.0)
    model.fit(np.vstack([circle, 2 * circle]), np.repeat([0, 1], 24))
    assert model.margin_[0] == pytest.approx(3 / (2 * np.sqrt(2)), rel=1e-6)


def test_orthogonal_points() -> None:
    """A very narrow RBF kernel makes all points orthogonal, and the margin a matter of counting."""
    X, y = blobs(1, 20, 3, share=0.25)
    model = hard(gamma=1e6).fit(X, y)
    # Distance of the two means of n+ and n- orthonormal vectors is twice the margin.
    positive, negative = (y == 1).sum(), (y == -1).sum()
    assert model.margin_[0] == pytest.approx(np.sqrt(1 / positive + 1 / negative) / 2, rel=1e-6)


SEPARABLE = {
    "linear": (*blobs(2, 80, 4, 2.5), {"kernel": "linear"}),
    "linear_wide": (*blobs(3, 40, 100, 0.2), {"kernel": "linear"}),
    "linear_squared_loss": (*blobs(2, 80, 4, 2.5), {"kernel": "linear", "loss": "squared_hinge"}),
    "rbf": (*rings(4, 120), {"gamma": 1.0}),
    "rbf_many": (*rings(5, 400), {"gamma": 2.0}),
    "poly": (*rings(6, 100), {"kernel": "poly", "degree": 2, "coef0": 1.0}),
    "laplacian": (*rings(7, 100), {"kernel": "laplacian"}),
    "narrow": (*blobs(8, 60, 3), {"gamma": 10.0}),
}


@pytest.mark.parametrize(("X", "y", "params"), SEPARABLE.values(), ids=SEPARABLE)
def test_margin_is_maximal(X: Any, y: Any, params: dict[str, Any]) -> None:
    model = hard(**params).fit(X, y)
    K = model.kernel_(X)
    assert model.margin_[0] == pytest.approx(largest_margin(K, y.astype(float)), rel=1e-6)
    assert (y * model.decision_function(X)).min() >= 1 - 1e-6
    assert model.slack_.max() <= 1e-6
    assert (model.support_kind_ == "margin").all()


def test_many_classes() -> None:
    """Iris setosa lies apart from both others, so that each of its pairs has a margin."""
    X, y = load_iris(return_X_y=True)
    model = hard(gamma=0.5, tol=1e-5).fit(X, np.where(y == 2, 1, y))
    assert model.score(X, np.where(y == 2, 1, y)) == 1.0


OVERLAPPING = {
    "linear": (*blobs(10, 100, 2, 0.3), {"kernel": "linear"}),
    "linear_long": (*blobs(11, 3000, 3, 0.3), {"kernel": "linear"}),
    "linear_one_wrong": (
        np.vstack([blobs(12, 200, 2, 3.0)[0], [[3.0, 3.0]]]),
        np.append(blobs(12, 200, 2, 3.0)[1], -1),
        {"kernel": "linear"},
    ),
    "linear_smo": (*blobs(13, 100, 2, 0.3), {"kernel": "linear", "solver": "smo"}),
    "poly": (*blobs(14, 200, 2, 0.3), {"kernel": "poly", "degree": 3, "coef0": 1.0}),
    "rbf_contradiction": (
        np.vstack([blobs(15, 60, 3)[0], blobs(15, 60, 3)[0][:1]]),
        np.append(blobs(15, 60, 3)[1], -blobs(15, 60, 3)[1][0]),
        {},
    ),
    "rbf_all_contradict": (np.zeros((6, 2)), np.array([1, -1] * 3), {}),
    "rbf_wide": (*blobs(16, 200, 2, 0.2), {"gamma": 0.01}),
    "precomputed": (np.ones((10, 10)), np.array([1, -1] * 5), {"kernel": "precomputed"}),
    "squared_loss": (
        *blobs(17, 100, 2, 0.3),
        {"kernel": "linear", "loss": "squared_hinge"},
    ),
}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(("X", "y", "params"), OVERLAPPING.values(), ids=OVERLAPPING)
def test_not_separable(X: Any, y: Any, params: dict[str, Any], tol: float) -> None:
    """One clear sentence without long attempts, and no half-fitted model."""
    model = hard(tol=tol, max_iter=100_000, **params)
    with pytest.raises(ValueError, match=r"separate.*finite C"):
        model.fit(X, y)
    assert not hasattr(model, "support_")


def test_finite_c_still_works_where_hard_does_not() -> None:
    X, y = OVERLAPPING["linear"][:2]
    assert SVC(kernel="linear", C=1e3).fit(X, y).converged_


UNSCALED = {
    "linear": {"kernel": "linear", "C": 1.0},
    "linear_C_100": {"kernel": "linear", "C": 100.0},
    "linear_hard": {"kernel": "linear", "C": np.inf},
    "linear_smo": {"kernel": "linear", "C": 1.0, "solver": "smo"},
    "linear_hard_smo": {"kernel": "linear", "C": np.inf, "solver": "smo"},
    "rbf": {"C": 10.0},
    "rbf_hard": {"C": np.inf},
    "poly": {"kernel": "poly", "C": 1.0},
    "squared": {"kernel": "linear", "loss": "squared_hinge", "C": 10.0},
}


def _unscaled(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "cells":
        return load_breast_cancer(return_X_y=True)
    X, y = blobs(20, 200, 2, 0.5)
    if name == "apart":  # by both features together, and by neither alone
        y = np.where(X.sum(axis=1) > 0, 1, -1)
        X = X + 0.5 * y[:, None]
    return X * [1.0, 1e6], y


@pytest.mark.parametrize("params", UNSCALED.values(), ids=UNSCALED)
@pytest.mark.parametrize("data", ["apart", "overlap", "cells"])
def test_unscaled_data(data: str, params: dict[str, Any]) -> None:
    """Features at 1 and at 1e6: converged, not separable, or a warning that helps; never a hang."""
    X, y = _unscaled(data)
    model = SVC(max_iter=5_000_000, **params)
    refusal = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except ValueError as error:
            refusal = str(error)
    if refusal is not None:
        assert "separate" in refusal
        assert params["C"] == np.inf
        # A width that is right for the large feature leaves nothing of the small one; nor does
        # "smo" see a margin of a millionth of the data's radius, which "auto" leaves to "linear".
        assert data != "apart" or params.get("kernel") != "linear" or "solver" in params
    elif model.converged_:
        assert not caught
        assert model.gap_[0] <= model.tol
    else:
        (warning,) = caught
        assert issubclass(warning.category, ConvergenceWarning)
        assert f"{model.gap_[0]:.3g}" in str(warning.message)
        assert "Scale" in str(warning.message)


def test_margin_does_not_depend_on_units() -> None:
    """Data, kernel and margin in other units: w changes by the unit, the boundary does not."""
    X, y = blobs(21, 60, 3, 2.0)
    margin = hard(kernel="linear").fit(X, y).margin_[0]
    for unit in (1e-4, 1e4):
        other = hard(kernel="linear").fit(unit * X, y).margin_[0]
        assert other == pytest.approx(unit * margin, rel=1e-6)
    margin = hard(kernel=RBF(0.5)).fit(X, y).margin_[0]
    for factor in (1e-6, 1e6):
        other = hard(kernel=factor * RBF(0.5)).fit(X, y).margin_[0]
        assert other == pytest.approx(np.sqrt(factor) * margin, rel=1e-6)
