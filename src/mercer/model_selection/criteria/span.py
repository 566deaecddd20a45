"""The span of the support vectors: what changes when one of them is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mercer._threads import holds_blas
from mercer.kernels.blocks import submatrix
from mercer.machines import TwoClassMachine
from mercer.machines.bordered_system import BorderedSystem
from mercer.machines.row_machine import marked, refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of
from mercer.model_selection.criteria.solution_sensitivity import through_solution

Floats = NDArray[np.float64]


@holds_blas
def span(
    model: Any,
    X: Any,
    y: Any,
    *,
    slope: float | None = 5.0,
    eta: float = 0.1,
    gradient: bool = True,
) -> Criterion:
    r"""Span estimate of the leave-one-out error (Vapnik and Chapelle).

    If leaving out the support vector p changes neither which rows are support vectors nor which of
    them are at C, its decision value falls to

    .. math::

        m_p = y_p f(x_p) - \alpha_p S_p^2, \qquad
        S_p^2 = \min_{\sum\lambda = 1} \Bigl\lVert\phi(x_p) - \sum_{i\in F, i\ne p}
                \lambda_i\phi(x_i)\Bigr\rVert^2 = \frac{1}{(M^{-1})_{pp}}

    with F the rows strictly between their bounds (for p in F; a similar formula holds at C).
    :math:`T = \frac1n\#\{p : m_p \le 0\}` is the span rule, taken with ``slope=None``. As it is a
    step function, and the span jumps where F changes, the smooth version counts
    :math:`1/(1 + e^{A m_p})` over all rows and adds :math:`\sum\eta\lambda_i^2/\alpha_i` to the
    minimised length. Its gradient is exact as long as F does not change.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    slope : float or None, default=5.0
        A; None for the count itself, without a gradient.
    eta : float, default=0.1
        :math:`\eta`; only for the smooth version.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    V. Vapnik, O. Chapelle, "Bounds on error expectation for support vector machines", Neural
    Computation 12 (2000).

    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee, "Choosing multiple parameters for support
    vector machines", Machine Learning 46 (2002), for the smooth version.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import leave_one_out, span
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:200], y[:200]
    >>> model = SVC(C=10.0, tol=1e-6).fit(X, y)
    >>> error, estimate = leave_one_out(model, X, y).value, span(model, X, y, slope=None).value
    >>> abs(error - estimate) < 0.02
    True
    """
    machines = machines_of(model, X, y)
    return average(lambda machine: span_of(machine, gradient, slope=slope, eta=eta), machines)


def span_of(
    machine: TwoClassMachine,
    gradient: bool = True,
    slope: float | None = 5.0,
    eta: float = 0.1,
) -> Rated:
    """Return the estimate for one machine."""
    refuse_weights([machine], "span")
    found = _Spans.of(machine, 0.0 if slope is None else eta)
    if slope is None:
        return float((found.margins <= 0).mean()), None
    shares = expit(-slope * found.margins)
    pull = -slope * shares * (1.0 - shares) / machine.n
    return float(shares.mean()), found.gradient(machine, pull) if gradient else None


@dataclass(frozen=True, eq=False)
class _Spans:
    """Squared spans of the support vectors of one machine, and its leave-one-out margins.

    Parameters
    ----------
    system : BorderedSystem
        Of the free rows, with eta / alpha added to the diagonal.
    of_free, of_bound : ndarray
        Squared spans.
    nearest : ndarray of shape (n_free, n_bound)
        The combination of free rows nearest to each row at C.
    margins : ndarray of shape (n,)
    eta : float
    """

    system: BorderedSystem
    of_free: Floats
    of_bound: Floats
    nearest: Floats
    margins: Floats
    eta: float

    @classmethod
    def of(cls, machine: TwoClassMachine, eta: float) -> _Spans:
        free, bound, alpha = machine.free, machine.bound, machine.alpha
        margins = machine.signs * (machine.decision + machine.ridge * machine.beta)
        if free.size == 0:  # nothing could take the place of a row at C
            margins[bound] = -np.inf
            none = np.zeros(0)
            system = BorderedSystem(np.zeros((0, 0)))
            return cls(system, none, none, np.zeros((0, bound.size)), margins, eta)
        extra = eta / alpha[free]
        matrix = machine.ridged_matrix(free)
        matrix[np.diag_indices_from(matrix)] += extra
        system = BorderedSystem(matrix)
        of_free = 1.0 / system.lower_inverse.diagonal() - extra
        across = submatrix(machine.matrix, free, bound)
        nearest, t = system.solve_many(across, np.ones(bound.size))
        of_bound = machine.matrix.diagonal()[bound] - (across * nearest).sum(axis=0) - t
        margins[free] -= alpha[free] * of_free
        margins[bound] -= alpha[bound] * of_bound
        return cls(system, of_free, of_bound, nearest, margins, eta)

    def gradient(self, machine: TwoClassMachine, pull: Floats) -> Floats:
        """Return the derivative of a sum of margins with coefficients ``pull``."""
        free, bound, support = machine.free, machine.bound, machine.support
        beta, alpha, signs = machine.beta, machine.alpha, machine.signs
        is_free = marked(machine.n, free)[support]
        at_free, at_bound = np.flatnonzero(is_free), np.flatnonzero(~is_free)
        # Decision values of all rows but the free ones, which stay at the margin.
        outer = pull * signs
        outer[free] = 0.0
        if free.size == 0:
            outer[bound] = 0.0
        in_beta = machine.matrix[:, support].T @ outer
        weights = np.outer(outer, beta[support])
        in_log_C = 0.0
        if free.size:
            inner = self._in_free_block(pull[free] * alpha[free], pull[bound] * alpha[bound])
            weights[np.ix_(free, at_free)] += inner
            share = self.nearest * (pull[bound] * alpha[bound])
            weights[np.ix_(bound, at_free)] += 2.0 * share.T
            weights[bound, at_bound] -= pull[bound] * alpha[bound]
            in_log_C = -float(inner.diagonal() @ machine.ridge[free])
            # The smoothing term eta / alpha moves with alpha.
            in_extra = pull[free] * alpha[free] + inner.diagonal()
            in_alpha = -pull[free] * self.of_free - in_extra * self.eta / alpha[free] ** 2
            in_beta[at_free] += in_alpha * signs[free]
            in_beta[at_bound] -= pull[bound] * self.of_bound * signs[bound]
        slope = machine.gradient(in_log_C, machine.contract(weights, None, support))
        return slope + through_solution(machine, in_beta, float(outer.sum()))

    def _in_free_block(self, of_free: Floats, of_bound: Floats) -> Floats:
        """Return the derivative in the kernel matrix of the free rows."""
        inverse = self.system.inverse
        scaled = inverse * (of_free / inverse.diagonal() ** 2)
        return -(scaled @ inverse) - (self.nearest * of_bound) @ self.nearest.T
