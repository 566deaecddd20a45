"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mercer.problems.quadratic_program import QuadraticProgram

Vector = NDArray[np.float64]

Status = Literal["converged", "max_iter", "time_limit", "interrupted", "unbounded", "stalled"]


@dataclass(frozen=True, eq=False)
class Solution:
    r"""A point of a quadratic program, and how good it is.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The variables; feasible.
    gradient : ndarray of shape (n,)
        :math:`G = K\beta + r\circ\beta + p`, in float64.
    objective : float
        Value of the program at ``beta``.
    offset : float
        Multiplier of the equality; for classifiers the intercept.
    gap : float
        Largest violation of the optimality conditions, see :meth:`QuadraticProgram.kkt`.
    n_iter : int
        Iterations taken, in the unit of the solver.
    converged : bool
        Whether the gap is at most the tolerance asked for.
    status : str
        ``"converged"``; which limit ended the work (``"max_iter"``, ``"time_limit"``,
        ``"interrupted"`` by the callback); ``"unbounded"`` if the program has no minimum (hard
        margin on data that no hyperplane separates); or ``"stalled"`` if the arithmetic allows no
        smaller gap.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems import hard_margin_svc
    >>> problem = hard_margin_svc([-1.0, 1.0])
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> beta = np.array([-0.5, 0.5])
    >>> solution = Solution.at(problem, beta, K @ beta + problem.p, tol=1e-3)
    >>> solution.converged, solution.objective
    (True, -0.5)
    """

    beta: Vector
    gradient: Vector
    objective: float
    offset: float
    gap: float
    n_iter: int
    converged: bool
    status: Status

    @classmethod
    def at(
        cls,
        problem: QuadraticProgram,
        beta: Vector,
        gradient: Vector,
        *,
        tol: float,
        n_iter: int = 0,
        status: Status = "converged",
    ) -> Solution:
        """Judge a point: offset, gap and objective follow from it and its gradient.

        Parameters
        ----------
        problem : QuadraticProgram
        beta, gradient : ndarray of shape (n,)
        tol : float
            The gap that counts as converged.
        n_iter : int, default=0
        status : str, default="converged"
            Why the work ended, used if the gap is above ``tol``; "unbounded" always stands.

        Returns
        -------
        Solution
        """
        offset, gap = problem.kkt(beta, gradient)
        status = judged(gap <= tol, status)
        converged = status == "converged"
        objective = problem.objective(beta, gradient)
        return cls(beta, gradient, objective, offset, gap, n_iter, converged, status)


def judged(is_near: bool, status: Status) -> Status:
    """Return the status of a point, given whether its gap is small enough and why work ended."""
    if status == "unbounded":
        return status
    if is_near:
        return "converged"
    return "stalled" if status == "converged" else status
