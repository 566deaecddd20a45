"""Starting points for small penalties: all multipliers at their bounds."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from mercer.gram.stored import StoredGram

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

RELEASED = 0.1
"""Share of the rows that may have to stay at zero, because the other class is smaller."""

ROUNDING = 1e-10
"""Errors of sums, relative to what is summed."""


class BoundedStart:
    """Points with all variables at their bounds, from sums of kernel rows that all folds share.

    Parameters
    ----------
    gram : StoredGram
        Of all rows.
    codes : ndarray of int of shape (n,)
        Classes, 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> gram = StoredGram(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]))
    >>> start = BoundedStart(gram, np.array([0, 0, 1]))
    >>> start.point(np.array([-1.0, 0.0, 1.0]), np.array([1]))
    (array([-1.,  0.,  1.]), array([-0.9, -0.3,  0.9]))
    """

    def __init__(self, gram: StoredGram, codes: Rows) -> None:
        self.gram = gram
        self.codes = codes
        self._lock = Lock()
        self._sums: list[Floats] = []

    def point(self, bounds: Floats, closed: Rows) -> tuple[Floats, Floats] | None:
        r"""Return :math:`\beta` and :math:`K\beta`, or None where that would be a bad start.

        Variables sum to zero, so that some of the larger side are released, those whose images
        are farthest on their own side.

        Parameters
        ----------
        bounds : ndarray of shape (n,)
            Where the variables end, the same for all rows of a class; zero for closed rows.
        closed : ndarray of int
            Rows that take no part.

        Returns
        -------
        beta, image : ndarray of shape (n,), or None
        """
        factors = np.zeros(self.codes.max() + 1)
        members = np.flatnonzero(bounds)
        factors[self.codes[members]] = bounds[members]
        outside = np.zeros_like(bounds)
        outside[closed] = factors[self.codes[closed]]
        image = self._weighted(factors) - self.gram.times(outside)
        beta = bounds.copy()
        if not self._release(beta, image) or beta @ image > np.abs(beta).sum():
            return None
        return beta, image

    def _weighted(self, factors: Floats) -> Floats:
        """Return the sum of all kernel rows, each times the factor of its class."""
        with self._lock:
            while len(self._sums) < factors.size:
                own = self.codes == len(self._sums)
                self._sums.append(self.gram.times(own.astype(np.float64)))
        total = np.zeros_like(self._sums[0])
        for factor, one in zip(factors, self._sums):
            total += factor * one
        return total

    def _release(self, beta: Floats, image: Floats) -> bool:
        """Change variables until they sum to zero; say False where those would be too many."""
        excess = float(beta.sum())
        side = np.sign(excess)
        larger = np.flatnonzero(side * beta > 0)
        most = int(RELEASED * beta.size)
        if larger.size > most:
            larger = larger[np.argpartition(-side * image[larger], most)[:most]]
        order = larger[np.argsort(-side * image[larger], kind="stable")]
        sizes = np.abs(beta[order])
        taken = np.minimum(np.maximum(abs(excess) - (np.cumsum(sizes) - sizes), 0.0), sizes)
        # Rounding must not leave a variable beside its bound: it would count as one between them.
        taken[taken < ROUNDING * sizes] = 0.0
        whole = taken > (1.0 - ROUNDING) * sizes
        taken[whole] = sizes[whole]
        change = np.zeros_like(beta)
        change[order] = -side * taken
        beta += change
        image += self.gram.times(change)
        return bool(abs(beta.sum()) <= ROUNDING * np.abs(beta).sum())
