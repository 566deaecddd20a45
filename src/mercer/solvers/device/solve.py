"""The solver of programs whose kernel matrix is on a device."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from mercer.gram import Gram, finite
from mercer.gram.base import Indices
from mercer.gram.device import DeviceGram
from mercer.gram.device.memory import in_its_memory, require_memory
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers.device.block_smo import BlockSmo
from mercer.solvers.device.newton import Newton
from mercer.solvers.device.nystroem import Approximation, solve_approximately
from mercer.solvers.device.path import has_path, solve_along_path
from mercer.solvers.device.program import DeviceProgram, State
from mercer.solvers.device.verdict import exact_gradient, true_gap
from mercer.solvers.solution import Solution, Status

SWITCH = 1.0
"""Gap, relative to p, at which Newton's method takes over from steps of two variables."""

FURTHER = 4.0
"""By how much the gap of the next attempt is smaller where one failed."""

REFINEMENTS = 4
"""Times that Newton's method goes on from a gradient in float64."""

VECTORS = 40
"""Vectors of the length of the program that work takes at most."""


@in_its_memory
def solve_on_device(
    problem: QuadraticProgram,
    gram: DeviceGram,
    options: Any,
    smo_all: Callable[..., Any],
    *,
    rows: Indices | None = None,
    tol: float,
    warm_start: Any = None,
) -> Solution:
    """Solve a program with products from a device.

    The path of solutions from tight bounds to those meant, by Newton's method, is tried first where
    the kernel is rough and the variables sum to zero; else, and where it fails, block SMO comes
    near and Newton's method finishes. The gap is that of a gradient in float64 on all rows that
    could determine it.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : DeviceGram
    options : Options
    smo_all : callable
        The solver of small programs on the processor.
    rows : ndarray of int or None, default=None
        The row of the matrix that each variable has; None stands for all in turn.
    tol : float
        The gap asked for.
    warm_start : Solution, StartingPoint, array-like or None, default=None

    Returns
    -------
    Solution
    """
    finite(gram.diag())
    needed = 8.0 * VECTORS * problem.n
    require_memory(gram.device, needed, f"A program of {problem.n} variables")
    limits = Limits(options.max_iter, options.time_limit, options.callback)
    program = DeviceProgram(problem, gram, rows)
    if not gram.allows_single(tol):
        program = program.exactly()
    start = None
    if warm_start is not None:
        given = warm_start.start if hasattr(warm_start, "start") else warm_start
        start = problem.repair(given)
    inner = _inner_solver(smo_all, options)
    state = _solved(program, tol, limits, inner, start)
    return _finished(program, state, tol, limits)


