"""Class probabilities from the probabilities of each pair of classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST = 1e-7
"""Pairwise probabilities are kept this far from 0 and 1, so that the answer is unique."""

_ENTRIES = 1 << 20


def couple_pairs(second: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    r"""Return the class probabilities that agree best with pairwise ones.

    With :math:`r_{ij} \approx P(i \mid i \text{ or } j)` they solve [1]_

    .. math::

        \min_p \sum_i \sum_{j \ne i} (r_{ji} p_i - r_{ij} p_j)^2
        \quad\text{subject to}\quad \textstyle\sum_i p_i = 1,

    a linear system whose solution is positive. For two classes the pair itself comes back.

    Parameters
    ----------
    second : array-like of shape (n, n_pairs)
        Probability of the second class of each pair, pairs in the order (0, 1), (0, 2), ...,
        (1, 2), ...
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability estimates for multi-class classification by
       pairwise coupling", JMLR 5 (2004).

    Examples
    --------
    >>> couple_pairs([[0.2, 0.2, 0.5]], 3).round(3)
    array([[0.667, 0.167, 0.167]])
    """
    second = np.asarray(second, dtype=np.float64)
    pairs = list(combinations(range(n_classes), 2))
    if second.ndim != 2 or second.shape[1] != len(pairs):
        raise ValueError(
            f"{n_classes} classes make {len(pairs)} pairs; got an array of shape {second.shape}."
        )
    if n_classes == 2:
        return np.hstack([1.0 - second, second])
    step = max(1, _ENTRIES // (n_classes + 1) ** 2)
    parts = [
        _couple(second[start : start + step], n_classes, pairs)
        for start in range(0, len(second), step)
    ]
    return np.concatenate(parts) if parts else np.empty((0, n_classes))


def _couple(
    second: NDArray[np.float64], n_classes: int, pairs: list[tuple[int, int]]
) -> NDArray[np.float64]:
    first_index, second_index = np.array(pairs).T
    r = np.zeros((len(second), n_classes, n_classes))
    clipped = np.clip(second, LEAST, 1.0 - LEAST)
    r[:, second_index, first_index] = clipped
    r[:, first_index, second_index] = 1.0 - clipped
    # The conditions of the minimum: [Q, 1; 1', 0] [p; multiplier] = [0; 1].
    system = np.zeros((len(second), n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -np.swapaxes(r, 1, 2) * r
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.einsum("mji,mji->mi", r, r)
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    right = np.zeros((len(second), n_classes + 1, 1))
    right[:, n_classes] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :n_classes, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
