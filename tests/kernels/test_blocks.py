"""Rows and columns of matrices."""

import numpy as np
import pytest

from mercer.kernels import blocks
from mercer.kernels.blocks import submatrix


@pytest.mark.parametrize("entries", [1, 100, 1 << 17])  # rows one by one, a few, all at once
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [0, 1, 2, 3, 20, 41])  # looked up, and taken from whole rows
def test_a_submatrix_is_what_numpy_finds(monkeypatch, entries, dtype, n_columns):
    monkeypatch.setattr(blocks, "IN_CACHE", entries)
    random = np.random.default_rng(n_columns)
    padded = random.normal(size=(30, 48)).astype(dtype)
    matrix = padded[:, :41]  # as stored matrices are, whose rows do not touch
    rows, columns = random.integers(30, size=17), random.permutation(41)[:n_columns]
    found = submatrix(matrix, rows, columns)
    np.testing.assert_array_equal(found, matrix[np.ix_(rows, columns)], strict=True)
    assert found.flags.c_contiguous


def test_rows_and_columns_that_are_not_there_are_refused():
    for rows, columns in (([3], [0]), ([0], [3])):
        with pytest.raises(IndexError):
            submatrix(np.eye(3), np.array(rows), np.array(columns))