def _inner_solver(smo_all: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """Return the solver of working sets."""

    def solve(programs: Programs, gram: Gram, tol: float, limits: Limits, start: Any) -> Any:
        left = limits.remaining()
        most = -1 if limits.max_iter < 0 else max(1, limits.max_iter - limits.n_iter)
        own = replace(
            options,
            solver="smo",
            tol=tol,
            max_iter=most,
            time_limit=None if math.isinf(left) else left,
            callback=None,
        )
        found = smo_all(programs, gram, own, warm_start=start)
        limits.n_iter += int(found.n_iter.sum())
        return found.beta

    return solve


def _solved(
    program: DeviceProgram, tol: float, limits: Limits, smo: Callable[..., Any], start: Any
) -> State:
    """Return the state that the methods come to, one after the other."""
    approximation = Approximation.of(program)
    state = None
    if approximation is not None:
        newton = Newton(approximation, tol, limits)
        state = _by_newton(program, approximation, newton, start)
    if state is not None:
        state = _repaired(program, state)
        if _refined(program, state, tol, limits, newton):
            return state
        start = state.beta.cpu().numpy()
    state = State.at(program, program.problem.feasible_point() if start is None else start)
    return _by_steps(program, state, approximation, tol, limits, smo)


def _by_newton(
    program: DeviceProgram, approximation: Approximation, newton: Newton, start: Any
) -> State | None:
    """Return the state that Newton's method alone comes to, or None where it fails."""
    if start is not None and start.any():
        begin = State.at(program, start)
        state = begin.copy()
        if newton.run(program, state, looks_first=True):
            return state
        return _lower(program, begin, state) if newton.limits.reason is not None else None
    if has_path(program, approximation):
        return solve_along_path(program, approximation, newton)
    if program.ridge.any():
        near = solve_approximately(program, approximation)
        if near is not None and (newton.run(program, near) or newton.limits.reason is not None):
            return near
    return None


def _lower(program: DeviceProgram, begin: State, state: State) -> State:
    """Return that of two states whose objective is lower, for a method that was stopped."""
    state = _repaired(program, state)
    before, after = (float(one.beta @ (one.gradient + program.p)) for one in (begin, state))
    return state if after < before else begin


def _refined(
    program: DeviceProgram, state: State, tol: float, limits: Limits, newton: Newton
) -> bool:
    """Bring the true gap of a state below ``tol`` by Newton steps from gradients in float64."""
    for _ in range(REFINEMENTS):
        if true_gap(program, state, tol) <= tol:
            return True
        if limits.stop():
            return True  # what there is
        state.gradient = exact_gradient(program, state, None)
        guess = State.of(program, state.beta, state.gradient)
        if not newton.run(program, guess, looks_first=True):
            return False
        fixed = _repaired(program, guess)
        state.beta, state.gradient, state.moved = fixed.beta, fixed.gradient, fixed.moved
    return true_gap(program, state, tol) <= tol


def _by_steps(
    program: DeviceProgram,
    state: State,
    approximation: Approximation | None,
    tol: float,
    limits: Limits,
    smo: Callable[..., Any],
) -> State:
    """Solve by block SMO, with Newton's method as its finish where that works."""
    steps = BlockSmo(program, state.beta, state.gradient, limits, smo)
    until = SWITCH * float(program.p.abs().mean()) or 0.1 * float(
        program.gap(state.beta, state.gradient)[0]
    )
    while True:
        gap = steps.run(max(until, 0.5 * tol), tol)
        state = State.of(program, steps.beta, steps.gradient)
        state.moved = steps.moved
        if gap <= tol or gap > max(until, 0.5 * tol):  # done, or nothing helps
            break
        if approximation is not None:
            newton, attempt = Newton(approximation, tol, limits), state.copy()
            if newton.run(program, attempt, looks_first=True):
                attempt = _repaired(program, attempt)
                if _refined(program, attempt, tol, limits, newton):
                    return attempt
        until /= FURTHER
    if not program.is_exact and true_gap(program, state, tol) > tol and limits.reason is None:
        exact = program.exactly()
        state.gradient = exact_gradient(program, state, None)
        steps = BlockSmo(exact, state.beta, state.gradient, limits, smo)
        steps.run(0.9 * tol, tol)
    return state


def _repaired(program: DeviceProgram, state: State) -> State:
    """Make a point feasible whose sum rounding has moved, and bring its gradient up to date."""
    state.catch_up(program)
    beta = torch.minimum(torch.maximum(state.beta, program.lower), program.upper)
    inner = (beta > program.lower) & (beta < program.upper)
    missing = program.delta - beta.sum()
    shared = torch.where(inner, beta + missing / inner.sum(), beta)
    is_inside = ((shared >= program.lower) & (shared <= program.upper)).all()
    if bool(is_inside & inner.any()):
        beta = shared
    elif bool(missing != 0.0):
        beta = program.sent(program.problem.repair(beta.cpu().numpy()))
    change = beta - state.beta
    if float(change.abs().max()) > NEGLIGIBLE * float(beta.abs().max()):
        at = change.nonzero()[:, 0]
        state.move(program, at, change[at])
    state.beta = beta
    return state


NEGLIGIBLE = 1e-9
"""Change of a variable, relative to the largest, that no gradient shows."""


def _finished(program: DeviceProgram, state: State, tol: float, limits: Limits) -> Solution:
    """Return a state as other solvers return it."""
    status: Status = limits.reason or "stalled"
    if not state.is_judged:
        state = _repaired(program, state)
        true_gap(program, state, tol)
    beta, gradient = state.beta.cpu().numpy(), state.gradient.cpu().numpy()
    return Solution.at(
        program.problem, beta, gradient, tol=tol, n_iter=limits.n_iter, status=status
    )
