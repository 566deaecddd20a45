"""A program for many prices of slack on a device, each from the solution before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.gram.device import DeviceGram
from mercer.gram.device.memory import in_its_memory
from mercer.problems import QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers.device.newton import Newton
from mercer.solvers.device.nystroem import Approximation
from mercer.solvers.device.path import has_path, solve_along_path
from mercer.solvers.device.program import DeviceProgram, State
from mercer.solvers.device.solve import finished, inner_solver, refined, repaired, solve_by_steps
from mercer.solvers.errors import UnsuitedError
from mercer.solvers.solution import Solution


@in_its_memory
def solve_prices_on_device(
    problem: QuadraticProgram,
    gram: DeviceGram,
    prices: Any,
    options: Any,
    smo_all: Callable[..., Any],
) -> list[tuple[Solution, Any]]:
    """Return the solution for each of rising prices, and K times its variables.

    Parameters
    ----------
    problem : QuadraticProgram
        The program of price 1; its variables sum to 0.
    gram : DeviceGram
    prices : sequence of float
        Each multiplies the bounds and divides the ridge.
    options : Options
        Their limits are those of each price.
    smo_all : callable
        The solver of small programs on the processor.
    """
    base = DeviceProgram(problem, gram, None)
    if not gram.allows_single(options.tol):
        base = base.exactly()
    approximation = Approximation.of(base)
    if approximation is None or not has_path(base, approximation):
        raise UnsuitedError("The kernel is smooth: the processor is faster.")
    found: list[tuple[Solution, Any]] = []
    state: State | None = None
    before = base
    for price in prices:
        program = base.priced(float(price))
        if state is not None:
            state.regrade(program, before)
        before = program
        limits = Limits(options.max_iter, options.time_limit, options.callback)
        state = _next(program, approximation, state, options, limits, smo_all)
        solution = finished(program, state, options.tol, limits)
        found.append((solution, program.problem.image(solution.beta, solution.gradient)))
        if solution.status == "interrupted":
            break
    return found


def _next(
    program: DeviceProgram,
    approximation: Approximation,
    state: State | None,
    options: Any,
    limits: Limits,
    smo_all: Callable[..., Any],
) -> State:
    """Return the state at the solution of a program, given that at a lower price."""
    newton, tol = Newton(approximation, options.tol, limits), options.tol
    if state is None:
        moved = solve_along_path(program, approximation, newton)
    else:
        reached = state.beta.cpu().numpy()
        moved = state if newton.run(program, state) else None
    if moved is not None:
        moved = repaired(program, moved)
        if refined(program, moved, tol, limits, newton):
            return moved
    start = program.problem.feasible_point() if state is None else program.problem.repair(reached)
    begin = State.at(program, start)
    return solve_by_steps(program, begin, None, tol, limits, inner_solver(smo_all, options))
