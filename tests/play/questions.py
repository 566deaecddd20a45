"""Questions that tests ask of the page's answers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

TOKEN = "a-token-of-tests"
SOURCE = {
    **{"file": "a.csv", "reader": "read_csv", "options": {}, "target": "kind", "form": ""},
    **{"first": "a", "gaps": False, "sampled": False, "whole": True},
    **{
        axis: {"name": name, "center": 0.0, "scale": 1.0}
        for axis, name in (("across", "a"), ("up", "b"))
    },
}
"""What the page says of the file that points are of."""


def question(machine: str = "svc", kernel: str = "rbf", **more: Any) -> dict[str, Any]:
    """Return a question for a picture of two moons."""
    X, y = make_moons(40, noise=0.2, random_state=0)
    asked: dict[str, Any] = {
        **{"ask": "picture", "machine": machine, "kernel": kernel, "settings": {}},
        **{"points": X.round(3).tolist(), "labels": y.tolist()},
        **{"view": [-2.0, 3.0, -1.5, 2.0], "grid": [21, 15]},
    }
    return asked | more


def three_classes(machine: str, **more: Any) -> dict[str, Any]:
    """Return a question for three clouds that overlap, labels 0, 2 and 5."""
    X, y = make_blobs(60, centers=[[-1, 0], [1, 0], [0, 1.5]], cluster_std=0.6, random_state=1)
    labels = np.array([0, 2, 5])[y].tolist()
    return question(machine, points=X.round(3).tolist(), labels=labels, **more)


def unpacked(field: dict[str, Any]) -> np.ndarray:
    """Return the values of a field as the page makes them of it."""
    counts = np.frombuffer(base64.b64decode(field["data"]), "<i2").astype(float)
    return field["unit"] * counts * np.abs(counts)


def nodes(asked: dict[str, Any]) -> np.ndarray:
    """Return the points of the grid of a question."""
    left, right, bottom, top = asked["view"]
    across, up = asked["grid"]
    x, y = np.meshgrid(np.linspace(left, right, across), np.linspace(bottom, top, up))
    return np.column_stack([x.ravel(), y.ravel()])


def run_code(found: dict[str, Any]) -> dict[str, Any]:
    """Run the code of an answer without its picture, and return its names."""
    code = "\n".join(found["code"])
    names: dict[str, Any] = {}
    exec(code.replace("plt.show()\n", "plt.close('all')\n"), names)
    return names
