"""What every solver returns of a program, and where another may start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.problems import QuadraticProgram

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
        Value of the program at ``beta``. Where kernel rows are float32 (see `solve_smo`), so is the
        gradient of rows that cannot determine the gap; the value is then off by less than
        :math:`\mathrm{tol}\sum_i |\beta_i|`, else by rounding only.
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

    @property
    def start(self) -> Vector:
        """Where a solver of a neighbouring program may start, feasible or not."""
        return self.beta

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
        offset, gap, objective = problem.verdict(beta, gradient)
        status = judged(gap <= tol, status)
        converged = status == "converged"
        return cls(beta, gradient, objective, offset, gap, n_iter, converged, status)


def judged(is_near: bool, status: Status) -> Status:
    """Return the status of a point, given whether its gap is small enough and why work ended."""
    if status == "unbounded":
        return status
    if is_near:
        return "converged"
    return "stalled" if status == "converged" else status


@dataclass(frozen=True, eq=False)
class StartingPoint:
    r"""A point together with its image under K, which spares a solver most of the first gradient.

    The image stays what it is when bounds, penalties or targets change, and the solver adds what
    the rows contribute that it has to move to make the point feasible. So a chain of neighbouring
    problems on one kernel matrix pays for changed rows only.

    Parameters
    ----------
    beta : ndarray of shape (n,)
    image : ndarray of shape (n,)
        :math:`K\beta`.
    preferred : ndarray of shape (n,) or None, default=None
        Where to start instead of ``beta``, made feasible first; the fewer rows differ, the better.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import make_gram
    >>> from mercer.kernels import RBF
    >>> from mercer.problems import hinge_svc
    >>> from mercer.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> gram, weak, strong = make_gram(RBF(1.0), X), hinge_svc(y, C=0.1), hinge_svc(y, C=0.2)
    >>> start = StartingPoint.of(weak, solve(weak, gram))
    >>> solve(strong, gram, warm_start=start).converged
    True
    """

    beta: Vector
    image: Vector
    preferred: Vector | None = None

    @property
    def start(self) -> Vector:
        """Where to start, feasible or not."""
        return self.beta if self.preferred is None else self.preferred

    @classmethod
    def of(cls, problem: QuadraticProgram, solution: Solution) -> StartingPoint:
        """Return the point at which a solver of ``problem`` ended."""
        return cls(solution.beta, problem.image(solution.beta, solution.gradient))


def starting_point(problem: QuadraticProgram, warm_start: Any) -> Vector | None:
    """Return the feasible point that a warm start means, or None where none was given.

    Parameters
    ----------
    problem : QuadraticProgram
    warm_start : Solution, StartingPoint, array-like or None

    Returns
    -------
    ndarray of shape (n,) or None
    """
    return None if warm_start is None else problem.repair(getattr(warm_start, "start", warm_start))
