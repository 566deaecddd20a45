"""The problems that a GPU is measured on, and what others took for the same data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification

QUICK_ROWS = 400
"""Rows of a problem in a run that only shows that everything works."""


class Reference(NamedTuple):
    """Seconds of others for the same data on one H200, from host arrays to host arrays.

    ``path`` and ``smo`` are two solvers of a prototype (CUDA C++ and torch), whose true gaps were
    3 to 6e-4; ``thunder`` is ThunderSVM, built from source there, whose true gaps were up to
    1.13e-3; ``earlier`` is a run of ThunderSVM on other draws of such data.
    """

    path: float
    smo: float
    thunder: float
    earlier: float

    @property
    def best(self) -> float:
        """That of the faster solver of the prototype."""
        return min(self.path, self.smo)


SHIFT, CLOUDS, SPREAD = 0.15, 16, 0.7


@dataclass(frozen=True)
class GpuProblem:
    """Two classes, drawn when they are asked for.

    Parameters
    ----------
    family : {"easy", "hard"}
        Two normal clouds, or sixteen of alternating class with 5 % of the labels flipped.
    n : int
        Rows.
    columns : int
    C, gamma : float
        Price of slack, and width of the Gaussian kernel.
    shift : float
        Of the two clouds, in every coordinate.
    """

    family: str
    n: int
    columns: int
    C: float
    gamma: float
    shift: float = SHIFT

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.family} {self.n:,}×{self.columns}".replace(",", " ")

    @property
    def reference(self) -> Reference | None:
        """Return what others took for the same data, where they were measured."""
        plain = easy(self.n) if self.family == "easy" else hard(self.n)
        return REFERENCES.get((self.family, self.n)) if self == plain else None

    def draw(self, seed: int = 0) -> tuple[Any, Any]:
        """Return rows in float64 and labels -1 and 1; of the same seed always the same.

        Draws are float32, as for the times of others; in float64 they are what an estimator works
        on, so that no conversion is timed.
        """
        X, y = (self._easy if self.family == "easy" else self._hard)(seed)
        return X.astype(np.float64), y.astype(np.int64)

    def _easy(self, seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(self.n) < 0.5, 1.0, -1.0).astype(np.float32)
        X = rng.standard_normal((self.n, self.columns), dtype=np.float32)
        X += self.shift * y[:, None]
        return X, y

    def _hard(self, seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        centres = np.random.default_rng(123).standard_normal((CLOUDS, self.columns))
        centres = centres.astype(np.float32) * SPREAD
        which = rng.integers(0, CLOUDS, self.n)
        X = rng.standard_normal((self.n, self.columns), dtype=np.float32)
        X += centres[which]
        flipped = rng.random(self.n) < 0.05
        return X, np.where((which % 2 == 0) ^ flipped, 1.0, -1.0).astype(np.float32)


def easy(n: int, columns: int = 50, shift: float = SHIFT) -> GpuProblem:
    """Two clouds that overlap."""
    return GpuProblem("easy", n, columns, 1.0, 0.02, shift)


def hard(n: int) -> GpuProblem:
    """Sixteen clouds in 20 columns."""
    return GpuProblem("hard", n, 20, 10.0, 0.05)


REFERENCES = {
    ("easy", 20_000): Reference(0.047, 0.039, 0.165, 0.26),
    ("easy", 100_000): Reference(0.091, 0.188, 1.20, 0.76),
    ("easy", 300_000): Reference(0.312, 0.741, 6.96, 2.9),
    ("easy", 1_000_000): Reference(3.77, 4.80, 86.8, 25.6),
    ("hard", 20_000): Reference(0.113, 0.267, 1.15, 0.76),
    ("hard", 100_000): Reference(0.381, 1.85, 11.5, 7.3),
    ("hard", 300_000): Reference(2.04, 7.25, 61.8, 49.6),
}


def of_fits(quick: bool) -> list[GpuProblem]:
    """Return the problems that others have been measured on."""
    if quick:
        return [easy(QUICK_ROWS), hard(QUICK_ROWS)]
    return [easy(n) if family == "easy" else hard(n) for family, n in REFERENCES]


def largest(quick: bool) -> GpuProblem:
    """Return the problem that shows that three million rows are not too many."""
    return easy(2 * QUICK_ROWS if quick else 3_000_000, 20, 0.25)


class Agreement(NamedTuple):
    """A problem small enough to be solved by the processor as well, to a gap of 1e-6."""

    name: str
    X: Any
    y: Any
    settings: dict[str, Any]
    weights: Any = None


def of_agreement(quick: bool) -> list[Agreement]:
    """Return twelve problems that have little in common, all large enough for the card.

    Of fewer than some 8,000 rows a program is solved by the processor, of which there is one for
    each pair of classes.
    """
    n = QUICK_ROWS if quick else 10_000
    rng = np.random.default_rng(7)
    X, y = hard(n).draw()
    rare = np.where(rng.random(n) < 0.03, 1, -1)
    shifted = rng.standard_normal((n, 20)) + 0.5 * (rare == 1)[:, None]
    half = X[: n // 2]
    weights = rng.integers(0, 4, n).astype(float)
    return [
        Agreement("small C", X, y, {"C": 0.01, "gamma": 0.05}),
        Agreement("large C", X, y, {"C": 1000.0, "gamma": 0.05}),
        Agreement("nearly linear", X, y, {"C": 1.0, "gamma": 1e-4}),
        Agreement("nearly diagonal", X, y, {"C": 10.0, "gamma": 2.0}),
        Agreement("weights of 0 to 3", X, y, {"C": 1.0, "gamma": 0.05}, weights),
        Agreement(
            "3 % in one class",
            shifted,
            rare,
            {"C": 1.0, "gamma": 0.05, "class_weight": "balanced"},
        ),
        Agreement("every row twice", np.vstack([half, half]), y, {"C": 10.0, "gamma": 0.05}),
        Agreement("3 classes", *_classes(8 * n // 5, 20, 3), {"C": 10.0, "gamma": 0.05}),
        Agreement(
            "10 classes", *_classes(n if quick else 45_000, 50, 10), {"C": 10.0, "gamma": 0.02}
        ),
        Agreement("2 columns", *_two_columns(rng, n), {"C": 100.0, "gamma": 1.0}),
        Agreement("300 columns", *_classes(n, 300, 2), {"C": 1.0, "gamma": 1 / 300}),
        Agreement("784 columns", *_classes(n, 784, 2), {"C": 10.0, "gamma": 1 / 784}),
    ]


def many_classes(quick: bool) -> list[Agreement]:
    """Return problems as large as usps (7291 rows) and letter (15,000), with as many classes."""
    usps, letter = (QUICK_ROWS, QUICK_ROWS) if quick else (7291, 15_000)
    return [
        Agreement("as usps, 10 classes", *_classes(usps, 256, 10), {"C": 10.0, "gamma": 1 / 256}),
        Agreement("as letter, 26 classes", *_classes(letter, 16, 26), {"C": 10.0, "gamma": 1 / 16}),
    ]


def _classes(n: int, columns: int, n_classes: int) -> tuple[Any, Any]:
    X, y = make_classification(
        n,
        columns,
        n_informative=min(columns, 12),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=2,
        flip_y=0.03,
        random_state=0,
    )
    return X / X.std(axis=0), y


def _two_columns(rng: Any, n: int) -> tuple[Any, Any]:
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.where((np.sin(3 * X[:, 0]) > X[:, 1]) ^ (rng.random(n) < 0.05), 1, -1)
