"""Generated data have the distributions that their sources state."""

import sys

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mercer.datasets import (
    make_graphs,
    make_guyon,
    make_ripley,
    make_simulation,
    make_weston_linear,
    make_weston_nonlinear,
)

MANY = 20000


def ripley_rule(X):
    """The best rule there is, from the densities as they are published."""
    centres = [[(-0.7, 0.3), (0.3, 0.3)], [(-0.3, 0.7), (0.4, 0.7)]]
    densities = [
        sum(norm.pdf(X, centre, np.sqrt(0.03)).prod(axis=1) for centre in pair) for pair in centres
    ]
    return np.argmax(densities, axis=0)


def test_ripley_has_the_known_bayes_error():
    """8.93 % is the integral of the smaller density over the plane."""
    X, y = make_ripley(MANY, random_state=0)
    assert np.bincount(y).tolist() == [MANY // 2, MANY // 2]
    assert np.mean(ripley_rule(X) != y) == pytest.approx(0.0893, abs=0.005)


@pytest.mark.parametrize(
    "make",
    [
        make_ripley,
        make_weston_linear,
        make_weston_nonlinear,
        lambda n, random_state: make_guyon("2b", n, random_state=random_state),
        lambda n, random_state: make_simulation(10, (n, n), random_state=random_state),
    ],
)
def test_the_same_seed_gives_the_same_data(make):
    X, y = make(30, random_state=5)
    again, labels = make(30, random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, make(30, random_state=6)[0])


def test_weston_linear_has_two_sources_and_noise():
    X, y = make_weston_linear(MANY, random_state=0)
    assert X.shape == (MANY, 50)
    assert abs(y.mean()) < 0.03
    signed = X * y[:, None]
    np.testing.assert_allclose(signed[:, :3].mean(axis=0), 0.7 * np.arange(1, 4), atol=0.05)
    np.testing.assert_allclose(signed[:, 3:6].mean(axis=0), 0.3 * np.arange(1, 4), atol=0.05)
    np.testing.assert_allclose(X[:, 6:].std(axis=0), 20, rtol=0.03)
    np.testing.assert_allclose(signed[:, 6:].mean(axis=0), 0, atol=0.6)
    # A row takes its sign from one source only: where the third speaks, the sixth is silent.
    loud = signed[:, 2] > 5
    assert abs(signed[loud, 5].mean()) < 0.15


def test_weston_nonlinear_needs_both_features():
    X, y = make_weston_nonlinear(MANY, random_state=0)
    np.testing.assert_allclose(X[:, 2:].std(axis=0), 20, rtol=0.03)
    for label, centre in ((-1, (0.75, 3.0)), (1, (-3.0, 3.0))):
        up = (y == label) & (X[:, 1] > 0)
        np.testing.assert_allclose(X[up, :2].mean(axis=0), centre, atol=0.06)
        np.testing.assert_allclose(X[up, 0].std(), 1, atol=0.05)
        assert up.sum() == pytest.approx(MANY / 4, rel=0.05)
        # No feature alone, and no difference of means, tells the classes apart.
        np.testing.assert_allclose(X[y == label, :2].mean(axis=0), 0, atol=0.1)
    assert np.mean(np.where(X[:, 0] * X[:, 1] < -0.75 * 3, 1, -1) == y) > 0.85


def test_tiny_samples_have_both_labels():
    for seed in range(200):
        assert len(np.unique(make_weston_linear(2, random_state=seed)[1])) == 2


def accuracy(X, y, columns):
    """Share that the best rule on some features of two normal classes gets right."""
    model = LinearDiscriminantAnalysis().fit(X[:, columns], y)
    return model.score(X[:, columns], y)


def test_guyon_examples_show_what_they_claim():
    alone = norm.cdf(1)
    both = {"1a": np.sqrt(2), "1b": np.sqrt(2), "2a": np.sqrt(2 / 1.9), "2b": np.sqrt(2 / 0.1)}
    for case, distance in both.items():
        X, y = make_guyon(case, MANY, random_state=1)
        assert accuracy(X, y, [0, 1]) == pytest.approx(norm.cdf(distance), abs=0.01)
        expected = (0.5, norm.cdf(np.sqrt(2))) if case == "1b" else (alone, alone)
        for column in (0, 1):
            assert accuracy(X, y, [column]) == pytest.approx(expected[column], abs=0.015)
    X, y = make_guyon("3a", MANY, random_state=1)
    assert accuracy(X, y, [1]) == pytest.approx(0.5, abs=0.015)
    assert accuracy(X, y, [0]) == pytest.approx(alone, abs=0.01)
    assert accuracy(X, y, [0, 1]) == pytest.approx(norm.cdf(1 / np.sqrt(1 - 0.81)), abs=0.01)


def test_guyon_chessboard_is_separable_only_jointly():
    X, y = make_guyon("3b", MANY, random_state=1)
    for column in (0, 1):
        ours, theirs = X[y == 1, column], X[y == -1, column]
        np.testing.assert_allclose(
            np.quantile(ours, [0.1, 0.25, 0.75, 0.9]),
            np.quantile(theirs, [0.1, 0.25, 0.75, 0.9]),
            atol=0.05,
        )
    assert np.mean(np.sign(X[:, 0] * X[:, 1]) == y) > 0.99


@pytest.mark.parametrize("row", range(1, 17))
def test_simulation_moments(row):
    n = 40000
    X, y = make_simulation(row, (n, n), reading="stated", random_state=row)
    correlation = 0.7 if row % 2 == 0 else 0.0
    located = row % 4 in (1, 2)
    first, second = X[:n], X[n:]
    skewed = row > 8
    shift = 1.0 if skewed else 0.6
    tolerance = 0.08 if skewed else 0.03
    np.testing.assert_allclose(first.mean(axis=0), 0, atol=tolerance)
    np.testing.assert_allclose(first.std(axis=0), 1, atol=2 * tolerance)
    np.testing.assert_allclose(second.mean(axis=0), shift if located else 0, atol=4 * tolerance)
    np.testing.assert_allclose(second.std(axis=0), 1 if located else 4, rtol=3 * tolerance)
    measured = np.corrcoef(first, rowvar=False)[np.triu_indices(7, k=1)]
    assert measured.mean() == pytest.approx(correlation, abs=0.03)
    learn = make_simulation(row, random_state=0)[1]
    counts = (25, 75) if (row - 1) % 8 >= 4 else (50, 50)
    assert ((learn == -1).sum(), (learn == 1).sum()) == counts
    assert (y[:n] == -1).all()
    assert (y[n:] == 1).all()


def test_simulation_readings_differ_where_the_errata_say_so():
    for row in range(1, 17):
        stated = make_simulation(row, reading="stated", random_state=3)[0]
        reproducing = make_simulation(row, random_state=3)[0]
        assert np.array_equal(stated, reproducing) == (row not in (2, 4, 6, 8))


def test_graphs_are_of_two_kinds():
    """Hubs on one side; on the other as many edges as the ring had, and none twice."""
    networkx = pytest.importorskip("networkx")
    graphs, y = make_graphs(40, 30, n_vertices=(60, 90), random_state=0)
    assert np.bincount(y + 1).tolist() == [40, 0, 30]
    degrees = [np.array([degree for _, degree in graph.degree()]) for graph in graphs]
    assert all(60 <= values.size <= 90 for values in degrees)
    largest = np.array([values.max() / values.mean() for values in degrees])
    assert largest[y > 0].max() < 3 < largest[y < 0].min()
    assert {values.mean() for values, kind in zip(degrees, y) if kind > 0} == {4.0, 8.0}
    for graph, kind in zip(graphs, y):
        assert graph.is_directed()
        if kind > 0:
            simple = networkx.Graph(graph)
            assert simple.number_of_edges() == graph.number_of_edges()
            assert networkx.number_of_selfloops(graph) == 0
            up = sum(u < v for u, v in graph.edges()) / graph.number_of_edges()
            assert 0.25 < up < 0.75
    arcs = [g.number_of_edges() / g.number_of_nodes() for g, kind in zip(graphs, y) if kind < 0]
    assert min(arcs) < 2.2
    assert max(arcs) > 5


def test_the_same_seed_gives_the_same_graphs():
    pytest.importorskip("networkx")
    graphs, y = make_graphs(3, 3, random_state=5)
    again, kinds = make_graphs(3, 3, random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(y, kinds)
    assert [list(graph.edges()) for graph in graphs] == [list(graph.edges()) for graph in again]
    others, _ = make_graphs(3, 3, random_state=6)
    assert [list(graph.edges()) for graph in graphs] != [list(graph.edges()) for graph in others]


def test_graphs_without_networkx_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r'pip install "mercer\[networks\]"'):
        make_graphs(1, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: make_simulation(17), "from 1 to 16; got 17"),
        (lambda: make_simulation(1, reading="other"), "got 'other'"),
        (lambda: make_guyon("4a"), "1a, 1b, 2a, 2b, 3a, 3b; got '4a'"),
        (lambda: make_weston_linear(5, 4), "at least 6; got 4"),
        (lambda: make_weston_nonlinear(1), "at least 2, one for each class; got 1"),
        (lambda: make_ripley(0), "got 0"),
        (lambda: make_graphs(0, 5), "n_scale_free must be at least 1; got 0"),
        (lambda: make_graphs(5, 0), "n_small_world must be at least 1; got 0"),
        (lambda: make_graphs(5, 5, n_vertices=(30, 20)), "10 or more; got (30, 20"),
        (lambda: make_graphs(5, 5, n_vertices=(9, 20)), "10 or more; got (9, 20"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        call()
