"""The true gap of a state: in float64 wherever rounding of fast products may decide."""

from __future__ import annotations

import torch

from mercer.solvers.device.program import DeviceProgram, State

PROBED = 256
"""Rows on which the rounding of fast products is measured."""

SAFETY = 6.0
"""How many times the root mean square error no row's error is taken to exceed: the errors of a
row are a sum of many independent ones, of which one in a billion is larger."""

RENEWED = 0.05
"""Share of ``tol`` from which on rounding of the steps so far is removed first."""


def true_gap(program: DeviceProgram, state: State, tol: float) -> float:
    """Return the gap, after what rounding has done to the gradient is repaired where it matters.

    Parameters
    ----------
    program : DeviceProgram
    state : State
        Feasible; its gradient is changed.
    tol : float
        The gap asked for.

    Returns
    -------
    float
    """
    if not (program.is_exact or state.is_judged):
        if state.rounding() > RENEWED * tol or state.near is not None:
            state.renew(program)
        error = _error(program, state)
        _repair_objective(program, state, error)
        reach = SAFETY * error
        _, rising, falling = program.gap(state.beta, state.gradient)
        down = -state.gradient
        near_top = (state.beta < program.upper) & (down >= rising - 2.0 * reach)
        near_bottom = (state.beta > program.lower) & (down <= falling + 2.0 * reach)
        at = (near_top | near_bottom).nonzero()[:, 0]
        state.gradient[at] = exact_gradient(program, state, at)
        state.is_judged = True
    return max(0.0, float(program.gap(state.beta, state.gradient)[0]))


def _repair_objective(program: DeviceProgram, state: State, error: float) -> None:
    """Take the gradient of support vectors in float64 where its error shows in the objective."""
    objective = 0.5 * float(state.beta @ (state.gradient + program.p))
    if 1.5 * error * float(state.beta.norm()) > OBJECTIVE_DIGITS * abs(objective):
        at = state.beta.nonzero()[:, 0]
        state.gradient[at] = exact_gradient(program, state, at)


OBJECTIVE_DIGITS = 1e-7
"""Error of the objective, relative to it, that is let pass: three standard deviations."""


def exact_gradient(program: DeviceProgram, state: State, at: torch.Tensor | None) -> torch.Tensor:
    """Return the gradient of some rows, or of all, in float64."""
    columns = state.beta.nonzero()[:, 0]
    where = slice(None) if at is None else at
    exact = program.exactly()
    own = program.p[where] + program.ridge[where] * state.beta[where]
    if not len(columns):
        return own
    product = exact.points.exact_times(
        exact.point_of(at), exact.point_of(columns), state.beta[columns]
    )
    return own + product


def _error(program: DeviceProgram, state: State) -> float:
    """Return the root mean square error of the gradient, measured on some rows."""
    count = min(PROBED, program.n)
    at = torch.linspace(0, program.n - 1, count, device=program.device).long()
    error = state.gradient[at] - exact_gradient(program, state, at)
    return float(error.square().mean().sqrt())
