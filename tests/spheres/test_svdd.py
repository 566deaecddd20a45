"""What the estimator makes of its ball: kinds, distances, centre, and what it refuses."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.metrics.pairwise import chi2_kernel

from mercer import SVDD
from mercer.gram import make_gram
from mercer.kernels import RBF, Constant, Kernel, Linear, Polynomial
from mercer.problems import QuadraticProgram
from mercer.spheres._ball import VARIANCE_ROWS, feature_variance
from mercer.spheres._balls import _least_diagonal
from mercer.spheres._essential import never_zero
from mercer.spheres._start import COARSE_ROWS, WORTHWHILE, coarse_start

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NEW = RNG.normal(size=(40, 3)) * 2.0
KERNELS = [RBF(0.3), Linear(), Polynomial(2, 0.5, 1.0), RBF(0.3) + 0.1 * Linear()]


@pytest.mark.parametrize("kernel", [*KERNELS, "laplacian", DotProduct(1.0)], ids=str)
def test_distance_is_that_to_the_centre(kernel: Any) -> None:
    """Expanded over all training rows, with k(x, x) asked of the kernel."""
    ball = SVDD(kernel=kernel, nu=0.2).fit(X)
    beta = np.zeros(len(X))
    beta[ball.support_] = ball.dual_coef_[0]
    assert beta.sum() == pytest.approx(1.0)
    k = ball.kernel_
    expected = k.diag(NEW) - 2 * k(NEW, X) @ beta + beta @ k(X) @ beta
    np.testing.assert_allclose(ball.distance(NEW) ** 2, expected, atol=1e-10)
    np.testing.assert_allclose(ball.decision_function(NEW), ball.radius_**2 - expected, atol=1e-10)
    np.testing.assert_allclose(ball.score_samples(NEW), -expected, atol=1e-10)
    np.testing.assert_array_equal(ball.predict(NEW) > 0, ball.decision_function(NEW) >= 0)
    assert ball.offset_ == pytest.approx(-(ball.radius_**2))


def test_a_kernel_given_as_a_function() -> None:
    counts = RNG.integers(1, 20, size=(50, 4)).astype(float)
    ball = SVDD(kernel=chi2_kernel, nu=0.1).fit(counts)
    assert (ball.predict(counts) < 0).mean() <= 0.1
    assert ball.radius_ <= 1.0


def test_kinds_of_support_vector() -> None:
    """In-bound on the surface, bound outside or on it, all others inside."""
    ball = SVDD(nu=0.2, gamma=0.2, tol=1e-10).fit(X)
    beyond = ball.distance(X) ** 2 - ball.radius_**2
    kind = np.full(len(X), "none    ")
    kind[ball.support_] = ball.support_kind_
    price = 1 / (0.2 * len(X))
    np.testing.assert_allclose(beyond[kind == "margin"], 0.0, atol=1e-9)
    assert (beyond[kind == "bound"] >= -1e-9).all()
    assert (beyond[kind == "none    "] < 0).all()
    np.testing.assert_allclose(ball.alpha_[kind == "bound"], price)
    inner = ball.alpha_[kind == "margin"]
    assert inner.size > 0
    assert ((inner > 0) & (inner < price)).all()
    assert (ball.alpha_[kind == "none    "] == 0).all()
    np.testing.assert_allclose(ball.slack_, np.maximum(0.0, beyond), atol=1e-9)


CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [0.0, 0.5]])


@pytest.mark.parametrize(
    ("points", "params"),
    [
        (X[:40], {"gamma": 0.3, "nu": 0}),
        (X[:40], {"gamma": 0.3, "nu": 0.2}),
        (CORNERS, {"kernel": "linear", "nu": 0}),
        (np.vstack([X[:20], X[:10]]), {"gamma": 0.3, "nu": 0}),
        (X[:40], {"kernel": "linear", "nu": 0}),
    ],
    ids=["rbf", "soft", "square", "copies", "linear"],
)
def test_only_essential_support_vectors_fall_out(points: np.ndarray, params: Any) -> None:
    """Left out of the training, an essential support vector lies outside; no other row does."""
    params = {**params, "tol": 1e-12}
    ball = SVDD(**params).fit(points)
    essential = np.zeros(len(points), dtype=bool)
    essential[ball.support_] = ball.essential_support(points)
    for row in range(len(points)):
        rest = np.delete(points, row, axis=0)
        # The same price of slack, though there is a row less.
        price = {"nu": None, "C": 1 / (params["nu"] * len(points))} if params["nu"] else {}
        without = SVDD(**{**params, **price}).fit(rest)
        falls_out = without.decision_function(points[[row]])[0] < -1e-7
        assert falls_out == essential[row], row


def test_a_square_needs_none_of_its_corners() -> None:
    ball = SVDD(kernel="linear", nu=0).fit(CORNERS)
    assert not ball.essential_support(CORNERS).any()
    three = SVDD(kernel="linear", nu=0).fit(CORNERS[:3])
    assert set(three.support_[three.essential_support(CORNERS[:3])]) == {1, 2}


def test_bounds_decide_who_may_leave_an_expansion() -> None:
    """The middle of a square has many; a bound above zero keeps a corner in all of them."""
    matrix, quarter = CORNERS[:4] @ CORNERS[:4].T, np.full(4, 0.25)
    assert not never_zero(matrix, quarter, np.zeros(4), np.ones(4)).any()
    lower = np.array([0.1, 0.0, 0.0, 0.0])
    kept = never_zero(matrix, quarter, lower, np.ones(4))
    np.testing.assert_array_equal(kept, [True, False, False, True])
    beta = np.array([0.0, 0.5, 1.0])  # of independent points there is no other
    np.testing.assert_array_equal(
        never_zero(np.eye(3), beta, np.zeros(3), np.full(3, 2.0)), [False, True, True]
    )


def test_equal_rows_have_the_variance_one() -> None:
    gram = make_gram(Linear(), np.ones((5, 2)))
    assert feature_variance(gram, np.full(5, 0.2)) == 1.0


def test_precomputed_kernel_asks_for_the_diagonal() -> None:
    kernel = Polynomial(2, 0.5, 1.0)
    direct = SVDD(kernel=kernel, nu=0.2, tol=1e-10).fit(X)
    given = SVDD(kernel="precomputed", nu=0.2, tol=1e-10).fit(kernel(X))
    K, diagonal = kernel(NEW, X), kernel.diag(NEW)
    assert given.radius_ == pytest.approx(direct.radius_)
    np.testing.assert_allclose(given.distance(K, diagonal), direct.distance(NEW))
    np.testing.assert_array_equal(given.predict(K, diagonal=diagonal), direct.predict(NEW))
    with pytest.warns(UserWarning, match="no diagonal was given"):
        guessed = given.distance(K)
    assert (guessed <= direct.distance(NEW) + 1e-9).all()
    # Of the training rows all is known.
    np.testing.assert_allclose(given.distance(kernel(X)), direct.distance(X), atol=1e-9)
    np.testing.assert_array_equal(given.fit_predict(kernel(X)), direct.predict(X))


@pytest.mark.filterwarnings("error")
def test_a_constant_diagonal_need_not_be_given() -> None:
    kernel = RBF(0.3)
    given = SVDD(kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(
        given.distance(kernel(NEW, X)), SVDD(kernel=kernel).fit(X).distance(NEW)
    )


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(2, 0.5, 1.0)])
def test_zero_weight_with_a_precomputed_kernel(kernel: Kernel) -> None:
    K, weights = kernel(X), np.arange(len(X)) % 3 != 0
    weighted = SVDD(kernel="precomputed", tol=1e-9).fit(K, sample_weight=weights)
    plain = SVDD(kernel=kernel, tol=1e-9).fit(X[weights])
    np.testing.assert_allclose(weighted.distance(K), plain.distance(X), atol=1e-7)
    assert (weighted.alpha_[~weights] == 0).all()


def test_least_diagonal_is_that_of_rows_with_weight() -> None:
    kernel, weights = Polynomial(2, 0.5, 1.0), np.arange(len(X)) % 3 != 0
    weighted = SVDD(kernel="precomputed", tol=1e-9).fit(kernel(X), sample_weight=weights)
    part = SVDD(kernel="precomputed", tol=1e-9).fit(kernel(X[weights]))
    with pytest.warns(UserWarning, match="no diagonal was given"):
        found, expected = weighted.distance(kernel(NEW, X)), part.distance(kernel(NEW, X[weights]))
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_sparse_data() -> None:
    for kernel in ("rbf", "linear"):
        dense = SVDD(kernel=kernel, nu=0.1, tol=1e-10).fit(X)
        sparse = SVDD(kernel=kernel, nu=0.1, tol=1e-10).fit(sp.csr_matrix(X))
        np.testing.assert_allclose(
            sparse.distance(sp.csr_matrix(NEW)), dense.distance(NEW), rtol=1e-7
        )
        np.testing.assert_allclose(sparse.center_, dense.center_, rtol=1e-5, atol=1e-5)


def test_far_from_the_origin() -> None:
    """The ball moves along with the data."""
    here = SVDD(kernel="linear", nu=0.1, tol=1e-9).fit(X)
    there = SVDD(kernel="linear", nu=0.1, tol=1e-9).fit(X + 1e6)
    assert there.radius_ == pytest.approx(here.radius_, rel=1e-6)
    np.testing.assert_allclose(there.center_ - 1e6, here.center_, atol=1e-5)
    np.testing.assert_allclose(there.distance(NEW + 1e6), here.distance(NEW), rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_tolerance_knows_no_units(scale: float) -> None:
    rows = np.random.default_rng(2).normal(size=(400, 2))
    ball = SVDD(kernel="linear", nu=0.05, solver="smo").fit(scale * rows)
    exact = SVDD(kernel="linear", nu=0.05, tol=1e-10).fit(rows)
    assert ball.radius_ == pytest.approx(scale * exact.radius_, rel=1e-3)
    assert ball.gap_[0] <= 1e-3


def test_variance_where_nearly_all_rows_are_equal() -> None:
    """Rows that are looked at may all be copies of one; the unit is that of the others."""
    X = np.ones((5 * VARIANCE_ROWS, 2))
    X[[2, 77]] = [[1.0, 3.0], [0.0, 1.0]]
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(X))
    share = weights / weights.sum()
    exact = share @ ((X - share @ X) ** 2).sum(axis=1)
    found = feature_variance(make_gram(Linear(), X), weights)
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    assert feature_variance(make_gram(Linear(), np.ones_like(X)), weights) == 1.0


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.ones((5, 2)), np.full((5, 2), 1e8)])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_single_point(points: np.ndarray, kernel: str) -> None:
    ball = SVDD(kernel=kernel, gamma=1e-8, nu=0).fit(points)
    assert ball.radius_ == pytest.approx(0.0, abs=1e-6 * max(1.0, np.abs(points).max()))
    assert (ball.predict(points) == 1).all()


def test_outliers_make_the_ball_smaller() -> None:
    """Negative examples inside push the ball away from them."""
    y = np.where(X[:, 0] > 1.2, -1, 1)
    plain, told = SVDD(nu=0.1).fit(X), SVDD(nu=0.1).fit(X, y)
    assert (plain.predict(X[y < 0]) > 0).mean() > 0.4
    assert (told.predict(X[y < 0]) > 0).mean() <= 0.1
    assert (told.predict(X[y > 0]) > 0).mean() > 0.85


def test_labels_of_another_kind_are_ignored_and_that_is_said() -> None:
    with pytest.warns(UserWarning, match=r"y is ignored.*\+1"):
        labelled = SVDD().fit(X, np.arange(len(X)) % 2)
    np.testing.assert_array_equal(labelled.alpha_, SVDD().fit(X).alpha_)


def test_cheap_slack_leaves_no_ball() -> None:
    with pytest.warns(UserWarning, match="no ball is left"):
        ball = SVDD(C=1e-3, loss="squared_hinge").fit(X)
    assert ball.radius_ == 0.0
    assert (ball.predict(X) == -1).all()


def test_warm_start_goes_on() -> None:
    rows = np.random.default_rng(3).normal(size=(1500, 5))
    ball = SVDD(nu=0.3, max_iter=5, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        ball.fit(rows)
    assert not ball.converged_
    ball.set_params(max_iter=-1).fit(rows)
    cold = SVDD(nu=0.3).fit(rows)
    assert ball.converged_
    assert ball.n_iter_ <= cold.n_iter_
    assert ball.radius_ == pytest.approx(cold.radius_, rel=1e-4)
    # Another nu starts from the same solution.
    assert ball.set_params(nu=0.29).fit(rows).converged_


def test_same_result_whatever_the_threads() -> None:
    rows = np.random.default_rng(3).normal(size=(5000, 5))
    one, two = (SVDD(n_jobs=n, nu=0.05).fit(rows) for n in (1, 2))
    np.testing.assert_array_equal(one.alpha_, two.alpha_)


def test_centre() -> None:
    linear = SVDD(kernel="linear", nu=0).fit(X)
    np.testing.assert_allclose(linear.center_, linear.dual_coef_[0] @ linear.support_vectors_)
    assert not hasattr(SVDD(kernel="precomputed").fit(X @ X.T), "center_")
    curved = SVDD(gamma=0.05, nu=0.1).fit(X)
    assert curved.distance(curved.center_[None])[0] <= curved.distance(X).min()


def test_pickle_keeps_the_model() -> None:
    ball = SVDD(kernel=RBF(0.3) * Constant(2.0)).fit(X)
    again = pickle.loads(pickle.dumps(ball))
    np.testing.assert_array_equal(again.decision_function(NEW), ball.decision_function(NEW))


def test_verbose_says_one_line(capsys: Any) -> None:
    SVDD(verbose=True).fit(X)
    assert re.fullmatch(r"SVDD: \d+ support vectors .*\n", capsys.readouterr().out)


BAD = {
    "both prices": ({"nu": 0.1, "C": 1.0}, {}, "Only one of nu and C"),
    "nu": ({"nu": 1.5}, {}, "'nu'"),
    "C": ({"C": 0.0}, {}, "'C'"),
    "C too small": ({"C": 1e-4}, {}, "at least 1"),
    "loss": ({"loss": "cubed_hinge"}, {}, "'loss'"),
    "outliers only": ({}, {"y": -np.ones(len(X))}, "at least one row as a target"),
    "impossible": (
        {"kernel": "linear", "nu": 0},
        {"y": np.where(np.abs(X[:, 0]) < 0.5, -1, 1)},
        "No ball holds all targets",
    ),
    "length of y": ({}, {"y": np.ones(3)}, "inconsistent numbers of samples"),
    "weights": ({}, {"sample_weight": -np.ones(len(X))}, "sample_weight"),
    "not square": ({"kernel": "precomputed"}, {}, "square"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence(params: Any, changes: Any, words: str) -> None:
    ball = SVDD().fit(X)
    before = ball.decision_function(NEW)
    with pytest.raises(ValueError, match=words) as error:
        ball.set_params(**params).fit(X, **changes)
    assert "\n" not in str(error.value).strip()
    after = ball.set_params(**SVDD().get_params()).decision_function(NEW)
    np.testing.assert_array_equal(after, before)


def test_bad_diagonals() -> None:
    ball = SVDD(kernel="precomputed").fit(RBF(1.0)(X))
    with pytest.raises(ValueError, match="k\\(x, x\\) of each of the 40 rows"):
        ball.predict(RBF(1.0)(NEW, X), diagonal=np.ones(3))
    with pytest.raises(ValueError, match="precomputed kernel only"):
        SVDD().fit(X).predict(NEW, diagonal=np.ones(40))


def test_support_counts_of_the_thesis() -> None:
    """More support vectors for narrower kernels, none of them dust of the solver's tolerance."""
    rng = np.random.default_rng(0)
    for gamma, most in ((0.1, 20), (2.0, 60)):
        for _ in range(3):
            ball = SVDD(gamma=gamma, nu=0).fit(rng.normal(size=(100, 2)))
            assert ball.support_.size <= most
            assert ball.alpha_[ball.support_].min() > 1e-8


