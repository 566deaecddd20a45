"""What is known of rows besides where they are: classes or targets, and prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.lowrank.kinks import Kinks

Floats = NDArray[np.float64]

FIRST_WIDTH = 1.1
"""All kinks of a function that is zero are rounded, since the margin is 1 away."""


def codes_of(classes: Any, y: Any) -> NDArray[np.int64]:
    """Return the positions of labels in the sorted classes; any for those that are none of them.

    These are rows without weight, for whom it makes no difference.

    Examples
    --------
    >>> codes_of(np.array(["a", "b"]), np.array(["b", "a", "z"]))
    array([1, 0, 1])
    """
    return np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int64)


@dataclass(frozen=True)
class ClassTargets:
    """Classes of rows; of two there is one machine, of more one for each against all others.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Positions of the labels.
    weights : ndarray of shape (n,) or None
    prices : ndarray of shape (n_classes,)
        Of a row of weight 1 of each class.

    Examples
    --------
    >>> targets = ClassTargets(np.array([0, 1, 2]), None, np.ones(3))
    >>> targets.kinks(1).side.ravel()
    array([-1.,  1., -1.])
    """

    codes: NDArray[np.int64]
    weights: Floats | None
    prices: Floats

    @property
    def n_machines(self) -> int:
        """Return how many machines there are."""
        return 1 if self.prices.size == 2 else self.prices.size

    def price(self) -> Floats:
        """Return the price of each row."""
        price = self.prices[self.codes]
        return price if self.weights is None else price * self.weights

    def times(self, factor: float) -> ClassTargets:
        """Return the same at other prices."""
        return replace(self, prices=self.prices * factor)

    def kinks(self, machine: int) -> Kinks:
        """Return the losses of the rows for one of the machines."""
        positive = 1 if self.prices.size == 2 else machine
        return Kinks.of_signs(np.where(self.codes == positive, 1.0, -1.0), self.price())

    def start(self) -> tuple[float, float]:
        """Return the offset to begin with, and how much of the losses is rounded there."""
        return 0.0, FIRST_WIDTH

    def part(self, rows: Any) -> ClassTargets:
        """Return some of them."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], weights=weights)


@dataclass(frozen=True)
class TubeTargets:
    """Numbers, which a function is to keep within epsilon of.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    epsilon, cost : float
        Of a row of weight 1.
    """

    values: Floats
    weights: Floats | None
    epsilon: float
    cost: float

    n_machines = 1

    def price(self) -> Floats:
        """Return the price of each row."""
        weights = np.ones(len(self.values)) if self.weights is None else self.weights
        return self.cost * weights

    def times(self, factor: float) -> TubeTargets:
        """Return the same at another price."""
        return replace(self, cost=self.cost * factor)

    def kinks(self, machine: int) -> Kinks:
        """Return the losses of the rows."""
        values = np.asarray(self.values, dtype=np.float64)
        return Kinks.of_tube(values, self.epsilon, self.price())

    def start(self) -> tuple[float, float]:
        """Return the offset to begin with, and how much of the losses is rounded there."""
        places = self.kinks(0).place
        offset = float(np.median(places))
        return offset, 1.1 * float(np.abs(places - offset).max()) or 1.0

    def part(self, rows: Any) -> TubeTargets:
        """Return some of them."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, values=self.values[rows], weights=weights)


Targets = ClassTargets | TubeTargets
