r"""Newton's method in the primal variables, for problems with a ridge in every row.

With ridge :math:`s > 0` the dual variables follow from the hyperplane (w, b): the problem

.. math::

    \min_\beta \tfrac12\|Z^\top\beta\|^2 + \tfrac12\beta^\top\operatorname{diag}(s)\beta
    + (p - a)^\top\beta, \quad \textstyle\sum\beta = \Delta,\; l\le\beta\le u

has the Lagrangian dual :math:`\min_{w,b}\Phi(w, b)`, convex and piecewise quadratic, with

.. math::

    h_i = \langle z_i, w\rangle + b + p_i, \quad
    \beta_i(h) = \min(u_i, \max(l_i, (a_i - h_i)/s_i)), \quad
    \nabla\Phi = (w - Z^\top\beta,\; \Delta - \textstyle\sum\beta),

and second derivative :math:`\operatorname{diag}(1,\ldots,1,0) + A_F^\top s_F^{-1}A_F`, where
A = [Z, 1] and F are the rows strictly between their bounds. Newton's method with an exact line
search finds the minimum in finitely many steps; a step costs two products with Z and
:math:`O(|F|d^2)`.

References
----------
O. L. Mangasarian, "A finite Newton method for classification", Optimization Methods and Software
17 (2002). S. S. Keerthi, D. DeCoste, "A modified finite Newton method for fast solution of large
scale linear SVMs", JMLR 6 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from mercer.problems.quadratic_program import QuadraticProgram
from mercer.solvers._features import Features, ScaledCholesky

Vector = NDArray[np.float64]

# A step is taken whole if the slope at its end is below this share of the slope at its start.
_FLAT = 0.3
_MOST_TRIALS = 40
_ROUNDING = 1e-13


@dataclass
class Hyperplane:
    """The primal variables w and b, with ``values`` = Zw kept beside them."""

    w: Vector
    b: float
    values: Vector

    @classmethod
    def at(cls, features: Features, w: Vector, b: float) -> Hyperplane:
        """Evaluate a hyperplane."""
        return cls(w, b, features.times(w))


@dataclass
class View:
    """What belongs to a hyperplane: the level Zw + b, beta, and (w - Z'beta, delta - sum(beta))."""

    level: Vector
    beta: Vector
    residual: Vector


class RidgedNewton:
    """Newton's method for one problem with a ridge in every row.

    Parameters
    ----------
    problem : QuadraticProgram
    features : Features
    extra_ridge : ndarray of shape (n,) or float, default=0.0
        Added to the ridge of the problem; the sum must be positive.
    centre : ndarray of shape (n,) or float, default=0.0
        The extra ridge draws the variables to this point.
    """

    def __init__(
        self,
        problem: QuadraticProgram,
        features: Features,
        extra_ridge: Vector | float = 0.0,
        centre: Vector | float = 0.0,
    ) -> None:
        self.problem = problem
        self.features = features
        self.inverse_ridge = 1.0 / (problem.ridge + extra_ridge)
        self.target = extra_ridge * centre - problem.p
        self._free = np.zeros(problem.n, dtype=bool)
        self._gram = np.zeros((features.d + 1, features.d + 1))
        self._reached: tuple[Vector, Vector, Vector] | None = None

    def variables(self, level: Vector) -> Vector:
        """Return the variables for ``level`` = Zw + b."""
        beta = (self.target - level) * self.inverse_ridge
        np.maximum(beta, self.problem.lower, out=beta)
        return np.minimum(beta, self.problem.upper, out=beta)

    def view(self, plane: Hyperplane) -> View:
        """Evaluate the gradient at a hyperplane."""
        if self._reached is not None and self._reached[0] is plane.values:
            _, level, beta = self._reached
        else:
            level = plane.values + plane.b
            beta = self.variables(level)
        in_w = plane.w - self.features.transposed_times(beta)
        return View(level, beta, np.append(in_w, self.problem.delta - beta.sum()))

    def step(self, plane: Hyperplane, view: View) -> tuple[float, bool]:
        """Move the hyperplane by one step, in place.

        Returns
        -------
        decrease : float
            The square of the Newton decrement.
        whole : bool
            Whether the step was taken whole.

        Raises
        ------
        LinAlgError
            Where the step leads beyond the range of numbers; the hyperplane stays where it was.
        """
        move = -self._curvature(view.beta).solve(view.residual)
        change = self.features.times(move[:-1])
        length = self._line_search(plane.w, view, move, change + move[-1])
        b, values = plane.b + length * float(move[-1]), plane.values + length * change
        level = values + b
        beta = self.variables(level)
        if not (_is_finite(level) and _is_finite(beta)):
            raise np.linalg.LinAlgError("The step leads beyond the range of numbers.")
        self._reached = values, level, beta
        plane.w, plane.b, plane.values = plane.w + length * move[:-1], b, values
        return abs(float(view.residual @ move)), length == 1.0

    def _curvature(self, beta: Vector) -> ScaledCholesky:
        free = (beta > self.problem.lower) & (beta < self.problem.upper)
        if not free.any():
            # The function is flat in b; the curvature that all rows would give bounds it above.
            free[:] = True
        self._update_gram(free)
        matrix = self._gram.copy()
        matrix[np.diag_indices(self.features.d)] += 1.0
        return ScaledCholesky(matrix)

    def _update_gram(self, free: NDArray[np.bool_]) -> None:
        """Bring the sum over the free rows up to date, by the rows that changed if they are few."""
        gone, new = self._free & ~free, free & ~self._free
        if np.count_nonzero(gone) + np.count_nonzero(new) > 0.5 * np.count_nonzero(free):
            gone, new = np.zeros_like(free), free
            self._gram[:] = 0.0
        for rows, sign in ((np.flatnonzero(new), 1.0), (np.flatnonzero(gone), -1.0)):
            if rows.size:
                weight = self.inverse_ridge[rows]
                whole = rows.shape[0] == free.shape[0]
                self._gram += sign * self.features.weighted_gram(weight, None if whole else rows)
        self._free = free

    def _line_search(self, w: Vector, view: View, move: Vector, change: Vector) -> float:
        """Find a point near the minimum along the move, where the slope is nearly zero."""
        constant = float(move[:-1] @ w) + float(move[-1]) * self.problem.delta
        curvature = float(move[:-1] @ move[:-1])

        def slope_at(length: float) -> float:
            beta = self.variables(view.level + length * change)
            return constant + length * curvature - float(beta @ change)

        start = float(view.residual @ move)
        # Close to the minimum slopes are sums of large terms that cancel: no use in looking there.
        small = max(_FLAT * abs(start), _ROUNDING * (abs(constant) + curvature))
        below, slope_below, above, slope_above = 0.0, start, np.inf, np.inf
        length, slope = 1.0, slope_at(1.0)
        for _ in range(_MOST_TRIALS):
            if abs(slope) <= small:
                break
            if slope > 0:
                above, slope_above = length, slope
            else:
                below, slope_below = length, slope
            if np.isinf(above):
                length *= 3.0
            else:
                share = slope_below / (slope_below - slope_above)
                length = below + (above - below) * min(0.9, max(0.1, share))
            slope = slope_at(length)
        return length


def _is_finite(values: Vector) -> bool:
    """Say whether all are; the sum nearly always tells, in half the time."""
    return isfinite(np.add.reduce(values)) or bool(np.isfinite(values).all())
