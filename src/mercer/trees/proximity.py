"""How close the trees of a forest see two rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.trees._comparison import dense_shares
from mercer.trees._similarity import Similarity, similarity

DENSE_ROWS = 2000
"""Up to so many rows and columns the matrix is dense unless something else is asked for."""

HALF = 0.5
"""Share of entries beyond which a sparse matrix takes more memory than a dense one."""

SAMPLE = 200
"""Rows from which the size of the whole matrix is estimated."""


def proximity(
    forest: Any,
    X: Any,
    Y: Any = None,
    *,
    kind: str = "all",
    output: str = "auto",
    max_memory: float = 4.0,
) -> Any:
    r"""Return the proximities of rows: the share of trees in which two rows share a leaf.

    With :math:`\ell_t(x)` the leaf of x in tree t, T trees, and :math:`S_i` the trees for which row
    i is out of the bag,

    .. math:: p^{\mathrm{all}}_{ij} = \frac{1}{T} \sum_t [\ell_t(x_i) = \ell_t(x_j)], \qquad
              p^{\mathrm{oob}}_{ij} = \frac{\sum_{t \in S_i \cap S_j} [\ell_t(x_i) = \ell_t(x_j)]}
              {|S_i \cap S_j|},

    .. math:: p^{\mathrm{gap}}_{ij} = \frac{1}{|S_i|} \sum_{t \in S_i}
              \frac{c_j(t)\,[\ell_t(x_i) = \ell_t(x_j)]}{|M_i(t)|}

    where :math:`c_j(t)` says how often row j was drawn for tree t and :math:`|M_i(t)|` how many
    draws lie in the leaf of i. "all" treats training rows better than they deserve: trees that have
    seen both keep rows of different classes apart. "oob" avoids that. "gap" is geometry- and
    accuracy-preserving: its rows sum to 1, and the labels weighted by them give the out-of-bag
    prediction of the forest, exactly for fully grown trees. It is not symmetric, and its diagonal
    is 0.

    Sparse results are products of two sparse matrices of leaf indicators, which take time in
    proportion to the pairs that share a leaf, not to all pairs in all trees. Dense results of
    "all", and sparse ones of trees with large leaves, compare leaf numbers of one or two bytes in
    blocks that stay in the cache.

    Parameters
    ----------
    forest : estimator
        A fitted forest of scikit-learn, for classes or numbers.
    X : array-like of shape (n, n_features)
        Rows; without `Y`, for "oob" and "gap" those that the forest was fitted to.
    Y : array-like of shape (m, n_features), default=None
        Rows to compare with; for "oob" and "gap" those that the forest was fitted to, and `X` then
        are new rows.
    kind : {"all", "oob", "gap"}, default="all"
    output : {"auto", "dense", "sparse"}, default="auto"
        "auto" is sparse beyond 2000 rows or columns, unless more than half of the pairs meet in
        some tree, so that a sparse matrix would be the larger one.
    max_memory : float, default=4.0
        Gigabytes that the result may take; its size is estimated before it is computed.

    Returns
    -------
    ndarray or CSR array of shape (n, n) or (n, m), of float32
        Pairs that no tree may compare have proximity 0.

    References
    ----------
    L. Breiman, A. Cutler, *Random forests* (software and manual, 2004).
    J. S. Rhodes, A. Cutler, K. R. Moon, "Geometry- and accuracy-preserving random forest
    proximities", IEEE TPAMI 45 (2023).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mercer.trees import proximity
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> P = proximity(forest, X)
    >>> P.shape, float(P[0, 0]), bool(P[0, 1] > P[0, 100])
    ((150, 150), 1.0, True)
    >>> W = proximity(forest, X, kind="gap")
    >>> bool((W.sum(axis=1).round(5) == 1).all())
    True
    """
    if output not in ("auto", "dense", "sparse"):
        raise ValueError(f"output must be 'auto', 'dense' or 'sparse'; got {output!r}.")
    pairs = similarity(forest, X, Y, kind)
    dense = output == "dense" or (output == "auto" and max(pairs.shape) <= DENSE_ROWS)
    if not dense:
        share = _filled_share(pairs)
        fits = 4.0 * np.prod(pairs.shape) <= max_memory * 1e9
        dense = output == "auto" and share > HALF and bool(fits)
    _check_size(pairs.shape, 1.0 if dense else 4 * share, max_memory, dense)
    if not dense:
        blocks = [block for _, block in pairs.blocks()]
        return blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
    if pairs.codes is not None:
        return dense_shares(*pairs.codes, symmetric=Y is None)
    matrix = np.empty(pairs.shape, dtype=np.float32)
    for some, block in pairs.blocks():
        block.toarray(out=matrix[some])
    return matrix


def _filled_share(pairs: Similarity) -> float:
    """Estimate the share of entries that are not 0 from some rows."""
    n, m = pairs.shape
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))
    return float(pairs.rows(some).nnz / (some.size * m))


def _check_size(shape: tuple[int, int], share: float, max_memory: float, dense: bool) -> None:
    """Refuse a result that is too large, before it is made.

    A sparse entry takes four times as much as a dense one: value and column, and both once more
    while blocks are put together.
    """
    n, m = shape
    size = 4.0 * n * m * share
    if size > max_memory * 1e9:
        advice = "output='sparse', " if dense else "trees with smaller leaves, "
        raise MemoryError(
            f"The proximities of {n} by {m} rows would take about {size / 1e9:.1f} GB, more than "
            f"max_memory={max_memory:g}; use {advice}fewer rows or a larger max_memory."
        )
