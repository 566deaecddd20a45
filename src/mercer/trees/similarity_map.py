"""Rows in the plane, so that those that a forest finds alike lie together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from mercer._threads import holds_blas
from mercer.trees._forest import Floats
from mercer.trees._similarity import Similarity, similarity
from mercer.trees.proximity import proximity

SMALL = 300
"""Up to so many rows all eigenvalues are computed; beyond, only those that are needed."""


@dataclass(frozen=True, eq=False)
class SimilarityMap:
    """Rows in the plane.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
    eigenvalues : ndarray of shape (n_components,)
    explained : ndarray of shape (n_components,)
        Share of each axis in the sum of squared distances from the centre.
    """

    coordinates: Floats
    eigenvalues: Floats
    explained: Floats


@holds_blas
def similarity_map(
    forest: Any, X: Any, *, n_components: int = 2, kind: str = "all"
) -> SimilarityMap:
    r"""Place rows in the plane by classical scaling of 1 − proximity.

    1 − p is taken as a squared distance, so that the coordinates are those eigenvectors of

    .. math:: B = -\tfrac12\, J\,(1 - P)\,J = \tfrac12\, J P J, \qquad J = I - \tfrac1n 1 1',

    that belong to its largest eigenvalues, times their roots. P is the product of two sparse
    matrices, and the Lanczos method needs only products with it, so that 50,000 rows fit into
    little memory.

    Parameters
    ----------
    forest : estimator
        A fitted forest of scikit-learn.
    X : array-like of shape (n, n_features)
        For "oob" and "gap" the rows that the forest was fitted to.
    n_components : int, default=2
        Axes.
    kind : {"all", "oob", "gap"}, default="all"
        See `proximity`; "gap" is made symmetric first. A row has proximity 1 to itself. For "oob"
        and "gap" the (sparse) matrix is formed.

    Returns
    -------
    SimilarityMap

    References
    ----------
    L. Breiman, A. Cutler, *Random forests* (software and manual, 2004), on scaling.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mercer.trees import similarity_map
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> similarity_map(forest, X).coordinates.shape
    (150, 2)
    """
    pairs = similarity(forest, X, None, kind)
    n = pairs.shape[0]
    if not 1 <= n_components < n:
        raise ValueError(
            f"n_components must be at least 1 and below the number of rows, {n}; got "
            f"{n_components}."
        )
    P, diagonal, means = _product(pairs, forest, X, kind)

    def centred(vector: Any) -> Any:
        product = P(vector - vector.mean(axis=0))
        return 0.5 * (product - product.mean(axis=0))

    if n <= max(SMALL, 3 * n_components):
        values, vectors = np.linalg.eigh(centred(np.eye(n)))
        values, vectors = values[-n_components:], vectors[:, -n_components:]
    else:
        operator = LinearOperator((n, n), matvec=centred, matmat=centred, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n)  # the same map every time
        values, vectors = eigsh(operator, n_components, which="LA", v0=start)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_components)]
    total = 0.5 * (diagonal.sum() - means.sum())
    coordinates = vectors * np.sign(largest) * np.sqrt(values)
    return SimilarityMap(coordinates, values, values / max(total, np.finfo(float).tiny))


def _product(pairs: Similarity, forest: Any, X: Any, kind: str) -> tuple[Any, Floats, Floats]:
    """Return the product with symmetric proximities, their diagonal, and the means of columns."""
    n = pairs.shape[0]
    if kind == "all":
        return pairs.dot, pairs.diagonal(), pairs.dot(np.ones((n, 1)))[:, 0] / n
    P = proximity(forest, X, kind=kind, output="sparse")
    P = sp.csr_array((P + P.T) * 0.5, dtype=np.float64)
    P = P - sp.diags_array(P.diagonal()) + sp.eye_array(n)  # no row differs from itself
    return P.__matmul__, P.diagonal(), np.asarray(P.sum(axis=0)) / n
