"""Two-class problems that between them hold everything that can make a solver stumble.

Each problem is small enough to be solved exactly, and says what the classifier is given: data,
labels, parameters, weights. `matrix` and `program` state the same problem a second time, without
the classifier: the kernel matrix in float64 and the quadratic program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.gaussian_process import kernels as gp

from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Sigmoid,
    Weighted,
    as_kernel,
)
from mercer.problems import QuadraticProgram, hard_margin_svc, hinge_svc, squared_hinge_svc


@dataclass(eq=False)
class Problem:
    """Data and labels, and the parameters that the classifier gets."""

    name: str
    X: Any
    y: Any
    params: dict[str, Any] = field(default_factory=dict)
    sample_weight: Any = None

    @property
    def signs(self) -> np.ndarray:
        """+1 for the larger label, -1 for the smaller."""
        return np.where(self.y == np.max(self.y), 1.0, -1.0)

    @property
    def is_hard(self) -> bool:
        """Whether no slack is allowed."""
        return bool(np.isinf(self.params.get("C", 1.0)))

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.params.get("loss", "hinge")

    def penalties(self) -> np.ndarray:
        """C of every row, all weights included."""
        weights = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        penalty = self.params.get("C", 1.0) * weights
        choice = self.params.get("class_weight")
        for label in np.unique(self.y):
            rows = self.y == label
            if choice == "balanced":
                penalty[rows] *= weights.sum() / (2 * weights[rows].sum())
            elif choice is not None:
                penalty[rows] *= choice.get(label, 1.0)
        return penalty

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
        """The quadratic program whose solution the classifier has to find."""
        if self.is_hard:
            return hard_margin_svc(self.signs)
        formulate = hinge_svc if self.loss == "hinge" else squared_hinge_svc
        return formulate(self.signs, self.penalties())


def blobs(
    seed: int, n: int, d: int, shift: float = 0.7, share: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Return two normal clouds, 2 ``shift`` apart in every feature, ``share`` of them class 1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < max(1, round(share * n)), 1, -1)
    rng.shuffle(y)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


def rings(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a disc inside a ring, apart from each other."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y > 0, rng.uniform(0, 1, n), rng.uniform(1.5, 2.5, n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def chequers(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a 3 x 3 chequerboard."""
    X = np.random.default_rng(seed).uniform(0, 3, (n, 2))
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


def histogram_intersection(X: Any, Y: Any) -> np.ndarray:
    """A kernel as a function: the sum of the smaller entries of positive data."""
    return np.minimum(np.exp(X)[:, None], np.exp(Y)[None]).sum(axis=2)


