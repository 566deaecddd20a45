"""Folds that take a weight for a repetition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer._folds import weighted_folds


@given(weights=st.lists(st.integers(1, 4), min_size=8, max_size=30), seed=st.integers(0, 1000))
def test_a_weight_is_a_repetition(weights: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = np.array(weights)
    X = random.integers(0, 3, size=(counts.size, 2)).astype(float)  # some rows are equal
    codes = random.integers(0, 2, counts.size)
    merged = weighted_folds(X, codes, counts.astype(float), 3)
    repeated = weighted_folds(
        np.repeat(X, counts, axis=0), np.repeat(codes, counts), np.ones(counts.sum()), 3
    )
    ends = np.cumsum(counts)
    added = np.add.reduceat(repeated, ends - counts, axis=0)
    np.testing.assert_allclose(added, merged, atol=1e-12)
    np.testing.assert_allclose(merged.sum(axis=1), counts)


def test_plain_rows_lie_in_one_fold_each() -> None:
    X = np.random.default_rng(0).normal(size=(53, 2))
    codes = np.arange(53) % 3
    shares = weighted_folds(X, codes, np.ones(53), 5)
    assert np.isin(shares, [0.0, 1.0]).all()
    sizes = np.array([shares[codes == code].sum(axis=0) for code in range(3)])
    assert np.ptp(sizes, axis=1).max() <= 2


@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_the_unit_of_the_weights_does_not_matter(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    shares = weighted_folds(X, np.arange(40) % 2, np.full(40, scale), 5)
    np.testing.assert_allclose(shares.sum(axis=1), scale)
    assert shares.sum(axis=0).min() > 3 * scale
