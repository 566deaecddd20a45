"""Kernel matrices of points: rows from the engine, or from a kernel in Python, when needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _engine
from mercer._threads import blas_for
from mercer.gram.base import (
    Floats,
    Gram,
    Indices,
    Precision,
    RowSource,
    StoredGram,
    finite,
    fits_single,
    padded,
)
from mercer.gram.pairwise import (
    centre_for,
    engine_arguments,
    engine_points,
    fill,
    products,
)
from mercer.kernels import Kernel, PairwiseForm
from mercer.kernels.blocks import row_blocks

DENSE_LIMIT = 256 * 2**20
"""Sparse data of fewer bytes than this when dense are made dense, since the engine is faster."""

SINGLE_PRECISION_REACH = 200.0
"""Largest exponent for which a float32 kernel value keeps five digits."""

SINGLE_PRECISION_TOL = 1e-5
"""Below this gap the rows must be float64."""

LONGEST = 1e300
"""Squared lengths of points beyond which their products and distances overflow."""


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
        self.form = form
        self.view: Indices | None = None
        self.shared = _Points(form, engine_points(form, X, centre_for(form, X)))
        self.n = X.shape[0]

    @property
    def points(self) -> Floats:
        """The points, prepared for the engine."""
        return self.shared.double if self.view is None else self.shared.double[self.view]

    def diag(self) -> Floats:
        """Return the n diagonal entries; NaN where squared lengths are beyond arithmetic.

        Of such points a formula may know k(x, x), and nothing of a product or a distance.
        """
        form = self.form
        if not self.shared.squared <= LONGEST:
            return np.full(self.n, np.nan)
        if form.is_stationary:  # the points need not be collected
            return np.full(self.n, form.factor)
        return form.diagonal(self.points)

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
        part.n_threads = self.n_threads
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
        if self.form.family != "linear":
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


class _Points:
    """Prepared points in both precisions, shared by all parts of a matrix."""

    def __init__(self, form: PairwiseForm, double: Floats) -> None:
        self.form = form
        self.double = double

    @cached_property
    def single(self) -> Any:
        return self.double.astype(np.float32)

    @cached_property
    def rows(self) -> Any:
        return _engine.point_rows(self.double, *engine_arguments(self.form))

    @cached_property
    def squared(self) -> float:
        """The largest squared norm."""
        return float(np.einsum("ij,ij->i", self.double, self.double).max(initial=0.0))

    @cached_property
    def fits_single(self) -> bool:
        largest = self.form.factor
        if not self.form.is_stationary:
            with np.errstate(over="ignore", invalid="ignore"):
                largest = float(np.abs(self.form.diagonal(self.double)).max(initial=0.0))
        return all(map(fits_single, (self.squared, self.form.gamma, largest)))

    @cached_property
    def exponent(self) -> float:
        """How large the numbers grow that cancel in the exponent of a radial kernel."""
        if not self.form.is_stationary:
            return 0.0
        squared = self.squared
        if self.form.family == "rbf":
            return self.form.gamma * squared
        return self.form.gamma * float(np.sqrt(squared * self.double.shape[1]))


class RequestedGram(Gram):
    """Rows from any kernel, asked for in blocks; the whole matrix is never formed.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    X : array-like or sparse matrix of shape (n, d)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF, Linear
    >>> gram = RequestedGram(RBF(1.0) + Linear(), np.array([[0.0], [1.0]]))
    >>> gram.diag()
    array([1., 2.])
    """

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self.kernel = kernel
        self.X = X.tocsr() if sp.issparse(X) else X
        self.n = self.X.shape[0]

    def diag(self) -> Floats:
        """Return the n diagonal entries."""
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""
        return np.asarray(self.kernel(self.X[rows], self.X[columns]), dtype=np.float64)

    def subset(self, indices: Indices) -> RequestedGram:
        """Return the matrix of some of the points."""
        return RequestedGram(self.kernel, self.X[indices])

    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""

        def request(indices: Indices, out: Floats) -> None:
            out[...] = finite(np.asarray(self.kernel(self.X[indices], self.X)))

        return RowSource(_engine.requested_rows(request, self.n), None)


def make_gram(kernel: Kernel, X: Any, *, memory: float = 200e6) -> Gram:
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
    if kernel.is_pairwise:
        return StoredGram(kernel(X))
    form = kernel.pairwise_form()
    if form is not None and sp.issparse(X) and X.shape[0] * X.shape[1] * 8 <= DENSE_LIMIT:
        X = X.toarray()
    if form is not None and not sp.issparse(X):
        return ComputedGram(form, np.ascontiguousarray(X, dtype=np.float64))
    if X.shape[0] ** 2 * 8 <= memory:
        return StoredGram(_whole(kernel, X))
    return RequestedGram(kernel, X)


def _whole(kernel: Kernel, X: Any) -> np.ndarray:
    values = np.empty((X.shape[0], X.shape[0]))
    with blas_for(len(values)):
        for rows in row_blocks(*values.shape):
            values[rows] = finite(np.asarray(kernel(X[rows], X)))
    return values
