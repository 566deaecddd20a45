"""Many programs on the rows of one matrix: each gets what it would get alone, in any company."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_feasible
from slow_kernel import SlowKernel

from mercer.gram import Gram, RequestedGram, StoredGram, make_gram
from mercer.gram.base import Indices
from mercer.kernels import RBF, Linear
from mercer.problems import (
    Programs,
    QuadraticProgram,
    epsilon_svr,
    hard_margin_svc,
    hinge_svc,
    one_class,
    squared_hinge_svc,
    svdd,
)
from mercer.solvers import Options, Solution, Solutions, StartingPoint, solve, solve_all
from mercer.solvers.exact import solve_exact
from mercer.solvers.linear import solve_linear

N = 320
KERNEL = RBF(0.4)
EXACTLY = Options(tol=1e-7)


def points(n: int = N, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


@dataclass(frozen=True)
class Batch:
    """Programs, and the row of each of their variables."""

    parts: Sequence[QuadraticProgram]
    rows: Indices

    @property
    def programs(self) -> Programs:
        return Programs.of(self.parts)

    def rows_of(self, k: int) -> Indices:
        ends = self.programs.ends
        return self.rows[ends[k] : ends[k + 1]]

    def solve(self, gram: Gram, options: Options = EXACTLY, **others: Any) -> Solutions:
        return solve_all(self.programs, gram, options, rows=self.rows, **others)

    def alone(self, k: int, gram: Gram, options: Options = EXACTLY) -> Solution:
        limits = {"tol": options.tol, "max_iter": options.max_iter, "n_threads": 1}
        return solve(self.parts[k], gram.subset(self.rows_of(k)), solver=options.solver, **limits)


def joined(pairs: Sequence[tuple[QuadraticProgram, Indices]]) -> Batch:
    parts, rows = zip(*pairs)
    return Batch(parts, np.concatenate(rows))


# ---- the company -----------------------------------------------------------------------------


def pairs_of_classes(n: int = N, n_classes: int = 5, C: float = 2.0) -> Batch:
    """Every pair of classes of different sizes, each with the rows of its own."""
    shares = np.arange(1, n_classes + 1)
    labels = np.random.default_rng(1).choice(n_classes, n, p=shares / shares.sum())
    pairs = []
    for first, second in combinations(range(n_classes), 2):
        rows = np.flatnonzero((labels == first) | (labels == second))
        pairs.append((hinge_svc(np.where(labels[rows] == first, 1.0, -1.0), C), rows))
    return joined(pairs)


def signs_of(X: np.ndarray) -> np.ndarray:
    noise = 0.5 * np.random.default_rng(2).normal(size=len(X))
    return np.where(X[:, 0] + noise > 0, 1.0, -1.0)


def folds_with_closed_rows(formulate: Callable[..., QuadraticProgram] = hinge_svc) -> Batch:
    """All rows in every program, of which another fifth has no room each time."""
    y, everyone = signs_of(points()), np.arange(N)
    inside = [np.where(everyone % 5 == fold, 0.0, 1.0) for fold in range(5)]
    return joined([(formulate(y, weights), everyone) for weights in inside])


def balls_and_borders() -> Batch:
    """Programs whose variables sum to 1, of every fifth row; in one nothing can move."""
    rows = [np.arange(k, N, 5) for k in range(5)]
    parts = [
        one_class(rows[0].size, 0.3),
        svdd(np.ones(rows[1].size), 0.1),
        one_class(rows[2].size, 1.0),
        one_class(rows[3].size, 0.01),
        svdd(np.ones(rows[4].size), 1.0),
    ]
    return joined(list(zip(parts, rows)))


def tubes() -> Batch:
    """Regressions, whose programs have every row twice."""
    X = points()
    rows = [np.arange(start, stop) for start, stop in ((0, 60), (50, 200), (10, 320))]
    values = [np.sin(2.0 * X[own, 0]) + 0.2 * X[own, 1] for own in rows]
    parts = [epsilon_svr(own, C, 0.1) for own, C in zip(values, (0.5, 5.0, 1.0))]
    return joined([(part, np.tile(own, 2)) for part, own in zip(parts, rows)])


def mixture() -> Batch:
    """Different machines, sizes, sums, orders of rows; a row several times; two variables only."""
    rng, y = np.random.default_rng(3), signs_of(points())
    shuffled, again = rng.permutation(N), rng.choice(N, 70)
    few = np.array([np.argmax(y), np.argmin(y)])
    return joined(
        [
            (hinge_svc(y[shuffled], 10.0), shuffled),
            (one_class(40, 0.2), np.arange(40)),
            (squared_hinge_svc(y[again], 3.0), again),
            (hinge_svc(y[few], 1.0), few),
            (epsilon_svr(y[:30], 1.0, 0.2), np.tile(np.arange(30), 2)),
            (QuadraticProgram([1.0, 2.0, 3.0], [0.5] * 3, [0.5] * 3, 1.5), np.array([5, 4, 3])),
        ]
    )


BATCHES: dict[str, Callable[[], Batch]] = {
    "pairs of classes": pairs_of_classes,
    "folds": folds_with_closed_rows,
    "squared folds": lambda: folds_with_closed_rows(squared_hinge_svc),
    "sums of 1": balls_and_borders,
    "regressions": tubes,
    "mixture": mixture,
}


# ---- the matrices ----------------------------------------------------------------------------


def hidden(make: Callable[[np.ndarray], Gram]) -> Callable[[np.ndarray], Gram]:
    """Return a matrix of more points, in another order, of which those wanted are a part."""

    def part(X: np.ndarray) -> Gram:
        order = np.random.default_rng(4).permutation(len(X) + 50)
        more = np.vstack([X, points(50, seed=5)])
        return make(more[order]).subset(np.argsort(order)[: len(X)])

    return part


def repeated(make: Callable[[np.ndarray], Gram]) -> Callable[[np.ndarray], Gram]:
    """Return a matrix that has every point a second time, behind the others."""
    return lambda X: make(X).subset(np.tile(np.arange(len(X)), 2))


def whole(dtype: Any) -> Callable[[np.ndarray], Gram]:
    return lambda X: StoredGram(KERNEL(X).astype(dtype))


WAYS: dict[str, Callable[[np.ndarray], Gram]] = {
    "computed": lambda X: make_gram(KERNEL, X),
    "float64": whole(np.float64),
    "float32": whole(np.float32),
    "requested": lambda X: RequestedGram(KERNEL, X),
}
GRAMS = (
    WAYS
    | {f"part of {name}": hidden(way) for name, way in WAYS.items()}
    | {f"repeated {name}": repeated(way) for name, way in WAYS.items()}
    | {"part of a repeated part": hidden(repeated(hidden(WAYS["computed"])))}
)


# ---- together as alone -----------------------------------------------------------------------


def assert_as_alone(batch: Batch, found: Solutions, gram: Gram, options: Options) -> None:
    """Feasible, as near to the optimum as asked for, and the values of the machine alone."""
    assert len(found) == len(batch.parts)
    for k, (problem, solution) in enumerate(zip(batch.parts, found)):
        alone, K = batch.alone(k, gram, options), KERNEL(points()[batch.rows_of(k)])
        assert solution.status == alone.status == "converged"
        assert_feasible(problem, solution.beta)
        gradient = K @ solution.beta + problem.ridge * solution.beta + problem.p
        rounding = 1e-6 * (1.0 + np.abs(solution.beta).sum()) if is_single(gram) else 1e-9
        assert problem.kkt(solution.beta, gradient)[1] <= options.tol + rounding
        np.testing.assert_allclose(solution.gradient, gradient, atol=options.tol + rounding)
        # Of two points with a gap of tol the objectives differ by tol times their distance at most.
        distance = np.abs(solution.beta - alone.beta).sum()
        allowed = (options.tol + rounding) * (distance + 1e-3) + rounding
        assert solution.objective == pytest.approx(alone.objective, abs=allowed)
        np.testing.assert_allclose(
            K @ solution.beta, K @ alone.beta, atol=np.sqrt(2.0 * allowed) + rounding
        )


def is_single(gram: Gram) -> bool:
    """Say whether a matrix has no other values than float32."""
    return isinstance(gram, StoredGram) and gram.values.dtype == np.float32


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("company", BATCHES)
def test_every_program_is_solved_as_alone(company: str, kind: str) -> None:
    batch, gram = BATCHES[company](), GRAMS[kind](points())
    options = replace(EXACTLY, tol=1e-3 if is_single(gram) else 1e-7, n_threads=2)
    assert_as_alone(batch, batch.solve(gram, options), gram, options)


@pytest.mark.parametrize("way", WAYS)
def test_copies_of_a_row_are_that_row(way: str) -> None:
    batch, gram = mixture(), repeated(WAYS[way])(points())
    copies = batch.rows + N * (np.arange(batch.rows.size) % 2)
    found = Batch(batch.parts, copies).solve(gram, Options(n_threads=2))
    assert found.beta.tobytes() == batch.solve(gram, Options(n_threads=2)).beta.tobytes()


@pytest.mark.parametrize("company", ["pairs of classes", "folds", "mixture"])
def test_rows_of_single_precision_lead_to_the_gap_asked_for(company: str) -> None:
    """Large programs of the batch take float32 rows, small ones do not; the gap is true."""
    batch, gram = BATCHES[company](), GRAMS["computed"](points())
    options = replace(EXACTLY, tol=1e-3)
    assert gram.allows_single(options.tol)
    assert_as_alone(batch, batch.solve(gram, options), gram, options)


@pytest.mark.parametrize("kind", ["computed", "float32", "requested", "part of float64"])
@pytest.mark.parametrize("company", ["pairs of classes", "mixture", "folds"])
def test_threads_change_no_bit(company: str, kind: str) -> None:
    """Side by side or one after the other."""
    batch, gram = BATCHES[company](), GRAMS[kind](points())
    one, *others = (
        batch.solve(gram, Options(tol=1e-3, n_threads=n_threads)) for n_threads in (1, 2, 4)
    )
    for other in others:
        for name in ("beta", "gradient", "n_iter", "objective", "offset", "gap"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        assert one.status == other.status


@pytest.mark.parametrize("n_threads", [1, 2])
def test_several_large_programs_beside_small_ones(n_threads: int) -> None:
    """Above 1000 rows one program has all threads, unless there are enough for each."""
    X = points(2500, seed=6)
    y = signs_of(X)
    sizes = (1200, 40, 1001, 999, 1300)
    rows = [np.random.default_rng(size).choice(2500, size, replace=False) for size in sizes]
    batch = joined([(hinge_svc(y[own], 1.0), own) for own in rows])
    gram = make_gram(KERNEL, X)
    found = batch.solve(gram, Options(tol=1e-3, n_threads=n_threads))
    assert found.converged.all()
    for k, (problem, own) in enumerate(zip(batch.parts, rows)):
        gradient = KERNEL(X[own]) @ found[k].beta + problem.p
        assert problem.kkt(found[k].beta, gradient)[1] <= 1e-3 + 1e-9
        assert found[k].objective == pytest.approx(batch.alone(k, gram).objective, rel=1e-4)


def test_a_batch_of_many_rows_side_by_side() -> None:
    """More than 1000 rows in all, in a hundred programs: what one thread finds, to the bit."""
    X = points(3000, seed=7)
    y, gram = signs_of(X), make_gram(KERNEL, X)
    batch = joined([(hinge_svc(y[k::100], 1.0 + k), np.arange(k, 3000, 100)) for k in range(100)])
    one, several = (batch.solve(gram, replace(EXACTLY, n_threads=n)) for n in (1, 3))
    assert one.converged.all()
    assert one.beta.tobytes() == several.beta.tobytes()
    for k in (0, 50, 99):
        alone = batch.alone(k, gram)
        np.testing.assert_allclose(one[k].beta, alone.beta, atol=1e-6 * np.abs(alone.beta).max())


@pytest.mark.parametrize("solver", ["exact", "linear"])
def test_other_solvers_take_batches_too(solver: str) -> None:
    X = points()
    gram, batch = make_gram(Linear(), X), pairs_of_classes(n_classes=3, C=0.1)
    if solver == "exact":
        pytest.importorskip("clarabel")
    found = batch.solve(gram, Options(solver=solver, tol=1e-6))
    plain = batch.solve(gram, Options(solver="smo", tol=1e-6))
    assert found.converged.all()
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-5, atol=1e-6)
    own = gram.subset(batch.rows_of(0))
    alone = (
        solve_exact(batch.parts[0], own, tol=1e-6)
        if solver == "exact"
        else solve_linear(batch.parts[0], own.features(), tol=1e-6)
    )
    np.testing.assert_allclose(found[0].beta, alone.beta, atol=1e-12)  # not only as near


def test_one_program_needs_no_rows() -> None:
    batch, gram = folds_with_closed_rows(), make_gram(KERNEL, points())
    whole = solve_all(Programs.of(batch.parts[:1]), gram, EXACTLY)
    np.testing.assert_array_equal(whole.beta, batch.solve(gram).beta[:N])


def test_several_programs_need_rows() -> None:
    programs = Programs.of([hinge_svc([1, -1], 1.0)] * 2)
    for size in (2, 4):
        with pytest.raises(ValueError, match=r"rows"):
            solve_all(programs, StoredGram(np.eye(size)))
    for rows in ([0, 1, 0], [0, 1, 0, 4], [0, 1, 0, 1, 0]):
        with pytest.raises((ValueError, IndexError)):
            solve_all(programs, StoredGram(np.eye(4)), rows=np.array(rows))


def test_inputs_are_left_alone() -> None:
    batch, K = mixture(), KERNEL(points())
    programs, start = batch.programs, np.zeros(batch.rows.size)
    given = (K, batch.rows, start, programs.p, programs.lower, programs.upper, programs.ridge)
    copies = [array.copy() for array in given]
    solve_all(programs, StoredGram(K), EXACTLY, rows=batch.rows, warm_start=start)
    for array, copy in zip(given, copies):
        np.testing.assert_array_equal(array, copy)


# ---- tolerances and limits -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["computed", "float64"])
def test_each_program_has_its_own_tolerance(kind: str) -> None:
    batch, gram = folds_with_closed_rows(), GRAMS[kind](points())
    gaps = np.array([1e-1, 1e-3, 1e-8, 1e-2, 1e-5])
    found = batch.solve(gram, tol=gaps)
    assert (found.gap <= gaps).all()
    assert found.converged.all()
    assert found.n_iter[2] > found.n_iter[0]
    assert found.gap[0] > 1e-8  # it did not go on when it need not
    loose = batch.solve(gram, Options(tol=1e-8), tol=1e-1)
    assert loose.gap.max() > 1e-8


def test_tolerances_must_fit() -> None:
    batch = folds_with_closed_rows()
    with pytest.raises(ValueError):
        batch.solve(StoredGram(KERNEL(points())), tol=np.full(4, 1e-3))


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("max_iter", [0, 1, 20])
def test_each_program_has_all_steps(max_iter: int, n_threads: int) -> None:
    batch, gram = folds_with_closed_rows(), make_gram(KERNEL, points())
    found = batch.solve(gram, Options(tol=1e-9, max_iter=max_iter, n_threads=n_threads))
    assert set(found.status) == {"max_iter"}
    assert not found.converged.any()
    np.testing.assert_array_equal(found.n_iter, max_iter)
    for problem, solution in zip(batch.parts, found):
        assert_feasible(problem, solution.beta)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_time_for_anybody(n_threads: int) -> None:
    """The points are where they started, and told as such: feasible, with their gradients."""
    batch, K = folds_with_closed_rows(), KERNEL(points())
    start = batch.programs.repair(np.random.default_rng(0).normal(size=batch.rows.size))
    options = Options(tol=1e-9, time_limit=0.0, n_threads=n_threads)
    found = batch.solve(StoredGram(K), options, warm_start=start)
    assert set(found.status) == {"time_limit"}
    np.testing.assert_array_equal(found.beta, start)
    for problem, solution in zip(batch.parts, found):
        expected = K @ solution.beta + problem.p
        np.testing.assert_allclose(solution.gradient, expected, atol=1e-9)


@pytest.mark.parametrize("time_limit", [1e12, np.inf])
def test_time_without_end(time_limit: float) -> None:
    batch = pairs_of_classes()
    found = batch.solve(make_gram(KERNEL, points()), Options(tol=1e-6, time_limit=time_limit))
    assert found.converged.all()


def test_time_is_that_of_all_programs() -> None:
    """The first one's callback sleeps until it is over, and none is left for the last."""
    batch = folds_with_closed_rows()
    options = Options(
        tol=1e-9, time_limit=1.0, n_threads=1, callback=lambda n_iter, gap: time.sleep(n_iter > 0)
    )
    found = batch.solve(RequestedGram(SlowKernel(KERNEL), points()), options)
    assert found.status[-1] == "time_limit"
    assert found.n_iter[-1] == 0
    assert found.n_iter[0] > 0


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_callback_stops_all_programs(n_threads: int) -> None:
    """Also those that have not begun: they stay where they start."""
    batch, seen = folds_with_closed_rows(), []

    def stop_at_once(n_iter: int, gap: float) -> bool:
        seen.append((n_iter, gap))
        return True

    options = Options(tol=1e-9, n_threads=n_threads, callback=stop_at_once)
    found = batch.solve(RequestedGram(SlowKernel(KERNEL), points()), options)
    assert len(seen) <= n_threads
    assert found.status[-1] == "interrupted"
    assert not found[len(found) - 1].beta.any()
    np.testing.assert_array_equal(found[len(found) - 1].gradient, batch.parts[-1].p)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_callback_hears_of_short_programs(n_threads: int) -> None:
    """None of them lasts a twentieth of a second, all together last longer."""
    batch, seen = joined([mixed for mixed in short_programs() for _ in range(30)]), []
    options = Options(n_threads=n_threads, callback=lambda n_iter, gap: seen.append(gap))
    found = batch.solve(RequestedGram(SlowKernel(KERNEL, 0.002), points()), options)
    assert found.converged.all()
    assert seen


