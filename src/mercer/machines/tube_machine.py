"""The regression machine that the criteria look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.machines.bordered_system import NoSolutionError
from mercer.machines.kernel_data import KernelData
from mercer.machines.row_machine import RowMachine
from mercer.machines.tube import (
    TubeModel,
    in_unit,
    solution_of_unit,
    tube_program,
    tube_rows,
    tube_start,
    tube_unit,
)
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TubePrice:
    """How deviations of a regression are priced.

    Parameters
    ----------
    C : float
        Above 0; infinite where no deviation beyond the tube is allowed.
    epsilon : float
        Half the width of the tube.
    squared : bool
        Whether deviations beyond it count squared.
    weights : ndarray of shape (n,)
        How often each row of the data counts.
    """

    C: float
    epsilon: float
    squared: bool
    weights: Floats

    def priced(self, C: float, epsilon: float) -> TubePrice:
        """Return the same at other prices."""
        return replace(self, C=C, epsilon=epsilon)


class TubeMachine(RowMachine):
    r"""A regression on some rows; :math:`\beta_i = \alpha_i - \alpha_i^*`.

    Rows strictly between their bounds lie on the edge of the tube (beyond it by their slack, if
    that counts squared): :math:`t_i = y_i - \varepsilon\operatorname{sign}\beta_i`.

    Parameters
    ----------
    data : KernelData
        Kernel and points of all rows.
    rows : ndarray of int
        Those of this machine.
    targets : ndarray of float
        The values to predict.
    price : TubePrice
    beta : ndarray or None, default=None
        The solution, where it is known.
    **options
        As in `RowMachine`.
    """

    def __init__(
        self,
        data: KernelData,
        rows: Rows,
        targets: Floats,
        price: TubePrice,
        *,
        beta: Floats | None = None,
        **options: Any,
    ) -> None:
        super().__init__(data, rows, targets, **options)
        self.price = price
        self._beta = beta

    @cached_property
    def weights(self) -> Floats:
        """How often each row counts."""
        return self.price.weights[self.rows]

    @cached_property
    def penalties(self) -> Floats:
        """C of each row, counted once."""
        return np.full(self.n, self.price.C)

    @cached_property
    def ridge(self) -> Floats:
        """What squared slack adds to the diagonal."""
        price = self.price
        return 1.0 / (price.C * self.weights) if price.squared else np.zeros(self.n)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in whose logarithms derivatives are taken."""
        C = ("C",) if np.isfinite(self.price.C) else ()
        epsilon = ("epsilon",) if self.price.epsilon > 0 else ()
        return (*C, *epsilon, *self.data.kernel.theta_names)

    @cached_property
    def problem(self) -> QuadraticProgram:
        """The quadratic program, on the rows taken twice where there is a tube."""
        price = self.price
        C = price.C * self.weights
        return tube_program(self.targets, C, price.epsilon, squared=price.squared)

    @cached_property
    def solution(self) -> Solution:
        """The solution of that program."""
        problem, price = self.problem, self.price
        if self._beta is not None:
            beta = tube_start(problem, self._beta)
            assert beta is not None  # as many rows as coefficients
            sums = np.tile(self.matrix @ self._beta, problem.n // self.n)
            gradient = sums + problem.ridge * beta + problem.p
            return Solution.at(problem, beta, gradient, tol=self.tol)
        self.n_fits += 1
        rows = None if problem.n == self.n else self.rows[tube_rows(problem, self.n)]
        unit = tube_unit(problem)
        found = self.solve(in_unit(problem, unit), self.name, self.tol / unit, rows)
        found = solution_of_unit(problem, found, unit, self.tol)
        if found.status == "unbounded":
            raise NoSolutionError(
                f"The regression has no solution at C={price.C} and epsilon={price.epsilon}; use a "
                "smaller C, a larger epsilon or another kernel."
            )
        return found

    @cached_property
    def model(self) -> TubeModel:
        """The regression that the solution means."""
        return TubeModel.of(self.problem, self.solution, self.n, self.tol)

    @property
    def beta(self) -> Floats:
        """Coefficient of each row."""
        return self.model.coef

    @cached_property
    def free(self) -> Rows:
        """Positions strictly between the bounds."""
        inside = ~self.model.at_bound
        return np.flatnonzero(inside & (self.beta != 0) if self.price.epsilon > 0 else inside)

    def gradient(self, in_log_C: float, in_kernel: Floats) -> Floats:
        """Join the derivatives in the order of `names`; the tube has no part in them."""
        C = [in_log_C] if "C" in self.names else []
        epsilon = [0.0] if "epsilon" in self.names else []
        return np.concatenate([C, epsilon, in_kernel])

    def target_gradient(self, pull: Floats) -> Floats:
        r"""Return the derivative of :math:`-\varepsilon\sum_i u_i\operatorname{sign}\beta_i`."""
        found = np.zeros(len(self.names))
        if "epsilon" in self.names:
            signs = np.sign(self.beta[self.free])
            found[self.names.index("epsilon")] = -self.price.epsilon * float(pull @ signs)
        return found

    def part(self, kept: Rows, name: str) -> TubeMachine:
        """Return the machine of some of the rows, still to be trained."""
        return TubeMachine(
            self.data,
            self.rows[kept],
            self.targets[kept],
            self.price,
            **self._shared(name),
        )
