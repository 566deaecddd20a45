"""Squared distances that stay accurate for offset data and for nearly equal rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ._checks import Floats, Points, as_pair
from .base import column_means
from .blocks import IN_CACHE, row_blocks

DIRECT_COLUMNS = 8
"""Up to this many columns the plain sum of squared differences is as fast as a matrix product."""

NEAR = 1e-4
"""Pairs that lose more than four digits to cancellation are computed again from differences."""

CANCELLED = 1e-6
"""Sums over all pairs that lose more than six digits are computed again from differences."""

MANY = 0.05
"""Above this share of such pairs, all are computed from differences."""

SUBNORMAL = -960
"""Power of two below which products, and what is small beside them, may have lost digits."""


def squared_distances(X: Any, Y: Any = None) -> Floats:
    r"""Squared Euclidean distances between the rows of `X` and of `Y`.

    .. math:: D_{ij} = \lVert x_i - y_j \rVert^2 = \lVert x_i \rVert^2 + \lVert y_j \rVert^2
              - 2 \langle x_i, y_j \rangle

    The right-hand side, one matrix product, cancels when two rows are closer to each other than
    to the origin. Dense columns are therefore centred first, and the few pairs that still cancel
    are computed from their differences: every distance has a relative error of about 1e-12.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    Y : array-like or sparse matrix of shape (m, d), default=None
        None means `X`.

    Returns
    -------
    ndarray of shape (n, m)
        Never negative; exactly 0 for equal rows, exactly symmetric when `Y` is None.

    Examples
    --------
    >>> from mercer.kernels import squared_distances
    >>> squared_distances([[0.0, 0.0], [3.0, 4.0]])
    array([[ 0., 25.],
           [25.,  0.]])
    """
    left, right = as_pair(X, Y)
    if not sp.issparse(left) and left.shape[1] <= DIRECT_COLUMNS:
        return _from_differences(left, right)
    return _from_products(left, right)


def _from_differences(X: Floats, Y: Floats) -> Floats:
    if X.shape[1] == 0:
        return np.zeros((len(X), len(Y)))
    return cdist(X, Y, "sqeuclidean")


def _from_products(X: Points, Y: Points) -> Floats:
    x_centred, y_centred = centred_pair(X, Y)
    distances = dot_products(x_centred, y_centred)
    x_norms, y_norms = squared_norms(x_centred), squared_norms(y_centred)
    allowance = distances.size if sp.issparse(X) else int(MANY * distances.size) + len(x_norms)
    for rows in row_blocks(len(distances), distances.shape[1], IN_CACHE):
        # One sum of two norms, so that the result is symmetric to the last bit.
        norms = x_norms[rows, None] + y_norms
        block = distances[rows]
        block *= -2.0
        block += norms
        np.maximum(block, 0.0, out=block)
        norms *= NEAR
        i, j = np.nonzero(~(block >= norms))  # differences of infinite numbers among them
        allowance -= len(i)
        if allowance < 0:
            return _from_differences(X, Y)
        if len(i):
            block[i, j] = _pair_distances(X, Y, i + rows.start, j)
    return distances


def _pair_distances(X: Points, Y: Points, i: Any, j: Any, left_out: int | None = None) -> Floats:
    """Squared distances of the pairs (i, j) from differences, perhaps without one column."""
    distances = np.empty(len(i))
    for part in row_blocks(len(i), X.shape[1], IN_CACHE):
        differences = X[i[part]] - Y[j[part]]
        if left_out is not None:
            differences[:, left_out] = 0.0
        distances[part] = squared_norms(differences)
    return distances


def distances_without_features(X: Floats) -> Iterator[Floats]:
    """Yield, for each column, the squared distances of the rows of `X` without that column.

    Each is a downdate of the whole by (x_ik - x_jk)^2. Pairs of which one column makes up nearly
    all the distance would cancel and are computed again; a pair has at most one such column.
    The array that is yielded is overwritten for the next column.
    """
    whole = squared_distances(X)
    threshold = NEAR * whole
    rest = np.empty_like(whole)
    for k, column in enumerate(X.T):
        np.subtract(column[:, None], column, out=rest)
        np.multiply(rest, rest, out=rest)
        np.subtract(whole, rest, out=rest)
        i, j = np.nonzero(rest < threshold)
        if len(i) > MANY * whole.size:
            rest[...] = squared_distances(np.delete(X, k, axis=1))
        elif len(i):
            rest[i, j] = _pair_distances(X, X, i, j, left_out=k)
        yield rest


def contract_squared_differences(X: Floats, Y: Floats, T: Floats) -> Floats:
    r"""Return :math:`\sum_{ij} T_{ij} (x_{ik} - y_{jk})^2` for every column k.

    With the row sums r and column sums c of T this is
    :math:`\sum_i r_i x_{ik}^2 + \sum_j c_j y_{jk}^2 - 2\, x_k^\top T y_k`, one matrix product for
    all columns. Columns in which the three terms cancel are summed from differences instead.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    Y : ndarray of shape (m, d)
        Points, or ``X`` itself.
    T : ndarray of shape (n, m)
        Weight of each pair.

    Returns
    -------
    ndarray of shape (d,)
        The sums.
    """
    if X is Y:
        # A row is at distance 0 from itself: drop the term that only cancels.
        T = T.copy()
        np.fill_diagonal(T, 0.0)
    x_centred, y_centred = centred_pair(X, Y)
    x_squares, y_squares = x_centred * x_centred, y_centred * y_centred
    sums = T.sum(axis=1) @ x_squares + T.sum(axis=0) @ y_squares
    sums -= 2.0 * np.einsum("ik,ik->k", x_centred, T @ y_centred)
    magnitude = np.abs(T)
    magnitude = magnitude.sum(axis=1) @ x_squares + magnitude.sum(axis=0) @ y_squares
    for k in np.flatnonzero(np.abs(sums) < CANCELLED * magnitude):
        differences = X[:, k, None] - Y[:, k]
        differences *= differences
        sums[k] = np.vdot(differences, T)
    return sums


def scale_columns(X: Points, scales: Floats) -> Points:
    """Multiply column k by ``scales[k]`` and keep the format."""
    if not sp.issparse(X):
        return X * scales
    scaled = X.copy()
    scaled.data *= scales[scaled.indices]
    return scaled


def centred_pair(X: Points, Y: Points) -> tuple[Points, Points]:
    """Subtract the column means of `Y` from both, except where that would fill sparse points.

    What depends on differences only stays the same, and offset data lose no digits.
    """
    if sp.issparse(X) or len(Y) == 0:
        return X, Y
    centre = column_means(Y)
    centred = Y - centre
    return (centred if X is Y else X - centre), centred


def squared_norms(X: Points) -> Floats:
    """Return the squared Euclidean length of each row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def dot_products(X: Points, Y: Points) -> Floats:
    """Return X Y' as a dense array, exactly symmetric when both are the same object.

    NumPy and SciPy both keep the symmetry of a matrix times its own transpose.
    """
    if not sp.issparse(X):
        return X @ Y.T
    exponents = [_exponent(Z.data) for Z in (X, Y)]
    if sum(exponents) > SUBNORMAL:
        return (X @ Y.T).toarray()
    # Products that have lost digits take processors a hundred times as long as others.
    left = _shifted(X, -exponents[0])
    right = left if X is Y else _shifted(Y, -exponents[1])
    return np.ldexp((left @ right.T).toarray(), sum(exponents))


def _exponent(values: Floats) -> int:
    """Return the power of two above the largest size; 0 where all are zero."""
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    return int(np.frexp(largest)[1])


def _shifted(X: Any, exponent: int) -> Any:
    """Return sparse points times a power of two."""
    shifted = X.copy()
    shifted.data = np.ldexp(X.data, exponent)
    return shifted


def dense_rows(X: Points) -> Floats:
    """Return checked points as a dense array."""
    return X.toarray() if sp.issparse(X) else X
