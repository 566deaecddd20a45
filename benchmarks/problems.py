"""Data sets and generators, and a problem: data with the parameters of the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.datasets import make_classification, make_friedman1
from sklearn.preprocessing import scale

Array = NDArray[np.float64]


class MissingDataError(Exception):
    """A file of the data folder is missing."""


@dataclass(frozen=True, eq=False)
class Data:
    """Training rows and labels or targets, the number used as gamma, and test rows if any."""

    X: Array
    y: NDArray[np.int64] | Array
    gamma: float
    X_test: Array
    y_test: NDArray[np.int64] | Array


@dataclass(frozen=True)
class Problem:
    """A data set with the parameters that every peer is given.

    Parameters
    ----------
    name : str
        What the tables print.
    source : str
        A key of :data:`SOURCES`.
    arguments : tuple of (str, value) pairs
        Arguments of the source; a tuple so that problems can be cached and sent to workers.
    C, tol : float
        Box constraint and KKT tolerance.
    gamma : float or str
        Width of the RBF kernel: a number, ``"scale"`` (1 / (d var(X))) or ``"auto"`` (1 / d). It is
        turned into a number once, so that all peers get the same one.
    kernel : str
        ``"rbf"`` or ``"linear"``.
    loss : str
        ``"hinge"`` or ``"squared_hinge"``, the latter as C times the sum of squared slacks.
    epsilon : float, optional
        Half the width of the tube; given for regression only.
    """

    name: str
    source: str
    arguments: tuple[tuple[str, object], ...] = ()
    C: float = 1.0
    gamma: float | str = "scale"
    kernel: str = "rbf"
    loss: str = "hinge"
    tol: float = 1e-3
    epsilon: float | None = None

    def load(self) -> Data:
        """Return the data, generated or read once in each process."""
        X, y, X_test, y_test = _load(self.source, self.arguments)
        return Data(X, y, gamma_value(self.gamma, X), X_test, y_test)

    @property
    def parameters(self) -> str:
        """C, gamma and epsilon in words."""
        width = "" if self.kernel == "linear" else f", gamma={self.gamma}"
        tube = "" if self.epsilon is None else f", epsilon={self.epsilon:g}"
        return f"C={self.C:g}{width}{tube}"


def gamma_value(gamma: float | str, X: Array) -> float:
    """Return the number behind ``"scale"``, ``"auto"`` or a number.

    >>> gamma_value("auto", np.ones((3, 4)))
    0.25
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        return 1.0 / (X.shape[1] * float(X.var()))
    return float(gamma)


def data_folder() -> Path:
    """Return the folder of the real data sets: MERCER_DATA, or ``../shared/data``."""
    given = os.environ.get("MERCER_DATA")
    return Path(given) if given else Path(__file__).parents[2] / "shared" / "data"


