"""Kernel matrices that lose or gain features one after the other."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from mercer.gram.base import Floats, StoredGram
from mercer.kernels import Kernel, PairwiseForm, squared_distances
from mercer.kernels.blocks import row_blocks

Features = NDArray[np.intp]

DOT_PRODUCTS = ("linear", "polynomial", "sigmoid")
DISTANCES = ("rbf", "euclidean_laplacian")

REFRESH = 0.5
"""The matrix is computed anew when the features left have this share of the variance they had when
it was computed: so rounding errors stay small beside its entries, and for features of equal size
all that together costs no more than the first time."""


class DowndatedGram:
    r"""The kernel matrix of points whose features are taken away, or added.

    What all kernels of a kind are made of is held in float64: dot products, from which a feature
    less takes :math:`xx^\top`, or squared distances, from which it takes :math:`(x_i - x_j)^2`.
    Both are one matrix product for all features dropped at a time. So the kernel may change its
    width from one round to the next at the cost of one pass over the matrix.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    family : str
        The kind of kernel, as in `PairwiseForm`.
    left : ndarray of int or None, default=None
        The features to begin with; None means all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> held = DowndatedGram(X, "rbf")
    >>> held.forget(np.array([1]))
    >>> bool(np.allclose(held.gram(RBF(0.1)).values, RBF(0.1)(X[:, :1])))
    True
    """

    def __init__(self, X: Floats, family: str, left: Features | None = None) -> None:
        if not suits(family):
            raise ValueError(f"No matrix to take features from is known for {family!r} kernels.")
        self.family = family
        self.points = X
        self._variances = X.var(axis=0) if family in DISTANCES else (X * X).mean(axis=0)
        self.left = np.arange(X.shape[1]) if left is None else np.sort(left)
        self._compute()

    def _compute(self) -> None:
        points = self.points[:, self.left]
        if self.left.size == 0:
            self.values = np.zeros((len(points), len(points)))
        elif self.family in DOT_PRODUCTS:
            self.values = points @ points.T
        else:
            self.values = np.empty((len(points), len(points)))
            for rows in row_blocks(*self.values.shape):
                self.values[rows] = squared_distances(points[rows], points)
            np.fill_diagonal(self.values, 0.0)
        self._variance = float(self._variances[self.left].sum())

    def forget(self, features: Features) -> None:
        """Take features (their columns in the data) out of the matrix."""
        self.left = np.setdiff1d(self.left, features)
        if self._variances[self.left].sum() <= REFRESH * self._variance:
            return self._compute()
        columns = self.points[:, features]
        if self.family in DOT_PRODUCTS:
            self.values -= columns @ columns.T
            return None
        self.values -= squared_distances(columns)
        np.maximum(self.values, 0.0, out=self.values)
        return None

    def add(self, feature: int) -> None:
        """Take a feature in that was not there."""
        self.values = self.changed(feature)
        self.left = np.union1d(self.left, [feature])
        self._variance = max(self._variance, float(self._variances[self.left].sum()))

    def changed(self, feature: int) -> Floats:
        """Return what the matrix would be without a feature, or with it if it is not there."""
        column = self.points[:, feature]
        if self.family in DOT_PRODUCTS:
            part = np.multiply.outer(column, column)
        else:
            part = np.subtract.outer(column, column)
            np.square(part, out=part)
        if feature not in self.left:
            return np.add(part, self.values, out=part)
        np.subtract(self.values, part, out=part)
        return part if self.family in DOT_PRODUCTS else np.maximum(part, 0.0, out=part)

    def serves(self, form: PairwiseForm | None) -> TypeGuard[PairwiseForm]:
        """Say whether what is held tells the values of a kernel: with a huge gamma it does not."""
        return form is not None and form.family == self.family and form.scales is None

    def gram(self, kernel: Kernel) -> StoredGram:
        """Return the matrix of a resolved kernel of this family on the features that are left."""
        values = np.empty_like(self.values)
        form = kernel.pairwise_form()
        if not self.serves(form):
            raise ValueError(f"{kernel!r} is not a {self.family} kernel on features as they are.")
        for rows in row_blocks(*values.shape):
            values[rows] = form.values(self.values[rows])
        return StoredGram(values)


def suits(family: str) -> bool:
    """Say whether kernels of a family can be downdated."""
    return family in DOT_PRODUCTS or family in DISTANCES
