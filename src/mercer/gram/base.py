"""What a solver may ask of the kernel matrix of one set of points, whatever the kernel."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, wraps
from math import isfinite
from typing import Any, Literal, NamedTuple, ParamSpec

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import _engine
from mercer.kernels import Kernel
from mercer.kernels.blocks import row_blocks, submatrix

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Precision = Literal["single", "double"]
Given = ParamSpec("Given")


class RowSource(NamedTuple):
    """Kernel rows as the engine takes them.

    Parameters
    ----------
    rows : Rows
        Of the engine.
    view : ndarray of int or None
        Which of them are those of the matrix, perhaps some several times; None means all in turn.
    """

    rows: Any
    view: Indices | None


SINGLE_PRECISION_REACH = 200.0
"""Largest exponent for which a float32 kernel value keeps five digits."""

SINGLE_PRECISION_TOL = 1e-5
"""Below this gap the rows must be float64."""

SINGLE_RANGE = (1e-30, 1e30)
"""What float32 can hold, with room for sums over features."""


def fits_single(size: float) -> bool:
    """Say whether float32 has room for numbers of a size."""
    return size == 0.0 or SINGLE_RANGE[0] <= size <= SINGLE_RANGE[1]


LARGEST = 1e250
"""Kernel values beyond this leave no room for what is computed from them."""


def finite(values: Floats) -> Floats:
    """Return kernel values, such as the diagonal of a matrix, or say that they are too large.

    Sums of values above `LARGEST`, times multipliers, would be beyond arithmetic.

    Parameters
    ----------
    values : ndarray

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if not np.abs(values).max(initial=0.0) <= LARGEST:
        raise ValueError(
            f"Kernel values of some rows are above {LARGEST:g}, infinite or not a number; "
            "scale the features (for instance with MaxAbsScaler) or choose another kernel."
        )
    return values


BEYOND_NUMBERS = (
    "Some rows are so large that kernel values times coefficients are beyond the range of numbers; "
    "scale the features, in the fit and afterwards alike (for instance with MaxAbsScaler)."
)


def gives_numbers(answer: Callable[Given, Any]) -> Callable[Given, Any]:
    """Decorate what a machine says of rows: an array of finite numbers, or one sentence.

    Parameters
    ----------
    answer : callable
        A function or method that returns an array.

    Returns
    -------
    callable
        The same, which refuses what is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> gives_numbers(np.square)(np.array([2.0, 3.0]))
    array([4., 9.])
    >>> gives_numbers(np.square)(np.array([1e200]))
    Traceback (most recent call last):
    ...
    ValueError: Some rows are so large that kernel values times coefficients are beyond the range...
    """

    @wraps(answer)
    def checked(*arguments: Given.args, **named: Given.kwargs) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            values = answer(*arguments, **named)
            # The sum is finite for nearly all good answers, so that the full test is rare.
            if not isfinite(np.add.reduce(values, axis=None)) and not np.isfinite(values).all():
                raise ValueError(BEYOND_NUMBERS)
        return values

    return checked


def physical_memory() -> float:
    """Return the bytes of memory of this machine, or infinity where the system does not say.

    Examples
    --------
    >>> physical_memory() > 1e6
    True
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


class Gram(ABC):
    """The kernel matrix K of n points, held whole or computed when asked for.

    Solvers see this and never the kernel or the data. All values handed out are float64; the
    engine's own rows may be float32.
    """

    n: int
    is_on_device = False
    """Whether products with the matrix come from a device."""
    is_linear = False
    """Whether `features` are known."""

    @abstractmethod
    def diag(self) -> Floats:
        """Return the n diagonal entries."""

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""

    @abstractmethod
    def subset(self, indices: Indices) -> Gram:
        """Return the matrix of some of the points."""

    @abstractmethod
    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""

    def allows_single(self, tol: float) -> bool:
        """Say whether kernel rows computed in float32 may do for a gap of ``tol``."""
        return False

    def features(self) -> Any | None:
        """Return Z with K = ZZ' where it is known, else None."""
        return None

    def rows(self, indices: Indices) -> Floats:
        """Return whole rows."""
        return self.block(indices, np.arange(self.n))

    def stored(self, indices: Indices, precision: Precision) -> Gram:
        """Return the matrix of some of the points, computed now and kept whole."""
        values = padded(len(indices), np.float32 if precision == "single" else np.float64)
        values[:, : len(indices)] = self.block(indices, indices)
        return StoredGram(values)

    def matrix(self) -> Floats:
        """Return the whole matrix, or say beforehand that the memory will not do."""
        needed, there = 8 * self.n**2, physical_memory()
        if needed > there:
            raise MemoryError(
                f"The whole kernel matrix of {self.n} rows takes {needed / 1e9:.3g} GB, and this "
                f"machine has {there / 1e9:.3g} GB; use solver='smo', which asks for single rows."
            )
        return self.rows(np.arange(self.n))

    def times(
        self, vector: Floats, rows: Indices | None = None, precision: Precision = "double"
    ) -> Floats:
        """Return K v, or some of its rows, using only the columns where v is not zero.

        Sums are float64 always; the kernel values may be float32 where ``precision`` allows it.
        """
        wanted = np.arange(self.n) if rows is None else rows
        columns = np.flatnonzero(vector)
        product = np.zeros(len(wanted))
        if columns.size:
            for part in row_blocks(len(wanted), columns.size):
                product[part] = self.block(wanted[part], columns) @ vector[columns]
        return product


