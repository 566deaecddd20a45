"""The share of support vectors, the simplest bound on the leave-one-out error."""

from __future__ import annotations

from typing import Any

from mercer._threads import holds_blas
from mercer.machines import TwoClassMachine
from mercer.model_selection.criteria.criterion import Criterion, Rated, average, machines_of


@holds_blas
def support_vector_count(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Criterion:
    r"""Share of support vectors.

    .. math:: T = N_{SV}/n \ge \mathcal L/n

    Leaving out a row that is no support vector changes nothing, and that row is classified
    correctly: the number of leave-one-out errors is at most that of support vectors.

    Parameters
    ----------
    model : SVC
        Fitted; for many classes the mean over its machines is returned.
    X, y : array-like
        The training data.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.

    Returns
    -------
    Criterion
        Without a gradient: the count is a step function.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, theorem 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import SVC
    >>> from mercer.model_selection import leave_one_out, support_vector_count
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:200], y[:200]
    >>> model = SVC().fit(X, y)
    >>> leave_one_out(model, X, y).value <= support_vector_count(model, X, y).value
    True
    """
    return average(support_vector_count_of, machines_of(model, X, y, sample_weight))


def support_vector_count_of(machine: TwoClassMachine) -> Rated:
    """Return the share in one machine."""
    weights = machine.weights
    share = float(weights[machine.support].sum() / weights.sum())
    return share, None
