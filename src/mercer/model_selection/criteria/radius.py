"""The smallest ball around the rows in feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.machines.two_class_machine import TwoClassMachine
from mercer.problems import QuadraticProgram

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EnclosingBall:
    r"""The ball :math:`R^2 = \max_z \sum z_i\tilde K_{ii} - z^\top\tilde K z`.

    Parameters
    ----------
    squared_radius : float
    z : ndarray of shape (n,)
        Weights of the rows in its centre.
    """

    squared_radius: float
    z: Floats


def enclosing_ball(machine: TwoClassMachine) -> EnclosingBall:
    """Return the ball in the feature space in which the machine has a hard margin.

    For squared slack every row has a direction of its own there, of squared length 1/C; a row that
    counts several times has several, between which its weight is divided.
    """
    diagonal = machine.matrix.diagonal() + machine.ridge * machine.weights
    # In units of the largest entry, so that the solver's tolerance is relative to the radius.
    unit = float(diagonal.max()) or 1.0
    zero = np.zeros(machine.n)
    problem = QuadraticProgram(-0.5 * diagonal, zero, zero + np.inf, 1.0, machine.ridge)
    found = machine.solve(problem, "ball", tol=machine.tol * unit)
    return EnclosingBall(-2.0 * found.objective, found.beta)
