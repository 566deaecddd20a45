"""Balls agree with a general solver of the problem as stated, and with geometry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from enclosing_ball import welzl
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from primal_ball import solve_primal
from sklearn.datasets import load_iris

from mercer import SVDD
from mercer.kernels import RBF, Linear, Polynomial

KERNELS = {"rbf": RBF("scale"), "linear": Linear(), "polynomial": Polynomial(3, "scale", 1.0)}


def simulated() -> dict[str, np.ndarray]:
    """Return data of several shapes."""
    rng = np.random.default_rng(0)
    species = load_iris()
    sets = {
        name: species.data[species.target == code] for code, name in enumerate(species.target_names)
    }
    return sets | {
        "normal": rng.normal(size=(60, 3)),
        "lognormal": rng.lognormal(size=(50, 2)),
        "far away": 1000.0 + rng.normal(size=(40, 2)),
        "with copies": rng.integers(0, 3, size=(60, 2)).astype(float),
    }


SETS = simulated()


def assert_same_ball(ball: SVDD, X: Any, C: Any, y: Any = None) -> None:
    """Radius, distances and objective to six digits."""
    signs = np.ones(len(X)) if y is None else y
    # The ball does not change when all points move, but the arithmetic of the reference does.
    centred = X - X.mean(axis=0) if isinstance(ball.kernel_, Linear) else X
    K = ball.kernel_(centred)
    expected = solve_primal(K, C, signs, ball.loss == "squared_hinge")
    scale = expected.squared_distances.max()
    assert ball.radius_**2 == pytest.approx(expected.squared_radius, abs=1e-6 * scale)
    np.testing.assert_allclose(ball.distance(X) ** 2, expected.squared_distances, atol=1e-6 * scale)
    assert ball.objective_[0] == pytest.approx(expected.value, rel=1e-6, abs=1e-6 * scale)
    slack = np.maximum(0.0, signs * (expected.squared_distances - expected.squared_radius))
    np.testing.assert_allclose(ball.slack_, slack, atol=1e-6 * scale)


@pytest.mark.parametrize("nu", [0.0, 0.13, 0.37])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_balls_of_many_shapes(name: str, kernel: Any, nu: float) -> None:
    X = SETS[name]
    if name == "far away" and isinstance(kernel, Polynomial):
        X = X - 999.0  # (1000 + x)^6 leaves no digits for the difference
    ball = SVDD(kernel=kernel, nu=nu, tol=1e-10).fit(X)
    assert_same_ball(ball, X, np.inf if nu == 0 else 1 / (nu * len(X)))


@pytest.mark.parametrize("nu", [0.0, 0.13])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_haemophilia(kernel: Any, nu: float, data_folder: Path) -> None:
    table = np.genfromtxt(data_folder / "hemophilia.csv", delimiter=",", dtype=str, skip_header=1)
    groups = np.char.strip(table[:, 2], '"')
    for group in np.unique(groups):
        X = table[groups == group, :2].astype(float)
        ball = SVDD(kernel=kernel, nu=nu, tol=1e-10).fit(X)
        assert_same_ball(ball, X, np.inf if nu == 0 else 1 / (nu * len(X)))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_squared_slack(kernel: Any, C: float) -> None:
    X = SETS["normal"]
    ball = SVDD(kernel=kernel, C=C, loss="squared_hinge", tol=1e-10).fit(X)
    assert_same_ball(ball, X, C)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_examples_of_outliers(kernel: Any, loss: str) -> None:
    """Each side has its own price."""
    X = SETS["normal"]
    y = np.where(np.abs(X[:, 0]) > 1, -1.0, 1.0)
    ball = SVDD(kernel=kernel, C=0.4, C_outlier=0.1, loss=loss, tol=1e-10).fit(X, y)
    assert_same_ball(ball, X, np.where(y > 0, 0.4, 0.1), y)
    assert (ball.dual_coef_[0] * y[ball.support_] > 0).all()


def test_no_slack_for_either_side() -> None:
    """With a narrow kernel every outlier can be kept out."""
    X = SETS["normal"]
    y = np.where(np.abs(X[:, 0]) > 1, -1.0, 1.0)
    ball = SVDD(gamma=1.0, nu=0, tol=1e-10).fit(X, y)
    assert_same_ball(ball, X, np.inf, y)
    np.testing.assert_allclose(ball.slack_, 0.0, atol=1e-9)


@pytest.mark.parametrize("solver", ["smo", "exact", "linear"])
@pytest.mark.parametrize("nu", [0.0, 0.2])
def test_all_solvers(solver: str, nu: float) -> None:
    X = SETS["normal"]
    ball = SVDD(kernel="linear", nu=nu, solver=solver, tol=1e-10).fit(X)
    assert_same_ball(ball, X, np.inf if nu == 0 else 1 / (nu * len(X)))


def test_many_rows() -> None:
    """Large problems start from a small part; the default tolerance holds for them too."""
    X = np.random.default_rng(1).normal(size=(4500, 3))
    ball = SVDD(nu=0.02, gamma=0.2).fit(X)
    fine = SVDD(nu=0.02, gamma=0.2, tol=1e-8).fit(X)
    assert ball.converged_
    assert ball.radius_ == pytest.approx(fine.radius_, rel=1e-4)
    np.testing.assert_allclose(ball.distance(X), fine.distance(X), rtol=1e-3)
    assert ball.objective_ == pytest.approx(fine.objective_, rel=1e-6)


points = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.integers(-20, 20).map(float),
)


@given(points)
def test_smallest_enclosing_ball_is_that_of_geometry(X: np.ndarray) -> None:
    """On a grid of whole numbers, where many points share the surface."""
    centre, squared = welzl(X)
    ball = SVDD(kernel="linear", nu=0, tol=1e-12).fit(X)
    assert ball.radius_**2 == pytest.approx(squared, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(ball.center_, centre, atol=1e-5)
    assert (ball.predict(X) == 1).all()


@pytest.mark.parametrize("n_features", [2, 3, 6])
def test_smallest_enclosing_ball_of_many_points(n_features: int) -> None:
    X = 50.0 + np.random.default_rng(n_features).normal(size=(500, n_features))
    centre, squared = welzl(X)
    ball = SVDD(kernel="linear", nu=0, tol=1e-9).fit(X)
    assert ball.radius_**2 == pytest.approx(squared, rel=1e-6)
    np.testing.assert_allclose(ball.center_, centre, atol=1e-5)
