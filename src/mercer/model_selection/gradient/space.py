"""The logarithms of the parameters, some of them tied together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel

Floats = NDArray[np.float64]

SPREAD = 2.5
"""Standard deviation of further starting points around the first, in logarithms."""


@dataclass(frozen=True, eq=False)
class Space:
    r"""Where a search moves: :math:`(\ln C, \theta) = \text{base} + A\varphi`.

    Parameters
    ----------
    kernel : Kernel
        Without "scale" and the like; its own parameters are the base.
    log_penalty : float or None
        None where C is infinite and stays so.
    ties : ndarray of shape (p, q)
        A: one column for each coordinate.
    bounds : ndarray of shape (q, 2)
        Bounds of the coordinates, which are 0 at the base.
    """

    kernel: Kernel
    log_penalty: float | None
    ties: Floats
    bounds: Floats

    @classmethod
    def around(
        cls, kernel: Kernel, C: float, C_bounds: Any, kernel_bounds: Any, tied: bool
    ) -> Space:
        """Return the space of all parameters; with `tied` each vector moves as one."""
        log_penalty = None if np.isinf(C) else float(np.log(C))
        names = kernel.theta_names
        groups = [re.sub(r"\[\d+\]$", "", name) for name in names] if tied else names
        columns = list(dict.fromkeys(groups))
        ties = np.array([[float(group == column) for column in columns] for group in groups])
        ties = ties.reshape(len(names), len(columns))
        low, high = np.log(np.asarray(kernel_bounds, dtype=np.float64))
        bounds = np.tile([min(low, 0.0), max(high, 0.0)], (len(columns), 1))
        if log_penalty is not None:
            own = np.log(np.asarray(C_bounds, dtype=np.float64)) - log_penalty
            bounds = np.vstack([[min(own[0], 0.0), max(own[1], 0.0)], bounds])
            whole = np.zeros((len(names) + 1, len(columns) + 1))
            whole[0, 0], whole[1:, 1:] = 1.0, ties
            ties = whole
        return cls(kernel, log_penalty, ties, bounds)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.ties.shape[1])

    @property
    def of_kernel(self) -> slice:
        """The coordinates of the kernel."""
        return slice(0 if self.log_penalty is None else 1, None)

    def at(self, point: Floats) -> tuple[float, Kernel]:
        """Return C and the kernel at a point."""
        moved = self.ties @ point
        if self.log_penalty is None:
            return np.inf, self.kernel.with_theta(self.kernel.theta + moved)
        kernel = self.kernel.with_theta(self.kernel.theta + moved[1:])
        return float(np.exp(self.log_penalty + moved[0])), kernel

    def pull_back(self, gradient: Floats) -> Floats:
        """Return the gradient in the coordinates."""
        return self.ties.T @ gradient

    def starts(self, count: int, random: np.random.RandomState) -> list[Floats]:
        """Return the base, and further points around it."""
        points = [np.zeros(self.size)]
        for _ in range(count - 1):
            point = SPREAD * random.standard_normal(self.size)
            points.append(np.clip(point, *self.bounds.T))
        return points