def short_programs() -> list[tuple[QuadraticProgram, Indices]]:
    y = signs_of(points())
    rows = [np.arange(start, start + 10) for start in range(0, N, 80)]
    return [(hinge_svc(y[own], 1.0), own) for own in rows]


# ---- starts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["computed", "float64", "requested", "part of computed"])
def test_any_start_leads_to_the_optimum(kind: str) -> None:
    batch, gram = mixture(), GRAMS[kind](points())
    cold = batch.solve(gram)
    start = np.random.default_rng(0).normal(size=batch.rows.size)
    warm = batch.solve(gram, warm_start=start)
    assert warm.converged.all()
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-6, atol=1e-7)
    again = batch.solve(gram, warm_start=cold.beta)
    assert again.n_iter.sum() < cold.n_iter.sum() // 4
    np.testing.assert_allclose(again.objective, cold.objective, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["computed", "float64", "requested", "repeated float64"])
@pytest.mark.parametrize("preferred", [False, True])
def test_images_of_the_start_are_taken_as_known(kind: str, preferred: bool) -> None:
    """Penalties change, K times the point does not; rows that must move are added."""
    weak, gram = pairs_of_classes(C=0.5), GRAMS[kind](points())
    strong, found = pairs_of_classes(C=2.0), weak.solve(gram)
    image = weak.programs.image(found.beta, found.gradient)
    elsewhere = 4.0 * found.beta if preferred else None
    start = StartingPoint(found.beta, image, elsewhere)
    warm, cold = strong.solve(gram, warm_start=start), strong.solve(gram)
    assert warm.converged.all()
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-6)
    K = KERNEL(points())
    for k, (problem, solution) in enumerate(zip(strong.parts, warm)):
        own = strong.rows_of(k)
        expected = K[np.ix_(own, own)] @ solution.beta + problem.p
        np.testing.assert_allclose(solution.gradient, expected, atol=1e-6)


