"""A kernel on graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from ._checks import Floats
from ._featureless import FeaturelessKernel

KINDS = "a networkx graph or a square matrix of numbers, other than 0 where there is an edge"


class ShortestPath(FeaturelessKernel):
    r"""The shortest-path kernel on graphs: pairs of paths of the same length.

    .. math:: k(G, H) = \sum_{u \neq v} \sum_{p \neq q} [d_G(u, v) = d_H(p, q)]
              = \sum_{\ell = 1}^{\infty} n_\ell(G) \, n_\ell(H)

    over ordered pairs of vertices that a path joins, with the number of edges d of a shortest one
    and the number of pairs :math:`n_\ell` at distance :math:`\ell`. It is a dot product of counts,
    hence positive semi-definite. Graphs may be directed; weights, labels and parallel edges do not
    count, and loops join no two vertices. Large graphs have more pairs than small ones;
    ``Normalized(ShortestPath())`` compares the shapes only.

    The "points" are graphs, not rows of numbers. Machines take the values as a precomputed kernel,
    as in the example, and so do searches by folds.

    See Also
    --------
    mercer.datasets.make_graphs : Graphs of two kinds, to be told apart.

    References
    ----------
    K. M. Borgwardt, H.-P. Kriegel, "Shortest-path kernels on graphs", ICDM 2005; here with equality
    as the kernel on lengths, and without labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.kernels import Normalized, ShortestPath
    >>> def ring(n, step):
    ...     '''Vertices on a ring, joined to the next and to the one at some distance.'''
    ...     edges = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), step, axis=1)
    ...     return edges + edges.T
    >>> ShortestPath()([ring(8, 2)], [ring(8, 4)])
    array([[1536.]])
    >>> kernel = Normalized(ShortestPath())
    >>> near, far = [ring(n, 2) for n in range(20, 30)], [ring(n, 5) for n in range(20, 30)]
    >>> known, new, y = near[::2] + far[::2], near[1::2] + far[1::2], [0] * 5 + [1] * 5
    >>> model = SVC(C=100.0, kernel="precomputed").fit(kernel(known), y)
    >>> model.score(kernel(new, known), y)
    1.0
    """

    is_known_mercer = True
    """True: it is a dot product of counts."""

    why_no_features = (
        "ShortestPath has no features: its points are graphs; learn from graph statistics instead."
    )
    """What those are told who ask for features."""

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(G_i, H_j).

        Parameters
        ----------
        X : sequence of n graphs
            Of networkx, or as square matrices, dense or sparse, that are not 0 where an edge goes
            from the row's vertex to the column's.
        Y : sequence of m graphs, default=None
            None means `X`.

        Returns
        -------
        ndarray of shape (n, m)
        """
        left = _path_counts(X, "X")
        right = left if Y is None or Y is X else _path_counts(Y, "Y")
        longest = min(left.shape[1], right.shape[1])  # paths that only one side has do not count
        return left[:, :longest] @ right[:, :longest].T

    def diag(self, X: Any) -> Floats:
        """Return k(G_i, G_i) for every graph of `X`."""
        counts = _path_counts(X, "X")
        return np.einsum("ij,ij->i", counts, counts)


def _path_counts(graphs: Any, name: str) -> Floats:
    """Return the number of pairs of vertices at distance 1, 2 and so on, a row for each graph."""
    if sp.issparse(graphs) or not hasattr(graphs, "__iter__") or hasattr(graphs, "adjacency"):
        raise ValueError(f"ShortestPath: {name} must be a sequence of graphs, each {KINDS}.")
    rows = [_lengths(graph, f"{name}[{place}]") for place, graph in enumerate(graphs)]
    counts = np.zeros((len(rows), max((row.size for row in rows), default=0)))
    for row, found in zip(counts, rows):
        row[: found.size] = found
    return counts


def _lengths(graph: Any, place: str) -> Any:
    edges = _adjacency(graph, place)
    if edges.shape[0] == 0:
        return np.zeros(0)
    distances = shortest_path(edges, unweighted=True)
    reached = distances[np.isfinite(distances)].astype(np.intp)
    return np.bincount(reached)[1:]


def _adjacency(graph: Any, place: str) -> Any:
    """Return 1 where there is an edge, as a sparse matrix."""
    if hasattr(graph, "adjacency"):
        import networkx

        graph = networkx.to_scipy_sparse_array(graph, weight=None) if len(graph) else np.eye(0)
    try:
        matrix = sp.csr_array(graph, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = None
    if matrix is None or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        found = type(graph).__name__ if matrix is None else f"shape {matrix.shape}"
        raise ValueError(f"ShortestPath: {place} must be {KINDS}; got {found}.")
    if not np.isfinite(matrix.data).all():
        raise ValueError(f"ShortestPath: {place} holds NaN or infinity; 0 stands for no edge.")
    return (matrix != 0).astype(np.float64)
