"""What each part of the solver over a device promises, asked of the part alone.

The solver as a whole finds the optimum even where a part does not do its share: another takes over.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mercer.kernels import RBF, Polynomial
from mercer.problems import (
    QuadraticProgram,
    epsilon_svr,
    hinge_svc,
    one_class,
    squared_hinge_svc,
)
from mercer.solvers import solve
from mercer.solvers._limits import Limits

torch = pytest.importorskip("torch", reason="torch is not installed")

from mercer.gram.device import DeviceGram  # noqa: E402
from mercer.solvers.device import block_smo, nystroem, path, squares, verdict  # noqa: E402
from mercer.solvers.device.newton import (  # noqa: E402
    Guess,
    Newton,
    Preconditioner,
    conjugate_gradients,
)
from mercer.solvers.device.program import DeviceProgram, State  # noqa: E402
from mercer.solvers.device.solve import _refined, _repaired  # noqa: E402

torch.set_num_threads(1)
RANDOM = np.random.default_rng(0)
Y = np.where(RANDOM.random(600) < 0.5, 1.0, -1.0)
X = RANDOM.normal(size=(600, 8)) + 0.4 * Y[:, None]
WEIGHTS = np.where(np.arange(600) % 7 == 0, 0.0, RANDOM.uniform(0.5, 4.0, 600))
ROUGH = RBF(0.3)
PROBLEMS = {
    "hinge": (hinge_svc(Y, 10.0), None),
    "weights, some without room": (hinge_svc(Y, 5.0 * WEIGHTS), None),
    "squared hinge": (squared_hinge_svc(Y, 10.0), None),
    "one class": (one_class(600, 0.5), None),
    "tube": (epsilon_svr(np.sin(3.0 * X[:300, 0]), 1.0, 0.1), np.tile(np.arange(300), 2)),
}


@pytest.fixture(autouse=True)
def few_landmarks(monkeypatch: Any) -> None:
    for name in ("FEW", "USUAL"):
        monkeypatch.setattr(nystroem, name, 128)


def program_of(
    problem: QuadraticProgram, kernel: Any = ROUGH, rows: Any = None, points: Any = X
) -> DeviceProgram:
    gram = DeviceGram(kernel.pairwise_form(), points, torch.device("cpu"))
    return DeviceProgram(problem, gram, rows)


def matrix_of(program: DeviceProgram) -> np.ndarray:
    return program.block(torch.arange(program.n)).numpy()


def gradient_at(program: DeviceProgram, beta: np.ndarray) -> np.ndarray:
    return matrix_of(program) @ beta + program.problem.ridge * beta + program.problem.p


def somewhere(program: DeviceProgram, seed: int = 0) -> np.ndarray:
    """A feasible point with variables at either bound and between them."""
    draw = np.random.default_rng(seed).uniform(-0.5, 1.5, program.n)
    lower, upper = program.problem.lower, program.problem.upper
    room = np.where(np.isinf(upper - lower), 2.0, upper - lower)
    base = np.where(np.isinf(lower), upper - room, lower)
    return program.problem.repair(base + np.clip(draw, 0.0, 1.0) * room)


@pytest.mark.parametrize("kernel", [ROUGH, Polynomial(degree=2, gamma=0.5, coef0=1.0)])
def test_the_approximation_lies_below_the_matrix_and_meets_it_at_the_landmarks(
    kernel: Any,
) -> None:
    program = program_of(hinge_svc(Y, 1.0), kernel)
    approximation = nystroem.Approximation(program, 100)
    K, P = matrix_of(program), approximation.P.double().numpy()
    assert P.shape == (600, 100)
    missing = K - P @ P.T
    assert np.linalg.eigvalsh(missing)[0] > -2e-4 * np.diag(K).mean()
    met = np.diag(missing) < 1e-3 * np.diag(K).mean()
    assert met.sum() >= 100
    least = 1e-4 * np.maximum(np.diag(K), 1e-3 * np.diag(K).mean())
    rest = np.maximum(np.diag(missing), least)
    assert approximation.size == pytest.approx(np.diag(K).mean())
    assert approximation.mean_rest == pytest.approx(rest.mean(), rel=1e-4)
    np.testing.assert_allclose(
        approximation.D.numpy(), np.maximum(rest, 0.2 * rest.mean()), rtol=1e-3
    )


def test_of_all_points_the_approximation_is_the_matrix() -> None:
    program = program_of(hinge_svc(Y, 1.0))
    P = nystroem.Approximation(program, 10_000).P.double().numpy()
    np.testing.assert_allclose(P @ P.T, matrix_of(program), atol=2e-5)


def test_the_approximation_does_not_depend_on_the_unit_of_the_kernel() -> None:
    plain = nystroem.Approximation(program_of(hinge_svc(Y, 1.0)), 100)
    small = nystroem.Approximation(program_of(hinge_svc(Y, 1.0), 1e-4 * ROUGH), 100)
    np.testing.assert_allclose(100.0 * small.P, plain.P, atol=1e-4)
    np.testing.assert_allclose(1e4 * small.D, plain.D, rtol=1e-3)


def test_landmarks_are_as_many_as_bounds_rows_and_memory_ask_for(monkeypatch: Any) -> None:
    for name, value in {"FEW": 16, "USUAL": 32, "FEWEST": 8, "CHUNK": 0}.items():
        monkeypatch.setattr(nystroem, name, value)
    monkeypatch.setattr(nystroem, "NEAR_ROOM", 600 * 10.0)
    memory = float("inf")
    monkeypatch.setattr(nystroem, "free_memory", lambda device: memory)

    def rank(C: float) -> int | None:
        monkeypatch.setattr(nystroem, "CHUNK", 0)
        program = program_of(hinge_svc(Y, C))
        asked: list[int] = []
        monkeypatch.setattr(
            nystroem.Approximation, "__init__", lambda self, program, rank: asked.append(rank)
        )
        found = nystroem.Approximation.of(program)
        return None if found is None else asked[0]

    assert (rank(10.0), rank(10.1)) == (16, 32)
    # An entry of P takes 4 bytes, one of the equations of half of the variables 8.
    memory = 16 * 600 * (4.0 + 4.0)
    assert rank(10.1) == 8
    memory = 16 * 600 * (4.0 + 4.0) + 1.0
    assert rank(10.1) == 16
    memory = 8 * 600 * (4.0 + 4.0)
    assert rank(10.1) is None
    monkeypatch.setattr(nystroem, "CHUNK", 1)
    program = program_of(PROBLEMS["tube"][0], rows=PROBLEMS["tube"][1], points=X[:300])
    assert nystroem.Approximation.bytes_for(program, 10) == 4 * 10 * 300 + 8 * 10 * 300 + 16


def test_squares_are_summed_some_rows_at_a_time(monkeypatch: Any) -> None:
    P = torch.as_tensor(RANDOM.normal(size=(50, 7)))
    weights = torch.as_tensor(RANDOM.uniform(size=50))
    monkeypatch.setattr(squares, "CHUNK", 7 * 12)
    square = squares.RunningSquare(lambda at: P[at].float(), 7, weights)
    found = square.of(torch.arange(50)).numpy()
    np.testing.assert_allclose(found, P.numpy().T @ np.diag(weights) @ P.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_start_is_the_optimum_with_the_approximation(name: str, monkeypatch: Any) -> None:
    """Where nothing is left to correct, by the conditions of that program."""
    monkeypatch.setattr(nystroem, "SETTLED", 0.0)
    monkeypatch.setattr(nystroem, "TURNS", 60)
    problem, rows = PROBLEMS[name]
    program = program_of(problem, RBF(0.6), rows, X if rows is None else X[:300])
    approximation = nystroem.Approximation.of(program)
    assert approximation is not None
    state = nystroem.solve_approximately(program, approximation)
    assert state is not None
    beta = state.beta.numpy()
    P = approximation.P.double().numpy()
    P = P if rows is None else P[rows]
    D = np.maximum(approximation.D.numpy(), approximation.mean_rest)
    near = replace(problem, ridge=D)
    gap = near.kkt(beta, P @ (P.T @ beta) + D * beta + problem.p)[1]
    assert gap < 2e-5 * np.abs(problem.p).max(initial=1.0)
    assert abs(beta.sum() - problem.delta) < 1e-4 * np.abs(beta).sum()
    inside = (beta > problem.lower) & (beta < problem.upper)
    np.testing.assert_array_equal(state.free.numpy(), inside)
    moves = problem.upper > problem.lower
    raised = (beta >= problem.upper) & moves
    np.testing.assert_array_equal(state.raised.numpy()[moves], raised[moves])
    level = (P @ (P.T @ beta) + D * beta + problem.p + float(state.offset))[inside]
    np.testing.assert_allclose(level, 0.0, atol=1e-4)
    np.testing.assert_allclose(state.gradient.numpy(), gradient_at(program, beta), atol=1e-4)


def test_no_start_where_nothing_is_free() -> None:
    program = program_of(hinge_svc(Y, 1e-3))
    approximation = nystroem.Approximation.of(program)
    assert approximation is not None
    assert nystroem.solve_approximately(program, approximation) is None


def test_two_free_variables_are_a_start() -> None:
    program = program_of(hinge_svc(np.array([1.0, -1.0]), 10.0), points=X[:2])
    approximation = nystroem.Approximation.of(program)
    if approximation is None:
        approximation = nystroem.Approximation(program, 2)
    state = nystroem.solve_approximately(program, approximation)
    assert state is not None
    expected = 1.0 / (1.0 - matrix_of(program)[0, 1])
    np.testing.assert_allclose(state.beta, [expected, -expected], rtol=1e-3)


def approximated(program: DeviceProgram, rank: int = 128) -> tuple[Any, np.ndarray]:
    """An approximation, and the matrix that it stands for with the ridge."""
    approximation = nystroem.Approximation(program, rank)
    P = approximation.factor(torch.arange(program.n)).double().numpy()
    return approximation, P @ P.T + np.diag(approximation.D.numpy())


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube"])
def test_equations_of_the_approximation_are_solved_at_once(name: str) -> None:
    problem, rows = PROBLEMS[name]
    program = program_of(problem, rows=rows, points=X if rows is None else X[:300])
    approximation, M = approximated(program)
    at = torch.arange(0, 600, 3)
    some = M[np.ix_(at, at)]
    lean = Preconditioner(approximation, at)
    v = torch.as_tensor(np.random.default_rng(1).normal(size=len(at)))
    moved = lean.project(v)
    assert abs(float(moved.sum())) < 1e-6
    assert np.ptp(some @ moved.numpy() - v.numpy()) < 1e-4
    assert float(lean.normal.sum()) == pytest.approx(1.0)
    assert np.ptp(some @ lean.normal.numpy()) < 1e-4
    limits = Limits()
    matrix = torch.as_tensor(some)
    change, offset = conjugate_gradients(lambda d: matrix @ d, lean, v, 5.0, 1e-4, limits)
    np.testing.assert_allclose(some @ change.numpy() + float(offset), v.numpy(), atol=1e-4)
    assert float(change.sum()) == pytest.approx(5.0, abs=1e-4)
    assert limits.n_iter <= 3


def test_equations_of_the_matrix_are_solved_as_closely_as_asked_for() -> None:
    program = program_of(PROBLEMS["hinge"][0])
    at = torch.arange(0, 600, 2)
    K = torch.as_tensor(matrix_of(program)[np.ix_(at, at)])
    lean = Preconditioner(approximated(program)[0], at)
    right = torch.as_tensor(np.random.default_rng(2).normal(size=len(at)))
    counts = []
    for close in (0.1, 1e-2, 1e-6):
        limits = Limits()
        change, offset = conjugate_gradients(lambda d: K @ d, lean, right, -2.0, close, limits)
        off = (K @ change + offset - right).abs().max()
        assert float(off) <= 2.0 * close
        assert float(change.sum()) == pytest.approx(-2.0, abs=1e-4)
        counts.append(limits.n_iter)
    assert counts[0] < counts[1] < counts[2] <= 60
    even = torch.full_like(right, 1.0 / len(at))
    bare = SimpleNamespace(normal=even, project=lambda v: v - v.mean())
    limits = Limits()
    conjugate_gradients(lambda d: K @ d, bare, right, -2.0, 1e-6, limits)
    assert limits.n_iter > 1.5 * counts[2]


def test_what_waits_sees_every_step_later() -> None:
    problem, rows = PROBLEMS["tube"]
    for program in (
        program_of(squared_hinge_svc(Y, 3.0)),
        program_of(problem, rows=rows, points=X[:300]),
    ):
        state = State.at(program, somewhere(program))
        beta = state.beta.numpy().copy()
        np.testing.assert_allclose(state.gradient, gradient_at(program, beta), atol=2e-4)
        stays, fewer = torch.arange(600) % 4 == 0, torch.arange(600) % 12 == 0
        random = np.random.default_rng(3)
        moved = state.moved
        for step, everywhere in enumerate((True, False, False, False, True)):
            if step == 1:
                state.let_wait(torch.arange(600) % 4 != 0)  # too few would wait
                assert state.near is None
                state.let_wait(stays)
            if step == 3:
                state.let_wait(fewer)
                assert state.near.tolist() == fewer.nonzero()[:, 0].tolist()
                assert sorted(torch.cat([rows for rows, _ in state.waiting]).tolist()) == (
                    (~fewer).nonzero()[:, 0].tolist()
                )
            at = torch.as_tensor(random.choice(600, 40, replace=False))
            change = program.told(torch.as_tensor(random.normal(size=40)))
            state.move(program, at, change, everywhere)
            beta[at.numpy()] += change.numpy()
            moved += float(change @ change)
            seen = slice(None) if state.near is None else state.near.numpy()
            np.testing.assert_allclose(
                state.gradient.numpy()[seen], gradient_at(program, beta)[seen], atol=5e-4
            )
        assert state.near is None
        assert state.waiting == []
        np.testing.assert_allclose(state.beta, beta)
        assert state.moved == pytest.approx(moved)
        assert state.rounding() == pytest.approx(1.5e-7 * np.sqrt(moved))


def test_a_copy_shares_nothing() -> None:
    program = program_of(PROBLEMS["squared hinge"][0])
    state = State.at(program, somewhere(program))
    state.let_wait(torch.arange(600) % 4 == 0)
    other = state.copy()
    at = torch.arange(10)
    other.move(program, at, torch.ones(10, dtype=torch.double), everywhere=False)
    assert not torch.equal(other.beta, state.beta)
    state.catch_up(program)
    np.testing.assert_allclose(state.gradient, gradient_at(program, state.beta.numpy()), atol=5e-4)


def test_the_guess_of_a_point_is_where_its_variables_stand() -> None:
    program = program_of(PROBLEMS["weights, some without room"][0])
    problem = program.problem
    state = State.at(program, beta := somewhere(program))
    inside = (beta > problem.lower) & (beta < problem.upper)
    np.testing.assert_array_equal(state.free.numpy(), inside)
    np.testing.assert_array_equal(state.raised.numpy(), beta >= problem.upper)
    gap, rising, falling = program.gap(state.beta, state.gradient)
    down = -state.gradient.numpy()
    assert float(rising) == down[beta < problem.upper].max()
    assert float(falling) == down[beta > problem.lower].min()
    assert float(gap) == float(rising - falling)
    assert float(state.offset) == pytest.approx(0.5 * float(rising + falling))
    assert state.moved == pytest.approx(beta @ beta)


def test_a_guess_is_corrected_where_a_condition_is_broken() -> None:
    problem = QuadraticProgram(np.zeros(9), [0, 0, 0, 0, 0, 0, 0, 0, -1], [1] * 8 + [-1], 2.5)
    program = program_of(problem, points=np.eye(9, 8))
    free, raised = torch.zeros(9, dtype=torch.bool), torch.zeros(9, dtype=torch.bool)
    free[:4] = True
    raised[6:8] = True
    beta = torch.tensor([0.5, 1.5, -0.1, 1.0, 0, 0, 1, 1, -1], dtype=torch.double)
    slope = torch.tensor([0.2, -0.7, 0.0, 0.1, -0.5, 0.5, 0.4, -0.5, -9.0], dtype=torch.double)
    state = State(program, beta, free, raised, torch.tensor(2.0), slope - 2.0)
    guess = Guess.of(program, state, tol=1.0)
    assert guess.over.nonzero()[:, 0].tolist() == [1]
    assert guess.under.nonzero()[:, 0].tolist() == [2]
    assert guess.wrong.nonzero()[:, 0].tolist() == [4, 6]
    assert (guess.n_wrong, guess.n_free, guess.n_next) == (4, 4, 4)
    assert (guess.residual, guess.worst) == (pytest.approx(0.7), pytest.approx(0.5))
    guess.correct(state)
    assert state.free.nonzero()[:, 0].tolist() == [0, 3, 4, 6]
    assert state.raised.nonzero()[:, 0].tolist() == [1, 7]
    # What is a little off is right: a smaller share of the tolerance.
    assert Guess.of(program, state, tol=2.0).n_wrong == 0
    state.near = torch.tensor([0, 5])  # of rows that wait nothing is known
    assert not Guess.of(program, state, tol=0.1).wrong.any()


def solved_by_newton(name: str, tol: float = 1e-3) -> tuple[DeviceProgram, State, Newton, bool]:
    problem, rows = PROBLEMS[name]
    program = program_of(problem, RBF(0.6), rows, X if rows is None else X[:300])
    approximation = nystroem.Approximation.of(program)
    assert approximation is not None
    state = nystroem.solve_approximately(program, approximation)
    assert state is not None
    newton = Newton(approximation, tol, Limits())
    return program, state, newton, newton.run(program, state)


@pytest.mark.parametrize(
    ("name", "products"),
    [("hinge", 60), ("weights, some without room", 60), ("squared hinge", 30), ("tube", 90)],
)
def test_newtons_method_comes_from_the_start_to_the_optimum(name: str, products: int) -> None:
    program, state, newton, worked = solved_by_newton(name)
    assert worked
    assert newton.limits.n_iter <= products
    beta = np.clip(state.beta.numpy(), program.problem.lower, program.problem.upper)
    np.testing.assert_allclose(state.gradient, gradient_at(program, beta), atol=5e-4)
    assert program.problem.kkt(beta, gradient_at(program, beta))[1] <= 1e-3
    assert abs(beta.sum() - program.delta) < 1e-4


@pytest.mark.parametrize(
    ("wrong", "more", "steps"),
    [
        ([9, 9, 9, 9, 9, 9], {}, 3),
        ([9, 8, 8, 7, 7, 7, 7, 7], {}, 6),
        ([9, 8, 9, 9, 8, 7, 6], {}, 4),
        ([9, 8, 9, 9, 7, 9, 9, 6, 5, 4, 0], {}, 10),
        ([9, 8], {"n_next": 1}, 0),
        ([9, 0], {"n_next": 2}, 1),
        ([9, 8], {"worst": float("nan")}, 0),
        ([0, -1], {"residual": 0.35}, 1),
    ],
)
def test_newtons_method_gives_up_after_three_turns_without_headway(
    wrong: list[int], more: dict[str, Any], steps: int, monkeypatch: Any
) -> None:
    """The numbers of wrong guesses are given, of which -1 stands for none and no residual."""
    left, taken = iter(wrong), []
    nothing = torch.zeros(600, dtype=torch.bool)

    def given(*arguments: Any) -> Any:
        n_wrong = next(left)
        numbers = {"n_free": 50, "n_next": 50, "residual": 0.0, "worst": 1.0} | more
        numbers |= {"residual": 0.0} if n_wrong < 0 else {}
        distance = torch.zeros(600)
        return SimpleNamespace(
            n_wrong=max(0, n_wrong), distance=distance, correct=lambda state: None, **numbers
        )

    monkeypatch.setattr(Guess, "of", given)
    monkeypatch.setattr(Newton, "_step", lambda *arguments: taken.append(1) or True)
    program = program_of(PROBLEMS["hinge"][0])
    state = State(program, program.p * 0.0, nothing, nothing, program.p[0], program.p)
    newton = Newton(None, 1.0, Limits())
    assert newton.run(program, state, looks_first=True) == (wrong[-1] <= 0)
    assert len(taken) == steps


def test_newtons_method_stops_at_the_limit_of_products() -> None:
    problem, _ = PROBLEMS["hinge"]
    program = program_of(problem)
    approximation = nystroem.Approximation.of(program)
    assert approximation is not None
    state = nystroem.solve_approximately(program, approximation)
    assert state is not None
    newton = Newton(approximation, 1e-3, Limits(max_iter=5))
    assert not newton.run(program, state)
    assert newton.limits.reason == "max_iter"


@pytest.fixture(name="levels")
def levels_of_the_path(monkeypatch: Any) -> list[tuple[float, bool]]:
    """The largest bound of each program on the path, and whether it was solved."""
    found: list[tuple[float, bool]] = []
    run = Newton.run

    def noted(self: Newton, program: DeviceProgram, *arguments: Any) -> bool:
        worked = run(self, program, *arguments)
        found.append((float(program.upper.max()), worked))
        return worked

    monkeypatch.setattr(Newton, "run", noted)
    monkeypatch.setattr(path, "FEW_ROWS", 0)
    monkeypatch.setattr(path, "MANY_FREE", 0.0)
    return found


def walked(problem: QuadraticProgram, kernel: Any, points: Any) -> tuple[Any, Any, Newton]:
    program = program_of(problem, kernel, points=points).exactly()
    approximation = nystroem.Approximation.of(program)
    assert approximation is not None
    newton = Newton(approximation, 1e-3, Limits())
    return program, path.solve_along_path(program, approximation, newton), newton


def test_the_path_widens_bounds_step_by_step(levels: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(path, "FAIR_ROOM", 0.03 * 600 * 10.0)
    program, state, newton = walked(PROBLEMS["hinge"][0], ROUGH, X)
    bounds, worked = zip(*levels)
    assert all(worked)
    steps = np.array(bounds[1:]) / bounds[:-1]
    assert bounds[0] == pytest.approx(0.3)
    assert bounds[-1] == 10.0
    np.testing.assert_allclose(steps, (1 / 0.03) ** (1 / 3))
    assert newton.limits.n_iter <= 100
    beta = state.beta.numpy()
    assert program.problem.kkt(beta, gradient_at(program, beta))[1] <= 1e-3


def test_the_path_goes_back_where_a_step_was_too_wide(levels: Any, monkeypatch: Any) -> None:
    """Steps of more than twice the bounds fail here, and leave nothing that is of use."""
    run = Newton.run

    def choosy(self: Newton, program: DeviceProgram, state: State, *arguments: Any) -> bool:
        bound = float(program.upper.max())
        if bound > 2.0 * max([0.5, *(one for one, worked in levels if worked)]):
            levels.append((bound, False))
            state.beta += 1.0
            state.gradient += 1.0
            return False
        return run(self, program, state, *arguments)

    monkeypatch.setattr(Newton, "run", choosy)
    monkeypatch.setattr(path, "FAIR_ROOM", 0.1 * 600 * 10.0)
    program, state, newton = walked(PROBLEMS["hinge"][0], ROUGH, X)
    beta = state.beta.numpy()
    assert program.problem.kkt(beta, gradient_at(program, beta))[1] <= 1e-3
    assert newton.limits.n_iter <= 120
    root = 10.0**0.25
    expected = [1.0, root**2, root, root**2, root**3, 10.0]
    assert [bound for bound, _ in levels] == pytest.approx(expected)
    assert [worked for _, worked in levels] == [True, False, True, True, True, True]
    levels.clear()
    monkeypatch.setattr(path, "LEAST_FACTOR", root + 0.01)
    assert walked(PROBLEMS["hinge"][0], ROUGH, X)[1] is None
    assert len(levels) == 2


def test_the_path_begins_where_the_approximation_is_fair(monkeypatch: Any) -> None:
    def first_scale(problem: QuadraticProgram) -> float:
        program = program_of(problem)
        return path._first_scale(program, nystroem.Approximation(program, 100))

    monkeypatch.setattr(path, "FAIR_ROOM", 600.0)
    monkeypatch.setattr(path, "MANY_FREE", 0.0)
    for few, C, scale in [(600, 1.0, 1.0), (600, 10.0, 0.1), (1200, 10.0, 0.2), (60, 10.0, 0.1)]:
        monkeypatch.setattr(path, "FEW_ROWS", few)
        assert program_of(hinge_svc(Y, C)).room == pytest.approx(600 * C)
        assert first_scale(hinge_svc(Y, C)) == pytest.approx(scale)
    approximation = nystroem.Approximation(program_of(hinge_svc(Y, 10.0)), 100)
    rest = approximation.mean_rest / approximation.size
    monkeypatch.setattr(path, "MANY_FREE", 12.0 * rest)
    assert first_scale(hinge_svc(Y, 10.0)) == pytest.approx(12.0 * 100 / 6000)
    assert first_scale(PROBLEMS["squared hinge"][0]) == 1.0
    assert program_of(one_class(600, 0.5)).room == float("inf")
    scaled = program_of(hinge_svc(Y, 2.0), Polynomial(2, gamma=1.0, coef0=1.0))
    diagonal = np.diag(matrix_of(scaled)).mean()
    assert scaled.room == pytest.approx(600 * 2.0 * diagonal)
    half = replace(hinge_svc(Y, 1.0), p=-0.5 * Y)
    assert program_of(half).room == pytest.approx(2 * 600.0)


def test_a_path_is_for_rough_kernels_and_a_sum_of_zero() -> None:
    def may(problem: QuadraticProgram, kernel: Any) -> bool:
        program = program_of(problem, kernel)
        approximation = nystroem.Approximation.of(program)
        assert approximation is not None
        return path.has_path(program, approximation)

    assert may(hinge_svc(Y, 1.0), ROUGH)
    assert may(hinge_svc(Y, 1.0), 7.0 * ROUGH)
    assert not may(hinge_svc(Y, 1.0), RBF(1e-3))
    assert not may(one_class(600, 0.5), ROUGH)


def steps_at(program: DeviceProgram, beta: np.ndarray, smo: Any, **limits: Any) -> Any:
    gradient = torch.as_tensor(gradient_at(program, beta))
    return block_smo.BlockSmo(program, torch.as_tensor(beta), gradient, Limits(**limits), smo)


def test_a_working_set_holds_the_worst_of_both_sides(monkeypatch: Any) -> None:
    monkeypatch.setattr(block_smo, "BLOCK", 40)
    program = program_of(PROBLEMS["weights, some without room"][0])
    problem, beta = program.problem, somewhere(program)
    steps = steps_at(program, beta, None)
    gradient = steps.gradient.numpy()
    rises = np.where(beta < problem.upper, -gradient, -np.inf)
    up = set(np.argsort(-rises)[:10].tolist())
    falls = np.where(beta > problem.lower, gradient, -np.inf)
    falls[list(up)] = -np.inf
    down = set(np.argsort(-falls)[:10].tolist())
    assert set(steps._working_set().tolist()) == up | down
    others = [i for i in range(600) if i not in up | down]
    steps.kept = torch.tensor([*sorted(down), *others[:30]])
    found = steps._working_set().tolist()
    assert len(set(found)) == len(found) == 40
    assert set(found) == up | down | set(others[:20])


@pytest.mark.parametrize("exact", [False, True])
def test_blocks_are_solved_for_where_the_others_stand(exact: bool, monkeypatch: Any) -> None:
    """The program of a block is that of all variables with the others fixed."""
    monkeypatch.setattr(block_smo, "BLOCK", 40)
    program = program_of(squared_hinge_svc(Y, 2.0))
    program = program.exactly() if exact else program
    beta = somewhere(program)
    K = matrix_of(program)
    asked = []

    def smo(programs: Any, gram: Any, tol: float, limits: Any, start: Any) -> Any:
        asked.append((next(iter(programs)), gram.matrix(), tol, start))
        shift = np.zeros(len(start))
        shift[:2] = 0.25, -0.25
        return start + shift

    steps = steps_at(program, beta.copy(), smo)
    at = steps._working_set().numpy()
    gap = program.problem.kkt(beta, steps.gradient.numpy())[1]
    steps._round(gap, 1e-3)
    own, matrix, tol, start = asked[0]
    np.testing.assert_allclose(matrix, K[np.ix_(at, at)], atol=1e-6)
    np.testing.assert_array_equal(start, beta[at])
    assert tol == pytest.approx(0.1 * gap)
    inner = own.p + matrix @ start + own.ridge * start
    np.testing.assert_allclose(inner, gradient_at(program, beta)[at], atol=1e-9)
    assert own.delta == pytest.approx(start.sum())
    np.testing.assert_array_equal(own.upper, program.problem.upper[at])
    after = beta.copy()
    after[at[:2]] += [0.25, -0.25]
    after = np.clip(after, program.problem.lower, program.problem.upper)
    np.testing.assert_allclose(steps.beta.numpy(), after)
    assert steps.moved == pytest.approx(2 * 0.25**2)
    moved = beta.copy()
    moved[at[:2]] += [0.25, -0.25]
    np.testing.assert_allclose(steps.gradient, gradient_at(program, moved), atol=1e-6)
    assert steps.kept.tolist() == at.tolist()
    steps._round(1e-9, 1e-3)
    assert asked[1][2] == pytest.approx(0.5e-3)


def test_steps_that_change_nothing_come_to_an_end(monkeypatch: Any) -> None:
    monkeypatch.setattr(block_smo, "BLOCK", 40)
    monkeypatch.setattr(block_smo, "FEWEST", 5)
    monkeypatch.setattr(block_smo, "PATIENCE", 0.1)
    program = program_of(PROBLEMS["hinge"][0])
    rounds = []

    def idle(programs: Any, gram: Any, tol: float, limits: Any, start: Any) -> Any:
        rounds.append(tol)
        return start

    steps = steps_at(program, np.zeros(600), idle)
    assert steps.run(1e-3, 1e-3) == pytest.approx(2.0)
    assert len(rounds) == 5
    monkeypatch.setattr(block_smo, "PATIENCE", 1)
    rounds.clear()
    steps.run(1e-3, 1e-3)
    assert len(rounds) == 600 // 20
    assert steps.run(2.0, 1e-3) == pytest.approx(2.0)
    assert len(rounds) == 30


def disturbed(program: DeviceProgram, beta: np.ndarray, noise: float) -> State:
    state = State.at(program, beta)
    random = np.random.default_rng(5)
    exact = torch.as_tensor(gradient_at(program, beta))
    state.gradient = exact + noise * torch.as_tensor(random.normal(size=program.n))
    return state


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube"])
def test_the_true_gap_is_that_of_exact_products(name: str) -> None:
    problem, rows = PROBLEMS[name]
    program = program_of(problem, rows=rows, points=X if rows is None else X[:300])
    for seed in range(5):
        beta = somewhere(program, seed)
        exact = gradient_at(program, beta)
        for noise in (1e-4, 1e-2):
            state = disturbed(program, beta, noise)
            found = verdict.true_gap(program, state, 1e6)
            assert found == pytest.approx(problem.kkt(beta, exact)[1], abs=1e-10)
            assert state.is_judged
        renewed = disturbed(program, beta, 1.0)
        renewed.moved = 1e16
        assert verdict.true_gap(program, renewed, 1.0) == pytest.approx(found, abs=1e-10)
        np.testing.assert_allclose(renewed.gradient, exact, atol=1e-3)
        waits = disturbed(program, beta, 0.0)
        waits.let_wait(torch.arange(600) < 10)
        waits.gradient[10:] = 1e3
        assert verdict.true_gap(program, waits, 1.0) == pytest.approx(found, abs=1e-10)


def test_only_rows_that_may_decide_are_computed_exactly(monkeypatch: Any) -> None:
    program = program_of(PROBLEMS["hinge"][0])
    beta = somewhere(program)
    counts = []
    exactly = verdict.exact_gradient

    def counted(program: Any, state: Any, at: Any) -> Any:
        counts.append(len(at))
        return exactly(program, state, at)

    monkeypatch.setattr(verdict, "exact_gradient", counted)
    verdict.true_gap(program, disturbed(program, beta, 1e-7), 1e6)
    assert counts[0] == 256
    assert counts[1] < 20
    state = disturbed(program, beta, 1e-3)
    counts.clear()
    exact = program.exactly()
    verdict.true_gap(exact, disturbed(exact, beta, 1e-3), 1e6)
    assert counts == []  # its products are exact as they are
    verdict.true_gap(program, state, 1e6)
    assert counts[1] == np.count_nonzero(beta)  # the objective needs their gradient
    objective = 0.5 * beta @ (state.gradient.numpy() + program.problem.p)
    exactly_so = 0.5 * beta @ (gradient_at(program, beta) + program.problem.p)
    assert objective == pytest.approx(exactly_so, rel=1e-12)
    counts.clear()
    verdict.true_gap(program, state, 1e6)
    assert counts == []  # what is judged is not judged again


def test_digits_of_an_objective_near_zero_are_looked_after() -> None:
    """Its two parts, one of them negative, are large beside it."""
    program = program_of(PROBLEMS["hinge"][0])
    beta = somewhere(program)
    quadratic, linear = beta @ matrix_of(program) @ beta, program.problem.p @ beta
    for share, is_near_zero in ((-2.0 * linear / quadratic, True), (0.1, False)):
        point = share * beta
        state = disturbed(program, point, 1e-9)
        before = state.gradient.clone()
        verdict._repair_objective(program, state, 1e-9)
        if is_near_zero:
            used = np.flatnonzero(point)
            exact = gradient_at(program, point)[used]
            np.testing.assert_allclose(state.gradient.numpy()[used], exact, atol=1e-12)
        else:
            assert torch.equal(state.gradient, before)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_point_off_its_sum_and_bounds_is_repaired(name: str) -> None:
    problem, rows = PROBLEMS[name]
    program = program_of(problem, rows=rows, points=X if rows is None else X[:300])
    beta = somewhere(program)
    state = State.at(program, beta)
    at = torch.arange(600)
    change = torch.as_tensor(1e-6 * np.random.default_rng(6).normal(size=600))
    state.move(program, at, change)
    fixed = _repaired(program, state)
    assert problem.contains(fixed.beta.numpy())
    assert abs(float(fixed.beta.sum()) - problem.delta) <= 1e-12 * np.abs(beta).sum()
    assert np.abs(fixed.beta.numpy() - beta).max() < 1e-4
    np.testing.assert_allclose(fixed.gradient, gradient_at(program, fixed.beta.numpy()), atol=2e-4)


@pytest.mark.parametrize(("max_iter", "expected"), [(-1, [False, True]), (3, [False])])
def test_exact_products_go_on_where_fast_ones_do_not_reach_the_gap(
    max_iter: int, expected: list[bool], monkeypatch: Any
) -> None:
    module = sys.modules["mercer.solvers.device.solve"]
    monkeypatch.setattr(module, "true_gap", lambda *arguments: 1.0)
    monkeypatch.setattr(Newton, "run", lambda *arguments, **named: False)
    monkeypatch.setattr(sys.modules["mercer.solvers.solve"], "SMALL", 0)
    found = []

    class Noted(block_smo.BlockSmo):
        def __init__(self, program: DeviceProgram, *arguments: Any) -> None:
            found.append(program.is_exact)
            super().__init__(program, *arguments)

    monkeypatch.setattr(module, "BlockSmo", Noted)
    gram = DeviceGram(ROUGH.pairwise_form(), X, torch.device("cpu"))
    solution = solve(hinge_svc(Y, 1.0), gram, tol=1e-2, max_iter=max_iter)
    assert found == expected
    assert solution.converged == (max_iter < 0)


@pytest.mark.parametrize("name", ["hinge", "squared hinge"])
def test_newton_steps_from_exact_gradients_reach_the_true_gap(name: str) -> None:
    program, state, newton, worked = solved_by_newton(name, tol=1e-4)
    assert worked
    state = _repaired(program, state)
    state.is_judged = False
    assert _refined(program, state, 1e-4, newton.limits, newton)
    beta = state.beta.numpy()
    assert program.problem.contains(beta)
    assert program.problem.kkt(beta, gradient_at(program, beta))[1] <= 1e-4