def test_iris_species() -> None:
    """A ball around setosa holds no other species."""
    data, species = load_iris(return_X_y=True)
    ball = SVDD(nu=0).fit(data[species == 0])
    np.testing.assert_array_equal(ball.predict(data) == 1, species == 0)


def test_a_point_is_a_ball_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVDD(kernel="linear").fit(np.zeros((20, 2)))
    assert model.radius_ == 0.0


def test_the_least_diagonal_of_small_values() -> None:
    """By Cauchy and Schwarz k(x, x) is at least k(x, y)^2 / k(y, y), also where all are below 1."""
    found = _least_diagonal(np.array([[0.2, 0.1], [0.0, 0.3]]), np.array([0.5, 0.25]))
    np.testing.assert_allclose(found, [0.08, 0.36])


def test_no_start_from_rows_that_may_not_move() -> None:
    n = WORTHWHILE
    upper = np.full(n, 0.01)
    upper[np.unique(np.linspace(0, n - 1, COARSE_ROWS).astype(np.int64))] = 0.0
    problem = QuadraticProgram(np.zeros(n), np.zeros(n), upper, delta=1.0)
    gram = make_gram(RBF(1.0), np.random.default_rng(0).normal(size=(n, 2)))
    assert coarse_start(problem, gram, 1e-3) is None
