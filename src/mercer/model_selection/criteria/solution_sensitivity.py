r"""How the solution of a machine moves with its parameters.

Let F be the rows strictly between their bounds, B the support vectors at C (linear slack only) and
S both. With :math:`\tilde K = K + R` the solution fulfils

.. math::

    \tilde K_{FF}\beta_F + K_{FB}\beta_B + b = t_F, \qquad
    1^\top\beta_F + 1^\top\beta_B = \Delta, \qquad \beta_B = \pm C

where t is the label of a classifier, the edge of the tube of a regression, or half the squared
length of a row for a ball. Therefore

with the bordered matrix M of the free rows

.. math::

    M \begin{pmatrix} d\beta_F \\ db \end{pmatrix} = \begin{pmatrix} dt_F -
    d\tilde K_{FF}\beta_F - dK_{FB}\beta_B - K_{FB}\,d\beta_B \\ -1^\top d\beta_B\end{pmatrix},
    \qquad d\beta_B = \beta_B\, d\ln C, \qquad d\tilde K = dK - R\, d\ln C

which is :math:`\partial\alpha/\partial\theta = -H^{-1}(\partial H/\partial\theta)\alpha` of
document 000 (3.21) with the rows at C added. A criterion knows its derivatives in
:math:`\beta_F, \beta_B, b`; one solution with M then gives those in all parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.blocks import submatrix
from mercer.machines import RowMachine
from mercer.machines.row_machine import marked

Floats = NDArray[np.float64]


def through_solution(machine: RowMachine, in_beta: Floats, in_offset: float) -> Floats:
    """Return the derivatives in all parameters of a machine.

    Parameters
    ----------
    machine : RowMachine
    in_beta : ndarray of shape (n_support,)
        Derivative of the criterion in the coefficient of each support vector.
    in_offset : float
        Derivative in the offset.

    Returns
    -------
    ndarray of shape (p,)
        In the order of the machine's names.
    """
    free, bound, support, beta = machine.free, machine.bound, machine.support, machine.beta
    is_free = marked(machine.n, free)[support]
    in_log_C = float(in_beta[~is_free] @ beta[bound])
    if free.size == 0:  # the offset is not determined then, and taken as fixed
        in_kernel = machine.contract(np.zeros((0, support.size)), free, support)
        return machine.gradient(in_log_C, in_kernel)
    pull = np.zeros(free.size)  # a free row may have the coefficient 0, where there is no tube
    pull[marked(machine.n, support)[free]] = in_beta[is_free]
    u, t = machine.free_system.solve(pull, in_offset)
    in_log_C += float(u @ (machine.ridge[free] * beta[free]))
    if bound.size:
        pulled = submatrix(machine.matrix, free, bound) @ beta[bound]
        in_log_C -= float(u @ pulled) + t * float(beta[bound].sum())
    in_kernel = machine.contract(-np.outer(u, beta[support]), free, support)
    return machine.gradient(in_log_C, in_kernel) + machine.target_gradient(u)
