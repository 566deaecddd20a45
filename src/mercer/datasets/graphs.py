"""Random networks of two kinds: directed scale-free and small-world."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer._extras import how_to_get

NEW_ARCS = (0.1, 0.6)
"""Least and largest share of arcs that come with a new vertex: 10 to 1.7 arcs for each vertex."""

TAILS = (0.2, 0.9)
"""Least and largest share of those arcs that begin at the new vertex."""

OFFSETS = (0.0, 0.5)
"""Least and largest offset of the degrees by which vertices attract arcs."""

NEIGHBOURS = (4, 8)
"""Numbers of neighbours on the ring, of which each network has one."""

REWIRED = (0.1, 1.0)
"""Least and largest share of edges that are rewired; networks with less are nearly lattices."""


def make_graphs(
    n_scale_free: int = 519,
    n_small_world: int = 330,
    *,
    n_vertices: tuple[int, int] = (20, 200),
    random_state: Any = None,
) -> tuple[list[Any], Any]:
    r"""Draw directed scale-free graphs and small-world networks, to be told apart.

    Scale-free graphs grow by an arc at a time [1]_: with probability :math:`\alpha` from a new
    vertex to an old one, with :math:`\gamma` from an old one to a new one, with
    :math:`\beta = 1 - \alpha - \gamma` between old ones. Old ones are drawn in proportion to
    in-degree + :math:`\delta_{in}` where the arc ends, and to out-degree + :math:`\delta_{out}`
    where it begins. A few vertices become hubs; loops and parallel arcs occur. Here
    :math:`\alpha + \gamma` lies between 0.1 and 0.6, the share of :math:`\alpha` in it between
    0.2 and 0.9, both :math:`\delta` between 0 and 0.5.

    Small-world networks are rings in which each vertex is joined to its k nearest; then one end of
    an edge is moved to any vertex with probability p [2]_. Here k is 4 or 8, p lies between 0.1 and
    1. Each edge becomes an arc whose direction is drawn.

    All parameters of a graph are drawn uniformly, and so is its number of vertices.

    Parameters
    ----------
    n_scale_free, n_small_world : int, default=519, 330
        Numbers of graphs, as in [3]_.
    n_vertices : tuple of two ints, default=(20, 200)
        Least and largest number of vertices, of which there are at least 10.
    random_state : int, RandomState or None, default=None
        The graphs also depend on the version of networkx.

    Returns
    -------
    graphs : list of networkx.MultiDiGraph
        In random order.
    y : ndarray of shape (n_scale_free + n_small_world,)
        -1 for scale-free, +1 for small-world.

    See Also
    --------
    mercer.kernels.ShortestPath : A kernel on graphs.

    Notes
    -----
    Needs networkx (``pip install "mercer[networks]"``). [3]_ names the two models and the numbers
    of graphs, but no parameters. These are chosen so that what it says of the graphs is so: mean
    degrees overlap, small-world networks make two islands, and their clustering is mostly low.

    References
    ----------
    .. [1] B. Bollobás, C. Borgs, J. Chayes, O. Riordan, Directed scale-free graphs, SODA 2003.
    .. [2] D. J. Watts, S. H. Strogatz, Collective dynamics of 'small-world' networks, Nature 393,
       1998.
    .. [3] K. Smets, thesis, University of Antwerp, 2006, section 5.2.2.

    Examples
    --------
    >>> from mercer.datasets import make_graphs
    >>> graphs, y = make_graphs(3, 2, random_state=0)
    >>> y
    array([-1, -1, -1,  1,  1])
    >>> [max(degree for _, degree in graph.degree()) > 20 for graph in graphs]
    [True, True, True, False, False]
    """
    for name, count in (("n_scale_free", n_scale_free), ("n_small_world", n_small_world)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1; got {count}.")
    least, most = n_vertices
    if not 10 <= least <= most:
        raise ValueError(
            "n_vertices must be the least and the largest number of vertices, 10 or more; "
            f"got {n_vertices!r}."
        )
    _need_networkx()
    rng = check_random_state(random_state)
    y = rng.permutation(np.repeat([-1, 1], [n_scale_free, n_small_world]))
    makers = {-1: _scale_free, 1: _small_world}
    return [makers[kind](rng.randint(least, most + 1), rng) for kind in y.tolist()], y


def _scale_free(n_vertices: int, rng: np.random.RandomState) -> Any:
    import networkx

    new, tail = rng.uniform(*NEW_ARCS), rng.uniform(*TAILS)
    delta_in, delta_out = rng.uniform(*OFFSETS, size=2)
    return networkx.scale_free_graph(
        n_vertices,
        alpha=new * tail,
        beta=1 - new,
        gamma=new * (1 - tail),
        delta_in=delta_in,
        delta_out=delta_out,
        seed=rng,
    )


def _small_world(n_vertices: int, rng: np.random.RandomState) -> Any:
    import networkx

    ring = networkx.watts_strogatz_graph(
        n_vertices, int(rng.choice(NEIGHBOURS)), rng.uniform(*REWIRED), seed=rng
    )
    arcs = networkx.MultiDiGraph()
    arcs.add_nodes_from(ring)
    turned = rng.randint(2, size=ring.number_of_edges())
    arcs.add_edges_from((v, u) if turn else (u, v) for (u, v), turn in zip(ring.edges(), turned))
    return arcs


def _need_networkx() -> None:
    try:
        import networkx  # noqa: F401
    except ImportError:
        raise ImportError(f"Graphs need networkx; run {how_to_get('networks')}.") from None
