r"""The least-squares machine on the kernel matrix of a classifier.

With equalities in place of inequalities, :math:`y_i = f(x_i) + \xi_i` and the penalty
:math:`\tfrac{C}{2}\sum\xi_i^2`, the solution is that of one linear system, on all rows:

.. math::

    \begin{pmatrix} \tilde K & 1 \\ 1^\top & 0 \end{pmatrix}
    \begin{pmatrix} \beta \\ b \end{pmatrix} = \begin{pmatrix} y \\ 0 \end{pmatrix}, \qquad
    \tilde K = K + \operatorname{diag}(1/C_i)

A row of weight w counts as w rows. Merged into one it has the ridge :math:`1/(C w)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.machines.bordered_system import BorderedSystem
from mercer.machines.two_class_machine import TwoClassMachine

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Solution of the least-squares machine.

    Parameters
    ----------
    system : BorderedSystem
    ridge : ndarray of shape (n,)
        Addition to the diagonal.
    beta : ndarray of shape (n,)
    """

    system: BorderedSystem
    ridge: Floats
    beta: Floats

    @classmethod
    def of(cls, machine: TwoClassMachine) -> LeastSquares:
        """Solve on all rows of a machine, whatever its loss."""
        ridge = 1.0 / (machine.penalties * machine.weights)
        matrix = machine.matrix.copy()
        matrix[np.diag_indices_from(matrix)] += ridge
        system = BorderedSystem(matrix)
        return cls(system, ridge, system.solve(machine.signs)[0])
