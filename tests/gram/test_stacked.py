"""Several matrices of one size, for programs that are solved in one call."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.gram import StackedGram, StoredGram
from mercer.gram.downdated import DowndatedGram
from mercer.kernels import RBF, Linear, squared_distances
from mercer.problems import Programs, hinge_svc
from mercer.solvers import Options, solve, solve_all

N = 40


def filled(count: int = 3) -> tuple[StackedGram, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(N, 2))
    gram = StackedGram(count, N)
    for k in range(count):
        gram.matrices[k] = RBF(0.3 * (k + 1))(X)
    return gram, X


@pytest.mark.parametrize("n_threads", [1, 2])
def test_programs_on_whole_matrices_and_on_parts(n_threads: int) -> None:
    gram, X = filled()
    signs = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0, 1.0, -1.0)
    parts = [np.arange(N), np.arange(0, N, 2), np.arange(5, N), np.arange(N)]
    which = [2, 0, 1, 0]
    programs = Programs.of([hinge_svc(signs[rows], 5.0) for rows in parts])
    rows = np.concatenate([k * N + part for k, part in zip(which, parts)])
    options = Options(tol=1e-8, n_threads=n_threads)
    found = solve_all(programs, gram, options, rows=rows)
    start = np.concatenate([one.beta for one in found])
    again = solve_all(programs, gram, options, rows=rows, warm_start=start)
    for k, part, one, other in zip(which, parts, found, again):
        matrix = RBF(0.3 * (k + 1))(X[part])
        alone = solve(hinge_svc(signs[part], 5.0), StoredGram(matrix), tol=1e-8)
        np.testing.assert_allclose(one.beta, alone.beta, atol=1e-6)
        np.testing.assert_allclose(other.gradient, alone.gradient, atol=1e-6)


def test_parts_and_what_has_no_kernel_value() -> None:
    gram, X = filled()
    rows, columns = N + np.array([3, 1]), N + np.array([0, 7])
    right = RBF(0.6)(X[[3, 1]], X[[0, 7]])
    np.testing.assert_allclose(gram.block(rows, columns), right)
    np.testing.assert_allclose(gram.subset(rows).matrix(), RBF(0.6)(X[[3, 1]]))
    np.testing.assert_array_equal(gram.diag(), np.ones(3 * N))
    with pytest.raises(ValueError, match="Points of different matrices have no kernel value"):
        gram.block(rows, columns + N)
    program = Programs.of([hinge_svc([1.0, -1.0], 1.0)])
    with pytest.raises(ValueError, match="points of several matrices"):
        solve_all(program, gram, rows=np.array([0, N]))


@pytest.mark.parametrize("kernel", [RBF(0.2), Linear()], ids=str)
def test_features_that_come_and_go(kernel) -> None:
    X = np.random.default_rng(1).normal(size=(20, 4))
    held = DowndatedGram(X, kernel.pairwise_form().family, np.array([], dtype=int))
    for feature in (2, 0):
        held.add(feature)
    for feature, kept in ((1, [0, 1, 2]), (0, [2])):
        base = held.changed(feature)
        points = X[:, kept]
        right = points @ points.T if isinstance(kernel, Linear) else squared_distances(points)
        np.testing.assert_allclose(base, right, atol=1e-12)
    held.forget(np.array([2]))
    np.testing.assert_allclose(held.gram(kernel).values, kernel(X[:, [0]]), atol=1e-12)
