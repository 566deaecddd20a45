"""What a criterion returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Criterion:
    """Value of a criterion and its slope in the logarithms of the parameters.

    Parameters
    ----------
    value : float
        Smaller is better.
    gradient : ndarray of shape (p,) or None
        Derivative in the logarithm of each parameter; None where the criterion is a step function
        or the derivative was not asked for.
    names : tuple of str
        The parameters: "C" (unless it is infinite), then those of the kernel as in
        ``kernel.theta_names``.

    Examples
    --------
    >>> from mercer.model_selection import Criterion
    >>> float(Criterion(0.25, None, ("C", "gamma")))
    0.25
    """

    value: float
    gradient: Floats | None
    names: tuple[str, ...]

    def __float__(self) -> float:
        return float(self.value)


def average(evaluate: Callable[[Any], Criterion], machines: Sequence[Any]) -> Criterion:
    """Return the mean over the two-class machines of a classifier."""
    found = [evaluate(machine) for machine in machines]
    value = sum(one.value for one in found) / len(found)
    slopes = [one.gradient for one in found if one.gradient is not None]
    gradient = np.mean(slopes, axis=0) if len(slopes) == len(found) else None
    return Criterion(float(value), gradient, found[0].names)
