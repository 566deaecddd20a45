"""Distances to the centres of one or several balls."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer._warnings import warn
from mercer.gram import gives_numbers, kernel_products
from mercer.kernels import Kernel, Linear
from mercer.kernels.blocks import row_blocks

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Share of the largest k(x, x) below which differences of squared distances mean nothing."""

CENTRE = 1e-14
"""A row whose squared distance is below this share of the largest k(x, x) is at the centre: the
terms that cancel leave as much by rounding."""

POINT = 1e-6
"""A ball whose radius is below this share of the largest sqrt(k(x, x)) is a point."""


@dataclass(frozen=True, eq=False)
class Balls:
    r"""The centres :math:`a_j = \sum_i \beta_i \phi_i` of some balls, each on its own vectors.

    Parameters
    ----------
    kernel : Kernel
        The resolved kernel.
    vectors : ndarray or sparse matrix of shape (m, d), or None
        Support vectors of all balls, one ball after the other; None for a precomputed kernel.
    support : ndarray of int of shape (m,)
        Their places among the training rows.
    coefficients : ndarray of shape (m,)
    segments : ndarray of int of shape (k,)
        Number of vectors of each ball.
    squared_norms : ndarray of shape (k,)
        :math:`\lVert a_j \rVert^2`.
    diagonal : ndarray of shape (n,)
        k(x, x) of the training rows with weight.
    rows : ndarray of int of shape (n,)
        Places of these among all training rows.
    """

    kernel: Kernel
    vectors: Any
    support: NDArray[np.int64]
    coefficients: Floats
    segments: NDArray[np.int64]
    squared_norms: Floats
    diagonal: Floats
    rows: NDArray[np.int64]

    @property
    def scale(self) -> float:
        """The largest k(x, x) of the training rows."""
        return float(np.abs(self.diagonal).max())

    def clear_radii(self, squared_radii: Any) -> Floats:
        """Return radii, those of balls that are points up to rounding as 0."""
        radii = np.sqrt(np.maximum(squared_radii, 0.0))
        return np.where(radii > POINT * np.sqrt(self.scale), radii, 0.0)

    @gives_numbers
    def squared_distances(
        self,
        X: Any,
        diagonal: Any = None,
        n_threads: int | None = None,
        device: str = "cpu",
    ) -> Floats:
        """Return the squared distances in feature space to every centre, none negative.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            For a precomputed kernel, its values with all training rows.
        diagonal : array-like of shape (n,) or None
            k(x, x) of the rows, only for a precomputed kernel.
        n_threads : int or None
        device : str, default="cpu"
            As in `kernel_products`.

        Returns
        -------
        ndarray of shape (n, k)
        """
        if diagonal is not None and not self.kernel.is_pairwise:
            raise ValueError(
                "diagonal is for a precomputed kernel only; this kernel is asked for its own."
            )
        if isinstance(self.kernel, Linear):
            return _distances_to_points(X, self.centres())
        if self.kernel.is_pairwise:
            values = self.kernel(X)
            own = self._diagonal_of(values, diagonal)
            sums = self._sums(values[:, self.support])
        else:
            own = self.kernel.diag(X)
            sums = kernel_products(
                self.kernel,
                X,
                self.vectors,
                self.coefficients[None, :],
                self.segments,
                n_threads,
                device=device,
            )[:, :, 0]
        squared = own[:, None] - 2.0 * sums + self.squared_norms
        return np.where(squared > CENTRE * self.scale, squared, 0.0)

    def centres(self) -> Floats:
        """Return the centres in input space, for the linear kernel."""
        weighted = [
            self.coefficients[a:b] @ self.vectors[a:b]
            for a, b in pairwise(np.concatenate([[0], np.cumsum(self.segments)]))
        ]
        return np.vstack(weighted)

    def _sums(self, values: Floats) -> Floats:
        starts = np.concatenate([[0], np.cumsum(self.segments)[:-1]])
        return np.add.reduceat(values * self.coefficients, starts, axis=1)

    def _diagonal_of(self, values: Floats, diagonal: Any) -> Floats:
        """Return k(x, x) as it was given, or the best that the kernel values tell."""
        if diagonal is not None:
            return _checked_diagonal(diagonal, values.shape[0])
        if np.ptp(self.diagonal) <= ROUNDING * self.scale:
            return np.full(values.shape[0], self.diagonal[0])
        if self._is_of_the_fit(values):
            return np.diagonal(values)
        warn(
            "k(x, x) of the rows is not known, because the kernel is precomputed and no diagonal "
            "was given; the least value that their kernel values allow stands in for it, so that "
            "distances may come out too short.",
        )
        return _least_diagonal(values[:, self.rows], self.diagonal)

    def _is_of_the_fit(self, values: Floats) -> bool:
        """Say whether these are the values of the training rows with each other."""
        is_square = values.shape[0] == values.shape[1]
        return is_square and np.array_equal(np.diagonal(values)[self.rows], self.diagonal)


def _checked_diagonal(diagonal: Any, n_rows: int) -> Floats:
    values = np.asarray(diagonal, dtype=np.float64)
    if values.shape != (n_rows,) or not np.isfinite(values).all():
        raise ValueError(
            f"diagonal must hold k(x, x) of each of the {n_rows} rows, all finite; got an array of "
            f"shape {values.shape}."
        )
    return values


def _least_diagonal(values: Floats, diagonal: Floats) -> Floats:
    """Return max_i k(x, x_i)^2 / k(x_i, x_i), which no k(x, x) is below."""
    usable = diagonal > 0
    if not usable.any():
        return np.zeros(values.shape[0])
    return np.asarray((values[:, usable] ** 2 / diagonal[usable]).max(axis=1))


def _distances_to_points(X: Any, points: Floats) -> Floats:
    """Return squared Euclidean distances, accurate also for data far from zero."""
    if sp.issparse(X):
        norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        cross = np.asarray(X @ points.T)
        return np.maximum(norms[:, None] - 2.0 * cross + (points**2).sum(axis=1), 0.0)
    distances = np.empty((X.shape[0], points.shape[0]))
    for rows in row_blocks(X.shape[0], X.shape[1]):
        for j, point in enumerate(points):
            difference = X[rows] - point
            distances[rows, j] = np.einsum("ij,ij->i", difference, difference)
    return distances
