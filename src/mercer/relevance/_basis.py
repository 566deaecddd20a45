"""The functions that a relevance vector machine chooses from, as rows of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram.pairwise import EnginePoints, fill, has_products
from mercer.kernels import Kernel
from mercer.kernels.blocks import row_blocks

Floats = NDArray[np.float64]
Short = NDArray[np.float32]
Indices = NDArray[np.int64]

BLOCK_ENTRIES = 1 << 18
"""Values worked on at a time: two megabytes, which stay in the processor's cache."""

LARGEST_COLUMN, LARGEST_KERNEL = 1e150, 1e70
"""Values of functions whose squares, or whose fourth powers where functions are nearly dependent as
those of kernels are, have no room in float64."""

TINY = float(np.finfo(np.float64).tiny)

LEAST = 1e-140
"""Functions all of whose values are smaller have squares without digits."""


class Basis:
    """Basis functions evaluated at the training rows.

    Function m has the values ``rows([m])[0]``. The constant function, where there is one, is the
    last.

    Parameters
    ----------
    evaluate : callable
        From an array of indices to an array of shape (indices.size, n).
    count : int
        Number of functions without the constant.
    n : int
        Number of training rows.
    constant : bool
        Whether the constant function 1 takes part.
    memory : float
        Bytes up to which all values are kept; beyond, they are computed anew for each pass.
    largest : float, default=inf
        Values above this in size are refused, when they are computed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> basis = Basis(lambda indices: X.T[indices], count=2, n=3, constant=True, memory=1e6)
    >>> basis.rows(np.array([1, 2]))
    array([[2., 4., 6.],
           [1., 1., 1.]])
    """

    def __init__(
        self,
        evaluate: Callable[[Indices], Floats],
        count: int,
        n: int,
        constant: bool,
        memory: float,
        largest: float = np.inf,
    ) -> None:
        self.count, self.n, self.constant = count, n, constant
        self.size = count + constant
        self._raw, self._largest = evaluate, largest
        self._kept: Floats | None = None
        self._may_keep_short = 12.0 * count * n <= memory
        self._short: list[tuple[float, Short]] = []
        if 8.0 * count * n <= memory:
            self._kept = np.empty((count, n))
            for part in self._parts():
                self._kept[part] = self._evaluate(np.arange(part.start, part.stop))

    def rows(self, indices: Indices) -> Floats:
        """Return the values of some functions, one row each."""
        values = np.ones((len(indices), self.n))
        kernels = np.flatnonzero(indices < self.count)
        if kernels.size:
            chosen = indices[kernels]
            found = self._evaluate(chosen) if self._kept is None else self._kept[chosen]
            values[kernels] = found
        return values

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the values of all functions, some rows at a time."""
        for part in self._parts():
            if self._kept is None:
                yield part, self._evaluate(np.arange(part.start, part.stop))
            else:
                yield part, self._kept[part]
        if self.constant:
            yield slice(self.count, self.size), np.ones((1, self.n))

    def short_blocks(self) -> Iterator[tuple[Floats, float, Short]]:
        """Yield the values of `blocks`, the largest size among them, and them in units of that.

        The last are kept too, where memory is enough for both.
        """
        for k, (_, values) in enumerate(self.blocks()):
            if k < len(self._short):
                yield values, *self._short[k]
                continue
            largest = max(_size(values), TINY)
            short = np.divide(
                values, largest, out=np.empty(values.shape, np.float32), casting="unsafe"
            )
            if self._may_keep_short:
                self._short.append((largest, short))
            yield values, largest, short

    def _evaluate(self, indices: Indices) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._raw(indices)
        check_size(values, self._largest)
        return values

    def _parts(self) -> list[slice]:
        return row_blocks(self.count, self.n, BLOCK_ENTRIES)


def check_size(values: Floats, largest: float) -> None:
    """Refuse functions that have values too large to compute with, or none."""
    if not _size(values) <= largest:
        raise ValueError(
            f"Kernel values or columns of some rows are above {largest:g}, infinite or not a "
            "number; scale the features (for instance with MaxAbsScaler) or choose another kernel."
        )


def refuse_tiny(values: Any) -> None:
    """Refuse functions that are all too small to be told apart; all zeros are no functions.

    Examples
    --------
    >>> refuse_tiny(np.array([1e-150, 0.0]))
    Traceback (most recent call last):
    ...
    ValueError: Kernel values or columns are all below 1e-140; scale the features...
    """
    if 0.0 < _size(values) < LEAST:
        raise ValueError(
            f"Kernel values or columns are all below {LEAST:g}; scale the features (for instance "
            "with MaxAbsScaler) or choose another kernel."
        )


def _size(values: Any) -> float:
    """Return the largest size of a value, without a copy of all."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def kernel_values(kernel: Kernel, X: Any, centres: Any) -> Floats:
    """Return k(x_i, c_m) with one row for each centre, by the engine where it knows the kernel."""
    return _evaluator(kernel, X, centres)(np.arange(centres.shape[0]))


