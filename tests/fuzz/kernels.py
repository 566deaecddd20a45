"""Random kernels, by name and as objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.gaussian_process import kernels as gp

from mercer.kernels import RBF, Constant, Laplacian, Linear, Normalized, Polynomial, Weighted

from .data import Random

NAMES = ("linear", "poly", "rbf", "rbf", "rbf", "laplacian", "sigmoid", "precomputed", "object")


def intersection(X: Any, Y: Any) -> np.ndarray:
    """A kernel as a function: min(|x|, |y|), summed."""
    X, Y = (Z.toarray() if sp.issparse(Z) else Z for Z in (X, Y))
    return np.minimum(np.abs(X)[:, None], np.abs(Y)[None]).sum(axis=2)


def draw_kernel(rng: Random, d: int, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """Return parameters of an estimator that say which kernel to use."""
    name = str(rng.choice(names))
    if name == "object":
        return {"kernel": _object(rng, d)}
    params: dict[str, Any] = {"kernel": name}
    if name not in ("linear", "precomputed"):
        params["gamma"] = _gamma(rng, name in ("rbf", "laplacian"))
    if name in ("poly", "sigmoid"):
        params["coef0"] = float(rng.choice([0.0, 1.0, -0.5]))
    if name == "poly":
        params["degree"] = int(rng.integers(1, 5))
    return params


def _gamma(rng: Random, is_radial: bool) -> Any:
    if rng.random() < 0.7:
        return str(rng.choice(["scale", "auto", "median"] if is_radial else ["scale", "auto"]))
    return float(10.0 ** rng.uniform(-4, 3))


def _object(rng: Random, d: int) -> Any:
    gamma = float(10.0 ** rng.uniform(-2, 1))
    options = (
        lambda: RBF(gamma) + Linear(),
        lambda: 2.5 * RBF(gamma) + Constant(1.0),
        lambda: RBF(gamma * rng.random(d)),
        lambda: Laplacian(gamma, metric="euclidean"),
        lambda: Normalized(Polynomial(3, gamma, 1.0)),
        lambda: Weighted(RBF("scale"), rng.integers(0, 3, d).astype(float)),
        lambda: (RBF("median") + Constant(0.5)) ** 2 * Laplacian("scale"),
        lambda: gp.Matern(1 / gamma, nu=1.5) + gp.DotProduct(),
        lambda: intersection,
    )
    return options[int(rng.integers(len(options)))]()
