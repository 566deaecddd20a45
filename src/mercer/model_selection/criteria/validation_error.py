"""Smooth versions of the error on rows that took no part in the training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_consistent_length

from mercer._folds import fold_splits
from mercer._inputs import checked_rows
from mercer._threads import holds_blas
from mercer.calibration import fit_sigmoid
from mercer.machines import RowMachine, TwoClassMachine, decompose
from mercer.machines.row_machine import Rows, marked, refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, Rated, machines_of, mean_over
from mercer.model_selection.criteria.solution_sensitivity import through_solution

Floats = NDArray[np.float64]
Splits = Sequence[tuple[Rows, Rows]]

Rate = Callable[[Floats, Floats, bool], tuple[float, Floats]]
"""From decision values and labels to the value of a criterion and its derivative in the former."""


@holds_blas
def smoothed_validation_error(
    model: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = None,
    cv: Any = 5,
    slope: float = 5.0,
    gradient: bool = True,
) -> Criterion:
    r"""Validation error with a sigmoid in place of the step.

    .. math:: T = \frac1N\sum_{i=1}^N\frac{1}{1 + \exp(A\,y_i f(x_i))}

    over a validation set, or over all rows, each by the machine trained without its fold. The
    derivative of f in the parameters follows from the optimality conditions,
    :math:`\partial(\alpha, b)/\partial\theta = -H^{-1}(\partial H/\partial\theta)(\alpha, b)`, and
    is exact as long as no row meets or leaves a bound.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    validation : tuple (X, y) or None, default=None
        Validation set; None for folds.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of stratified, shuffled folds.
    slope : float, default=5.0
        A.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithm 6 and equations (3.17) to (3.21), with a given
    A. With A and an offset B estimated from the labels, as there, it is `posterior_error`: (3.18)
    is the probability of an error only where B has the sign of the class, and then that of (3.22).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import smoothed_validation_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X[:300], y[:300])
    >>> found = smoothed_validation_error(model, X[:300], y[:300], validation=(X[300:], y[300:]))
    >>> abs(found.value - (1 - model.score(X[300:], y[300:]))) < 0.05
    True
    """
    groups = held_out_groups("smoothed_validation_error", model, X, y, validation, cv)
    return _criterion(groups, sigmoid_rate(slope), gradient)


@holds_blas
def posterior_error(
    model: Any,
    X: Any,
    y: Any,
    *,
    validation: Any = None,
    cv: Any = 5,
    gradient: bool = True,
) -> Criterion:
    r"""Probability of error by Platt's posterior probabilities.

    .. math::

        T = \frac1N\sum_{i=1}^N p_i^{1-t_i}(1 - p_i)^{t_i}, \qquad
        p_i = \frac{1}{1 + \exp(A f(x_i) + B)}, \qquad t_i = \frac{y_i + 1}{2}

    over a validation set, or over all rows, each by the machine trained without its fold. A and B
    maximise the likelihood of the labels of these rows. The gradient follows them too, as well as
    the machine.

    Parameters
    ----------
    model : SVC
        Fitted, any loss; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    validation : tuple (X, y) or None, default=None
        Validation set; None for folds.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of stratified, shuffled folds.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, algorithm 7 and equations (3.22) to (3.27); there A and
    B count as constants.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import posterior_error
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> 0.0 < posterior_error(SVC(C=10.0).fit(X, y), X, y).value < 0.2
    True
    """
    groups = held_out_groups("posterior_error", model, X, y, validation, cv)
    return _criterion(groups, posterior_rate, gradient)


def _criterion(groups: Sequence[Sequence[HeldOut]], rate: Rate, gradient: bool) -> Criterion:
    value, slope = mean_over(lambda group: judge(group, rate, gradient), groups)
    return Criterion(value, slope, groups[0][0].machine.names)


def sigmoid_rate(slope: float) -> Rate:
    """Return the mean of a sigmoid of the margins."""

    def rate(decision: Floats, signs: Floats, gradient: bool) -> tuple[float, Floats]:
        shares = expit(-slope * signs * decision)
        return float(shares.mean()), -slope * signs * shares * (1.0 - shares) / signs.size

    return rate


def posterior_rate(decision: Floats, signs: Floats, gradient: bool) -> tuple[float, Floats]:
    """Return the mean probability of error, and its derivative in the decision values."""
    n_positive = int((signs > 0).sum())
    n_negative = signs.size - n_positive
    target = np.where(signs > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    sigmoid = fit_sigmoid(decision, signs > 0)
    columns = np.stack([decision, np.ones_like(decision)])
    point = np.array([sigmoid.A, sigmoid.B])
    p = sigmoid.probability(decision)
    if sigmoid.A < 0.0:
        # One more step, for the digits that a search by values of the likelihood cannot find.
        point = point - np.linalg.solve(
            (columns * p * (1.0 - p)) @ columns.T, columns @ (target - p)
        )
        p = expit(-(point @ columns))
    value = float(np.where(signs > 0, 1.0 - p, p).mean())
    if not gradient or sigmoid.A == 0.0:
        return value, np.zeros_like(decision)
    curvature = p * (1.0 - p)
    in_exponent = signs * curvature / signs.size
    # The likelihood is stationary in A and B; that ties them to the decision values.
    through = np.linalg.solve((columns * curvature) @ columns.T, columns @ in_exponent)
    moved = through[0] * (target - p) + (through @ columns) * curvature * point[0]
    return value, point[0] * in_exponent - moved


class HeldOut:
    """A trained machine, rows of the data that it never saw, and what is known about them."""

    def __init__(self, machine: RowMachine, rows: Any, targets: Floats) -> None:
        self.machine, self.rows, self.targets = machine, rows, targets
        self._columns = machine.rows[machine.support]
        self._values = self._block()

    def _block(self) -> Floats:
        """Return their kernel values with the support vectors."""
        return self.machine.data.block(self.rows, self._columns)

    def _contract(self, weights: Floats) -> Floats:
        """Contract the derivative of these values with a matrix."""
        return self.machine.data.contract(weights, self.rows, self._columns)

    def _lengths(self) -> Floats:
        """Return k(x, x) of the points."""
        return self.machine.data.matrix.diagonal()[self.rows]

    def _contract_lengths(self, weights: Floats) -> Floats:
        """Contract the derivative of these with a vector."""
        return self.machine.data.contract(np.diag(weights), self.rows, self.rows)

    def decision(self) -> Floats:
        """Return the decision values of the points."""
        machine = self.machine
        found = self._values @ machine.beta[machine.support] + machine.solution.offset
        return found - 0.5 * self._lengths() if machine.subtracts_length else found

    def gradient(self, pull: Floats) -> Floats:
        """Return the derivative of the sum of decision values with coefficients ``pull``."""
        machine = self.machine
        in_kernel = self._contract(np.outer(pull, machine.beta[machine.support]))
        if machine.subtracts_length:
            in_kernel = in_kernel - self._contract_lengths(0.5 * pull)
        through = through_solution(machine, self._values.T @ pull, float(pull.sum()))
        return machine.gradient(0.0, in_kernel) + through


class HeldOutPoints(HeldOut):
    """The same with points outside of the data; kernel values where the kernel is precomputed."""

    def _pair(self) -> tuple[Any, Any]:
        data = self.machine.data
        if data.kernel.is_pairwise:
            return self.rows[:, self._columns], None
        return self.rows, data.points[self._columns]

    def _block(self) -> Floats:
        return self.machine.data.kernel(*self._pair())

    def _contract(self, weights: Floats) -> Floats:
        kernel = self.machine.data.kernel
        if kernel.theta.size == 0:
            return np.empty(0)
        points, others = self._pair()
        return kernel.contract_gradient(points, weights, others)

    def _lengths(self) -> Floats:
        return self.machine.data.kernel.diag(self.rows)

    def _contract_lengths(self, weights: Floats) -> Floats:
        kernel = self.machine.data.kernel
        if kernel.theta.size == 0:
            return np.empty(0)
        return kernel.contract_gradient(self.rows, np.diag(weights))


def on_folds(machine: RowMachine, splits: Splits) -> list[HeldOut]:
    """Return the machines trained without each fold in turn."""
    found, n = [], machine.data.points.shape[0]
    for k, (train, test) in enumerate(splits):
        kept, held = (np.flatnonzero(marked(n, part)[machine.rows]) for part in (train, test))
        if held.size:
            part = machine.part(kept, f"fold {k}")
            found.append(HeldOut(part, machine.rows[held], machine.targets[held]))
            machine.n_fits += part.n_fits
    return found


def on_validation_set(
    model: Any, machines: Sequence[TwoClassMachine], X: Any, y: Any
) -> list[list[HeldOut]]:
    """Return, for each machine of a classifier, the points of a validation set that concern it."""
    X = checked_rows(model, X, **model._data_format())
    y = np.asarray(y)
    check_consistent_length(X, y)
    if not np.isin(y, model.classes_).all():
        raise ValueError("The validation set must hold no labels but those of the training data.")
    codes = np.searchsorted(model.classes_, y)
    tasks = decompose(codes, model.classes_.size, model.multi_class)
    return [
        [HeldOutPoints(machine, X[task.rows], task.signs)]
        for machine, task in zip(machines, tasks)
        if task.rows.size
    ]


def held_out_groups(
    name: str, model: Any, X: Any, y: Any, validation: Any, cv: Any
) -> list[list[HeldOut]]:
    """Return for each machine what it is judged by: a validation set, or all folds."""
    machines = machines_of(model, X, y)
    refuse_weights(machines, name)
    if validation is not None:
        return on_validation_set(model, machines, *validation)
    splits = fold_splits(cv, y)
    return [on_folds(machine, splits) for machine in machines]


def judge(group: Sequence[HeldOut], rate: Rate, gradient: bool) -> Rated:
    """Evaluate a criterion on all held-out points of one machine together."""
    decision = np.concatenate([part.decision() for part in group])
    targets = np.concatenate([part.targets for part in group])
    value, pull = rate(decision, targets, gradient)
    slope = None
    if gradient:
        pulls = np.split(pull, np.cumsum([part.targets.size for part in group])[:-1])
        slope = np.sum([part.gradient(one) for part, one in zip(group, pulls)], axis=0)
    return value, slope
