"""From a point of feature space back to the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from mercer._threads import blas_for
from mercer.kernels import Kernel

Floats = NDArray[np.float64]


def preimage(kernel: Kernel, vectors: Any, coefficients: ArrayLike) -> Floats:
    r"""Return the point whose image lies nearest to an expansion in feature space.

    For :math:`a = \sum_j c_j \phi(x_j)` it minimises

    .. math:: \lVert \phi(z) - a \rVert^2 = k(z, z) - 2 \sum_j c_j k(z, x_j) + \lVert a \rVert^2

    over z by L-BFGS, once from the weighted mean of the vectors and once from the vector that is
    nearest already; the better end counts. A point that maps onto a itself exists for the linear
    kernel only. With a narrow kernel there are many local minima, and the nearest vector is about
    as good as any.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    vectors : ndarray or sparse matrix of shape (m, d)
        The points :math:`x_j`.
    coefficients : array-like of shape (m,)
        Their coefficients c.

    Returns
    -------
    ndarray of shape (d,)

    References
    ----------
    S. Mika et al., "Kernel PCA and de-noising in feature spaces", NIPS 11 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> from mercer.spheres import preimage
    >>> corners = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0]])
    >>> preimage(RBF(0.1), corners, np.full(4, 0.25)).round(3)
    array([1., 1.])
    """
    points = vectors.toarray() if sp.issparse(vectors) else np.asarray(vectors, dtype=np.float64)
    c = np.asarray(coefficients, dtype=np.float64)
    # L-BFGS takes its first step in these units.
    spread = points.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    images = kernel(points) @ c
    squared_norm = float(c @ images)

    def objective(z: Floats) -> tuple[float, Floats]:
        row = (z * unit)[None, :]
        value = float(kernel.diag(row)[0] - 2.0 * (kernel(row, points) @ c)[0]) + squared_norm
        slope = kernel.diag_input_gradient(row) - 2.0 * kernel.contract_input_gradient(
            row, points, c
        )
        return value, np.asarray(slope[0] * unit)

    nearest = int(np.argmin(kernel.diag(points) - 2.0 * images))
    starts = [c @ points / c.sum() if c.sum() != 0 else points.mean(axis=0), points[nearest]]
    options = {"gtol": 1e-10, "ftol": 1e-14}
    with blas_for(len(points)):
        ends = [
            minimize(objective, start / unit, jac=True, method="L-BFGS-B", options=options)
            for start in starts
        ]
    return np.asarray(min(ends, key=lambda end: end.fun).x * unit)
