"""Where a path of rising prices begins: all variables at their bounds."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from mercer import _engine
from mercer.gram import StoredGram

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

RELEASED = 0.1
"""Share of the rows that may have to stay at zero, because the other class is smaller."""


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
    >>> start.point(np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 1.0]), np.array([1]))
    (array([-1.,  0.,  1.]), array([-0.9, -0.3,  0.9]))
    """

    def __init__(self, gram: StoredGram, codes: Rows) -> None:
        self.gram = gram
        self.codes = codes
        self.n_classes = int(codes.max()) + 1
        self._lock = Lock()
        self._sums: Floats | None = None

    def point(self, bounds: Floats, ends: Floats, closed: Rows) -> tuple[Floats, Floats] | None:
        r"""Return :math:`\beta` and :math:`K\beta`, or None where that would be a bad start.

        Variables sum to zero, so that some of the larger side are released, those whose images
        are farthest on their own side.

        Parameters
        ----------
        bounds : ndarray of shape (n,)
            Where the variables end, the same for all rows of a class; zero for closed rows.
        ends : ndarray of shape (n_classes,)
            The same for each class.
        closed : ndarray of int
            Rows that take no part.

        Returns
        -------
        beta, image : ndarray of shape (n,), or None
        """
        image, left_out = np.zeros((2, self.gram.n))
        for end, total in zip(ends.tolist(), self._class_sums()):
            image += end * total
        self.gram.add_rows(closed, ends[self.codes[closed]], left_out)
        image -= left_out
        beta, most = bounds.copy(), int(RELEASED * bounds.size)
        return (
            (beta, image) if _engine.release_excess(self.gram.padded, most, beta, image) else None
        )

    def _class_sums(self) -> Floats:
        """Return the sum of the kernel rows of each class."""
        with self._lock:
            if self._sums is None:
                self._sums = np.zeros((self.n_classes, self.gram.n))
                for code, total in enumerate(self._sums):
                    own = np.flatnonzero(self.codes == code)
                    self.gram.add_rows(own, np.ones(own.size), total)
            return self._sums
