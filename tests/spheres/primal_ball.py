"""The ball as it is stated, without duality: for a general solver in an explicit feature space."""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class PrimalBall:
    """Solution of the problem below."""

    squared_radius: float
    squared_distances: np.ndarray
    value: float


def solve_primal(
    K: np.ndarray, C: np.ndarray | float, y: np.ndarray | None = None, squared_slack: bool = False
) -> PrimalBall:
    """Minimise R^2 + sum C_i l(xi_i) over centre, radius and slack; C = inf allows no slack.

    With rho = R^2 - |a|^2 the constraints y_i (|phi_i|^2 - 2 <phi_i, a> - rho) <= xi_i are linear.
    """
    n = len(K)
    signs = np.ones(n) if y is None else np.asarray(y, dtype=float)
    penalty = np.broadcast_to(np.asarray(C, dtype=float), (n,))
    # Centred, since that changes no distance, and with distances of about 1, as solvers like it.
    mean = K.mean(axis=0)
    centred = K - mean - mean[:, None] + K.mean()
    unit = float(np.diagonal(centred).max()) or 1.0
    values, vectors = np.linalg.eigh(centred / unit)
    penalty = penalty * unit if squared_slack else penalty
    kept = values > 1e-12 * values.max()
    features = vectors[:, kept] * np.sqrt(values[kept])
    d = features.shape[1]
    has_slack = np.isfinite(penalty)
    m = int(has_slack.sum())
    # Variables: centre (d), rho (1), slack (m).
    quadratic = np.concatenate([np.full(d, 2.0), [0.0], np.zeros(m)])
    linear = np.concatenate([np.zeros(d), [1.0], np.zeros(m)])
    (quadratic if squared_slack else linear)[d + 1 :] = (1 + squared_slack) * penalty[has_slack]
    slack = -np.eye(n)[:, has_slack]
    upper = np.hstack([-2 * signs[:, None] * features, -signs[:, None], slack])
    positive = np.hstack([np.zeros((m, d + 1)), -np.eye(m)])
    A = sp.csc_matrix(np.vstack([upper, positive]))
    b = np.concatenate([-signs * (features**2).sum(axis=1), np.zeros(m)])
    x, objective = _solve(sp.diags(quadratic, format="csc"), linear, A, b)
    centre, rho = x[:d], x[d]
    squared = ((features - centre) ** 2).sum(axis=1)
    squared_radius = unit * float(rho + centre @ centre)
    return PrimalBall(squared_radius, unit * squared, unit * objective)


def _solve(P: sp.csc_matrix, q: np.ndarray, A: sp.csc_matrix, b: np.ndarray) -> tuple:
    """Return the solution to the smallest tolerance that the solver reaches."""
    for tolerance in (1e-12, 1e-11, 1e-10, 1e-9):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        cones = [clarabel.NonnegativeConeT(len(b))]
        found = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
        if found.status == clarabel.SolverStatus.Solved:
            return np.array(found.x), float(found.obj_val)
    raise AssertionError(f"the reference solver gave up: {found.status}")