def test_a_known_image_is_believed() -> None:
    """It is not computed again: one of another matrix is found in the gradient."""
    batch, gram = folds_with_closed_rows(), make_gram(KERNEL, points())
    shift = np.full(batch.rows.size, 3.0)
    start = StartingPoint(np.zeros(batch.rows.size), shift)
    found = batch.solve(gram, Options(tol=1e-9, max_iter=0), warm_start=start)
    np.testing.assert_array_equal(found.gradient, batch.programs.p + shift)


# ---- how it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_unbounded_program_among_bounded_ones(n_threads: int) -> None:
    """It is told, and the others are solved."""
    X, labels = points(), np.resize([1.0, -1.0], 60)
    separable = np.where(X[:60, 0] > 0, 1.0, -1.0)
    X[:60, 0] += separable
    rows = [np.arange(60), np.arange(200, 260), np.arange(60), np.arange(100, 300)]
    X[200:260] = X[200]  # equal points of both classes
    parts = [
        hard_margin_svc(separable),
        hard_margin_svc(labels),
        hinge_svc(labels, 1.0),
        one_class(200, 0.5),
    ]
    batch, gram = joined(list(zip(parts, rows))), StoredGram(RBF(0.4)(X))
    found = batch.solve(gram, Options(tol=1e-5, n_threads=n_threads))
    assert found.status == ("converged", "unbounded", "converged", "converged")
    np.testing.assert_array_equal(found.converged, [True, False, True, True])
    for k in (0, 2, 3):
        alone = batch.alone(k, gram, Options(tol=1e-5))
        assert found[k].objective == pytest.approx(alone.objective, rel=1e-5)


