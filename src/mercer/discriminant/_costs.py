"""What mistakes cost, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def checked_costs(costs: Any, n_classes: int) -> Floats:
    """Return the matrix of costs, rows true and columns decided; 1 for every mistake if None."""
    if costs is None:
        return 1.0 - np.eye(n_classes)
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs must be a matrix of numbers; got {costs!r}.") from error
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have a row and a column for each of the {n_classes} classes, shape "
            f"{(n_classes, n_classes)}; got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite; some are NaN or infinite.")
    if (matrix < 0).any():
        i, j = np.argwhere(matrix < 0)[0]
        raise ValueError(f"costs must not be negative; got {matrix[i, j]:g} at [{i}, {j}].")
    if np.diag(matrix).any():
        i = int(np.flatnonzero(np.diag(matrix))[0])
        raise ValueError(
            f"costs of right decisions, on the diagonal, must be 0; got {matrix[i, i]:g} at "
            f"[{i}, {i}]."
        )
    return matrix


def checked_priors(priors: Any, n_classes: int) -> Floats:
    """Return the prior probabilities: one for each class, none negative, with sum 1."""
    values = np.asarray(priors, dtype=np.float64)
    if values.shape != (n_classes,):
        raise ValueError(
            f"priors must hold one number for each of the {n_classes} classes; got shape "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values >= 0).all() and np.isclose(values.sum(), 1.0)):
        raise ValueError(f"priors must be at least 0 and sum to 1; got {values.tolist()}.")
    return values


def mean_cost(codes: Any, decided: Any, costs: Floats, weight: Any, priors: Any) -> float:
    """Return the mean cost (2.2), with the classes in the share of the priors.

    `decided` may name one more class than `codes`: rejection, the last column of the costs.
    """
    row_costs = costs[codes, decided]
    if priors is None:
        return float(np.average(row_costs, weights=weight))
    means = np.zeros(priors.size)
    for code in np.flatnonzero(priors):
        own = codes == code
        if own.any():
            means[code] = np.average(row_costs[own], weights=weight[own])
    present = np.isin(np.arange(priors.size), codes)
    return float(means @ priors / priors[present].sum())
