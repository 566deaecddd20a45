"""Where a solver may start, when more than the point itself is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.problems import QuadraticProgram
from mercer.solvers.solution import Solution

Vector = NDArray[np.float64]


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
