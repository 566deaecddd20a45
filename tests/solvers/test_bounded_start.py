"""Starting points with all variables at their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import _engine
from mercer.gram.base import StoredGram
from mercer.kernels import RBF
from mercer.problems import hinge_svc
from mercer.solvers import BoundedStart, Options, PathSolutions

N = 120
CLOSED = np.arange(0, N, 5)


def problem(n_positive: int, C: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return kernel matrix, classes and bounds, with every fifth row closed."""
    X = np.random.default_rng(0).normal(size=(N, 4))
    codes = (np.arange(N) < n_positive).astype(int)
    bounds = np.where(codes == 1, C, -C)
    bounds[CLOSED] = 0.0
    return RBF(0.2)(X), codes, bounds


def ends_of(codes: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the bound of each class."""
    return np.array([bounds[codes == 0].min(), bounds[codes == 1].max()])


@pytest.mark.parametrize("n_positive", [60, 57, 65])
def test_is_feasible_and_knows_its_image(n_positive: int) -> None:
    K, codes, bounds = problem(n_positive)
    found = BoundedStart(StoredGram(K), codes).point(bounds, ends_of(codes, bounds), CLOSED)
    assert found is not None
    beta, image = found
    assert_allclose(image, K @ beta, atol=1e-13)
    assert abs(beta.sum()) < 1e-14
    assert set(np.abs(beta[bounds != 0])) <= {0.0, 0.01}
    assert_array_equal(beta[CLOSED], 0.0)


def test_releases_those_farthest_on_their_own_side() -> None:
    K, codes, bounds = problem(65)
    beta, _ = BoundedStart(StoredGram(K), codes).point(bounds, ends_of(codes, bounds), CLOSED) or (
        None,
        None,
    )
    assert beta is not None
    larger = codes == 1
    released = larger & (beta == 0) & (bounds != 0)
    kept = larger & (beta > 0)
    whole = K @ bounds
    assert released.sum() == (bounds > 0).sum() - (bounds < 0).sum() > 0
    assert whole[released].min() >= whole[kept].max()


def solved(n_positive: int, known: slice, last: float = 1.0) -> tuple[PathSolutions, PathSolutions]:
    """Return a path from the bounds, and one from zero, of which no step is allowed."""
    K, codes, bounds = problem(n_positive)
    program = hinge_svc(2.0 * codes - 1.0, np.abs(bounds))
    prices, options = np.array([0.5, last]), Options(max_iter=0, n_threads=1)
    ends = ends_of(codes, bounds)[known]
    start = BoundedStart(StoredGram(K), codes)
    found = start.solve(program, prices, options, bounds, ends, CLOSED)
    return found, start.solve(program, prices, options, bounds, None, CLOSED)


@pytest.mark.parametrize("last", [1.0, 1000.0])
def test_a_path_begins_at_the_bounds_of_its_first_price(last: float) -> None:
    """Those of the last one may be too large."""
    K, codes, bounds = problem(65)
    found, from_zero = solved(65, slice(2), last)
    beta, image = BoundedStart(StoredGram(K), codes).point(
        0.5 * bounds, 0.5 * ends_of(codes, bounds), CLOSED
    ) or (None, None)
    assert_allclose(found.betas[0], beta, rtol=1e-14)
    assert_allclose(found.images[0], image, atol=1e-14)
    assert not from_zero.betas.any()


@pytest.mark.parametrize(("n_positive", "known"), [(65, slice(1)), (20, slice(2))])
def test_a_path_begins_at_zero_where_the_bounds_are_no_start(n_positive: int, known: slice) -> None:
    """A class has no end, or too many variables of one would have to be released."""
    found, _ = solved(n_positive, known)
    assert not found.betas.any()


def test_folds_share_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    K, codes, bounds = problem(60)
    gram = StoredGram(K)
    start = BoundedStart(gram, codes)
    start.point(bounds, ends_of(codes, bounds), CLOSED)
    rows = []
    add = gram.add_rows
    monkeypatch.setattr(gram, "add_rows", lambda r, *more: rows.append(len(r)) or add(r, *more))
    start.point(bounds, ends_of(codes, bounds), CLOSED)
    assert max(rows) <= CLOSED.size


@pytest.mark.parametrize(("n_positive", "C"), [(20, 0.01), (60, 10.0)])
def test_is_none_where_classes_differ_much_or_bounds_are_large(n_positive: int, C: float) -> None:
    K, codes, bounds = problem(n_positive, C)
    assert BoundedStart(StoredGram(K), codes).point(bounds, ends_of(codes, bounds), CLOSED) is None


def test_other_factors_for_each_class() -> None:
    K, codes, bounds = problem(40)
    bounds[codes == 1] *= 2.0
    found = BoundedStart(StoredGram(K), codes).point(bounds, ends_of(codes, bounds), CLOSED)
    assert found is not None
    assert_allclose(found[1], K @ found[0], atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_variable_may_have_to_stop_half_way(dtype: type, side: float) -> None:
    """Classes of unlike bounds: the last variable released keeps a part."""
    K, codes, bounds = problem(61)
    bounds = side * np.where(codes == 1, 1.3, 1.0) * bounds
    gram = StoredGram(K.astype(dtype))
    beta, image = bounds.copy(), gram.matrix() @ bounds
    assert _engine.release_excess(gram.padded, N, beta, image)
    assert abs(beta.sum()) < 1e-14
    assert_allclose(image, gram.matrix() @ beta, atol=1e-13)
    partly = (beta != 0) & (beta != bounds)
    assert partly.sum() == 1
    share = beta[partly] / bounds[partly]
    assert 0 < share.item() < 1


def test_no_more_are_released_than_allowed() -> None:
    K, _, bounds = problem(65)
    n_released = int((bounds > 0).sum() - (bounds < 0).sum())
    for most in (n_released - 1, n_released):
        beta, image = bounds.copy(), K @ bounds
        assert _engine.release_excess(K, most, beta, image) == (most == n_released)
        assert (beta != bounds).sum() == most


@pytest.mark.parametrize(("n_columns", "n_beta", "n_image"), [(3, 4, 4), (4, 3, 4), (4, 4, 5)])
def test_shapes_that_do_not_fit_are_refused(n_columns: int, n_beta: int, n_image: int) -> None:
    with pytest.raises(ValueError, match=r"same length|column for each row"):
        _engine.release_excess(np.zeros((4, n_columns)), 1, np.zeros(n_beta), np.zeros(n_image))
    with pytest.raises(ValueError, match="negative"):
        _engine.release_excess(np.zeros((4, 4)), -1, np.zeros(4), np.zeros(4))
