"""Points to begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_circles, make_moons

Floats = NDArray[np.float64]
Drawn = tuple[Floats, Any]


def _standardised(X: Floats, y: Any) -> Drawn:
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _moons(random: np.random.Generator) -> Drawn:
    return _standardised(*make_moons(90, noise=0.22, random_state=3))


def _islands(random: np.random.Generator) -> Drawn:
    centres = np.array([[-1.1, 0.9], [1.1, -0.9], [1.1, 0.9], [-1.1, -0.9]])
    code = np.arange(80) % 4
    return centres[code] + 0.38 * random.normal(size=(80, 2)), code // 2


def _flowers(random: np.random.Generator) -> Drawn:
    X, y = load_iris(return_X_y=True)
    return _standardised(X[:, 2:] + random.uniform(-0.04, 0.04, size=(len(X), 2)), y)


def _ring(random: np.random.Generator) -> Drawn:
    X, y = make_circles(90, noise=0.09, factor=0.3, random_state=1)
    return 1.3 * X[y == 0], y[y == 0]


def _blob(random: np.random.Generator) -> Drawn:
    X = random.normal(size=(70, 2)) @ np.array([[0.8, 0.35], [0.0, 0.45]])
    stray = np.array([[-1.6, 1.2], [1.9, -0.9], [0.2, -1.4]])
    return np.concatenate([X, stray]), np.r_[np.zeros(len(X), int), np.ones(len(stray), int)]


def _wave(random: np.random.Generator) -> Drawn:
    x = np.sort(random.uniform(-2.2, 2.2, 60))
    y = np.sin(2.2 * x) * (1 - 0.15 * x) + 0.15 * random.normal(size=60)
    return np.column_stack([x, y]), np.zeros(60, int)


EXAMPLES: dict[str, tuple[str, Callable[[np.random.Generator], Drawn], str]] = {
    "moons": ("two moons", _moons, "svc"),
    "islands": ("four islands, two classes", _islands, "svc"),
    "flowers": ("iris: three species", _flowers, "svc"),
    "ring": ("a ring, one class", _ring, "svdd"),
    "blob": ("a cloud and strays", _blob, "svdd"),
    "wave": ("a wave, for regression", _wave, "svr"),
}
"""Title, how they are drawn, and the machine that suits them."""


def example(name: str) -> dict[str, Any]:
    """Return the points of an example, as the page holds them.

    Examples
    --------
    >>> found = example("moons")
    >>> len(found["points"]), sorted(set(found["labels"]))
    (90, [0, 1])
    """
    title, draw, machine = EXAMPLES[name]
    X, y = draw(np.random.default_rng(0))
    points, labels = np.round(X, 3).tolist(), np.asarray(y).astype(int).tolist()
    names = ["setosa", "versicolor", "virginica"] if name == "flowers" else None
    axes = [{"name": "", "center": 0.0, "scale": 1.0}] * 2
    return {"name": name, "title": title, "points": points, "labels": labels, "names": names} | {
        "axes": axes,
        "machine": machine,
    }