def padded(n: int, dtype: Any, count: int = 1) -> Any:
    """Return room for a matrix of ``n`` points, with zeros behind each row, as the engine likes it.

    With a ``count`` there is room for so many of them, one below the other.

    The rows are an odd multiple of 32 entries apart: at powers of two their entries would meet in
    the same few lines of the processor's cache. Memory is that of earlier matrices where there is
    some: pages fresh from the system would take as long as the kernel values.

    Examples
    --------
    >>> padded(70, np.float32).shape
    (70, 96)
    """
    kept_array = _engine.kept_array_f32 if dtype == np.float32 else _engine.kept_array_f64
    values = kept_array(count * n, (-(-n // _engine.ROW_PADDING) | 1) * _engine.ROW_PADDING)
    values[:, n:] = 0
    return values


class StoredGram(Gram):
    """A whole matrix, or the part of one that belongs to some of its points.

    Parts share the matrix: the folds of a cross-validation need one matrix in all.

    Parameters
    ----------
    values : ndarray of shape (m, m) or (m, more)
        Symmetric kernel matrix, float32 or float64, perhaps with zeros behind each row: then the
        engine works on it without making a copy.
    view : ndarray of int or None, default=None
        The points to use; None means all.

    Examples
    --------
    >>> import numpy as np
    >>> gram = StoredGram(np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]))
    >>> gram.subset(np.array([0, 2])).matrix()
    array([[2., 0.],
           [0., 4.]])
    """

    def __init__(self, values: Any, view: Indices | None = None) -> None:
        self.padded = np.ascontiguousarray(values)
        if self.padded.dtype != np.float32:
            self.padded = self.padded.astype(np.float64, copy=False)
        self.values = self.padded[:, : len(self.padded)]
        self.view = view
        self.n = self.values.shape[0] if view is None else len(view)

    @classmethod
    def shortened(cls, matrix: Floats) -> StoredGram:
        """Return a matrix in float32, or in float64 where that has no room for its numbers."""
        n, largest = len(matrix), float(np.abs(matrix).max(initial=0.0))
        values = padded(n, np.float32 if fits_single(largest) else np.float64)
        values[:, :n] = matrix
        return cls(values)

    def _at(self, indices: Indices) -> Indices:
        return indices if self.view is None else self.view[indices]

    @cached_property
    def _diagonal(self) -> Floats:
        """The diagonal entries, collected once: each lies on a page of memory of its own."""
        diagonal = np.diagonal(self.values)
        return np.array(diagonal if self.view is None else diagonal[self.view], dtype=np.float64)

    def diag(self) -> Floats:
        """Return the n diagonal entries."""
        return self._diagonal.copy()

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return the entries of some rows and some columns."""
        found = submatrix(self.values, self._at(rows), self._at(columns))
        return found.astype(np.float64, copy=False)

    def subset(self, indices: Indices) -> StoredGram:
        """Return the matrix of some of the points, sharing the memory of this one."""
        return StoredGram(self.padded, self._at(np.asarray(indices, dtype=np.int64)))

    def stored(self, indices: Indices, precision: Precision) -> StoredGram:
        """Return the matrix of some of the points, kept apart, no shorter than it is held here."""
        at = self._at(indices)
        values = padded(len(indices), self.values.dtype if precision == "single" else np.float64)
        values[:, : len(indices)] = submatrix(self.values, at, at)
        return StoredGram(values)

    def times(
        self, vector: Floats, rows: Indices | None = None, precision: Precision = "double"
    ) -> Floats:
        """Return K v, or some of its rows, using only the columns where v is not zero."""
        if self.view is not None or rows is not None:
            return super().times(vector, rows, precision)
        # The matrix is symmetric, and its rows are faster to collect than its columns.
        columns = np.flatnonzero(vector)
        product = np.zeros(self.n)
        self.add_rows(columns, vector[columns], product)
        return product

    def add_rows(self, rows: Indices, weights: Floats, out: Floats) -> None:
        """Add some rows of the whole matrix, each times its weight, to a vector."""
        _engine.add_weighted_rows(self.padded, rows, weights, out)

    def reaches(self, rows: Indices, columns: Indices, least: float) -> NDArray[np.bool_]:
        """Say of each row whether its size in any of the columns is at least ``least``."""
        marks = np.empty(len(rows), dtype=np.uint8)
        _engine.mark_rows_that_reach(self.padded, self._at(rows), self._at(columns), least, marks)
        return marks.view(np.bool_)

    def source(self) -> RowSource:
        """Return where the engine gets the rows of this matrix from."""
        return RowSource(_engine.matrix_rows(self.padded), self.view)


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
