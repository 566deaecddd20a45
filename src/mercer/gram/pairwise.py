"""Kernel values of points: their matrix in the form that suits them, their sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _engine
from mercer._threads import available_threads, blas_for
from mercer.gram.base import (
    BEYOND_NUMBERS,
    SINGLE_PRECISION_REACH,
    SINGLE_PRECISION_TOL,
    Floats,
    Gram,
    Indices,
    Precision,
    RequestedGram,
    RowSource,
    StoredGram,
    finite,
    fits_single,
    padded,
)
from mercer.gram.devices import device_for, nearest_device
from mercer.gram.rounding import Rough, rough_way
from mercer.kernels import Kernel, PairwiseForm
from mercer.kernels.base import column_means
from mercer.kernels.blocks import row_blocks

FAMILIES = ("linear", "polynomial", "rbf", "laplacian", "euclidean_laplacian", "sigmoid")
"""The engine's numbering of the kernel families."""


KEPT_ENTRIES = 1 << 22
"""Numbers of points that are kept ready between predictions: 32 MiB, and as much again packed."""

MANY_ENTRIES = 50_000
"""Kernel values, or numbers to pack, for which another thread takes less time to start than it
saves."""

DEVICE_ENTRIES = 10_000_000
"""Kernel values for which a device pays; the processor computes as many in ten milliseconds."""

DENSE_LIMIT = 256 * 2**20
"""Sparse data of fewer bytes than this when dense are made dense, since the engine is faster."""

KNOWN_ONLY = (
    "needs a kernel whose formula the engine knows (linear, polynomial, RBF, Laplacian, sigmoid, "
    "their multiples and powers, with scaled features); use device='cpu' for this one."
)

LONGEST = 1e300
"""Squared lengths of points beyond which their products and distances overflow."""


def engine_arguments(form: PairwiseForm) -> tuple[int, float, float, int, float]:
    """Return a kernel's formula in the order in which the engine takes it."""
    return (FAMILIES.index(form.family), form.gamma, form.coef0, form.degree, form.factor)


class EnginePoints:
    """Points as the engine wants them: features scaled, far-off data moved to zero.

    Parameters
    ----------
    form : PairwiseForm
        The kernel as the engine knows it.
    X : ndarray or sparse matrix of shape (n, d)
    """

    def __init__(self, form: PairwiseForm, X: Any) -> None:
        self.form, self.given = form, X

    @cached_property
    def centre(self) -> Floats | None:
        """Where stationary kernels' points are moved from, which changes nothing but rounding."""
        moves = self.form.is_stationary and self.given.shape[0] > 0
        return column_means(self._dense) if moves else None

    @cached_property
    def double(self) -> Floats:
        """The points in float64."""
        return self.prepared(self._dense)

    @property
    def _dense(self) -> Any:
        return self.given.toarray() if sp.issparse(self.given) else self.given

    def prepared(self, X: Floats) -> Floats:
        """Return other points in the same way."""
        points = X if self.centre is None else X - self.centre
        if self.form.scales is not None:
            points = points * self.form.scales
        return np.ascontiguousarray(points)

    @cached_property
    def single(self) -> Any:
        """The points in float32."""
        return self.double.astype(np.float32)

    @cached_property
    def rows(self) -> Any:
        """Rows of their kernel matrix."""
        return _engine.point_rows(self.double, *engine_arguments(self.form))

    @cached_property
    def lengths(self) -> Floats:
        """The squared norms."""
        return np.asarray(np.einsum("ij,ij->i", self.double, self.double))

    @cached_property
    def squared(self) -> float:
        """The largest squared norm."""
        return float(self.lengths.max(initial=0.0))

    @cached_property
    def diagonal(self) -> Floats:
        """k(x, x) of each point."""
        if self.form.is_stationary:
            return np.full(len(self.double), self.form.factor)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.form.values(self.lengths)

    @cached_property
    def fits_single(self) -> bool:
        """Whether float32 has room for all numbers on the way to the kernel values."""
        largest = float(np.abs(self.diagonal).max(initial=0.0))
        return all(map(fits_single, (self.squared, self.form.gamma, largest)))

    @cached_property
    def exponent(self) -> float:
        """How large the numbers grow that cancel in the exponent of a radial kernel.

        That is how far the farthest point is from the centre, in units of the kernel's width.
        """
        if not self.form.is_stationary:
            return 0.0
        squared = self.squared
        if self.form.family == "rbf":
            return self.form.gamma * squared
        return self.form.gamma * float(np.sqrt(squared * self.double.shape[1]))