def _random_weights(seed: int, n: int, zeros: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=n) + 0.05
    if zeros:
        weights[rng.choice(n, n // 5, replace=False)] = 0.0
    return weights


def _make(name: str, data: Any, weight: Any = None, **params: Any) -> Problem:
    return Problem(name, *data, params, weight)


def _radial() -> list[Problem]:
    widths = np.array([0.5, 0.01, 0.2, 1.0])
    return [
        _make("rbf", blobs(0, 120, 5)),
        _make("rbf_400_rows", blobs(1, 400, 6, 0.4), C=10.0),
        _make("rbf_C_1e-4", blobs(2, 90, 3), C=1e-4),
        _make("rbf_C_1e2", chequers(3, 300), C=100.0, gamma=2.0),
        _make("rbf_C_1e4_rings", rings(4, 150), C=1e4, gamma=1.0),
        _make("rbf_C_1e6_apart", rings(5, 80), C=1e6, gamma=1.0),
        _make("rbf_C_1e6_overlap", blobs(6, 60, 4, 0.3), C=1e6, gamma=0.5),
        _make("rbf_narrow", blobs(7, 70, 3), gamma=50.0, C=3.0),
        _make("rbf_wide", blobs(8, 70, 3), gamma=1e-4, C=30.0),
        _make("rbf_median", blobs(9, 80, 4), gamma="median", C=2.0),
        _make("rbf_squared", blobs(10, 300, 4, 0.4), loss="squared_hinge"),
        _make("rbf_squared_C_1e4", chequers(11, 120), loss="squared_hinge", C=1e4, gamma=2.0),
        _make("rbf_squared_C_1e-4", blobs(12, 60, 3), loss="squared_hinge", C=1e-4),
        _make("rbf_hard", rings(13, 100), C=np.inf, gamma=1.0),
        _make("rbf_per_feature", blobs(14, 100, 4, 0.4), kernel=RBF(widths), C=5.0),
        _make("rbf_per_feature_squared", blobs(15, 60, 4), gamma=widths, loss="squared_hinge"),
        _make("laplacian_l1", blobs(16, 300, 4, 0.4), kernel="laplacian", C=2.0),
        _make(
            "laplacian_euclidean",
            blobs(17, 100, 4, 0.4),
            kernel=Laplacian(0.5, metric="euclidean"),
            C=2.0,
        ),
        _make("laplacian_squared", blobs(18, 80, 3), kernel="laplacian", loss="squared_hinge"),
        _make("laplacian_hard", rings(19, 80), kernel=Laplacian(0.5), C=np.inf),
    ]


def _dot() -> list[Problem]:
    squared = {"loss": "squared_hinge", "C": 0.3}
    return [
        _make("linear", blobs(20, 100, 5, 0.3), kernel="linear"),
        _make("linear_C_1e-4", blobs(21, 80, 4), kernel="linear", C=1e-4),
        _make("linear_C_1e2", blobs(22, 60, 3, 0.3), kernel="linear", C=100.0),
        _make("linear_C_1e6", blobs(23, 50, 3, 0.3), kernel="linear", C=1e6),
        _make("linear_squared", blobs(24, 150, 4, 0.3), kernel="linear", loss="squared_hinge"),
        _make("linear_hard", blobs(25, 80, 6, 2.0), kernel="linear", C=np.inf),
        _make("linear_long", blobs(26, 400, 2, 0.5), kernel="linear", C=1.0),
        _make("linear_wide", blobs(27, 30, 200, 0.1), kernel="linear", C=1.0),
        _make("linear_wide_hard", blobs(28, 25, 300, 0.1), kernel=Linear(), C=np.inf),
        _make("poly", blobs(29, 300, 4, 0.4), kernel="poly"),
        _make("poly_coef0", blobs(30, 80, 3, 0.4), kernel="poly", degree=2, coef0=1.0, C=10.0),
        _make("poly_degree_5", blobs(31, 70, 4), kernel="poly", degree=5, coef0=1.0, gamma=0.1),
        _make("poly_squared", blobs(32, 90, 4, 0.4), kernel=Polynomial(3, 0.1, 1.0), **squared),
        _make("poly_hard", rings(33, 80), kernel="poly", degree=2, coef0=1.0, C=np.inf),
        _make("sigmoid_definite", blobs(34, 20, 40, 0.1), kernel="sigmoid", gamma=0.005),
        _make("sigmoid_indefinite", blobs(35, 60, 4, 0.4), kernel=Sigmoid(0.02, 0.1), **squared),
    ]


def _composed() -> list[Problem]:
    definite = blobs(46, 90, 5, 0.4)
    square = histogram_intersection(definite[0], definite[0])
    flat = np.random.default_rng(47).normal(size=(70, 4))
    return [
        _make("sum", blobs(40, 80, 4, 0.4), kernel=RBF(0.2) + Linear(), C=3.0),
        _make("product", blobs(41, 80, 3, 0.4), kernel=RBF(0.3) * Polynomial(2, 0.5, 1.0)),
        _make("multiple", blobs(42, 80, 3, 0.4), kernel=7.5 * RBF(0.3), C=2.0),
        _make("power_sum", blobs(43, 60, 3, 0.4), kernel=(RBF(0.1) + Constant(1.0)) ** 2, C=5.0),
        _make("weighted", blobs(44, 80, 3), kernel=Weighted(RBF(0.5), [1.0, 0.0, 2.0])),
        _make("normalized", blobs(45, 80, 3), kernel=Normalized(Polynomial(3, 0.5, 1.0))),
        _make(
            "gaussian_process", blobs(45, 60, 3), kernel=gp.Matern(1.5, nu=1.5) + gp.DotProduct()
        ),
        _make("callable", definite, kernel=histogram_intersection, C=0.5),
        _make("callable_squared", definite, kernel=histogram_intersection, loss="squared_hinge"),
        _make("precomputed", (square, definite[1]), kernel="precomputed", C=0.5),
        _make(
            "precomputed_weights",
            (square, definite[1]),
            _random_weights(46, 90),
            kernel="precomputed",
            loss="squared_hinge",
        ),
        _make(
            "precomputed_rank_4",
            (flat @ flat.T, np.where(flat[:, 0] + 0.5 * flat[:, 1] ** 2 > 0, 1, -1)),
            kernel="precomputed",
        ),
        _make(
            "precomputed_zero",
            (np.zeros((12, 12)), np.repeat([1, -1], [7, 5])),
            kernel="precomputed",
            C=2.0,
        ),
    ]


def _weighted() -> list[Problem]:
    rare = blobs(50, 300, 4, 0.6, share=0.014)
    return [
        _make("sample_weight", blobs(51, 100, 4, 0.4), _random_weights(51, 100), C=3.0),
        _make("sample_weight_zeros", blobs(52, 100, 4, 0.4), _random_weights(52, 100, zeros=True)),
        _make("class_weight", blobs(53, 100, 4, 0.4), class_weight={1: 5.0, -1: 0.2}),
        _make("balanced", rare, class_weight="balanced"),
        _make(
            "balanced_and_sample_weight",
            blobs(54, 120, 4, 0.4, share=0.2),
            _random_weights(54, 120),
            class_weight="balanced",
            loss="squared_hinge",
            kernel="poly",
            coef0=1.0,
        ),
        _make("four_against_many", rare, C=10.0),
        _make("one_against_many", blobs(55, 150, 3, 1.0, share=1 / 150), kernel="linear"),
    ]


def _scaled(seed: int, n: int, scale: Any, shift: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    X, y = blobs(seed, n, 4, shift)
    return X * np.asarray(scale, dtype=float), y


def _scales() -> list[Problem]:
    mixed = [1e-6, 1.0, 1e3, 1e6]
    far, labels = blobs(69, 100, 3)
    return [
        _make("rbf_features_1e6", _scaled(60, 300, 1e6)),
        _make("rbf_features_1e-6", _scaled(61, 100, 1e-6)),
        _make("rbf_features_mixed", _scaled(62, 100, mixed)),
        _make("rbf_gamma_too_large", _scaled(62, 60, 1e6), gamma=1.0),
        _make("laplacian_features_1e6", _scaled(63, 80, 1e6), kernel=Laplacian(1e-6)),
        _make("linear_features_1e6", _scaled(64, 60, 1e6), kernel="linear", C=1e-12),
        _make("linear_features_1e6_C_1e-9", _scaled(64, 60, 1e6), kernel="linear", C=1e-9),
        _make("linear_features_1e-6", _scaled(65, 60, 1e-6), kernel="linear"),
        _make("linear_features_1e-6_C_1e6", _scaled(65, 60, 1e-6), kernel="linear", C=1e6),
        _make("linear_features_mixed", _scaled(66, 60, [1e-6, 1, 1, 1e3]), kernel="linear", C=1e-4),
        _make("poly_features_1e-6", _scaled(67, 60, 1e-6), kernel="poly", coef0=1.0),
        _make("squared_features_1e6", _scaled(68, 60, 1e6), loss="squared_hinge", C=100.0),
        _make("rbf_far_from_zero", (far + 1e6, labels), C=5.0),
    ]


def _doubled(seed: int, noise: float, flip: bool, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    X, y = blobs(seed, n, 3, 0.5)
    twin = X[: n // 2] + noise * np.random.default_rng(seed).normal(size=(n // 2, 3))
    return np.vstack([X, twin]), np.concatenate([y, -y[: n // 2] if flip else y[: n // 2]])


def _degenerate() -> list[Problem]:
    grid = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    ties = np.where((grid.sum(axis=1).astype(int) // 3) % 2 == 0, 1, -1)
    constant, labels = blobs(75, 60, 4)
    constant[:, 1:3] = [5.0, 0.0]
    return [
        _make("duplicates", _doubled(70, 0.0, flip=False, n=200), C=10.0),
        _make("duplicates_opposite", _doubled(71, 0.0, flip=True), C=10.0),
        _make("duplicates_opposite_squared", _doubled(71, 0.0, flip=True), loss="squared_hinge"),
        _make("near_duplicates", _doubled(72, 1e-9, flip=False), C=100.0),
        _make("near_duplicates_opposite", _doubled(73, 1e-7, flip=True), C=1e3),
        _make("near_duplicates_linear", _doubled(73, 1e-6, flip=True), kernel="linear", C=10.0),
        _make(
            "duplicates_laplacian",
            _doubled(74, 0.0, flip=True),
            kernel=Laplacian(1.0, metric="euclidean"),
            C=1e3,
        ),
        _make("ties_rbf", (grid, ties), gamma=0.5, C=4.0),
        _make("ties_linear", (grid, ties), kernel="linear", C=0.5),
        _make("constant_features", (constant, labels)),
        _make("all_constant", (np.ones((20, 3)), np.repeat([1, -1], [12, 8]))),
        _make("one_feature", (np.linspace(-2, 2, 50)[:, None], np.tile([1, 1, -1, -1, -1], 10))),
        _make("two_rows", (np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([-1, 1])), C=1e3),
        _make(
            "two_rows_linear",
            (np.array([[1.0], [2.0]]), np.array([1, -1])),
            kernel="linear",
            C=np.inf,
        ),
        _make("two_equal_rows", (np.ones((2, 2)), np.array([-1, 1]))),
        _make("three_rows", (np.array([[0.0], [1.0], [3.0]]), np.array([1, -1, 1])), C=50.0),
        _make("more_features_than_rows", blobs(76, 40, 500, 0.05)),
    ]


def _sparse() -> list[Problem]:
    rng = np.random.default_rng(80)
    X = sp.random(120, 60, density=0.1, random_state=80, format="csr")
    y = np.where(np.asarray(X[:, :30].sum(axis=1) - X[:, 30:].sum(axis=1)).ravel() > 0, 1, -1)
    y[rng.choice(120, 12, replace=False)] *= -1
    return [
        _make("sparse_linear", (X, y), kernel="linear", C=5.0),
        _make("sparse_rbf", (X, y), C=5.0),
        _make("sparse_poly_squared", (X, y), kernel="poly", gamma=1.0, loss="squared_hinge"),
        _make("sparse_laplacian", (X, y), kernel="laplacian", gamma=0.5),
        _make("sparse_sum", (sp.csr_array(X), y), kernel=RBF(0.5) + Linear()),
    ]


def _measured() -> list[Problem]:
    flowers, kinds = load_iris(return_X_y=True)
    cells, malign = load_breast_cancer(return_X_y=True)
    part = np.random.default_rng(90).choice(len(cells), 150, replace=False)
    scaled = (cells[part] - cells.mean(axis=0)) / cells.std(axis=0)
    return [
        _make("iris_overlapping", (flowers[50:], kinds[50:]), C=10.0),
        _make("iris_overlapping_linear", (flowers[50:], kinds[50:]), kernel="linear", C=10.0),
        _make("iris_setosa_hard", (flowers[:100], kinds[:100]), kernel="linear", C=np.inf),
        _make("cells", (scaled, malign[part]), C=10.0),
        _make("cells_unscaled", (cells[part], malign[part]), C=10.0),
        _make("cells_linear", (scaled, malign[part]), kernel="linear", C=0.1),
    ]


ZOO = [
    *_radial(),
    *_dot(),
    *_composed(),
    *_weighted(),
    *_scales(),
    *_degenerate(),
    *_sparse(),
    *_measured(),
]
