"""Random data: shapes, scales, copies and ties, labels, weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Drawn = dict[str, Any]
Random = np.random.Generator

SHAPES = ("normal", "clusters", "grid", "copies", "constant", "one feature", "wide", "far", "mixed")
LABELS = ("int", "text", "bool", "float", "negative")


@dataclass
class Data:
    """Rows with labels, targets and weights, as plain arrays."""

    X: np.ndarray
    codes: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None
    drawn: Drawn = field(default_factory=dict)

    @property
    def weights(self) -> np.ndarray:
        """One for each row."""
        return np.ones(len(self.X)) if self.weight is None else self.weight


def draw_data(rng: Random, most_rows: int = 500) -> Data:
    """Return data of 2 to ``most_rows`` rows in 2 to 6 classes, each with two rows if possible."""
    n = round(2 * (most_rows / 2) ** rng.random())
    shape = str(rng.choice(SHAPES))
    k = int(rng.integers(2, max(2, min(6, n // 2)) + 1))
    codes = np.concatenate([np.arange(n) % k])
    rng.shuffle(codes)
    scale = draw_scale(rng)
    X = scale * _rows(rng, shape, n, codes)
    target = draw_scale(rng, usual=0.85) * (X[:, 0] / scale + rng.normal(0, 0.3, n))
    weight, kind = _weights(rng, n)
    drawn = {"n": n, "d": X.shape[1], "shape": shape, "classes": k, "scale": scale, "weight": kind}
    return Data(X, codes, target, weight, drawn)


def draw_scale(rng: Random, usual: float = 0.6) -> float:
    """Return 1 mostly, else a power of ten between -6 and 6, or now and then -300 and 300."""
    choice = rng.random()
    if choice < usual:
        return 1.0
    reach = 6 if choice < 1 - (1 - usual) / 3 else 300
    return float(10.0 ** rng.integers(-reach, reach + 1))


def _rows(rng: Random, shape: str, n: int, codes: np.ndarray) -> np.ndarray:
    d = 1 if shape == "one feature" else int(rng.integers(n, n + 80) if shape == "wide" else 8)
    d = d if shape in ("one feature", "wide") else int(rng.integers(1, 31))
    X = rng.normal(size=(n, d))
    if shape in ("clusters", "far", "mixed", "copies"):
        X += rng.uniform(0.1, 3) * rng.normal(size=(codes.max() + 1, d))[codes]
    if shape == "grid":
        X = np.round(X)
    elif shape == "copies":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif shape == "constant":
        X[:, rng.random(d) < 0.7] = 3.0
    elif shape == "far":
        X += 10.0 ** rng.integers(1, 6)
    elif shape == "mixed":
        X *= 10.0 ** rng.integers(-4, 5, d)
    return X


def _weights(rng: Random, n: int) -> tuple[np.ndarray | None, str]:
    kind = str(rng.choice(["none", "none", "none", "random", "zeros", "whole", "unequal", "huge"]))
    if kind == "none":
        return None, kind
    weight = rng.exponential(size=n) + 0.05
    if kind == "zeros":
        weight[rng.random(n) < 0.2] = 0.0
    elif kind == "whole":
        weight = rng.integers(1, 4, n).astype(float)
    elif kind == "unequal":
        weight = 10.0 ** rng.uniform(-4, 4, n)
    elif kind == "huge":
        weight *= 10.0 ** rng.integers(5, 200)
    return weight, kind


def draw_labels(rng: Random, codes: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the classes under names of some kind, in the same order."""
    kind = str(rng.choice(LABELS))
    if kind == "bool" and codes.max() > 1:
        kind = "text"
    makers = {
        "int": lambda: codes,
        "text": lambda: np.array(["ant", "bee", "cat", "dog", "eel", "fox"])[codes],
        "bool": lambda: codes.astype(bool),
        "float": lambda: codes.astype(float),
        "negative": lambda: codes - 1,
    }
    return makers[kind](), kind