class ComputedGram(Gram):
    """Rows from the engine, kept in its cache while a solve lasts.

    Parameters
    ----------
    form : PairwiseForm
        The kernel as the engine knows it.
    X : ndarray of shape (n, d)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> gram = ComputedGram(RBF(1.0).pairwise_form(), np.array([[0.0], [1.0], [2.0]]))
    >>> gram.matrix().round(3)
    array([[1.   , 0.368, 0.018],
           [0.368, 1.   , 0.368],
           [0.018, 0.368, 1.   ]])
    """

    n_threads: int | None = None
    """Threads for kernel values outside the solver; None uses all processors."""

    def __init__(self, form: PairwiseForm, X: Floats) -> None:
        self.form, self.is_linear = form, form.family == "linear"
        self.view: Indices | None = None
        self.shared = EnginePoints(form, X)
        self.n = X.shape[0]

    @property
    def points(self) -> Floats:
        """The points, prepared for the engine."""
        return self.shared.double if self.view is None else self.shared.double[self.view]

    def diag(self) -> Floats:
        """Return the n diagonal entries; NaN where squared lengths are beyond arithmetic.

        Of such points a formula may know k(x, x), and nothing of a product or a distance.
        """
        if not self.shared.squared <= LONGEST:
            return np.full(self.n, np.nan)
        values = self.shared.diagonal
        return values.copy() if self.view is None else values[self.view]

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""
        values = np.empty((len(rows), len(columns)))
        fill(self.form, self._at(rows), self._at(columns), values, self.n_threads)
        return values

    def _at(self, indices: Any, precision: Precision = "double") -> Any:
        points = self.shared.single if precision == "single" else self.shared.double
        return points[indices if self.view is None else self.view[indices]]

    def times(
        self, vector: Floats, rows: Indices | None = None, precision: Precision = "double"
    ) -> Floats:
        """Return K v, or some of its rows, using only the columns where v is not zero."""
        columns = np.flatnonzero(vector)
        if columns.size == 0:
            return np.zeros(self.n if rows is None else len(rows))
        left = self._at(slice(None) if rows is None else rows, precision)
        right = self._at(columns, precision)
        ends = np.array([0, columns.size], dtype=np.int64)
        weights = vector[None, columns]
        wide = precision == "double"
        return products(self.form, left, right, weights, ends, self.n_threads, wide).ravel()

    def subset(self, indices: Indices) -> ComputedGram:
        """Return the matrix of some of the points, which are shared until they are needed."""
        part = object.__new__(ComputedGram)
        part.form, part.shared, part.n = self.form, self.shared, len(indices)
        part.is_linear, part.n_threads = self.is_linear, self.n_threads
        part.view = np.asarray(indices if self.view is None else self.view[indices])
        return part

    def stored(self, indices: Indices, precision: Precision) -> StoredGram:
        """Return the matrix of some of the points, computed now and kept whole.

        It is float64 also where its numbers are beyond float32.
        """
        points = self._at(indices, precision if self.fits_single else "double")
        values = padded(len(indices), points.dtype)
        fill(self.form, points, points, values, self.n_threads)
        # Sums over features round differently from pair to pair; k(x, x) is known without them.
        np.einsum("ii->i", values[:, : len(indices)])[:] = self.subset(indices).diag()
        return StoredGram(values)

    def features(self) -> Floats | None:
        """Return the points, scaled, where the kernel is linear."""
        if not self.is_linear:
            return None
        points = self.points
        return points if self.form.factor == 1.0 else np.sqrt(self.form.factor) * points

    @property
    def fits_single(self) -> bool:
        """Whether float32 has room for all numbers on the way to the kernel values."""
        return self.shared.fits_single

    def allows_single(self, tol: float) -> bool:
        """Say whether kernel rows computed in float32 may do for a gap of ``tol``."""
        is_near = self.shared.exponent <= SINGLE_PRECISION_REACH
        return tol >= SINGLE_PRECISION_TOL and is_near and self.fits_single

    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""
        return RowSource(self.shared.rows, self.view)


