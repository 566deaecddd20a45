"""The statistics of a directed graph: 72 in all, of which 10 are the plainest."""

from __future__ import annotations

from typing import Any

import numpy as np

COUNTS = ("Degree", "InDegree", "OutDegree", "NumPredecessors", "NumSuccessors", "NumNeighbors")
"""Numbers that every vertex has. Parallel arcs count in the degrees only, loops in all but the
neighbours."""

MOMENTS = (
    *("mean", "variance", "skewness", "kurtosis", "min", "max", "median"),
    *("sum", "sumOfSquares", "geometricMean", "harmonicMean"),
)
"""What is told of each of these numbers."""

WHOLE = (
    *("numVertices", "numEdges", "diameter", "averagePathLength"),
    *("clusteringCoefficient", "clusteringCoefficientWithLoops"),
)
"""What a graph has as a whole."""

ALL = (*WHOLE, *(moment + count for count in COUNTS for moment in MOMENTS))
"""The names of all 72."""

PLAIN = (*(f"mean{count}" for count in COUNTS), *WHOLE[2:])
"""The names of the 10."""


def graph_statistics(graph: Any) -> dict[str, float]:
    """Return the 72 statistics of a directed graph by their names.

    Parameters
    ----------
    graph : networkx.MultiDiGraph

    Examples
    --------
    >>> import networkx
    >>> star = networkx.MultiDiGraph([(0, 1), (0, 2), (0, 3), (0, 3)])
    >>> found = graph_statistics(star)
    >>> len(found), found["maxOutDegree"], found["maxNumSuccessors"], found["meanNumNeighbors"]
    (72, 4.0, 3.0, 1.5)
    """
    import networkx
    from scipy.sparse.csgraph import shortest_path

    arcs = networkx.to_scipy_sparse_array(graph, dtype=np.float64)
    simple = (arcs.toarray() > 0).astype(np.float64)
    either = np.maximum(simple, simple.T)
    alone = either - np.diag(np.diag(either))
    lengths = shortest_path(arcs, unweighted=True)
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    found = {
        "numVertices": float(len(simple)),
        "numEdges": float(arcs.sum()),
        "diameter": float(lengths.max(initial=0.0)),
        "averagePathLength": float(lengths.mean()) if lengths.size else 0.0,
        "clusteringCoefficient": _clustering(alone, alone),
        "clusteringCoefficientWithLoops": _clustering(either, alone),
    }
    entering, leaving = arcs.sum(axis=0), arcs.sum(axis=1)
    counts = (
        *(entering + leaving, entering, leaving),
        *(simple.sum(axis=0), simple.sum(axis=1), alone.sum(axis=1)),
    )
    for name, values in zip(COUNTS, counts):
        told = _moments(np.asarray(values))
        found |= {f"{moment}{name}": float(told[moment]) for moment in MOMENTS}
    return found


def _clustering(neighbours: Any, edges: Any) -> float:
    """Return the mean share of pairs of neighbours that are joined; 0 with fewer than two.

    A vertex with a loop may count as its own neighbour.
    """
    joined = np.einsum("vi,ij,vj->v", neighbours, edges, neighbours, optimize=True)
    degree = neighbours.sum(axis=1)
    pairs = degree * (degree - 1)
    return float(np.mean(np.where(pairs > 0, joined / np.maximum(pairs, 1), 0.0)))


def _moments(values: Any) -> dict[str, float]:
    """Return what is told of a number that every vertex has.

    Skewness and kurtosis are 0 where all are equal, geometric and harmonic mean where one is 0.
    """
    mean, deviation = values.mean(), values.std()
    standard = (values - mean) / (deviation or 1.0)
    positive = values.min() > 0
    return {
        "mean": mean,
        "variance": deviation**2,
        "skewness": (standard**3).mean(),
        "kurtosis": (standard**4).mean() - 3.0 if deviation else 0.0,
        "min": values.min(),
        "max": values.max(),
        "median": np.median(values),
        "sum": values.sum(),
        "sumOfSquares": (values**2).sum(),
        "geometricMean": np.exp(np.log(values).mean()) if positive else 0.0,
        "harmonicMean": 1 / (1 / values).mean() if positive else 0.0,
    }
