"""The one-class machine that the criteria look at."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.machines.bordered_system import NoSolutionError
from mercer.machines.row_machine import KernelData, RowMachine
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

Formulate = Callable[[Floats, Floats, Floats], QuadraticProgram]
"""From the diagonal of the kernel matrix, signs and weights of some rows to their program."""


class RegionMachine(RowMachine):
    r"""The region around some rows: a hyperplane that cuts off the origin, or a ball.

    For the hyperplane t = 0, and b is minus :math:`\rho`. For the ball
    :math:`t_i = \tfrac12 K_{ii}`, and half of :math:`R^2 - \lVert\phi(x) - a\rVert^2` is
    :math:`f(x) - \tfrac12 k(x, x)`. The price of slack stays as it is.

    Parameters
    ----------
    data : KernelData
        Kernel and points of all rows.
    rows : ndarray of int
        Those of this machine.
    signs : ndarray of float
        +1 for rows that belong inside, -1 for those that belong outside.
    weights : ndarray of float
        How often each row of the data counts.
    formulate : callable
        Makes the program.
    is_ball : bool
    **options
        As in `RowMachine`.
    """

    def __init__(
        self,
        data: KernelData,
        rows: Rows,
        signs: Floats,
        weights: Floats,
        formulate: Formulate,
        *,
        is_ball: bool,
        **options: Any,
    ) -> None:
        super().__init__(data, rows, signs, **options)
        self.subtracts_length = is_ball
        self._all_weights = weights
        self._formulate = formulate

    @cached_property
    def weights(self) -> Floats:
        """How often each row counts."""
        return self._all_weights[self.rows]

    @cached_property
    def problem(self) -> QuadraticProgram:
        """The quadratic program."""
        return self._formulate(self.matrix.diagonal(), self.targets, self.weights)

    @property
    def ridge(self) -> Floats:
        """What squared slack adds to the diagonal."""
        return self.problem.ridge

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the kernel."""
        return tuple(self.data.kernel.theta_names)

    @cached_property
    def solution(self) -> Solution:
        """The solution of the program."""
        self.n_fits += 1
        # In units of the largest entry and of one row's share, as the estimators have it.
        unit = float(np.abs(self.matrix.diagonal()).max()) or 1.0
        found = self.solve(self.problem, self.name, tol=self.tol * unit / self.n)
        if found.status == "unbounded":
            raise NoSolutionError("No ball holds all targets and no outlier with this kernel.")
        return found

    @property
    def beta(self) -> Floats:
        """Coefficient of each row."""
        return self.solution.beta

    @cached_property
    def free(self) -> Rows:
        """Positions strictly between the bounds."""
        beta, problem = self.beta, self.problem
        return np.flatnonzero((beta > problem.lower) & (beta < problem.upper))

    def gradient(self, in_log_C: float, in_kernel: Floats) -> Floats:
        """Return the derivatives in the kernel; the price does not move."""
        return in_kernel

    def target_gradient(self, pull: Floats) -> Floats:
        r"""Return the derivative of :math:`\tfrac12\sum_i u_i K_{ii}` for a ball."""
        if not self.subtracts_length:
            return np.zeros(len(self.names))
        return self.contract(np.diag(0.5 * pull), self.free, self.free)

    def part(self, kept: Rows, name: str) -> RegionMachine:
        """Return the machine of some of the rows, still to be trained."""
        return RegionMachine(
            self.data,
            self.rows[kept],
            self.targets[kept],
            self._all_weights,
            self._formulate,
            is_ball=self.subtracts_length,
            **self._shared(name),
        )
