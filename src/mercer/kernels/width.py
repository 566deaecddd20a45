"""Widths taken from the data, with weights that count as repetition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import Floats, Points, as_points
from ._distances import squared_distances

MAX_ROWS = 1000
"""Most distinct rows whose pair distances are computed for the median."""


def scale_gamma(X: Any, sample_weight: Any = None) -> float:
    r"""Return :math:`1 / (d \cdot \mathrm{var})`, var the variance of all entries of `X`.

    Without weights this is ``gamma="scale"`` of scikit-learn's SVC. With weights the variance is
    that of the data in which each row is repeated as often as its weight says. Constant data
    give 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> from mercer.kernels import scale_gamma
    >>> scale_gamma([[0.0, 2.0], [2.0, 0.0]])
    0.5
    """
    X = as_points(X)
    weights = check_sample_weight(X, sample_weight)
    n_columns = X.shape[1]
    if weights is None and not sp.issparse(X):
        mean = float(np.add.reduce(X, axis=None)) / X.size
        centred = X - mean
        variance = float(np.einsum("ij,ij->", centred, centred)) / X.size
    else:
        weights = np.ones(X.shape[0]) if weights is None else weights
        entries = weights.sum() * n_columns
        mean = float(weights @ X.sum(axis=1)) / entries
        if sp.issparse(X):
            stored = np.repeat(weights, np.diff(X.indptr))
            zeros = entries - stored.sum()
            variance = float(stored @ (X.data - mean) ** 2 + zeros * mean**2) / entries
        else:
            variance = float(weights @ ((X - mean) ** 2).sum(axis=1)) / entries
    # Rounding of the mean alone leaves a variance of this size in constant data.
    if variance <= (4 * np.finfo(np.float64).eps * mean) ** 2:
        return 1.0
    return float(1.0 / (n_columns * variance))


def auto_gamma(X: Any) -> float:
    """Return 1 / d, one over the number of features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> from mercer.kernels import auto_gamma
    >>> auto_gamma([[0.0, 2.0], [2.0, 0.0]])
    0.5
    """
    return float(1.0 / as_points(X).shape[1])


def median_gamma(
    X: Any,
    sample_weight: Any = None,
    distances: Callable[[Points], Floats] = squared_distances,
) -> float:
    """Return one over the median distance of two different rows of `X`.

    A pair counts as often as the product of its weights says; equal rows do not count, so that
    weighting and repeating a row are the same. With more than 1000 distinct rows the median is
    taken over 1000 of them, drawn evenly along a fixed direction: the order of the rows and
    repetition make no difference to the draw. Data without two different rows give 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    sample_weight : array-like of shape (n,), default=None
    distances : callable, default=squared_distances
        Gives the matrix of distances of an array of points.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> from mercer.kernels import median_gamma
    >>> median_gamma([[0.0], [1.0], [3.0]])
    0.25
    """
    points, weights = _distinct_rows(as_points(X), sample_weight)
    if len(weights) > MAX_ROWS:
        positions = (np.arange(MAX_ROWS) + 0.5) / MAX_ROWS
        drawn = np.searchsorted(np.cumsum(weights) / weights.sum(), positions)
        points, weights = points[drawn], np.ones(MAX_ROWS)
    i, j = np.triu_indices(len(weights), k=1)
    lengths = distances(points)[i, j]
    different = lengths > 0
    if not different.any():
        return 1.0
    return 1.0 / _weighted_median(lengths[different], (weights[i] * weights[j])[different])


def resolve_gamma(
    gamma: Any,
    X: Any,
    sample_weight: Any = None,
    distances: Callable[[Points], Floats] = squared_distances,
) -> Any:
    """Replace "scale", "auto" and "median" by numbers; leave everything else as it is."""
    if not isinstance(gamma, str):
        return gamma
    if gamma == "auto":
        return auto_gamma(X)
    with np.errstate(all="ignore"):
        if gamma == "scale":
            number = scale_gamma(X, sample_weight)
        else:
            number = median_gamma(X, sample_weight, distances)
    if not 0.0 < number < np.inf:
        raise ValueError(
            f"gamma={gamma!r} is beyond the range of numbers, because the features are too large "
            "or too small; scale the features (for instance with MaxAbsScaler)."
        )
    return number


def check_sample_weight(X: Points, sample_weight: Any) -> Floats | None:
    """Return the weights as an array, or None where there are none."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight must hold one weight for each of the {X.shape[0]} rows; "
            f"got shape {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must be finite, not negative, and not 0 for every row.")
    return weights


def _distinct_rows(X: Points, sample_weight: Any) -> tuple[Points, Floats]:
    """Merge equal rows, adding their weights, and sort them along a fixed direction."""
    weights = check_sample_weight(X, sample_weight)
    weights = np.ones(X.shape[0]) if weights is None else weights
    kept = np.flatnonzero(weights)
    X, weights = X[kept], weights[kept]
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    # einsum adds every row in the same order, so that equal rows get equal positions.
    along = X @ direction if sp.issparse(X) else np.einsum("ij,j->i", X, direction)
    _, first, group = np.unique(along, return_index=True, return_inverse=True)
    totals = np.zeros(len(first))
    np.add.at(totals, group, weights)
    return X[first], totals


def _weighted_median(values: Floats, weights: Floats) -> float:
    """Return the median of values repeated by weight, the mean of the middle two in a tie."""
    order = np.argsort(values)
    values = values[order]
    share = np.cumsum(weights[order])
    share /= share[-1]
    lower = np.searchsorted(share, 0.5 - 1e-12)
    upper = np.searchsorted(share, 0.5 + 1e-12)
    return float(values[lower] + values[upper]) / 2
