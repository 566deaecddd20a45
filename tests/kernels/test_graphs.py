"""The shortest-path kernel: against its double sum, on all kinds of graphs."""

from collections import deque

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.kernels import Normalized, ShortestPath, is_mercer


def random_graph(rng, n, share, directed):
    """Return a matrix with weights, loops and vertices that nothing reaches."""
    edges = (rng.uniform(size=(n, n)) < share) * rng.uniform(0.5, 3.0, size=(n, n))
    return edges if directed else np.maximum(edges, edges.T)


def distances(edges):
    """Return the length of a shortest path of each pair that has one, by breadth-first search."""
    found = []
    for start in range(len(edges)):
        seen, queue = {start: 0}, deque([start])
        while queue:
            u = queue.popleft()
            for v in np.flatnonzero(edges[u]):
                if v not in seen:
                    seen[v] = seen[u] + 1
                    queue.append(v)
        found += [length for v, length in seen.items() if v != start]
    return found


def double_loop(first, second):
    return sum(a == b for a in distances(first) for b in distances(second))


@pytest.fixture(scope="module", name="graphs")
def some_graphs():
    rng = np.random.default_rng(0)
    shapes = [(7, 0.2), (9, 0.15), (12, 0.1), (5, 0.5), (10, 0.05), (1, 0.5), (3, 0.0)]
    return [random_graph(rng, n, p, directed) for n, p in shapes for directed in (True, False)]


def test_values_against_the_double_sum(graphs):
    kernel = ShortestPath()
    expected = np.array([[double_loop(g, h) for h in graphs] for g in graphs])
    assert expected.max() > 1000
    assert_array_equal(kernel(graphs), expected)
    assert_array_equal(kernel(graphs[:3], graphs), expected[:3])
    assert_array_equal(kernel(graphs, graphs[:3]), expected[:, :3])
    assert_array_equal(kernel.diag(graphs), np.diagonal(expected))


def test_it_is_a_mercer_kernel(graphs):
    assert ShortestPath().is_known_mercer
    assert is_mercer(ShortestPath()(graphs))
    joined = [graph for graph in graphs if distances(graph)]
    normalized = Normalized(ShortestPath())(joined)
    assert is_mercer(normalized)
    assert_allclose(np.diagonal(normalized), 1.0)
    assert normalized.max() <= 1 + 1e-12


def test_all_forms_of_a_graph_are_the_same(graphs):
    networkx = pytest.importorskip("networkx")
    kernel, K = ShortestPath(), ShortestPath()(graphs)
    assert_array_equal(kernel([sp.coo_array(graph) for graph in graphs]), K)
    directed = [networkx.from_numpy_array(g, create_using=networkx.DiGraph) for g in graphs]
    assert_array_equal(kernel(directed), K)
    undirected = [networkx.from_numpy_array(graph) for graph in graphs[1::2]]
    assert_array_equal(kernel(undirected), K[1::2, 1::2])
    parallel = [networkx.MultiDiGraph(2 * list(graph.edges())) for graph in directed[:8]]
    assert_array_equal(kernel(parallel), K[:8, :8])
    assert_array_equal(kernel(np.array([graphs[0], graphs[0].T])), np.full((2, 2), K[0, 0]))


def test_graphs_without_paths_and_no_graphs():
    kernel = ShortestPath()
    networkx = pytest.importorskip("networkx")
    assert_array_equal(kernel([np.zeros((0, 0)), networkx.Graph(), np.eye(2)]), np.zeros((3, 3)))
    assert kernel([], [np.ones((2, 2))]).shape == (0, 1)
    assert kernel.diag([]).shape == (0,)


def test_machines_learn_from_the_values():
    """Trees and rings: a ring has a pair of each length for each vertex, a star has two lengths."""
    rng = np.random.default_rng(0)
    graphs, y = [], rng.permutation(np.repeat([0, 1], 15))
    for kind, n in zip(y, rng.integers(10, 20, size=30)):
        edges = np.zeros((n, n))
        edges[0, 1:] = 1
        graphs.append(np.roll(np.eye(n), 1, axis=1) if kind else edges + edges.T)
    K = Normalized(ShortestPath())(graphs)
    assert cross_val_score(SVC(kernel="precomputed"), K, y).min() == 1.0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([np.ones((2, 3))], r"X\[0\] must be .* got shape \(2, 3\)"),
        ([np.eye(2), np.ones(3)], r"X\[1\] must be .* got shape \(3,\)"),
        ([np.eye(2), "path"], r"X\[1\] must be .* got str"),
        ([np.array([[0.0, np.nan], [1.0, 0.0]])], r"X\[0\] holds NaN or infinity"),
        (sp.eye_array(3), "X must be a sequence of graphs"),
        (3, "X must be a sequence of graphs"),
    ],
)
def test_bad_graphs_get_a_sentence(X, words):
    with pytest.raises(ValueError, match=words):
        ShortestPath()(X)


def test_there_are_no_features_and_no_parameters(graphs):
    kernel, W = ShortestPath(), np.ones((14, 14))
    assert kernel.theta.size == kernel.contract_gradient(graphs, W).size == 0
    assert kernel.resolve(graphs) == kernel
    for call in (
        lambda: kernel.contract_scale_gradient(graphs, W),
        lambda: kernel.contract_input_gradient(graphs, graphs, W),
        lambda: kernel.diag_input_gradient(graphs),
        lambda: kernel.leave_feature_out(graphs, W),
    ):
        with pytest.raises(ValueError, match="its points are graphs"):
            call()
    with pytest.raises(ValueError, match=r"X\[0\] must be a networkx graph"):
        SVC(kernel=kernel).fit(np.eye(4), [0, 0, 1, 1])
