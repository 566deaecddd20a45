"""Whether a Gram matrix is positive semi-definite, and by how much not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from mercer._threads import blas_for

from ._checks import Floats, as_dense

EXACT_ROWS = 3000
"""Up to this size all eigenvalues are computed; above, Lanczos iterations find the two needed."""


@dataclass(frozen=True)
class MercerReport:
    """Answer of `is_mercer`; true where the matrix is a Gram matrix.

    Attributes
    ----------
    smallest : float
        The smallest eigenvalue of the symmetric part.
    norm : float
        The largest eigenvalue in size.
    asymmetry : float
        Largest difference between K_ij and K_ji, over the largest entry.
    tolerance : float
        What both may fall short by, relative to the size of the matrix.
    """

    smallest: float
    norm: float
    asymmetry: float
    tolerance: float

    @property
    def shortfall(self) -> float:
        """The most negative eigenvalue over the norm; 0 where none is negative."""
        return max(0.0, -self.smallest / self.norm) if self.norm else 0.0

    def __bool__(self) -> bool:
        """Return whether the matrix is symmetric and positive semi-definite."""
        return self.asymmetry <= self.tolerance and self.shortfall <= self.tolerance

    def __str__(self) -> str:
        """Return the answer as a sentence."""
        if self.asymmetry > self.tolerance:
            return f"not symmetric: entries differ by {self.asymmetry:.3g} of the largest"
        verdict = "positive semi-definite" if self else "not positive semi-definite"
        return (
            f"{verdict}: smallest eigenvalue {self.smallest:.6g}, largest in size "
            f"{self.norm:.6g}, relative tolerance {self.tolerance:.3g}"
        )


def is_mercer(K: Any, tolerance: float = 1e-10) -> MercerReport:
    r"""Tell whether a kernel matrix is symmetric and positive semi-definite.

    By Mercer's theorem a symmetric function is a dot product in some feature space if and only
    if all its matrices are positive semi-definite. One matrix can refute a kernel, not prove it.

    Parameters
    ----------
    K : array-like of shape (n, n)
    tolerance : float, default=1e-10
        How far below 0 the smallest eigenvalue may be, relative to the largest in size; values
        computed in float32 need about 1e-6.

    Returns
    -------
    MercerReport
        True or false, with the eigenvalues that decided it. Above 3000 rows a Cholesky factor
        of the matrix, shifted by the tolerance, decides, and Lanczos iterations give the values.

    References
    ----------
    A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, section 5.2.5.

    Examples
    --------
    >>> from mercer.kernels import is_mercer
    >>> bool(is_mercer([[1.0, 0.5], [0.5, 1.0]]))
    True
    >>> report = is_mercer([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(report), round(report.smallest, 6)
    (False, -1.0)
    """
    matrix = as_dense(K)
    n = len(matrix)
    if matrix.shape != (n, n) or n == 0:
        raise ValueError(f"K must be a square kernel matrix; got shape {matrix.shape}.")
    largest_entry = np.abs(matrix).max()
    if largest_entry == 0:
        return MercerReport(0.0, 0.0, 0.0, float(tolerance))
    asymmetry = np.abs(matrix - matrix.T).max() / largest_entry
    symmetric = matrix if asymmetry == 0 else (matrix + matrix.T) / 2
    with blas_for(n):
        smallest, norm = _smallest_and_norm(symmetric, tolerance)
    return MercerReport(float(smallest), float(norm), float(asymmetry), float(tolerance))


def _smallest_and_norm(K: Floats, tolerance: float) -> tuple[float, float]:
    if len(K) > EXACT_ROWS:
        try:
            return _by_lanczos(K, tolerance)
        except ArpackError:
            pass
    values = eigvalsh(K)
    return float(values[0]), float(np.abs(values).max())


def _by_lanczos(K: Floats, tolerance: float) -> tuple[float, float]:
    """Return the smallest eigenvalue and the norm.

    The smallest one of a kernel matrix sits in a cluster near 0, which plain iterations cannot
    tell apart. A Cholesky factor of K + s I shows that no eigenvalue lies below -s, and iterations
    with the inverse then find the smallest quickly.
    """
    n = len(K)
    start = np.random.default_rng(0).normal(size=n)

    def eigenvalue(operator: Any, which: str) -> float:
        # A residual of 1e-4 means an error of about 1e-8 in the value.
        return float(
            eigsh(
                operator, k=1, which=which, v0=start, ncv=32, tol=1e-4, return_eigenvectors=False
            )[0]
        )

    norm = abs(eigenvalue(K, "LM"))
    # Below the rounding of the factor a smaller shift would decide nothing.
    shift = max(tolerance, n * np.finfo(np.float64).eps) * norm
    factor = None
    while factor is None:
        try:
            factor = cho_factor(K + shift * np.eye(n), overwrite_a=True, check_finite=False)
        except LinAlgError:
            shift *= 30.0
    inverse = LinearOperator((n, n), matvec=lambda v: cho_solve(factor, v), dtype=np.float64)
    return 1.0 / eigenvalue(inverse, "LA") - shift, norm
