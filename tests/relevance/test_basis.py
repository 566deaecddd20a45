"""The functions of a relevance vector machine in single precision: made once where they fit."""

import numpy as np
import pytest

from mercer.relevance._basis import BLOCK_ENTRIES, Basis

N = 700
COUNT = 2 * BLOCK_ENTRIES // N  # so that there are several blocks


@pytest.mark.parametrize("bytes_of_a_value", [0.0, 8.0, 12.0])
def test_short_values_are_made_once_where_there_is_room(bytes_of_a_value):
    table = np.random.default_rng(0).normal(size=(COUNT, N))
    basis = Basis(table.__getitem__, COUNT, N, True, bytes_of_a_value * COUNT * N)
    first, again = list(basis.short_blocks()), list(basis.short_blocks())
    assert len(first) == len(list(basis.blocks())) > 2
    np.testing.assert_array_equal(np.concatenate([part[0] for part in first])[:-1], table)
    for (values, largest, short), (_, same, repeated) in zip(first, again):
        assert short.dtype == np.float32
        assert largest == same == np.abs(values).max()
        np.testing.assert_array_equal(short, repeated)
        np.testing.assert_allclose(largest * short, values, atol=1e-7 * largest)
        assert (repeated is short) == (bytes_of_a_value == 12.0)
