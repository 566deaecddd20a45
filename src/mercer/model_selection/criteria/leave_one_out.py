"""The exact leave-one-out error, from one fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._threads import holds_blas
from mercer.gram import StoredGram
from mercer.machines import TwoClassMachine
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers import Options, StartingPoint, solve_all

Floats = NDArray[np.float64]

CHUNK = 64
"""Machines trained at a time, so that their problems need little memory."""

TOL = 1e-6
"""Largest gap of a machine trained without a row: its decision value there must be right."""


ROUNDING = 1e-10
"""Share of the largest coefficient that counts as nothing."""


@holds_blas
def leave_one_out(model: Any, X: Any, y: Any) -> Criterion:
    r"""Exact leave-one-out error.

    .. math:: T = \frac1n\#\{p : y_p f^{(-p)}(x_p) \le 0\}

    Only support vectors need a machine of their own, and these start from the solution with all
    rows: the row's weight goes to the rows strictly between their bounds as the optimality
    conditions say, which is already the answer where no other row meets or leaves a bound. The
    machines are trained in parallel threads (``n_jobs`` of the model).

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned, each taken as
        the two-class problem that it is.
    X, y : array-like
        The training data.

    Returns
    -------
    Criterion
        Without a gradient.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import leave_one_out
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> leave_one_out(SVC(kernel="linear", C=0.01).fit(X, y), X, y).value < 0.06
    True
    """
    return average(leave_one_out_of, machines_of(model, X, y))


def leave_one_out_of(machine: TwoClassMachine) -> Rated:
    """Return the error of one machine."""
    refuse_weights([machine], "leave_one_out")
    wrong = (left_out_decisions(machine) > 0) != (machine.signs > 0)
    return float(wrong.mean()), None


def left_out_decisions(machine: TwoClassMachine) -> Floats:
    """Return the decision value of each row by the machine that never saw it."""
    decisions = machine.decision.copy()
    options = Options("smo", min(machine.tol, TOL), n_threads=machine.n_threads)
    for start in range(0, machine.support.size, CHUNK):
        open_cases: dict[int, tuple[QuadraticProgram, StartingPoint]] = {}
        for p in machine.support[start : start + CHUNK]:
            problem, first = _without(machine, p)
            gradient = first.image + problem.ridge * first.beta + problem.p
            offset, gap = problem.kkt(_on_bounds(problem, first.beta), gradient)
            decisions[p] = first.image[p] + offset
            if gap > options.tol:
                open_cases[p] = problem, first
        if open_cases:
            _solve_cases(machine, open_cases, options, decisions)
    return decisions


def _solve_cases(
    machine: TwoClassMachine,
    cases: dict[int, tuple[QuadraticProgram, StartingPoint]],
    options: Options,
    decisions: Floats,
) -> None:
    """Train the machines whose first-order answer is not the solution."""
    starts = [start for _, start in cases.values()]
    found = solve_all(
        Programs.of([problem for problem, _ in cases.values()]),
        StoredGram(machine.matrix),
        options,
        rows=np.tile(np.arange(machine.n), len(cases)),
        warm_start=StartingPoint(
            np.concatenate([start.beta for start in starts]),
            np.concatenate([start.image for start in starts]),
        ),
    )
    for (p, (problem, _)), solution in zip(cases.items(), found):
        # The row itself has no part in its gradient but its linear term.
        decisions[p] = solution.gradient[p] - problem.p[p] + solution.offset
    machine.n_fits += len(cases)


def _without(machine: TwoClassMachine, p: int) -> tuple[QuadraticProgram, StartingPoint]:
    """Return the problem without row p, and the first-order answer of the other rows to that.

    The bounds of the row are closed to zero, so that all machines use the same kernel matrix.
    """
    whole = machine.problem
    lower, upper = whole.lower.copy(), whole.upper.copy()
    lower[p] = upper[p] = 0.0
    problem = replace(whole, lower=lower, upper=upper)
    beta = problem.repair(machine.beta + _shift(machine, p))
    return problem, StartingPoint(beta, machine.matrix @ beta)


def _shift(machine: TwoClassMachine, p: int) -> Floats:
    """Return how the other rows move, to first order, when row p is left out."""
    shift = np.zeros(machine.n)
    free, system, beta = machine.free, machine.free_system, machine.beta[p]
    here = np.flatnonzero(free == p)
    if here.size and free.size > 1:  # a single one has nobody to make up for it
        column = system.inverse[here[0]]
        shift[free] = -column * (beta / column[here[0]])
    elif free.size and not here.size:
        shift[free] = system.solve(machine.matrix[free, p] * beta, beta)[0]
    return shift


def _on_bounds(problem: QuadraticProgram, beta: Floats) -> Floats:
    """Put rows that only rounding keeps from a bound there: they do not determine the offset."""
    snapped = beta.copy()
    for bound in (problem.lower, problem.upper):
        near = np.abs(beta - bound) <= ROUNDING * np.abs(beta).max(initial=0.0)
        snapped[near] = bound[near]
    return snapped