def make_gram(kernel: Kernel, X: Any, *, memory: float = 200e6, device: str = "cpu") -> Gram:
    """Return the kernel matrix of ``X`` in the form that suits kernel, data and memory.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel; for "precomputed" and what is built on it, ``X`` is the matrix itself.
    X : ndarray or sparse matrix of shape (n, d)
        The points.
    memory : float, default=200e6
        Bytes that a whole matrix may take where the engine does not know the kernel. Beyond, rows
        are asked for in blocks.
    device : {"cpu", "cuda", "cuda:<number>", "auto"}, default="cpu"
        Where products with the matrix are computed; a kernel that the engine does not know has
        them from the processor, which "auto" accepts and any other device does not.

    Returns
    -------
    Gram

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> type(make_gram(RBF(1.0), np.zeros((3, 2)))).__name__
    'ComputedGram'
    """
    is_pairwise = kernel.is_pairwise
    form = None if is_pairwise else kernel.pairwise_form()
    there = None if device == "cpu" else device_of(kernel, device, X.shape[0])
    if there is not None and form is not None:
        from mercer.gram.device import DeviceGram

        given = X if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        return DeviceGram(form, given, there)
    if is_pairwise:
        return StoredGram(kernel(X))
    if form is not None and sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= DENSE_LIMIT:
        X = X.toarray()
    if form is not None and not sp.issparse(X):
        return ComputedGram(form, np.ascontiguousarray(X, dtype=np.float64))
    if X.shape[0] ** 2 * 8 <= memory:
        return StoredGram(_whole(kernel, X))
    return RequestedGram(kernel, X)


def device_of(kernel: Kernel, device: str, n_rows: int) -> Any | None:
    """Return the device of torch that kernel values of so many rows come from.

    Whoever computes much before the machine that has the device asks early, so that what cannot be
    had is refused then.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    device : {"cpu", "cuda", "cuda:<number>", "auto"}
    n_rows : int

    Returns
    -------
    torch.device or None
        None is the processor.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> device_of(RBF(1.0), "cpu", 1000) is None
    True
    """
    there = None if device == "cpu" else device_for(device, n_rows)
    if there is None or (not kernel.is_pairwise and kernel.pairwise_form() is not None):
        return there
    if device != "auto":
        raise ValueError(f"device={device!r} {KNOWN_ONLY}")
    return None


def _whole(kernel: Kernel, X: Any) -> np.ndarray:
    values = np.empty((X.shape[0], X.shape[0]))
    with blas_for(len(values)):
        for rows in row_blocks(*values.shape):
            values[rows] = finite(np.asarray(kernel(X[rows], X)))
    return values


