"""Which coefficients no expansion of a centre can do without."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import linprog

Floats = NDArray[np.float64]

DEPENDENT = 1e-10
"""Eigenvalues below this share of the largest count as zero."""


def never_zero(matrix: Floats, beta: Floats, lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    r"""Tell which coefficients are zero in no expansion of the same centre.

    All expansions :math:`\sum_i \beta_i \phi_i` of one point with one sum of coefficients differ by
    vectors v with :math:`Kv = 0` and :math:`\sum v = 0`; a linear program in those directions finds
    how small each coefficient can become within its bounds.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Kernel matrix of the rows that may take part.
    beta, lower, upper : ndarray of shape (n,)
        One expansion, and the bounds of all.

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    shifted = matrix + (float(np.abs(np.diagonal(matrix)).mean()) or 1.0)
    values, directions = eigh(shifted)
    free = directions[:, np.abs(values) <= DEPENDENT * np.abs(values).max()]
    if free.shape[1] == 0:
        return beta != 0
    smallest = np.array([_smallest(row, free, beta, lower, upper) for row in range(beta.size)])
    return smallest > 1e-9 * float(np.abs(beta).max())


def _smallest(row: int, free: Floats, beta: Floats, lower: Floats, upper: Floats) -> float:
    """Return the smallest size that one coefficient can have."""
    if beta[row] == 0:
        return 0.0
    rises, falls = np.isfinite(upper), np.isfinite(lower)
    constraints = np.vstack([free[rises], -free[falls]])
    room = np.concatenate([(upper - beta)[rises], (beta - lower)[falls]])
    direction = np.sign(beta[row]) * free[row]
    found = linprog(direction, constraints, np.maximum(room, 0.0), bounds=(None, None))
    return float(abs(beta[row]) + (found.fun if found.status == 0 else 0.0))
