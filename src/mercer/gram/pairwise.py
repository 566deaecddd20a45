"""Kernel values between two sets of points, by the engine where it knows the kernel."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram.base import Floats, row_blocks
from mercer.kernels import Kernel, PairwiseForm

FAMILIES = ("linear", "polynomial", "rbf", "laplacian", "euclidean_laplacian", "sigmoid")
"""The engine's numbering of the kernel families."""

ROUNDING = 1e-6
"""Error, relative to the range of the sums, up to which products of points may be float32."""

WORTHWHILE = 1 << 27
"""Operations below which float64 takes no noticeable time."""

FEW_FEATURES = 32
"""Up to so many, what follows the products takes most of the time."""

NEAR = 16.0
"""Largest exponent of a centre of the sums for which float32 may do; ordinary ones are below 5."""

PROBED = 32
"""Rows far from the centre, and as many of all, on which the error is measured."""


def engine_arguments(form: PairwiseForm) -> tuple[int, float, float, int, float]:
    """Return a kernel's formula in the order in which the engine takes it."""
    return (FAMILIES.index(form.family), form.gamma, form.coef0, form.degree, form.factor)


def engine_points(form: PairwiseForm, X: Floats, centre: Floats | None) -> Floats:
    """Return the points as the engine wants them: features scaled, far-off data moved to zero."""
    points = X if centre is None else X - centre
    if form.scales is not None:
        points = points * form.scales
    return np.ascontiguousarray(points)


def centre_for(form: PairwiseForm, X: Floats) -> Floats | None:
    """Return the column means where moving the points changes nothing but rounding errors."""
    return X.mean(axis=0) if form.is_stationary and len(X) else None


def kernel_products(
    kernel: Kernel,
    X: Any,
    Y: Any,
    coefficients: Floats,
    segments: Any = None,
    n_threads: int | None = None,
    rounded: bool = False,
) -> Floats:
    r"""Return sums of kernel values, :math:`\sum_j k(x_i, y_j) c_{rj}`, without holding the matrix.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    X, Y : ndarray or sparse matrix of shape (n, d) and (m, d)
    coefficients : ndarray of shape (r, m)
    segments : array-like of int or None, default=None
        Number of rows of ``Y`` in each segment, which is summed on its own; None sums over all.
    n_threads : int or None, default=None
        None uses all processors.
    rounded : bool, default=False
        Whether products of points may be float32 where that changes no sum by more than about
        `ROUNDING` of their range, and pays. What follows from the products is float64 always.

    Returns
    -------
    ndarray of shape (n, n_segments, r)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> kernel_products(Linear(), X, X, np.array([[1.0, -1.0]])).ravel()
    array([-1., -2.])
    """
    sizes = [Y.shape[0]] if segments is None else segments
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    form = None if kernel.is_pairwise else kernel.pairwise_form()
    if form is None or sp.issparse(X) or sp.issparse(Y):
        return _products_in_blocks(kernel, X, Y, coefficients, ends)
    centre = centre_for(form, Y)
    left, right = engine_points(form, X, centre), engine_points(form, Y, centre)
    if rounded and ends.size == 2 and _single_will_do(form, left, right, coefficients, n_threads):
        left, right = left.astype(np.float32), right.astype(np.float32)
    return products(form, left, right, coefficients, ends, n_threads)


def _single_will_do(
    form: PairwiseForm,
    left: Floats,
    right: Floats,
    coefficients: Floats,
    n_threads: int | None = None,
) -> bool:
    """Say whether float32 products of points change the sums little enough.

    The error of a kernel value that is not tiny grows with the distance of both points from the
    centre, so that there must be no centre of the sums far out. Beyond that, bounds for the worst
    case grow with the sum of all absolute coefficients and are hundreds of times too large, since
    roundings of thousands of kernel values cancel. So some rows, those farthest out among them,
    are computed both ways. The errors of a row are a sum of many independent ones: five times
    their root mean square is exceeded once in two million rows.
    """
    n, d = left.shape
    if n < 2 * PROBED or d <= FEW_FEATURES or n * d * right.shape[0] < WORTHWHILE:
        return False
    if not form.is_stationary or _largest_exponent(form, right) > NEAR:
        return False
    evenly = np.linspace(0, n - 1, PROBED).astype(np.int64)
    farthest = np.argpartition(np.einsum("ij,ij->i", left, left), n - PROBED)[n - PROBED :]
    rows = left[np.concatenate([evenly, farthest])]
    ends = np.array([0, right.shape[0]])
    exact = products(form, rows, right, coefficients, ends, n_threads)[:, 0]
    rough: Any = rows.astype(np.float32)
    rounded: Any = right.astype(np.float32)
    errors = np.abs(products(form, rough, rounded, coefficients, ends, n_threads)[:, 0] - exact)
    size = 0.5 * np.ptp(exact[:PROBED], axis=0)
    if not (size > 0).all():
        return False
    relative = errors / np.maximum(size, np.abs(exact - np.median(exact[:PROBED], axis=0)))
    return bool(max(5.0 * np.sqrt((relative**2).mean(axis=0)).max(), relative.max()) < ROUNDING)


def _largest_exponent(form: PairwiseForm, points: Floats) -> float:
    """Return how far the farthest point is from the centre, in units of the kernel's width."""
    squared = float(np.einsum("ij,ij->i", points, points).max())
    return form.gamma * (squared if form.family == "rbf" else np.sqrt(squared * points.shape[1]))


def _products_in_blocks(kernel: Kernel, X: Any, Y: Any, coefficients: Floats, ends: Any) -> Floats:
    sums = np.empty((X.shape[0], ends.size - 1, coefficients.shape[0]))
    for rows in row_blocks(X.shape[0], Y.shape[0]):
        values = kernel(X[rows], Y)
        for s, (a, b) in enumerate(pairwise(ends)):
            sums[rows, s] = values[:, a:b] @ coefficients[:, a:b].T
    return sums


def products(
    form: PairwiseForm,
    left: Floats,
    right: Floats,
    coefficients: Floats,
    ends: Any,
    n_threads: int | None = None,
    wide: bool = True,
) -> Floats:
    """Return the sums of `kernel_products` for prepared points.

    ``wide`` makes kernel values of float32 points float64; sums are so in any case.
    """
    sums = np.empty((left.shape[0], ends.size - 1, coefficients.shape[0]))
    _engine.fill_kernel_products(
        left,
        right,
        *engine_arguments(form),
        np.ascontiguousarray(coefficients),
        ends,
        wide,
        sums.reshape(left.shape[0], -1),
        _threads(left.shape[0] * right.shape[0], n_threads),
    )
    return sums


def fill(
    form: PairwiseForm, left: Floats, right: Floats, out: Floats, n_threads: int | None = None
) -> None:
    """Write the kernel values of prepared points into ``out``."""
    threads = _threads(out.size, n_threads)
    _engine.fill_kernel_matrix(left, right, *engine_arguments(form), out, threads)


def _threads(entries: int, n_threads: int | None) -> int:
    """Return one thread where starting another would cost more than it saves."""
    return available_threads(n_threads) if entries > 50_000 else 1