def kernel_products(
    kernel: Kernel,
    X: Any,
    Y: Any,
    coefficients: Floats,
    segments: Any = None,
    n_threads: int | None = None,
    rounded: bool = False,
    device: str = "cpu",
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
        Whether kernel values may be float32, or the products of points that they come from, where
        that changes no sum by more than about `ROUNDING` of their range, and pays.
    device : str, default="cpu"
        As in `make_gram`, but for a GPU that is not there the processor stands in, as it does
        where a GPU does not pay.

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
    return KernelSums(kernel, Y, coefficients, segments)(X, n_threads, rounded, device)


class KernelSums:
    """Sums of kernel values with the same points, for one set of others after another.

    What the points are prepared to is kept, unless it is large: to say something of a single row
    would otherwise take longer for the preparation than for the sums.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    Y : ndarray or sparse matrix of shape (m, d)
        The points.
    coefficients : ndarray of shape (r, m)
        Their coefficients.
    segments : array-like of int or None, default=None
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

    _there: tuple[Any, Any] | None = None
    """What was asked for, a device and whether to round, and the sums of these points on it."""

    def __getstate__(self) -> dict[str, Any]:
        known = {key: value for key, value in self.__dict__.items() if key != "_there"}
        return {**known, "_prepared": None}

    def __call__(
        self, X: Any, n_threads: int | None = None, rounded: bool = False, device: str = "cpu"
    ) -> Floats:
        """Return the sums for the rows of X, from a device where it is there and that pays."""
        if device != "cpu" and X.shape[0] * self.points.shape[0] >= DEVICE_ENTRIES:
            there = nearest_device(device, X.shape[0])
            form = None if self.kernel.is_pairwise else self.kernel.pairwise_form()
            if there is not None and form is not None:
                return self._on_device(X, form, there, rounded)
        known = self._prepared
        if known is None:
            known = self._prepare(n_threads)
            if self.points.size <= KEPT_ENTRIES:
                self._prepared = known
        points, ends, coefficients = known.points, known.ends, known.coefficients
        if points is None or sp.issparse(X):
            return _products_in_blocks(self.kernel, X, self.points, coefficients, ends)
        form, left = points.form, points.prepared(X)
        if form.family == "sigmoid" and not has_products(left, points.double):
            raise ValueError(BEYOND_NUMBERS)
        way: Rough | None = None
        if rounded and ends.size == 2:
            way = rough_way(points, left, coefficients, n_threads, products)
        if way is None:
            return packed_products(form, left, known.packed, coefficients, ends, n_threads)
        rough: Any = left.astype(np.float32)
        right = known.single()
        return packed_products(form, rough, right, coefficients, ends, n_threads, way == "products")

    def _on_device(self, X: Any, form: PairwiseForm, device: Any, rounded: bool) -> Floats:
        if self._there is None or self._there[0] != (device, rounded):
            from mercer.gram.device import DeviceSums

            sums = DeviceSums(form, self.points, self.coefficients, self._ends(), device)
            if not rounded:
                sums.products = None  # so that all is float64
            self._there = (device, rounded), sums
        return np.asarray(self._there[1](X))

    def _ends(self) -> Any:
        """Return where the segments end, with 0 in front."""
        sizes = [self.points.shape[0]] if self.segments is None else self.segments
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def _prepare(self, n_threads: int | None) -> _Prepared:
        Y, form, ends = self.points, None, self._ends()
        coefficients = np.ascontiguousarray(self.coefficients)
        if not (self.kernel.is_pairwise or sp.issparse(Y)):
            form = self.kernel.pairwise_form()
        if form is None:
            return _Prepared(ends, coefficients, None, None)
        points = EnginePoints(form, Y)
        return _Prepared(ends, coefficients, points, pack(form, points.double, n_threads))


@dataclass(eq=False)
class _Prepared:
    """What sums with the same points have in common; no points where a kernel is not known."""

    ends: Any
    coefficients: Floats
    points: EnginePoints | None
    packed: Any
    _single: Any = None

    def single(self) -> Any:
        """Return the points in float32, in the order of the engine."""
        if self._single is None and self.points is not None:
            self._single = pack(self.points.form, self.points.single)
        return self._single


def has_products(left: Floats, right: Floats) -> bool:
    """Say whether dot products of points are finite, which tanh does not show."""
    reach = [float(np.abs(points).max(initial=0.0)) for points in (left, right)]
    return isfinite(left.shape[1] * reach[0] * reach[1])


def pack(form: PairwiseForm, points: Any, n_threads: int | None = None) -> Any:
    """Return points, prepared before, in the order in which the engine reads them."""
    return _engine.pack_points(points, *engine_arguments(form), _threads(points.size, n_threads))


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
    formula, threads = engine_arguments(form), _threads(out.size, n_threads)
    _engine.fill_kernel_matrix(left, right, *formula, out, threads)


def _threads(entries: int, n_threads: int | None) -> int:
    """Return one thread where starting another would cost more than it saves."""
    return available_threads(n_threads) if entries > MANY_ENTRIES else 1
