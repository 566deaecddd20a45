"""Which rows belong to the bulk of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import median_gamma
from mercer.spheres.svdd import SVDD

Floats = NDArray[np.float64]

HALF = 0.5
"""Share of rows outside the wide ball, and the most that may be set aside: the bulk is the rest."""


def bulk(X: Floats, some: Floats, share: float) -> NDArray[np.bool_]:
    """Mark all rows but a share of them, those farthest from a wide ball around half of the rows.

    The width is the median distance of two rows, at which every row is near to many others: a group
    of strange rows that stand close together does not support itself.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    some : ndarray of shape (m, d)
        Rows that the ball is fitted to.
    share : float
        The most that may be left out; equal rows stay together.

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    n_far = int(share * len(X))
    if n_far == 0:
        return np.ones(len(X), dtype=bool)
    gamma = 0.5 * median_gamma(some)
    distances = SVDD(gamma=gamma, nu=HALF).fit(some).distance(X)
    return np.asarray(distances <= np.partition(distances, -n_far - 1)[-n_far - 1])
