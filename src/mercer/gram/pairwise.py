"""Kernel values between two sets of points, by the engine where it knows the kernel."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _engine
from mercer._threads import available_threads
from mercer.gram.base import BEYOND_NUMBERS, Floats
from mercer.kernels import Kernel, PairwiseForm
from mercer.kernels.blocks import row_blocks

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


KEPT_ENTRIES = 1 << 22
"""Numbers of points that are kept ready between predictions: 32 MiB, and as much again packed."""

MANY_ENTRIES = 50_000
"""Kernel values, or numbers to pack, for which another thread takes less time to start than it
saves."""


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
    return np.add.reduce(X, axis=0) / len(X) if form.is_stationary and len(X) else None


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
    return KernelSums(kernel, Y, coefficients, segments)(X, n_threads, rounded)


class KernelSums:
    """Sums of kernel values with the same points, for one set of others after another.

    What the points are prepared to is kept, unless it is large: to say something of a single row
    would otherwise take longer for the preparation than for the sums.

    Parameters
    ----------
    kernel, Y, coefficients, segments
        As in `kernel_products`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> sums = KernelSums(RBF(1.0), np.array([[0.0], [1.0]]), np.array([[1.0, -1.0]]))
    >>> sums(np.array([[0.5]])).ravel()
    array([0.])
    """

    def __init__(self, kernel: Kernel, Y: Any, coefficients: Floats, segments: Any = None) -> None:
        self.kernel = kernel
        self.points = Y
        self.coefficients = coefficients
        self.segments = segments
        self._prepared: _Prepared | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}

    def __call__(self, X: Any, n_threads: int | None = None, rounded: bool = False) -> Floats:
        """Return the sums for the rows of X."""
        known = self._prepared
        if known is None:
            known = _Prepared(self.kernel, self.points, self.coefficients, self.segments, n_threads)
            if self.points.size <= KEPT_ENTRIES:
                self._prepared = known
        form, ends, coefficients = known.form, known.ends, known.coefficients
        if form is None or sp.issparse(X):
            return _products_in_blocks(self.kernel, X, self.points, coefficients, ends)
        left, right = engine_points(form, X, known.centre), known.packed
        if form.family == "sigmoid" and not has_products(left, known.points):
            raise ValueError(BEYOND_NUMBERS)
        if rounded and ends.size == 2:
            points = known.points
            if _single_will_do(form, left, points, coefficients, n_threads):
                left, right = left.astype(np.float32), pack(form, points.astype(np.float32))
        return packed_products(form, left, right, coefficients, ends, n_threads)


def has_products(left: Floats, right: Floats) -> bool:
    """Say whether dot products of points are finite, which tanh does not show."""
    reach = [float(np.abs(points).max(initial=0.0)) for points in (left, right)]
    return isfinite(left.shape[1] * reach[0] * reach[1])


class _Prepared:
    """Points as the engine wants them, where it knows the kernel."""

    def __init__(
        self, kernel: Kernel, Y: Any, coefficients: Floats, segments: Any, n_threads: int | None
    ) -> None:
        sizes = [Y.shape[0]] if segments is None else segments
        self.ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.coefficients = np.ascontiguousarray(coefficients)
        self.form = None if kernel.is_pairwise or sp.issparse(Y) else kernel.pairwise_form()
        if self.form is not None:
            self.centre = centre_for(self.form, Y)
            self.points = engine_points(self.form, Y, self.centre)
            self.packed = pack(self.form, self.points, n_threads)


def pack(form: PairwiseForm, points: Any, n_threads: int | None = None) -> Any:
    """Return points, prepared before, in the order in which the engine reads them."""
    threads = available_threads(n_threads) if points.size > MANY_ENTRIES else 1
    return _engine.pack_points(points, *engine_arguments(form), threads)


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
    packed = pack(form, right, n_threads)
    coefficients = np.ascontiguousarray(coefficients)
    return packed_products(form, left, packed, coefficients, ends, n_threads, wide)


def packed_products(
    form: PairwiseForm,
    left: Floats,
    right: Any,
    coefficients: Floats,
    ends: Any,
    n_threads: int | None = None,
    wide: bool = True,
) -> Floats:
    """Return the same, with the points on the right packed already."""
    sums = np.empty((left.shape[0], ends.size - 1, coefficients.shape[0]))
    entries = left.shape[0] * coefficients.shape[1]
    _engine.fill_kernel_products(
        left,
        right,
        coefficients,
        ends,
        wide,
        sums.reshape(left.shape[0], -1),
        _threads(entries, n_threads),
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
    return available_threads(n_threads) if entries > MANY_ENTRIES else 1
