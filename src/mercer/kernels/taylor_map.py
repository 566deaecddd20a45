"""The first dimensions of the feature space of a Gaussian kernel, written out."""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

from ._checks import Floats, as_dense
from .coerce import as_kernel
from .feature_map import monomials
from .radial import RBF


def taylor_map(
    kernel: Any, X: Any, degree: int, *, origin: Any = None, max_columns: int = 50_000
) -> Floats:
    r"""Return points whose dot products are the Gaussian kernel up to a degree of its series.

    .. math::

        e^{-\gamma\lVert x - y\rVert^2} = e^{-\gamma\lVert x\rVert^2} e^{-\gamma\lVert y\rVert^2}
        \sum_{r=0}^\infty \frac{(2\gamma)^r}{r!}\langle x, y\rangle^r

    and :math:`\langle x, y\rangle^r` is a dot product of monomials of degree r, as in
    `explicit_map`. The whole map has infinitely many columns; with those up to degree R the kernel
    is missed by no more than

    .. math:: \frac{(2\gamma\lVert x\rVert\lVert y\rVert)^{R+1}}{(R+1)!}

    since the rest of the exponential series of z is at most :math:`e^z z^{R+1}/(R+1)!` and
    :math:`2\lVert x\rVert\lVert y\rVert \le \lVert x\rVert^2 + \lVert y\rVert^2`. The kernel does
    not depend on where the origin is, but this does: put it amid the data.

    Parameters
    ----------
    kernel : RBF
        With a number, or one for each feature, for gamma.
    X : array-like or sparse matrix of shape (n, d)
    degree : int
        R, not negative.
    origin : array-like of shape (d,) or None, default=None
        Point that is taken for 0; give the same to all data whose products are wanted.
    max_columns : int, default=50000
        Most columns to compute; there are :math:`\binom{d + R}{R}`.

    Returns
    -------
    ndarray of shape (n, p)

    References
    ----------
    S. van der Westhuizen, thesis, Stellenbosch University 2014, section 3.3.1, and A. Hopfgartner
    and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, (5.11), for one feature.

    A. Cotter, J. Keshet, N. Srebro, "Explicit approximations of the Gaussian kernel",
    arXiv:1109.4603 (2011), for several and the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF, taylor_map
    >>> X = np.array([[0.0, 0.5], [1.0, 0.0], [0.3, 0.3]])
    >>> K = RBF(0.5)(X)
    >>> [float(np.abs(Z @ Z.T - K).max().round(5)) for R in (1, 3, 5)
    ...  for Z in [taylor_map(RBF(0.5), X, R)]]
    [0.26424, 0.01899, 0.00059]
    """
    kernel, X = as_kernel(kernel), as_dense(X)
    if not isinstance(kernel, RBF) or isinstance(kernel.gamma, str):
        raise TypeError(f"taylor_map needs an RBF kernel with a number for gamma; got {kernel}.")
    if degree < 0:
        raise ValueError(f"degree must be 0 or more; got {degree}.")
    columns = comb(X.shape[1] + degree, degree)
    if columns > max_columns:
        raise ValueError(
            f"The map of degree {degree} has {columns} columns for {X.shape[1]} features; "
            f"max_columns allows {max_columns}. Use the kernel itself, or a lower degree."
        )
    moved = X if origin is None else X - np.asarray(origin, dtype=np.float64)
    scaled = np.sqrt(2.0 * np.asarray(kernel.gamma)) * moved
    parts = [monomials(scaled, r) / np.sqrt(float(factorial(r))) for r in range(degree + 1)]
    return np.exp(-0.5 * (scaled**2).sum(axis=1))[:, None] * np.hstack(parts)