def test_a_gap_that_rounding_forbids_is_told() -> None:
    batch = folds_with_closed_rows()
    gram = StoredGram(KERNEL(points()).astype(np.float32))
    found = batch.solve(gram, Options(tol=0.0), tol=[0.0, 1e-2, 1e-2, 1e-2, 1e-2])
    assert found.status[0] == "stalled"
    assert set(found.status[1:]) == {"converged"}


def test_solutions_are_those_of_the_programs() -> None:
    """Taken apart and laid end to end again."""
    batch = mixture()
    found = batch.solve(StoredGram(KERNEL(points())))
    parts = list(found)
    again = Solutions.of(parts)
    for name in ("beta", "gradient", "ends", "objective", "offset", "gap", "n_iter", "converged"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert again.status == found.status
    for problem, solution in zip(batch.parts, parts):
        judged = Solution.at(problem, solution.beta, solution.gradient, tol=1e-7)
        assert (judged.offset, judged.gap) == (solution.offset, solution.gap)
        assert judged.objective == pytest.approx(solution.objective, rel=1e-12)
        assert judged.status == solution.status


# ---- programs laid end to end ----------------------------------------------------------------


@st.composite
def some_programs(draw: Any) -> tuple[list[QuadraticProgram], np.random.Generator]:
    """Programs of any size, bounds, sum and ridge; some rows without room, some without end."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    parts = []
    for n in draw(st.lists(st.integers(1, 8), min_size=1, max_size=6)):
        lower, upper = -rng.exponential(size=n), rng.exponential(size=n)
        lower[rng.random(n) < 0.3] = 0.0
        upper[rng.random(n) < 0.3] = 0.0
        if draw(st.booleans()):
            upper[rng.random(n) < 0.3] = np.inf
        if draw(st.booleans()):  # zero outside the bounds of a row
            lower[0], upper[0] = 0.2, 0.5
        delta = float(np.clip(rng.normal(size=n), lower, upper).sum()) * draw(st.booleans())
        delta = float(np.clip(delta, lower.sum(), upper.sum()))
        parts.append(QuadraticProgram(rng.normal(size=n), lower, upper, delta, rng.random(n)))
    return parts, rng


def cut(programs: Programs, vector: np.ndarray) -> list[np.ndarray]:
    return np.split(vector, programs.ends[1:-1])


@given(some_programs())
def test_programs_are_what_they_were_made_of(given_programs: Any) -> None:
    parts, _ = given_programs
    programs = Programs.of(parts)
    assert len(programs) == len(parts) == len(list(programs))
    assert programs.largest == max(part.n for part in parts)
    np.testing.assert_array_equal(programs.starts, programs.ends[:-1])
    for part, own in zip(parts, programs):
        assert own.delta == part.delta
        for name in ("p", "lower", "upper", "ridge"):
            np.testing.assert_array_equal(getattr(own, name), getattr(part, name))


@given(some_programs())
def test_feasible_points_and_repairs_are_those_of_each(given_programs: Any) -> None:
    parts, rng = given_programs
    programs = Programs.of(parts)
    for part, own in zip(parts, cut(programs, programs.feasible_point())):
        np.testing.assert_array_equal(own, part.feasible_point())
        assert_feasible(part, own)
    wished = rng.normal(size=programs.p.size)
    repaired = cut(programs, programs.repair(wished))
    for part, own, wish in zip(parts, repaired, cut(programs, wished)):
        np.testing.assert_array_equal(own, part.repair(wish))
        assert_feasible(part, own)


def test_a_program_is_split_into_programs_of_the_same_sum() -> None:
    whole = replace(hinge_svc([1, -1, 1, -1, 1, 1], C=[1.0, 2, 3, 4, 5, 6]), delta=0.5)
    programs = Programs.split(whole, [0, 2, 3, 6])
    assert len(programs) == 3
    assert programs.largest == 3
    np.testing.assert_array_equal(programs.delta, 0.5)
    np.testing.assert_array_equal(programs[1].upper, [3.0])
    np.testing.assert_array_equal(programs[2].lower, [-4.0, 0.0, 0.0])
    np.testing.assert_array_equal(programs[0].p, [-1.0, 1.0])


@pytest.mark.parametrize("beta", [np.zeros(5), np.zeros((2, 2)), 0.0])
def test_a_repair_needs_all_variables(beta: Any) -> None:
    programs = Programs.of([hinge_svc([1, -1], 1.0)] * 2)
    with pytest.raises(ValueError, match="a vector of 4 values"):
        programs.repair(beta)
    with pytest.raises(ValueError, match="finite"):
        programs.repair([0.0, 0.0, np.nan, 0.0])
