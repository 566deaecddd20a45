"""Regression problems: kernels, losses, extreme C and epsilon, weights, degenerate data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process import kernels as gp
from zoo import histogram_intersection

from mercer.kernels import RBF, Laplacian, Linear, Polynomial, as_kernel
from mercer.problems import QuadraticProgram, epsilon_svr, squared_epsilon_svr

SQUARED = "squared_epsilon_insensitive"


@dataclass(eq=False)
class Problem:
    """Data and targets, and the parameters that the regression gets."""

    name: str
    X: Any
    y: np.ndarray
    params: dict[str, Any] = field(default_factory=dict)
    sample_weight: Any = None

    @property
    def C(self) -> float:
        """Price of slack."""
        return self.params.get("C", 1.0)

    @property
    def epsilon(self) -> float:
        """Half the width of the tube."""
        return self.params.get("epsilon", 0.1)

    @property
    def is_squared(self) -> bool:
        """Whether slack counts by its square."""
        return self.params.get("loss") == SQUARED

    @property
    def weights(self) -> np.ndarray:
        """One for each row."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    def kernel(self) -> Any:
        """The kernel with numbers for parameters."""
        names = ("gamma", "degree", "coef0")
        given = {name: self.params[name] for name in names if name in self.params}
        kernel = as_kernel(self.params.get("kernel", "rbf"), **given)
        return kernel.resolve(self.X, self.sample_weight)

    def matrix(self) -> np.ndarray:
        """The kernel matrix of all rows, in float64, made without the engine."""
        return np.asarray(self.kernel()(self.X), dtype=np.float64)

    def program(self) -> QuadraticProgram:
        """The quadratic program whose solution the regression has to find."""
        formulate = squared_epsilon_svr if self.is_squared else epsilon_svr
        return formulate(self.y, np.where(self.weights > 0, self.C * self.weights, 0), self.epsilon)


