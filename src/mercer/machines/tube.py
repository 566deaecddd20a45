"""Regression with a tube: its program, and the model that a solution of the program means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.problems import QuadraticProgram, epsilon_svr, squared_epsilon_svr
from mercer.solvers import Solution

Floats = NDArray[np.float64]

LARGE = 2.0**64
"""Targets beyond this have a unit of their own."""

MOST_DOUBLINGS = 700
"""The largest such unit is two to this power, so that prices of 1e-60 have digits in it."""


def tube_program(target: Floats, C: Floats, epsilon: float, *, squared: bool) -> QuadraticProgram:
    r"""Return the program of a regression: two variables for each row, or one without a tube.

    For :math:`\varepsilon = 0` only :math:`\beta_i = \alpha_i - \alpha_i^*` matters, with p = -t,
    and bounds [-C, C] or, for squared slack, none and ridge 1/C. Only where nothing holds them are
    the variables kept apart, since solvers tell by the bounds that a program has no minimum.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([2.0, 2.0])
    >>> tube_program(np.array([1.0, 3.0]), C, epsilon=0.5, squared=False).n
    4
    >>> tube_program(np.array([1.0, 3.0]), C, epsilon=0.0, squared=False).lower
    array([-2., -2.])
    """
    if epsilon > 0 or np.isinf(C).any():
        return (squared_epsilon_svr if squared else epsilon_svr)(target, C, epsilon)
    if squared:
        endless = np.full_like(C, np.inf)
        return QuadraticProgram(-target, -endless, endless, 0.0, 1.0 / C)
    return QuadraticProgram(-target, -C, C)


def tube_rows(problem: QuadraticProgram, n: int) -> NDArray[np.int64] | None:
    """Return which of n rows each variable of the program has; None for one variable each."""
    rows = np.arange(n)
    return None if problem.n == n else np.concatenate((rows, rows))


def tube_start(problem: QuadraticProgram, coef: Floats | None) -> Floats | None:
    """Return the variables of the program that mean given coefficients, if they fit its rows."""
    if coef is None or problem.n not in (coef.size, 2 * coef.size):
        return None
    if problem.n == coef.size:
        return coef
    return np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)])


def tube_unit(problem: QuadraticProgram) -> float:
    """Return the unit in which solvers should see the targets: a power of two, mostly 1.

    They tell variables at their bounds by gradients that no others have, of 1e29 and more. Targets
    that come near are seen in a unit in which they are near 1, which costs no digit; `in_unit`
    takes it, and `solution_of_unit` leads back.

    Examples
    --------
    >>> import numpy as np
    >>> ends = np.ones(2)
    >>> [tube_unit(tube_program(size * ends, ends, 0.0, squared=False)) for size in (1e9, 2.0**90)]
    [1.0, 1.2379400392853803e+27]
    """
    largest = float(np.abs(problem.p).max(initial=0.0))
    if not LARGE < largest < np.inf:
        return 1.0
    return float(2.0 ** min(np.floor(np.log2(largest)), MOST_DOUBLINGS))


def in_unit(problem: QuadraticProgram, unit: float) -> QuadraticProgram:
    """Return the program of targets, C and epsilon in another unit; squared slack has none."""
    bounds = (problem.lower / unit, problem.upper / unit)
    return QuadraticProgram(problem.p / unit, *bounds, problem.delta / unit, problem.ridge)


def solution_of_unit(
    problem: QuadraticProgram, found: Solution, unit: float, tol: float
) -> Solution:
    """Return what a solution `in_unit` means for the program itself."""
    if unit == 1.0:
        return found
    how: dict[str, Any] = {"n_iter": found.n_iter, "status": found.status}
    return Solution.at(problem, unit * found.beta, unit * found.gradient, tol=tol, **how)


@dataclass(frozen=True, eq=False)
class TubeModel:
    r"""What a regression machine found, one entry for each training row.

    Parameters
    ----------
    coef : ndarray of shape (n,)
        :math:`\alpha_i - \alpha_i^*`.
    at_bound : ndarray of bool of shape (n,)
        Whether the coefficient is C or -C.
    fitted : ndarray of shape (n,)
        f(x) of the training rows.
    solution : Solution
        In which no row has both multipliers.
    """

    coef: Floats
    at_bound: NDArray[np.bool_]
    fitted: Floats
    solution: Solution

    @classmethod
    def of(cls, problem: QuadraticProgram, solution: Solution, n: int, tol: float) -> TubeModel:
        """Build the model of n rows from the solution of a `tube_program`."""
        if problem.n > n:
            solution = without_common_part(problem, solution, tol)
        beta = solution.beta
        at_bound = (beta != 0) & ((beta == problem.upper) | (beta == problem.lower))
        # G = Kb + rb + p, and K is the same in both halves.
        sums = problem.image(beta, solution.gradient)
        return cls(
            beta.reshape(-1, n).sum(axis=0),
            at_bound.reshape(-1, n).any(axis=0),
            sums[:n] + solution.offset,
            solution,
        )


def without_common_part(problem: QuadraticProgram, solution: Solution, tol: float) -> Solution:
    r"""Take off what both multipliers of a row have in common.

    With the smaller of :math:`\alpha_i` and :math:`\alpha_i^*` taken off both, w stays the same and
    the objective falls by :math:`2\varepsilon` times that and by what the ridge cost. The gap does
    not rise: both variables could move either way before, and what they are held to now is less.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems import epsilon_svr
    >>> problem = epsilon_svr([0.0, 0.0], C=5.0, epsilon=0.1)
    >>> beta = np.array([3.0, 0.0, -1.0, -2.0])
    >>> solution = Solution.at(problem, beta, problem.p, tol=1.0)  # as if K were zero
    >>> without_common_part(problem, solution, tol=1.0).beta
    array([ 2.,  0.,  0., -2.])
    """
    n = solution.beta.size // 2
    above, below = solution.beta[:n], solution.beta[n:]
    common = np.minimum(above, -below)
    if not common.any():
        return solution
    change = np.concatenate([-common, common])
    beta, gradient = solution.beta + change, solution.gradient + problem.ridge * change
    n_iter, status = solution.n_iter, solution.status
    return Solution.at(problem, beta, gradient, tol=tol, n_iter=n_iter, status=status)
