"""The path of solutions from tight bounds to the bounds that are meant."""

from __future__ import annotations

from math import ceil, log

from mercer.solvers.device.newton import Newton
from mercer.solvers.device.nystroem import Approximation, solve_approximately
from mercer.solvers.device.program import DeviceProgram, State

FAIR_ROOM, FEW_ROWS = 1e5, 40_000
"""Room up to which the approximation is a fair start, and rows of which it may be as much more as
they are fewer: of 20,000 rows in sixteen clusters, C = 10, a start at once took 90 ms instead of
122, of 100,000 rows one at twice this room 546 instead of 375."""

MANY_FREE = 20.0
"""How many times as many rows as landmarks have to lie, relative to the bounds, within the rest
beside the approximation at the start. With fewer, fewer variables are free than the approximation
has directions, and corrections go astray: of three million rows with a rest of .025, 82 were free
at bounds of .033, and the exact gap was 370."""

FACTOR = 3.5
"""By how much bounds widen at most from one solution to the next."""

LEAST_FACTOR = 1.1

ROUGH = 0.2
"""Share of wrong guesses with which the path goes on before its end; .1 takes 3 to 5 % longer."""

SMOOTHEST_KERNEL = 0.1
"""Rest beside the approximation, relative to the diagonal, from which on the path works for up to
`FEW_ROWS`: below, the kernel is so smooth that few variables are free at the start. Of more rows
more are, and for steps of two variables there are too many."""


def has_path(program: DeviceProgram, approximation: Approximation) -> bool:
    """Say whether the bounds can be tightened, and whether that is likely to help."""
    if program.delta != 0.0:
        return False
    smoothest = SMOOTHEST_KERNEL * min(1.0, FEW_ROWS / program.n)
    return approximation.mean_rest > smoothest * approximation.size


def solve_along_path(
    program: DeviceProgram, approximation: Approximation, newton: Newton
) -> State | None:
    """Return the state at the solution, or on the way there at a limit; None where it fails."""
    scale = _first_scale(program, approximation)
    levels = ceil(-log(scale) / log(FACTOR) - 1e-9)
    factor = (1.0 / scale) ** (1.0 / levels) if levels else FACTOR
    state = solve_approximately(program.scaled(scale), approximation)
    if state is None:
        return None
    good: tuple[float, State] | None = None
    while True:
        scale = 1.0 if scale > 1.0 - 1e-9 else scale
        is_there = newton.run(program.scaled(scale), state, 0.0 if scale == 1.0 else ROUGH)
        if is_there and scale == 1.0:
            return state
        if newton.limits.reason is not None:
            return state
        if is_there:
            good = scale, state.copy()
        else:
            factor **= 0.5
            if good is None or factor < LEAST_FACTOR:
                return None
            scale, state = good[0], good[1].copy()
        scale *= factor


def _first_scale(program: DeviceProgram, approximation: Approximation) -> float:
    """Return what to multiply the bounds with at first; endless ones do not change."""
    if not 0.0 < program.room < float("inf"):
        return 1.0
    fair = FAIR_ROOM * max(1.0, FEW_ROWS / program.n)
    rest = approximation.mean_rest / approximation.size
    wide = MANY_FREE * approximation.P.shape[1] / rest
    return min(1.0, max(fair, wide) / program.room)
