r"""How the solution of a machine moves with its parameters.

Let F be the rows strictly between their bounds, B the support vectors at C (hinge loss only) and
S both. With :math:`\tilde K = K + R` the solution fulfils

.. math::

    \tilde K_{FF}\beta_F + K_{FB}\beta_B + b = y_F, \qquad
    1^\top\beta_F + 1^\top\beta_B = 0, \qquad \beta_B = y_B C

so that, with the bordered matrix M of the free rows,

.. math::

    M \begin{pmatrix} d\beta_F \\ db \end{pmatrix} = -\begin{pmatrix}
    d\tilde K_{FF}\beta_F + dK_{FB}\beta_B + K_{FB}\,d\beta_B \\ 1^\top d\beta_B\end{pmatrix},
    \qquad d\beta_B = \beta_B\, d\ln C, \qquad d\tilde K = dK - R\, d\ln C

which is :math:`\partial\alpha/\partial\theta = -H^{-1}(\partial H/\partial\theta)\alpha` of
document 000 (3.21) with the rows at C added. A criterion knows its derivatives in
:math:`\beta_F, \beta_B, b`; one solution with M then gives those in all parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.machines.two_class_machine import TwoClassMachine

Floats = NDArray[np.float64]


def through_solution(
    machine: TwoClassMachine, in_beta: Floats, in_offset: float
) -> tuple[float, Floats]:
    """Return the derivatives in ln C and in the kernel's parameters.

    Parameters
    ----------
    machine : TwoClassMachine
    in_beta : ndarray of shape (n_support,)
        Derivative of the criterion in the coefficient of each support vector.
    in_offset : float
        Derivative in the offset.

    Returns
    -------
    in_log_C : float
    in_kernel : ndarray of shape (p,)
    """
    free, bound, support, beta = machine.free, machine.bound, machine.support, machine.beta
    is_free = np.isin(support, free, assume_unique=True)
    in_log_C = float(in_beta[~is_free] @ beta[bound])
    if free.size == 0:  # the offset is not determined then, and taken as fixed
        return in_log_C, machine.contract(np.zeros((0, support.size)), free, support)
    u, t = machine.free_system.solve(in_beta[is_free], in_offset)
    in_log_C += float(u @ (machine.ridge[free] * beta[free]))
    if bound.size:
        pull = machine.matrix[np.ix_(free, bound)] @ beta[bound]
        in_log_C -= float(u @ pull) + t * float(beta[bound].sum())
    return in_log_C, machine.contract(-np.outer(u, beta[support]), free, support)
