"""What a solver may ask of the kernel matrix of one set of points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer._blocks import row_blocks
from mercer.gram.memory import physical_memory

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Precision = Literal["single", "double"]


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


class Gram(ABC):
    """The kernel matrix K of n points, held whole or computed when asked for.

    Solvers see this and never the kernel or the data. All values handed out are float64; the
    engine's own rows may be float32.
    """

    n: int

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
        from mercer.gram.stored import StoredGram, padded  # itself a Gram, so not at the top

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
