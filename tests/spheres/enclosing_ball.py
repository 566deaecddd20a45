"""The smallest enclosing ball of points by geometry alone."""

from __future__ import annotations

import numpy as np

Ball = tuple[np.ndarray, float]


def welzl(points: np.ndarray, seed: int = 0) -> Ball:
    """Return centre and squared radius by Welzl's algorithm with points moved to the front.

    E. Welzl, "Smallest enclosing disks (balls and ellipsoids)", LNCS 555 (1991).
    """
    order = list(np.random.default_rng(seed).permutation(len(points)))
    return _ball(points, order, len(order), [])


def _ball(points: np.ndarray, order: list[int], n: int, border: list[int]) -> Ball:
    centre, squared = _through(points[border])
    if len(border) == points.shape[1] + 1:
        return centre, squared
    for place in range(n):
        row = order[place]
        if ((points[row] - centre) ** 2).sum() > squared * (1 + 1e-12) + 1e-300:
            centre, squared = _ball(points, order, place, [*border, row])
            order.insert(0, order.pop(place))
    return centre, squared


def _through(border: np.ndarray) -> Ball:
    """Return the ball of least radius with all given points on its surface."""
    if len(border) == 0:
        return np.zeros(border.shape[1]), -1.0
    edges = border[1:] - border[0]
    offset = np.linalg.lstsq(2 * edges @ edges.T, (edges**2).sum(axis=1), rcond=None)[0] @ edges
    return border[0] + offset, float(offset @ offset)
