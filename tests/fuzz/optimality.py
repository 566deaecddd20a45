"""What the solution of a program has to satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._engine import FEW_VARIABLES
from mercer.gram.computed import SINGLE_PRECISION_TOL
from mercer.kernels import RBF
from tests.oracles import kkt_residual, rounding, snapped

from .machines import MAKERS, Machine, machines_of
from .program import Program
from .reference import by_clarabel, by_libsvm

CLARABEL_ROWS = 150
"""Larger programs take clarabel seconds."""


def check_machines(program: Program, model: Any) -> Iterator[str]:
    """Yield what is wrong with the solution of any machine of the estimator."""
    if program.kind not in MAKERS or program.may_be_indefinite:  # no single optimum
        return
    for machine in machines_of(program, model):
        for finding in _check(program, model, machine):
            yield f"{machine.name}: {finding}"


def _check(program: Program, model: Any, machine: Machine) -> Iterator[str]:
    stated, beta = machine.program, machine.beta
    size = np.abs(beta)
    noise = 50 * rounding(stated, machine.matrix, beta)
    noise += kernel_rounding(program, model) * float(size.sum())
    noise += 1e-14 * float(stated.ridge.max() * size.max())  # of balls less is taken for nothing
    yield from _feasible(machine)
    if not model.converged_:
        return
    residual, moved = _residual(machine)
    if not residual <= machine.allowed * (1 + 1e-6) + noise + moved:
        yield f"conditions violated by {residual:.3g}, allowed {machine.allowed:.3g} + {noise:.2g}"
    value = _objective(machine, beta)
    if machine.objective is not None:
        # As `Solution` says of itself.
        is_short = len(beta) > FEW_VARIABLES and machine.allowed >= SINGLE_PRECISION_TOL
        slip = (noise + machine.allowed * is_short) * np.abs(beta).sum() + 1e-12 * abs(value)
        if not abs(machine.objective - value) <= slip + 1e-300:
            yield f"objective_ is {machine.objective!r}, the point's {value!r}"
    yield from _compare(program, model, machine, noise)


def kernel_rounding(program: Program, model: Any) -> float:
    """Return the rounding of kernel values: distances are differences of squares.

    Those of rows of squared length s have an error of some eps s, and exp(-gamma d) one of gamma
    times that. The radial kernels inside of others here enter them with slopes of 3 at most, and
    their columns are multiplied by 2 at most.
    """
    inner = [model.kernel_, *model.kernel_.get_params().values()]
    widths = [np.max(kernel.gamma) for kernel in inner if isinstance(kernel, RBF)]
    if model.kernel == "laplacian":
        widths.append(model.kernel_.gamma)
    outer = 1.0 if isinstance(model.kernel_, RBF) else 12.0
    longest = float((program.plain**2).sum(axis=1).max(initial=0.0))
    return min(1.0, 1e-15 * outer * float(sum(widths)) * longest)


def _residual(machine: Machine) -> tuple[float, float]:
    """Return the violation with rows at the bounds that they are near, and what that moves."""
    stated, beta = machine.program, snapped(machine.program, machine.beta)
    step = beta - machine.beta
    moved = float(np.abs(machine.matrix @ step + stated.ridge * step).max())
    if machine.offset is not None:
        return kkt_residual(stated, machine.matrix, beta, machine.offset), moved
    level = machine.matrix @ beta + stated.ridge * beta + stated.p
    lowest = level[beta < stated.upper].min(initial=np.inf)
    highest = level[beta > stated.lower].max(initial=-np.inf)
    return max(0.0, (highest - lowest) / 2), moved


def _feasible(machine: Machine) -> Iterator[str]:
    stated, beta = machine.program, machine.beta
    bounds = np.abs(np.concatenate([stated.lower, stated.upper]))
    reach = bounds[np.isfinite(bounds)].max(initial=0.0)
    beyond = max((stated.lower - beta).max(), (beta - stated.upper).max())
    if not beyond <= 1e-12 * max(reach, np.abs(beta).max()):
        yield f"a multiplier is {beyond:.3g} beyond its bound"
    off = abs(beta.sum() - stated.delta)
    # Twelve digits of what was summed; what was left behind on the way counts as well.
    if not off <= 1e-11 * (np.abs(beta).sum() + abs(stated.delta)) + 1e-13 * reach:
        yield f"the multipliers' sum is off by {off:.3g} (their size {np.abs(beta).sum():.3g})"


def _objective(machine: Machine, beta: np.ndarray) -> float:
    stated = machine.program
    return float(0.5 * beta @ (machine.matrix @ beta + stated.ridge * beta) + stated.p @ beta)


def _compare(program: Program, model: Any, machine: Machine, noise: float) -> Iterator[str]:
    """Yield by how much the objective is worse than that of another solver's feasible point."""
    others = {}
    if len(machine.beta) <= CLARABEL_ROWS:
        others["clarabel"] = by_clarabel(machine.program, machine.matrix)
    if program.kind != "SVDD" and not machine.program.ridge.any():
        kept = np.flatnonzero(program.data.weights)
        y = program.y[kept] if program.kind == "SVR" else None
        others["LIBSVM"] = by_libsvm(program.kind, model, machine, program.data.weights[kept], y)
    for name, beta in others.items():
        if beta is None:
            continue
        beta = np.clip(beta, machine.program.lower, machine.program.upper)
        step = machine.beta - beta
        distance, gradient = float(np.abs(step).sum()), _gradient(machine)
        # f(ours) - f(theirs) <= gradient . (ours - theirs), and the gradient is nearly the offset.
        off = sum(abs(point.sum() - machine.program.delta) for point in (beta, machine.beta))
        stray = (1 + 1e-6) * off * float(np.abs(gradient).max())
        allowed = 2 * machine.allowed * distance + stray + noise * distance + 1e-300
        # Not as a difference of two values, whose rounding may be larger.
        bend = machine.matrix * step * step[:, None] + np.diag(machine.program.ridge * step**2)
        allowed += 1e-15 * float(np.abs(bend).sum() + np.abs(gradient) @ np.abs(machine.beta))
        worse = float(gradient @ step - 0.5 * bend.sum())
        if not np.isfinite(allowed):  # squares of multipliers beyond float64
            continue
        if not worse <= allowed:
            yield f"objective worse than {name}'s by {worse:.3g}, allowed {allowed:.3g}"


def _gradient(machine: Machine) -> np.ndarray:
    stated = machine.program
    return machine.matrix @ machine.beta + stated.ridge * machine.beta + stated.p
