"""Every way to hold a kernel matrix gives the same matrix."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import _engine
from mercer.gram import (
    ComputedGram,
    RequestedGram,
    SquaredDistances,
    StoredGram,
    base,
    kernel_products,
    make_gram,
    release_memory,
)
from mercer.gram.base import padded
from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
    Weighted,
)
from mercer.kernels.blocks import row_blocks
from mercer.problems import hinge_svc
from mercer.solvers import solve_smo
from mercer.svm import SVC

WIDTHS = np.array([0.3, 0.05, 0.8, 0.2, 0.1])
KNOWN = {
    "linear": Linear(),
    "polynomial": Polynomial(3, 0.2, 0.7),
    "rbf": RBF(0.4),
    "rbf_widths": RBF(WIDTHS),
    "laplacian": Laplacian(0.4),
    "euclidean_laplacian": Laplacian(0.4, metric="euclidean"),
    "sigmoid": Sigmoid(0.3, 0.2),
    "multiple": 2.5 * RBF(0.4),
    "multiple_linear": 3.0 * Linear(),
    "weighted": Weighted(Linear(), WIDTHS),
    "weighted_polynomial": 0.5 * Weighted(Polynomial(2, 0.2, 0.7), WIDTHS),
    "power": RBF(0.1) ** 3,
}
OTHER = {
    "sum": RBF(0.4) + Linear(),
    "product": RBF(0.4) * Polynomial(2, 0.2, 0.7),
    "normalized": Normalized(Polynomial(3, 0.2, 0.7)),
    "constant": Constant(1.5),
}
KERNELS = KNOWN | OTHER
# Distances by the engine come from products, so that a root of the rounding is left where the
# distance is zero.
ATOL = {"euclidean_laplacian": 1e-7}


@pytest.fixture(name="X")
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(53, 5)) + 0.4


@pytest.fixture(name="Y")
def other_points() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(29, 5))


def grams(name: str, X: np.ndarray) -> list[Any]:
    kernel = KERNELS[name]
    held = [StoredGram(kernel(X)), RequestedGram(kernel, X), make_gram(kernel, X)]
    return [*held, ComputedGram(kernel.pairwise_form(), X)] if name in KNOWN else held


@pytest.mark.parametrize("name", KERNELS)
def test_every_gram_is_the_kernel_matrix(name: str, X: np.ndarray) -> None:
    K, atol = KERNELS[name](X), ATOL.get(name, 1e-12)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(53)[:7], rng.permutation(53)[:11]
    vector = rng.normal(size=53)
    vector[::3] = 0.0
    for gram in grams(name, X):
        assert gram.n == 53
        np.testing.assert_allclose(gram.matrix(), K, atol=atol)
        np.testing.assert_allclose(gram.diag(), np.diag(K), atol=atol)
        np.testing.assert_allclose(gram.rows(rows), K[rows], atol=atol)
        np.testing.assert_allclose(gram.block(rows, columns), K[np.ix_(rows, columns)], atol=atol)
        np.testing.assert_allclose(gram.times(vector), K @ vector, atol=60 * atol)
        np.testing.assert_array_equal(gram.times(np.zeros(53)), np.zeros(53))
        assert all(
            part.dtype == np.float64
            for part in (gram.matrix(), gram.diag(), gram.rows(rows), gram.times(vector))
        )


@pytest.mark.parametrize("name", KERNELS)
def test_subsets(name: str, X: np.ndarray) -> None:
    """A part, and a part of a part, are the matrices of those points, in that order."""
    rng = np.random.default_rng(3)
    first = rng.permutation(53)[:20]
    second = rng.permutation(20)[:6]
    chosen = first[second]
    K, atol = KERNELS[name](X), ATOL.get(name, 1e-12)
    for gram in grams(name, X):
        part = gram.subset(first)
        assert part.n == 20
        np.testing.assert_allclose(part.matrix(), K[np.ix_(first, first)], atol=atol)
        nested = part.subset(second)
        np.testing.assert_allclose(nested.matrix(), K[np.ix_(chosen, chosen)], atol=atol)
        np.testing.assert_allclose(nested.diag(), np.diag(K)[chosen], atol=atol)
        np.testing.assert_allclose(gram.matrix(), K, atol=atol)


def test_a_block_of_all_rows_keeps_their_order(X: np.ndarray) -> None:
    """As many rows as there are points need not be the points in order."""
    order = np.random.default_rng(4).permutation(53)
    for gram in grams("rbf", X):
        np.testing.assert_allclose(gram.rows(order), RBF(0.4)(X)[order], atol=1e-12)
        np.testing.assert_allclose(
            gram.block(order, order[::-1].copy()),
            RBF(0.4)(X)[np.ix_(order, order[::-1])],
            atol=1e-12,
        )
        repeated = np.zeros(53, dtype=np.int64)
        np.testing.assert_allclose(gram.rows(repeated), RBF(0.4)(X)[repeated], atol=1e-12)


def test_stored_parts_share_memory() -> None:
    gram = StoredGram(np.eye(30))
    part = gram.subset(np.arange(0, 30, 2)).subset(np.arange(5))
    assert np.shares_memory(part.values, gram.values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 200])
def test_padding_is_zero_and_odd(n: int, dtype: Any) -> None:
    padded(n, dtype)[:] = np.nan  # what the memory held before must not come back
    values = padded(n, dtype)
    assert values.dtype == dtype
    assert values.shape[0] == n
    assert values.shape[1] % 64 == 32
    assert n <= values.shape[1] < n + 64
    assert not values[:, n:].any()


def test_points_become_a_matrix_with_padding(X: np.ndarray) -> None:
    chosen = np.arange(3, 40)
    for gram in grams("rbf", X):
        held = gram.stored(chosen, "double")
        np.testing.assert_allclose(held.values, RBF(0.4)(X[chosen]), atol=1e-12)
        assert not held.padded[:, chosen.size :].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_stored_precision_is_kept(dtype: Any, X: np.ndarray) -> None:
    gram = StoredGram(RBF(0.4)(X).astype(dtype))
    assert gram.values.dtype == dtype
    assert gram.matrix().dtype == np.float64
    np.testing.assert_allclose(gram.matrix(), RBF(0.4)(X), atol=1e-7)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_short_numbers_only_where_they_have_room(scale: float, X: np.ndarray) -> None:
    points, everything = scale * X, np.arange(len(X))
    for kernel in (Linear(), RBF(0.4 / scale**2), Polynomial(2, 1.0, 0.0)):
        expected = kernel(points)
        gram = ComputedGram(kernel.pairwise_form(), points)
        for held in (gram.stored(everything, "single"), StoredGram.shortened(expected)):
            np.testing.assert_allclose(held.values, expected, atol=1e-5 * expected.max())
            part = held.stored(everything[:7], "single")
            np.testing.assert_array_equal(part.values, held.values[:7, :7])
        assert gram.allows_single(1e-3) == (scale == 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_reach_a_size(dtype: Any, X: np.ndarray) -> None:
    values = (Linear()(X) / 10).astype(dtype)
    gram = StoredGram(values).subset(np.arange(1, len(X)))
    rows, columns = np.array([0, 4, 7]), np.array([2, 3, 11])
    sizes = np.abs(values[np.ix_(rows + 1, columns + 1)]).max(axis=1)
    for least in sizes:
        np.testing.assert_array_equal(gram.reaches(rows, columns, least), sizes >= least)
    assert not gram.reaches(rows, columns[:0], 0.0).any()
    for outside in (-1, len(X)):
        place = np.array([outside])
        for rows_, columns_ in ((place, rows), (rows, place)):
            with pytest.raises(ValueError, match="outside the matrix"):
                _engine.mark_rows_that_reach(
                    values, rows_, columns_, 1.0, np.zeros(3, np.uint8)[: len(rows_)]
                )


def test_the_diagonal_handed_out_is_the_caller_s_own() -> None:
    gram = StoredGram(np.eye(3))
    gram.diag()[0] = 5.0
    np.testing.assert_array_equal(gram.diag(), 1.0)


def test_stored_integers_become_floats() -> None:
    assert StoredGram(np.eye(3, dtype=int)).matrix().dtype == np.float64


@pytest.mark.parametrize("name", ["linear", "multiple_linear", "weighted"])
def test_features(name: str, X: np.ndarray) -> None:
    Z = ComputedGram(KERNELS[name].pairwise_form(), X).features()
    np.testing.assert_allclose(Z @ Z.T, KERNELS[name](X), atol=1e-12)


def test_no_features_where_there_are_none(X: np.ndarray) -> None:
    assert ComputedGram(RBF(0.4).pairwise_form(), X).features() is None
    assert StoredGram(X @ X.T).features() is None
    assert RequestedGram(Linear(), X).features() is None


def test_points_far_from_zero(X: np.ndarray) -> None:
    """Radial kernels only see differences, which must not be lost."""
    far = X + 1e6
    exact = RBF(0.4)(far - 1e6)
    np.testing.assert_allclose(make_gram(RBF(0.4), far).matrix(), exact, atol=1e-9)
    one = np.ones((1, 53))
    np.testing.assert_allclose(
        kernel_products(RBF(0.4), far, far, one)[:, 0, 0], exact.sum(axis=1), atol=1e-8
    )


def test_large_products_in_blocks(X: np.ndarray, monkeypatch: Any) -> None:
    """Products are formed a few rows at a time; however few, they are the same."""
    vector = np.random.default_rng(5).normal(size=53)
    for entries in (1, 54, 53 * 10 + 1):
        blocks = list(row_blocks(53, 53, entries))
        assert [i for rows in blocks for i in range(rows.start, rows.stop)] == list(range(53))
        assert all((rows.stop - rows.start) * 53 <= max(entries, 53) for rows in blocks)
    monkeypatch.setattr(base, "row_blocks", lambda n, m: row_blocks(n, m, 100))
    for gram in grams("rbf", X):
        np.testing.assert_allclose(gram.times(vector), RBF(0.4)(X) @ vector, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n_threads", [None, 1, 3])
@pytest.mark.parametrize("segments", [None, [29], [10, 0, 18, 1], [0, 29]])
def test_kernel_products(
    name: str, n_threads: int | None, segments: Any, X: np.ndarray, Y: np.ndarray
) -> None:
    """Sums over the segments of the second set of points, for several coefficients at once."""
    kernel, coefficients = KERNELS[name], np.random.default_rng(6).normal(size=(3, 29))
    sums = kernel_products(kernel, X, Y, coefficients, segments, n_threads)
    ends = np.concatenate([[0], np.cumsum(segments or [29])])
    assert sums.shape == (53, len(ends) - 1, 3)
    for s, (start, stop) in enumerate(pairwise(ends)):
        expected = kernel(X, Y)[:, start:stop] @ coefficients[:, start:stop].T
        np.testing.assert_allclose(sums[:, s], expected, atol=30 * ATOL.get(name, 1e-12))


def test_kernel_products_of_many_rows() -> None:
    """More entries than are held at a time."""
    X = np.random.default_rng(6).normal(size=(1500, 2))
    coefficients = np.random.default_rng(7).normal(size=(1, 1500))
    expected = RBF(0.7)(X) @ coefficients[0]
    for kernel in (RBF(0.7), 0.5 * RBF(0.7) + 0.5 * RBF(0.7)):
        sums = kernel_products(kernel, X, X, coefficients)
        np.testing.assert_allclose(sums[:, 0, 0], expected, atol=1e-10)


@pytest.mark.parametrize("name", ["linear", "rbf", "rbf_widths", "laplacian", "polynomial", "sum"])
def test_sparse_points(name: str, X: np.ndarray, Y: np.ndarray) -> None:
    X, Y = np.where(X > 0.5, X, 0.0), np.where(Y > 0.5, Y, 0.0)
    kernel, vector = KERNELS[name], np.arange(53.0)
    for left in (sp.csr_matrix(X), sp.csr_array(X)):
        for gram in (make_gram(kernel, left), RequestedGram(kernel, left)):
            np.testing.assert_allclose(gram.matrix(), kernel(X), atol=1e-10)
            np.testing.assert_allclose(gram.times(vector), kernel(X) @ vector, atol=1e-8)
            np.testing.assert_allclose(gram.diag(), kernel.diag(X), atol=1e-10)
            rows = np.array([5, 1, 8])
            np.testing.assert_allclose(
                gram.subset(rows).matrix(), kernel(X)[np.ix_(rows, rows)], atol=1e-10
            )
        for right in (sp.csr_array(Y), Y):
            sums = kernel_products(kernel, left, right, np.ones((1, 29)))[:, 0, 0]
            np.testing.assert_allclose(sums, kernel(X, Y).sum(axis=1), atol=1e-9)


def test_choice() -> None:
    """Computed by the engine where it can; whole within the memory; by request beyond."""
    X = np.random.default_rng(7).normal(size=(40, 3))
    assert isinstance(make_gram(RBF(1.0), X), ComputedGram)
    assert isinstance(make_gram(RBF(1.0) + Linear(), X), StoredGram)
    assert isinstance(make_gram(RBF(1.0) + Linear(), X, memory=40 * 40 * 8 - 1), RequestedGram)
    assert isinstance(make_gram(Precomputed(), X @ X.T), StoredGram)


def test_request_asks_only_for_rows() -> None:
    """A kernel of a user is never asked for the whole matrix."""
    asked = []

    class Counting(RBF):
        def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
            asked.append(len(X) * (len(X) if Y is None else len(Y)))
            return super().__call__(X, Y)

    X = np.random.default_rng(8).normal(size=(3000, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    gram = make_gram(Counting(1.0) + Constant(0.0 + 1e-9), X, memory=1e6)
    solution = solve_smo(hinge_svc(y, 1.0), gram, tol=1e-2, cache_bytes=4e6)
    assert solution.converged
    assert max(asked) < 3000 * 3000 / 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squared_distances_serve_all_widths(dtype: Any, X: np.ndarray) -> None:
    distances = SquaredDistances(X, dtype=dtype)
    assert distances.values.dtype == dtype
    atol = 1e-6 if dtype == np.float32 else 1e-12
    direct = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances.values, direct, atol=100 * atol)
    assert (np.diag(distances.values) == 0).all()
    for kernel in (RBF(0.01), RBF(0.4), RBF(30.0), Laplacian(0.5, metric="euclidean")):
        gram = distances.gram(kernel)
        assert gram.values.dtype == dtype
        np.testing.assert_allclose(gram.matrix(), kernel(X), atol=10 * atol)


def test_squared_distances_refuse_other_kernels(X: np.ndarray) -> None:
    with pytest.raises(TypeError, match="Euclidean distance"):
        SquaredDistances(X).gram(Linear())
    with pytest.raises(ValueError, match="metric"):
        SquaredDistances(X).gram(Laplacian(0.5))
    with pytest.raises((TypeError, ValueError), match=r"gamma|Euclidean"):
        SquaredDistances(X).gram(RBF(WIDTHS))


def test_unresolved_kernels_are_refused(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="scale"):
        make_gram(RBF("scale"), X)


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made() -> None:
    """Ten million rows take 800 TB; the sentence names both sizes and the way out."""
    gram = ComputedGram(RBF(1.0).pairwise_form(), np.zeros((1, 1)))
    gram.n = 10_000_000
    with pytest.raises(MemoryError, match=r"8e\+05 GB.*solver='smo'"):
        gram.matrix()


def test_kept_memory_is_given_back() -> None:
    """A fit leaves buffers behind, and releasing them leaves none."""
    X = np.random.default_rng(0).normal(size=(1500, 5))
    SVC().fit(X, X[:, 0] > 0)
    assert release_memory() > 0
    assert release_memory() == 0


def test_a_kernel_of_python_sees_sparse_data_as_they_are() -> None:
    """In a fit as in a prediction; only the engine wants them dense."""
    seen = set()

    def linear(A: Any, B: Any) -> Any:
        seen.update({sp.issparse(A), sp.issparse(B)})
        return (A @ B.T).toarray()

    X, y = sp.random_array((30, 6), density=0.5, format="csr", rng=0), np.arange(30) % 2
    model = SVC(kernel=linear).fit(X, y)
    expected = SVC(kernel="linear").fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    assert seen == {True}
