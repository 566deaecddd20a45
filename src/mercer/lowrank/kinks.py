"""Losses of rows as functions of their decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kinks:
    r"""Where the losses of some rows begin to rise.

    The loss of row i is :math:`c_i \sum_k \ell(u_{ik})` with :math:`u_{ik} = s_{ik}(t_{ik} - f_i)`:
    of a classifier one side, s = t = y; of a regression two, s = 1 below the tube at
    :math:`t = y - \varepsilon` and s = -1 above it at :math:`t = y + \varepsilon`.

    Parameters
    ----------
    side : ndarray of shape (n, n_sides)
        s, each 1 or -1.
    place : ndarray of shape (n, n_sides)
        t.
    price : ndarray of shape (n,)
        c.

    Examples
    --------
    >>> kinks = Kinks.of_signs(np.array([1.0, -1.0]), np.array([2.0, 2.0]))
    >>> kinks.excess(np.array([0.5, -3.0])).ravel()
    array([ 0.5, -2. ])
    """

    side: Floats
    place: Floats
    price: Floats

    @classmethod
    def of_signs(cls, signs: Floats, price: Floats) -> Kinks:
        """Return those of a classifier, from 1 and -1."""
        return cls(signs[:, None], signs[:, None], price)

    @classmethod
    def of_tube(cls, targets: Floats, epsilon: float, price: Floats) -> Kinks:
        """Return those of a regression."""
        side = np.tile([1.0, -1.0], (targets.size, 1))
        return cls(side, targets[:, None] - epsilon * side, price)

    def excess(self, values: Floats) -> Floats:
        """Return u for decision values."""
        return np.asarray(self.side * (self.place - values[:, None]))


class Loss(NamedTuple):
    """Values, slopes and curvatures in u."""

    value: Any
    slope: Any
    curvature: Any


def hinge(u: Floats, width: float) -> Loss:
    r"""Return the hinge loss max(0, u), rounded to a parabola over :math:`|u| < \delta`.

    The parabola :math:`(u + \delta)^2 / 4\delta` is symmetric about the kink.
    """
    inside = np.clip(u + width, 0.0, 2.0 * width)
    value = inside * inside / (4.0 * width) + np.maximum(u - width, 0.0)
    return Loss(value, inside / (2.0 * width), (np.abs(u) < width) / (2.0 * width))


def squared_hinge(u: Floats, width: float) -> Loss:
    """Return half the square of max(0, u), which needs no rounding."""
    positive = np.maximum(u, 0.0)
    return Loss(0.5 * positive * positive, positive, (u > 0).astype(np.float64))
