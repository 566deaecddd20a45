"""A kernel as the dot product of few features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from mercer.gram import KernelColumns
from mercer.kernels import Kernel

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e3
"""Eigenvalues below so many units of rounding of the largest, times their number, are left out."""


class LowRankKernel:
    r"""A kernel seen through its values with some points, the landmarks.

    With K the matrix of the m landmarks, :math:`K = U \Lambda U^\top`, and :math:`k_x` the kernel
    values of x with them, the features are

    .. math:: z(x) = \Lambda^{-1/2} U^\top k_x,

    so that :math:`\langle z(x), z(y)\rangle = k_x^\top K^{-1} k_y` is the kernel of the projections
    of x and y onto the span of the landmarks in feature space.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    landmarks : ndarray or sparse matrix of shape (m, n_features)

    Attributes
    ----------
    basis : ndarray of shape (m, rank)
        :math:`U \Lambda^{-1/2}`, without eigenvalues that are rounding.

    References
    ----------
    C. K. I. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 13
    (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> low_rank = LowRankKernel(RBF(1.0), np.array([[0.0], [1.0]]))
    >>> Z = low_rank.features(np.array([[0.0], [1.0], [0.5], [3.0]]))
    >>> (Z @ Z.T)[:2, :2].round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    >>> low_rank.missing(np.array([[0.0], [0.5], [3.0]])).round(3)
    array([0.   , 0.113, 1.   ])
    """

    def __init__(self, kernel: Kernel, landmarks: Any) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        self.columns = KernelColumns(kernel, landmarks)
        matrix = self.columns(landmarks)
        sizes, directions = scipy.linalg.eigh(0.5 * (matrix + matrix.T))
        least = NEGLIGIBLE * sizes.size * np.finfo(np.float64).eps * np.abs(sizes).max(initial=0.0)
        if sizes.size and sizes[0] < -max(least, 1e-8 * sizes[-1]):
            raise ValueError(
                f"The kernel is not positive semi-definite (its matrix of {sizes.size} landmarks "
                f"has the eigenvalue {sizes[0]:.3g}), so that it has no features; choose another."
            )
        kept = sizes > least
        self.basis: Floats = directions[:, kept] / np.sqrt(sizes[kept])

    @property
    def rank(self) -> int:
        """Return the number of features."""
        return int(self.basis.shape[1])

    def features(self, X: Any, n_threads: int | None = None) -> Floats:
        """Return the features of some points, one row each."""
        return np.asarray(self.columns(X, n_threads) @ self.basis)

    def missing(self, X: Any, n_threads: int | None = None) -> Floats:
        r"""Return :math:`k(x, x) - \lVert z(x)\rVert^2`: squared distances from the span."""
        Z = self.features(X, n_threads)
        return np.maximum(self.kernel.diag(X) - np.einsum("ij,ij->i", Z, Z), 0.0)
