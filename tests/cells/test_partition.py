"""Which rows belong to which cells, and how much."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.cells import Partition
from mercer.cells._given import Given
from mercer.cells._sample import Sample
from mercer.cells.partition import learn_partition


def normal(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def by_definition(partition: Partition, X: np.ndarray) -> np.ndarray:
    """Weights as the formula says, one row and one centre after the other."""
    rows = X if partition.directions is None else X @ partition.directions
    distances = np.linalg.norm(rows[:, None] - partition.centres, axis=2)
    ratios = distances / distances.min(axis=1, keepdims=True)
    weights = np.clip((partition.reach - ratios) / (partition.reach - 1), 0, 1)
    weights[np.arange(len(X)), distances.argmin(axis=1)] = 1
    return weights


def sample_of(X: np.ndarray, weights: np.ndarray | None = None, size: int = 100) -> Sample:
    given = Given(X, None, weights)
    return Sample.of(given, np.arange(len(X)), size, np.random.RandomState(0))


@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("reach", [1.01, 1.3, 3.0])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_weights_are_those_of_the_formula(d, reach, offset):
    X = normal(300, d) + offset
    partition = Partition(normal(9, d, 1) + offset, reach)
    np.testing.assert_allclose(
        partition.members(X).toarray(), by_definition(partition, X), atol=1e-9 * (1 + offset)
    )


def test_weights_in_directions():
    X, directions = normal(200, 5), normal(5, 2, 1)
    partition = Partition(normal(6, 2, 2), 1.4, directions)
    expected = by_definition(partition, X)
    np.testing.assert_allclose(partition.members(X).toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(partition.members(sp.csr_array(X)).toarray(), expected, atol=1e-9)


def test_sparse_rows_are_as_dense_ones():
    X = np.maximum(normal(300, 6), 0)
    partition = Partition(np.abs(normal(8, 6, 1)), 1.2)
    np.testing.assert_allclose(
        partition.members(sp.csr_array(X)).toarray(), partition.members(X).toarray(), atol=1e-9
    )


def test_own_cell_is_the_nearest():
    X, partition = normal(300, 3), Partition(normal(8, 3, 1), 2.0)
    own = partition.own(X).toarray()
    assert (own.sum(axis=1) == 1).all()
    assert (own.argmax(axis=1) == by_definition(partition, X).argmax(axis=1)).all()


def test_a_row_on_a_centre_belongs_to_it_alone():
    partition = Partition(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 5.0)
    np.testing.assert_array_equal(partition.members(partition.centres).toarray(), np.eye(3))


def test_many_rows_go_in_blocks():
    X, partition = normal(5000, 2).astype(np.float32), Partition(normal(700, 2, 1), 1.1)
    whole, part = partition.members(X), partition.members(X[4000:4100])
    np.testing.assert_array_equal(whole[4000:4100].toarray(), part.toarray())


def test_threads_share_the_rows():
    X, partition = normal(60_000, 3), Partition(normal(12, 3, 1), 1.3)
    for look in (partition.members, partition.own):
        alone, together = look(X, n_threads=1), look(X, n_threads=3)
        np.testing.assert_array_equal(alone.indices, together.indices)
        np.testing.assert_array_equal(alone.data, together.data)


@pytest.mark.parametrize("overlap", [0.0, 0.1, 0.5, 2.0, 100.0])
def test_overlap_is_that_asked_for(overlap):
    X, partition = normal(2000, 4), Partition(normal(10, 4, 1))
    found = partition.with_overlap(X, overlap).members(X).nnz / len(X) - 1
    assert found == pytest.approx(min(overlap, 9.0), abs=2e-3)


def test_cells_have_about_the_wanted_rows():
    """Clouds of very different density: large cells are split, tiny ones dissolved."""
    X = np.concatenate([normal(9000, 2), 20 + 5 * normal(900, 2, 1), [[500.0, 500.0]]])
    partition = learn_partition(sample_of(X, size=500), 500, 0.0, np.random.RandomState(0))
    counts = partition.own(X).sum(axis=0)
    assert 10 < len(partition) < 40
    assert counts.max() < 1.8 * 500
    assert counts.min() > 1


def test_equal_rows_cannot_be_split():
    X = np.repeat(normal(2, 3), 500, axis=0)
    partition = learn_partition(sample_of(X), 100, 0.3, np.random.RandomState(0))
    assert len(partition) <= 2


def test_a_weight_is_so_many_copies():
    X, counts = normal(300, 3), np.random.default_rng(1).integers(1, 5, 300)
    first, second = (
        learn_partition(sample_of(points, weights), 100, 0.3, np.random.RandomState(0))
        for points, weights in ((X, counts.astype(float)), (np.repeat(X, counts, axis=0), None))
    )
    np.testing.assert_allclose(first.centres, second.centres)
    assert first.reach == pytest.approx(second.reach)


def test_small_weights_make_no_fewer_rows():
    X = normal(1000, 2)
    small = sample_of(X, np.full(1000, 1e-9))
    assert small.n_rows == pytest.approx(1000)
