"""What the functions of this package ask of a forest: leaves, and who was in which bag."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._sklearn import fitted_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def check_forest(forest: Any) -> None:
    """Say what is wrong where this is no fitted forest of scikit-learn."""
    check_is_fitted(forest)
    if not hasattr(forest, "apply") or np.ndim(getattr(forest, "estimators_", 0)) != 1:
        raise TypeError(
            "A fitted forest of scikit-learn is needed, such as RandomForestClassifier; got "
            f"{type(forest).__name__}."
        )


def leaf_numbers(forest: Any, X: Any) -> tuple[Integers, Integers]:
    """Return the leaf of every row in every tree, and where the numbers of each tree begin.

    Leaves are counted over the whole forest, so that those of different trees have different
    numbers; the last entry of the beginnings is the number of all nodes.
    """
    nodes = np.array([tree.tree_.node_count for tree in forest.estimators_])
    first = np.concatenate([[0], np.cumsum(nodes)])
    return np.asarray(forest.apply(X)) + first[:-1], first


def in_bag_counts(forest: Any, X: Any) -> NDArray[np.int32]:
    """Return how often each training row was drawn for each tree.

    Raises
    ------
    ValueError
        Where the trees were not grown on bootstrap samples, or `X` are other rows.
    """
    if not getattr(forest, "bootstrap", False):
        raise ValueError(
            f"Out-of-bag rows need a forest of bootstrap samples; {type(forest).__name__} was "
            "fitted with bootstrap=False."
        )
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    n_fitted = fitted_rows(forest)
    if n != n_fitted:
        raise ValueError(
            f"Out-of-bag rows need the rows that the forest was fitted to, {n_fitted}; got {n}."
        )
    drawn = forest.estimators_samples_
    counts = np.empty((n, len(drawn)), dtype=np.int32)
    for place, rows in enumerate(drawn):
        counts[:, place] = np.bincount(rows, minlength=n)
    return counts


def leaf_indicator(leaves: Integers, n_leaves: int, values: Any = None) -> sp.csr_array:
    """Return the sparse matrix that has a value at every row's leaf in every tree.

    Zeros are left out. Without values it has ones.
    """
    n, n_trees = leaves.shape
    data = np.ones(leaves.size) if values is None else np.asarray(values, float).ravel()
    # Short indices make products faster by half.
    short = np.int32 if max(leaves.size, n_leaves) < np.iinfo(np.int32).max else np.int64
    ends = np.arange(0, leaves.size + 1, n_trees, dtype=short)
    parts = (data.astype(np.float32), leaves.ravel().astype(short), ends)
    matrix = sp.csr_array(parts, shape=(n, n_leaves))
    matrix.eliminate_zeros()
    return matrix
