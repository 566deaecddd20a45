"""The optimum of a linear machine, from an interior-point method on the primal problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .peers import UnavailableError
from .problems import Array


def primal_objective(
    X: Array,
    sign: Array,
    plane: tuple[Array, float],
    *,
    C: float,
    loss: str,
    regularised_bias: bool,
) -> float:
    """Return 1/2 |w|^2 (+ 1/2 b^2) + C sum of hinge losses, plain or squared.

    >>> X, sign = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    >>> primal_objective(
    ...     X, sign, (np.array([0.5]), 0.0), C=2.0, loss="hinge", regularised_bias=False
    ... )
    2.125
    """
    w, b = plane
    slack = np.maximum(0.0, 1.0 - sign * (X @ w + b))
    penalty = slack.sum() if loss == "hinge" else slack @ slack
    bias = 0.5 * b * b if regularised_bias else 0.0
    return float(0.5 * w @ w + bias + C * penalty)


def optimal_objective(
    X: Array, sign: NDArray[np.float64], *, C: float, loss: str, regularised_bias: bool
) -> float:
    """Return the least primal objective, from clarabel at its tightest tolerance.

    The variables are w, b and the slacks xi, with y_i (w.x_i + b) + xi_i >= 1 and xi >= 0.
    """
    try:
        import clarabel
    except ImportError as error:
        raise UnavailableError(f"the reference optimum needs clarabel ({error})") from error
    n, d = X.shape
    squared = loss == "squared_hinge"
    curvature = np.concatenate(
        [np.ones(d), [float(regularised_bias)], np.full(n, 2.0 * C if squared else 0.0)]
    )
    cost = np.concatenate([np.zeros(d + 1), np.full(n, 0.0 if squared else C)])
    margins = sparse.hstack(
        [sparse.csc_matrix(-sign[:, None] * X), sparse.csc_matrix(-sign[:, None]), -sparse.eye(n)]
    )
    positive = sparse.hstack([sparse.csc_matrix((n, d + 1)), -sparse.eye(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-9
    solver = clarabel.DefaultSolver(
        sparse.diags(curvature, format="csc"),
        cost,
        sparse.vstack([margins, positive], format="csc"),
        np.concatenate([-np.ones(n), np.zeros(n)]),
        [clarabel.NonnegativeConeT(2 * n)],
        settings,
    )
    found = np.array(solver.solve().x)
    # Evaluate rather than trust the solver's own value: its point may be infeasible by a hair.
    return primal_objective(
        X,
        sign,
        (found[:d], float(found[d])),
        C=C,
        loss=loss,
        regularised_bias=regularised_bias,
    )
