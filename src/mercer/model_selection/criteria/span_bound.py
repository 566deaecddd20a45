"""A guarantee on the leave-one-out error from the constrained span."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._threads import holds_blas
from mercer.gram import StoredGram
from mercer.machines import TwoClassMachine
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.model_selection.criteria.radius_margin import enclosing_ball
from mercer.problems import QuadraticProgram
from mercer.solvers import solve


@holds_blas
def span_bound(model: Any, X: Any, y: Any) -> Criterion:
    r"""Upper bound on the leave-one-out error by the span of the support vectors.

    A support vector p strictly between its bounds can only be a leave-one-out error if

    .. math::

        \alpha_p S_p \max(D, 1/\sqrt C) \ge 1, \qquad
        S_p = \min_\lambda\Bigl\lVert\phi(x_p) - \sum_{i\ne p}\lambda_i\phi(x_i)\Bigr\rVert,
        \quad \sum\lambda = 1,\; 0 \le \alpha_i + y_i y_p\alpha_p\lambda_i \le C

    with D the diameter of the smallest ball around all rows and the sum over the other rows
    strictly between their bounds. (For the hard margin and for squared slack, which is a hard
    margin on :math:`K + I/C`, there is no C here.) T is the share of these rows and of all those
    at C: at least the leave-one-out error, at most the share of support vectors. With the hinge
    loss this takes for granted that the offset is determined: that some row stays strictly between
    its bounds whichever row is left out.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.

    Returns
    -------
    Criterion
        Without a gradient.

    References
    ----------
    V. Vapnik, O. Chapelle, "Bounds on error expectation for support vector machines", Neural
    Computation 12 (2000), lemmas 3 and 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.model_selection import span_bound, support_vector_count
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(tol=1e-6).fit(X, y)
    >>> span_bound(model, X, y).value <= support_vector_count(model, X, y).value
    True
    """
    return average(span_bound_of, machines_of(model, X, y))


def span_bound_of(machine: TwoClassMachine) -> Rated:
    """Return the bound for one machine."""
    refuse_weights([machine], "span_bound")
    reach = 2.0 * np.sqrt(enclosing_ball(machine).squared_radius)
    if machine.loss == "hinge":
        reach = max(reach, 1.0 / np.sqrt(machine.penalties.min()))
    lengths = np.array([_constrained_span(machine, p) for p in machine.free])
    possible = machine.alpha[machine.free] * lengths * reach >= 1.0 - machine.tol
    count = int(possible.sum()) + machine.bound.size
    return count / machine.n, None


def _constrained_span(machine: TwoClassMachine, p: int) -> float:
    """Return the distance from a row to what the other free rows span within their bounds."""
    others = machine.free[machine.free != p]
    if others.size == 0:
        return np.inf
    beta, problem = machine.beta, machine.problem
    ends = np.stack([problem.lower[others] - beta[others], problem.upper[others] - beta[others]])
    lower, upper = np.sort(ends / beta[p], axis=0)
    if lower.sum() > 1.0 or upper.sum() < 1.0:
        return np.inf
    linear = -machine.matrix[p, others]
    program = QuadraticProgram(linear, lower, upper, 1.0, machine.ridge[others])
    gram = StoredGram(machine.matrix, others)
    found = solve(program, gram, solver="smo", tol=machine.tol, n_threads=1)
    squared = machine.matrix[p, p] + machine.ridge[p] + 2.0 * found.objective
    return float(np.sqrt(max(squared, 0.0)))
