"""Every pruning of a grown tree at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAF = -1
"""The child of a node that has none, in scikit-learn's trees."""


def pruning_levels(tree: Any) -> Floats:
    r"""Return for each node from which :math:`\alpha` on the pruned tree ends in it or above it.

    Weakest-link pruning: of all branches, that one goes first which lowers the impurity least for
    each of its leaves, :math:`(R(t) - R(T_t)) / (|T_t| - 1)`.

    Parameters
    ----------
    tree : sklearn.tree.Tree
        Grown, of a fitted classifier; its nodes are numbered from the root downwards.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Minus infinity for leaves.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, *Classification and regression trees*
    (1984), chapter 3.
    """
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    own = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    below, leaves = own.copy(), np.ones(own.size, dtype=np.int64)
    parent = [LEAF] * own.size
    inner = [node for node, child in enumerate(left) if child != LEAF]
    for node in reversed(inner):
        a, b = left[node], right[node]
        parent[a] = parent[b] = node
        below[node], leaves[node] = below[a] + below[b], leaves[a] + leaves[b]
    levels, worth = np.full(own.size, -np.inf), np.full(own.size, np.inf)
    worth[inner] = (own[inner] - below[inner]) / (leaves[inner] - 1)
    reached = -np.inf
    while np.isfinite(worth[0]):
        weakest = int(worth.argmin())
        reached = max(reached, float(worth[weakest]))
        branch = [weakest]
        while branch:  # all that was left of it
            node = branch.pop()
            if np.isfinite(worth[node]):
                levels[node], worth[node] = reached, np.inf
                branch += [left[node], right[node]]
        gained, lost = own[weakest] - below[weakest], leaves[weakest] - 1
        node = parent[weakest]
        while node != LEAF:
            below[node] += gained
            leaves[node] -= lost
            worth[node] = (own[node] - below[node]) / (leaves[node] - 1)
            node = parent[node]
    return levels


def ends(tree: Any, levels: Floats, alphas: Floats) -> NDArray[np.int64]:
    """Return the node in which a row of each node ends, once the tree is pruned.

    Parameters
    ----------
    tree : sklearn.tree.Tree
    levels : ndarray of shape (n_nodes,)
        As from `pruning_levels`.
    alphas : ndarray of shape (n_alphas,)

    Returns
    -------
    ndarray of int of shape (n_nodes, n_alphas)
    """
    has_ended = levels[:, None] <= alphas
    where = np.repeat(np.arange(levels.size)[:, None], alphas.size, axis=1)
    for node, children in enumerate(zip(tree.children_left, tree.children_right)):
        if children[0] != LEAF:
            for child in children:
                where[child] = np.where(has_ended[node], where[node], child)
                has_ended[child] |= has_ended[node]
    return where