def waves(seed: int, n: int, d: int = 2, noise: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a square (or cube) and a wave over them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + noise * rng.standard_t(3, n)


def plane(seed: int, n: int, d: int, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return normal points and a linear function of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 3.0 + noise * rng.normal(size=n)


def _make(name: str, data: Any, weight: Any = None, **params: Any) -> Problem:
    return Problem(name, *data, params, weight)


def _kernels() -> list[Problem]:
    definite = waves(15, 90, 3)
    square = histogram_intersection(definite[0], definite[0])
    return [
        _make("rbf", waves(0, 120)),
        _make("rbf_200_rows", waves(1, 200, 3), C=10.0),
        _make("rbf_per_feature", waves(2, 100, 3), gamma=np.array([1.0, 0.1, 0.01]), C=5.0),
        _make("rbf_squared", waves(3, 200), loss=SQUARED, C=10.0),
        _make("laplacian", waves(4, 200), kernel="laplacian", gamma=0.5, C=2.0),
        _make("linear", plane(5, 150, 4), kernel="linear"),
        _make("linear_solver", plane(6, 200, 3), kernel="linear", C=0.1, solver="linear"),
        _make("linear_squared", plane(7, 200, 3), kernel="linear", loss=SQUARED, C=3.0),
        _make("linear_wide", plane(8, 30, 100), kernel="linear", epsilon=0.5),
        _make("poly", waves(9, 150), kernel="poly", degree=3, gamma=0.5, coef0=1.0),
        _make("poly_squared", waves(10, 80), kernel=Polynomial(2, 0.5, 1.0), loss=SQUARED),
        _make("sum", waves(11, 80), kernel=RBF(1.0) + Linear(), C=3.0),
        _make("gaussian_process", waves(12, 60), kernel=gp.Matern(1.0, nu=1.5)),
        _make("callable", waves(13, 90), kernel=histogram_intersection, C=0.5),
        _make("precomputed", (square, definite[1]), kernel="precomputed", C=0.5),
        _make("precomputed_squared", (square, definite[1]), kernel="precomputed", loss=SQUARED),
    ]


def _extremes() -> list[Problem]:
    costs = [1e-3, 1e-1, 1e2, 1e4]
    tubes = {"no_tube": 0.0, "thin": 1e-3, "wide": 1.0, "wider_than_all": 100.0}
    large = waves(24, 90)
    return [
        *(_make(f"C_{C:g}", waves(20, 110), C=C, gamma=1.0) for C in costs),
        *(_make(f"C_{C:g}_squared", waves(21, 110), C=C, loss=SQUARED) for C in costs),
        *(_make(f"epsilon_{name}", waves(22, 140), epsilon=e, C=5.0) for name, e in tubes.items()),
        *(_make(f"{n}_squared", waves(23, 70), epsilon=e, loss=SQUARED) for n, e in tubes.items()),
        _make("C_1e4_no_tube", waves(25, 200), C=1e4, epsilon=0.0, gamma=0.5),
        _make("targets_1e4", (large[0], 1e4 * large[1] + 1e5), C=1e4, epsilon=100.0),
        _make("targets_1e-4", (large[0], 1e-4 * large[1]), C=1e-3, epsilon=1e-5),
        _make("no_tube_linear", plane(26, 130, 3), epsilon=0.0, kernel="linear"),
        _make("no_slack", waves(26, 40), C=np.inf, gamma=5.0),
        _make("no_slack_no_tube", waves(26, 30), C=np.inf, epsilon=0.0, gamma=5.0),
        _make("no_slack_linear", plane(27, 60, 3), C=np.inf, kernel="linear", epsilon=2.0),
    ]


def _weighted() -> list[Problem]:
    rng = np.random.default_rng(30)
    weights = rng.exponential(size=120) + 0.05
    zeros = np.where(rng.random(120) < 0.2, 0.0, weights)
    return [
        _make("weights", waves(31, 120), weights, C=3.0),
        _make("weights_squared", waves(32, 120), weights, C=3.0, loss=SQUARED),
        _make("weights_zero", waves(33, 120), zeros, C=3.0),
        _make("weights_zero_squared", waves(33, 120), zeros, C=3.0, loss=SQUARED),
        _make("weights_linear", plane(34, 120, 3), zeros, kernel="linear"),
    ]


def _degenerate() -> list[Problem]:
    X, y = waves(40, 60)
    grid = np.repeat(np.arange(10.0), 8)[:, None]
    twins = (np.vstack([X, X, X]), np.concatenate([y, y, y]))
    torn = (np.vstack([X, X]), np.concatenate([y, y + 1.0]))
    sparse = sp.random(120, 40, density=0.1, random_state=42, format="csr")
    friedman = make_friedman1(200, noise=1.0, random_state=43)
    patients, progression = load_diabetes(return_X_y=True)
    return [
        _make("duplicates", twins, C=10.0),
        _make("duplicates_apart", torn, C=10.0),
        _make("duplicates_apart_squared", torn, C=10.0, loss=SQUARED),
        _make("duplicates_no_tube", twins, C=10.0, epsilon=0.0),
        _make("constant_target", (X, np.full(60, 7.0))),
        _make("constant_target_no_tube", (X, np.full(60, 7.0)), epsilon=0.0),
        _make("constant_features", (np.ones((30, 2)), np.arange(30.0)), C=2.0),
        _make("two_values", (grid, np.tile([0.0, 1.0], 40)), epsilon=0.25),
        _make("whole_numbers", (grid, np.tile([1, 2, 2, 3], 20)), epsilon=0.5, C=4.0),
        _make("one_row", (X[:1], y[:1])),
        _make("two_rows", (X[:2], y[:2]), C=50.0),
        _make("sparse", (sparse, 5.0 * np.asarray(sparse.sum(axis=1)).ravel()), C=5.0),
        _make(
            "sparse_linear",
            (sparse, 5.0 * np.asarray(sparse[:, :9].sum(axis=1)).ravel()),
            kernel="linear",
        ),
        _make("friedman", friedman, C=10.0, epsilon=0.5),
        _make(
            "diabetes",
            (patients[:200], progression[:200]),
            C=100.0,
            epsilon=10.0,
            kernel=Laplacian("auto"),
        ),
    ]


ZOO = [*_kernels(), *_extremes(), *_weighted(), *_degenerate()]
