"""Directions in which a decision function changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._threads import blas_threads
from mercer.inspection.expansion import KernelExpansion, kernel_expansion

Floats = NDArray[np.float64]

MOST_ROWS = 500
"""Rows at which gradients are taken: there are few directions to learn."""

MOST_ENTRIES = 1 << 22
"""Numbers in their gradients at most, so that there are fewer of very long ones: 32 MiB."""

MOST_DIRECTIONS = 16
"""Directions kept; a partition into cells needs no more."""

NEGLIGIBLE = 1e-3
"""Directions in which rows move the function less than this share of the most are left out."""


def gradient_directions(model: Any, X: Any) -> Floats | None:
    r"""Return directions, scaled so that distances along them tell how a function changes.

    From the mean outer product of its gradients

    .. math:: M = \frac{1}{n} \sum_i \nabla f(x_i) \nabla f(x_i)^\top = U \Lambda U^\top

    the directions are :math:`U \Lambda^{1/4}`: distances between rows that are multiplied with them
    are in the metric :math:`M^{1/2}`, half way between that of the features, which knows nothing of
    f, and the change of f, which knows nothing of the kernel. Of several functions (many classes)
    M is the mean.

    Parameters
    ----------
    model : estimator
        A fitted kernel machine of mercer.
    X : array-like or sparse matrix of shape (n, n_features)
        Where to look.

    Returns
    -------
    ndarray of shape (n_features, n_directions) or None
        None for other models, and where the function is constant.

    References
    ----------
    M. Hristache, A. Juditsky, J. Polzehl, V. Spokoiny, "Structure adaptive approach for dimension
    reduction", Annals of Statistics 29 (2001).

    S. Trivedi, J. Wang, S. Kpotufe, G. Shakhnarovich, "A consistent estimator of the expected
    gradient outerproduct", Uncertainty in Artificial Intelligence (2014).

    Examples
    --------
    Only the sum of the first two features counts:

    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = SVR(kernel="linear", C=10.0).fit(X, X[:, 0] + X[:, 1])
    >>> found = gradient_directions(model, X)
    >>> np.abs(found / found[0]).round(1)
    array([[1.],
           [1.],
           [0.]])
    """
    try:
        expansion = kernel_expansion(model)
    except TypeError:
        return None
    rows = X[: max(1, min(MOST_ROWS, MOST_ENTRIES // (X.shape[1] * len(expansion.coefficients))))]
    with blas_threads(1):  # short products, for which two threads would wait longer than compute
        gradients = _gradients(expansion, rows)
        if not np.isfinite(gradients).all() or not gradients.any():
            return None
        sizes, directions = _singular(gradients / np.abs(gradients).max())
    kept = np.flatnonzero(sizes > NEGLIGIBLE * sizes[0])[:MOST_DIRECTIONS]
    return np.asarray(directions[:, kept] * np.sqrt(sizes[kept] / sizes[0]))


def _gradients(expansion: KernelExpansion, rows: Any) -> Floats:
    """Return the gradients of all functions of an expansion, one function after the other."""
    found = []
    for coefficients in expansion.coefficients:
        used = np.flatnonzero(coefficients)
        points, own = expansion.points[used], coefficients[used]
        gradient = expansion.kernel.contract_input_gradient(rows, points, own)
        if expansion.diagonal_factor:
            gradient += expansion.diagonal_factor * expansion.kernel.diag_input_gradient(rows)
        found.append(gradient)
    return np.concatenate(found)


def _singular(G: Floats) -> tuple[Floats, Floats]:
    """Return the singular values, the largest first, and what they belong to on the right.

    By the eigenvalues of the smaller square matrix: those that are negligible may be rounding.
    """
    is_tall = G.shape[0] >= G.shape[1]
    square = G.T @ G if is_tall else G @ G.T
    values, vectors = np.linalg.eigh(square)
    sizes, vectors = np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
    if is_tall:
        return sizes, vectors
    with np.errstate(divide="ignore", invalid="ignore"):
        return sizes, G.T @ vectors / sizes
