"""Balls by a general solver that stops early, as the program of the source does."""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp


def loose_multipliers(K: np.ndarray, tol: float = 1e-7) -> np.ndarray:
    """Minimise a'Ka for a >= 0 with sum 1 by an interior point, to as many digits as `tol` says.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel values of the rows, with equal numbers on the diagonal.
    tol : float, default=1e-7
        Gap and violation at which it stops.

    Returns
    -------
    ndarray of shape (n,)
        The multipliers; none of them is exactly 0.
    """
    n = len(K)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    solver = clarabel.DefaultSolver(
        sp.triu(sp.csc_matrix(K), format="csc"),
        np.zeros(n),
        sp.vstack([np.ones((1, n)), -sp.eye(n)], format="csc"),
        np.concatenate([[1.0], np.zeros(n)]),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)],
        settings,
    )
    return np.asarray(solver.solve().x)
