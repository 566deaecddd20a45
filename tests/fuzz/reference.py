"""Other solvers on the same programs: clarabel on any of them, LIBSVM on those that it knows."""

from __future__ import annotations

import warnings
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from sklearn import svm

from mercer.problems import QuadraticProgram


def by_clarabel(program: QuadraticProgram, matrix: np.ndarray) -> np.ndarray | None:
    """Return the optimal point by an interior-point method, None where it is not sure.

    Matrix and variables are scaled first, since its tolerances are absolute.
    """
    n = len(program.p)
    largest = float(np.abs(np.diag(matrix) + program.ridge).max(initial=0.0))
    slope = float(np.abs(program.p).max(initial=0.0))
    reach = np.concatenate([program.lower, program.upper])
    reach = np.abs(reach[np.isfinite(reach)]).max(initial=0.0)
    unit = reach if reach > 0 else max(abs(program.delta), slope / largest if largest else 1.0)
    scale = max(largest * unit, slope)
    if not (np.isfinite(scale) and scale > 0 and 0 < unit < np.inf):
        return None
    P = (matrix + np.diag(program.ridge)) * (unit / scale)
    upper, lower = np.isfinite(program.upper), np.isfinite(program.lower)
    eye = sp.eye_array(n, format="csc")
    A = sp.vstack([sp.csc_array(np.ones((1, n))), eye[upper], -eye[lower]], format="csc")
    b = np.concatenate([[program.delta], program.upper[upper], -program.lower[lower]]) / unit
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(b) - 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(P)), program.p / scale, sp.csc_matrix(A), b, cones, settings
    )
    found = solver.solve()
    return unit * np.array(found.x) if str(found.status) == "Solved" else None


def by_libsvm(kind: str, model: Any, machine: Any, weights: np.ndarray, y: Any) -> Any:
    """Return LIBSVM's point for a program of one of its kinds, None where it has no answer."""
    common = {"kernel": "precomputed", "tol": 1e-5, "max_iter": 200_000, "cache_size": 100}
    if kind == "OneClassSVM" and model.nu > 0.999:
        return None  # with weights it then writes behind the end of its array of multipliers
    if kind == "SVC":
        upper = np.maximum(machine.program.upper, -machine.program.lower)
        theirs: Any = svm.SVC(C=1.0, **common)
        K, y, weights = machine.matrix, np.sign(-machine.program.p), upper
    elif kind == "SVR":
        theirs = svm.SVR(C=model.C, epsilon=model.epsilon, **common)
        K = machine.matrix[: len(y), : len(y)]
    else:
        theirs, K, y = svm.OneClassSVM(nu=model.nu, **common), machine.matrix, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs.fit(K, y, sample_weight=weights)
        except ValueError:
            return None
    if theirs.fit_status_ != 0:
        return None
    beta = np.zeros(len(K))
    beta[theirs.support_] = theirs.dual_coef_[0]
    if kind == "SVR":
        beta = np.concatenate([np.maximum(beta, 0), np.minimum(beta, 0)])
    return beta