def gaussians(n: int, d: int, separation: float, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Two normal classes with unit covariance, their means ``separation`` apart on the diagonal.

    The Bayes error is the normal distribution's tail beyond ``separation / 2``.
    """
    generator = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    generator.shuffle(y)
    X = generator.standard_normal((n, d)) + separation / (2 * np.sqrt(d)) * y[:, None]
    return X, y


def blobs(n: int, d: int, classes: int, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Equally many rows of normal classes with unit covariance and normal means of deviation 0.7.

    Two means are three deviations apart in the middle of 10 dimensions.
    """
    generator = np.random.default_rng(seed)
    means = 0.7 * generator.standard_normal((classes, d))
    y = np.arange(n) % classes
    generator.shuffle(y)
    return generator.standard_normal((n, d)) + means[y], y


def shipped(name: str) -> tuple[Array, NDArray[np.int64]]:
    """Return a data set that comes with scikit-learn, with its features scaled."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return scale(X), y


def checkerboard(n: int, flipped: float, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Points of a 4 by 4 checkerboard, a share of the labels wrong."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(0, 4, (n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2, 1, -1)
    return X, np.where(generator.random(n) < flipped, -y, y)


def clustered(n: int, flipped: float, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """``make_classification``: 20 features, 10 informative, 2 redundant, 4 clusters a class."""
    X, y = make_classification(
        n,
        20,
        n_informative=10,
        n_redundant=2,
        n_clusters_per_class=4,
        flip_y=flipped,
        random_state=seed,
    )
    return X, np.where(y == 1, 1, -1)


def informative(n: int, d: int, seed: int = 0, **more: Any) -> tuple[Array, NDArray[np.int64]]:
    """``make_classification`` with standardised features, of which few or many say something."""
    X, y = make_classification(n, d, random_state=seed, **more)
    return scale(X), y


def archive(
    file: str, rows: int | None = None, test_rows: int | None = None
) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Read a data set of the data folder; ``rows`` keeps that many, drawn at random."""
    path = data_folder() / file
    if not path.exists():
        raise MissingDataError(f"data not present: {file}")
    with np.load(path, allow_pickle=False) as stored:
        names = ("X_train", "y_train", "X_test", "y_test")
        parts = [stored[name] for name in (names if "X_train" in stored else ("X", "y"))]
    if file.endswith("letter.npz"):
        parts = [parts[0][:16000], parts[1][:16000], parts[0][16000:], parts[1][16000:]]
    if len(parts) == 2:
        parts += [parts[0][:0], parts[1][:0]]
    X, y = _draw(parts[0], parts[1], rows)
    X_test, y_test = _draw(parts[2], parts[3], test_rows)
    return X.astype(float), y.astype(np.int64), X_test.astype(float), y_test.astype(np.int64)


def standardised(
    file: str, rows: int | None = None
) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Read a data set and give its columns mean 0 and deviation 1 (as found on training rows)."""
    X, y, X_test, y_test = archive(file, rows)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return (X - mean) / deviation, y, (X_test - mean) / deviation, y_test


def with_test_rows(
    generator: str, n: int, test_rows: int, **arguments: object
) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Draw ``n + test_rows`` rows of a generator and keep the last ones for testing."""
    X, y = SOURCES[generator](n + test_rows, **arguments)
    return X[:n], y[:n], X[n:], y[n:]


def friedman(n: int, noise: float, seed: int = 0) -> tuple[Array, Array]:
    """``make_friedman1``: 10 features, of which 5 matter."""
    return make_friedman1(n, 10, noise=noise, random_state=seed)


def waves(n: int, noise: float, seed: int = 0) -> tuple[Array, Array]:
    """Return points of a square and a product of two waves over it, with normal noise."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-3, 3, (n, 2))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + noise * generator.standard_normal(n)


def table(file: str) -> tuple[Array, Array]:
    """Read a CSV file of the data folder: the last column is the target, the others are scaled."""
    path = data_folder() / file
    if not path.exists():
        raise MissingDataError(f"data not present: {file}")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    X, y = values[:, :-1], values[:, -1]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


SOURCES: dict[str, Callable[..., tuple]] = {
    "gaussians": gaussians,
    "blobs": blobs,
    "shipped": shipped,
    "checkerboard": checkerboard,
    "clustered": clustered,
    "informative": informative,
    "archive": archive,
    "standardised": standardised,
    "with_test_rows": with_test_rows,
    "friedman": friedman,
    "waves": waves,
    "table": table,
}


@lru_cache(maxsize=2)
def _load(source: str, arguments: tuple[tuple[str, object], ...]) -> tuple:
    parts = SOURCES[source](**dict(arguments))
    X, y, X_test, y_test = parts if len(parts) == 4 else (*parts, parts[0][:0], parts[1][:0])
    return np.ascontiguousarray(X), y, np.ascontiguousarray(X_test), y_test


def _draw(X: Array, y: NDArray, rows: int | None) -> tuple[Array, NDArray]:
    if rows is None or rows >= len(y):
        return X, y
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    return X[chosen], y[chosen]