def kernel_basis(kernel: Kernel, X: Any, centres: Any, constant: bool, memory: float) -> Basis:
    """Return the kernel functions k(., c) of some centres.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> kernel_basis(Linear(), X, X, constant=False, memory=0.0).rows(np.array([1]))
    array([[2., 4.]])
    """
    refuse_tiny(kernel.diag(X))
    evaluate = _evaluator(kernel, X, centres)
    return Basis(evaluate, centres.shape[0], X.shape[0], constant, memory, LARGEST_KERNEL)


def _evaluator(kernel: Kernel, X: Any, centres: Any) -> Callable[[Indices], Floats]:
    """Return a function from indices of centres to rows of kernel values."""
    form = kernel.pairwise_form()
    if form is None or sp.issparse(X) or sp.issparse(centres):
        return lambda indices: np.ascontiguousarray(kernel(X, centres[indices]).T)
    points = EnginePoints(form, X)
    left, right = points.prepared(centres), points.double
    if form.family != "laplacian" and not has_products(left, right):  # that is of differences
        return lambda indices: np.full((indices.size, right.shape[0]), np.nan)

    def evaluate(indices: Indices) -> Floats:
        values = np.empty((indices.size, right.shape[0]))
        fill(form, np.ascontiguousarray(left[indices]), right, values)
        return values

    return evaluate


def column_basis(X: Any, constant: bool, memory: float, largest: float = LARGEST_COLUMN) -> Basis:
    """Return the columns of a matrix as functions."""
    refuse_tiny(X.data if sp.issparse(X) else X)
    columns = X.tocsc() if sp.issparse(X) else X

    def evaluate(indices: Indices) -> Floats:
        chosen = columns[:, indices]
        return np.ascontiguousarray((chosen.toarray() if sp.issparse(chosen) else chosen).T)

    return Basis(evaluate, X.shape[1], X.shape[0], constant, memory, largest)


def distinct_rows(X: Any) -> Indices:
    """Return where each distinct row occurs first, in an order that depends on the values only.

    A row that is given twice makes the same function twice, of which one is enough; and what does
    not depend on the order of the rows is the same for repeated rows and for rows with a weight.

    Examples
    --------
    >>> import numpy as np
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    array([0, 1])
    """
    if not sp.issparse(X):
        # Adding zero makes one of the two zeros, so that equal rows have equal bytes.
        rows = np.ascontiguousarray(X + 0.0)
        keys = rows.view(np.dtype((np.void, rows.itemsize * max(1, rows.shape[1])))).ravel()
        return np.unique(keys, return_index=True)[1].astype(np.int64)
    first: dict[bytes, int] = {}
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        stored = np.flatnonzero(X.data[part])
        key = X.indices[part][stored].astype(np.int64).tobytes() + X.data[part][stored].tobytes()
        first.setdefault(key, i)
    return np.array([first[key] for key in sorted(first)], dtype=np.int64)
