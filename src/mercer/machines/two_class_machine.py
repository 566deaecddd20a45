"""The two-class machines that the criteria look at, on the kernel data that they share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.machines.bordered_system import NoSolutionError
from mercer.machines.row_machine import KernelData, RowMachine
from mercer.machines.training import Penalty, TwoClassTask, no_minimum
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class TwoClassMachine(RowMachine):
    r"""One machine on some rows: :math:`\min \tfrac12\beta^\top(K + R)\beta - y^\top\beta`.

    Parameters
    ----------
    data : KernelData
        Kernel and points of all rows.
    rows : ndarray of int
        Those of this machine.
    signs : ndarray of float
        +1 or -1 for each of them.
    penalty : Penalty
    beta : ndarray or None, default=None
        The solution, where it is known.
    **options
        As in `RowMachine`.
    """

    def __init__(
        self,
        data: KernelData,
        rows: Rows,
        signs: Floats,
        penalty: Penalty,
        *,
        beta: Floats | None = None,
        **options: Any,
    ) -> None:
        super().__init__(data, rows, signs, **options)
        self.penalty = penalty
        self._beta = beta

    @property
    def signs(self) -> Floats:
        """+1 or -1 for each row."""
        return self.targets

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.penalty.loss

    @cached_property
    def weights(self) -> Floats:
        """How often each row counts."""
        return self.penalty.weights[self.rows]

    @cached_property
    def penalties(self) -> Floats:
        """C of each row, counted once."""
        return self.penalty.C * self.penalty.factors[self.rows]

    @cached_property
    def problem(self) -> QuadraticProgram:
        """The quadratic program."""
        return self.penalty.program(TwoClassTask(self.rows, self.signs))

    @property
    def ridge(self) -> Floats:
        """What squared slack adds to the diagonal."""
        return self.problem.ridge

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in whose logarithms derivatives are taken."""
        C = () if self.loss == "hard" else ("C",)
        return (*C, *self.data.kernel.theta_names)

    @cached_property
    def solution(self) -> Solution:
        """The trained machine."""
        if self._beta is not None:
            gradient = self.matrix @ self._beta + self.ridge * self._beta + self.problem.p
            return Solution.at(self.problem, self._beta, gradient, tol=self.tol)
        self.n_fits += 1
        found = self.solve(self.problem, self.name)
        if found.status == "unbounded":
            raise NoSolutionError(no_minimum(self.loss))
        return found

    @property
    def beta(self) -> Floats:
        r""":math:`y_i\alpha_i` of each row."""
        return self.solution.beta

    @property
    def alpha(self) -> Floats:
        r""":math:`\alpha_i` of each row."""
        return self.signs * self.beta

    @cached_property
    def decision(self) -> Floats:
        """f(x) of each row."""
        solution = self.solution
        return self.problem.image(solution.beta, solution.gradient) + solution.offset

    @cached_property
    def free(self) -> Rows:
        """Positions strictly between the bounds."""
        beta, problem = self.beta, self.problem
        return np.flatnonzero((beta > problem.lower) & (beta < problem.upper))

    def gradient(self, in_log_C: float, in_kernel: Floats) -> Floats:
        """Join the derivatives in the order of `names`."""
        return in_kernel if self.loss == "hard" else np.append(in_log_C, in_kernel)

    def target_gradient(self, pull: Floats) -> Floats:
        """Return zero: the labels do not move."""
        return np.zeros(len(self.names))

    def part(self, kept: Rows, name: str) -> TwoClassMachine:
        """Return the machine of some of the rows, still to be trained."""
        if name not in self.memory and self._beta is not None:
            self.memory[name] = self._beta[kept]
        return TwoClassMachine(
            self.data,
            self.rows[kept],
            self.signs[kept],
            self.penalty,
            **self._shared(name),
        )
