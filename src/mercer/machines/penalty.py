"""What slack costs, and the program that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

from mercer.machines.tasks import TwoClassTask, TwoClassTasks
from mercer.problems import (
    Programs,
    QuadraticProgram,
    hard_margin_svc,
    hinge_svc,
    squared_hinge_svc,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Penalty:
    """How the slack of a classifier is priced.

    Parameters
    ----------
    C : float
        The parameter of the classifier.
    loss : str
        "hinge", "squared_hinge", or "hard" where C is infinite.
    factors : ndarray of shape (n,)
        Class weights, for every row of the data.
    weights : ndarray of shape (n,)
        Sample weights: how often each row counts.
    """

    C: float
    loss: str
    factors: Floats
    weights: Floats

    @classmethod
    def of(cls, model: Any, factors: Floats, weights: Floats) -> Penalty:
        """Return how a classifier prices slack; a hard margin knows no weights."""
        if np.isinf(model.C):
            return cls(np.inf, "hard", factors, np.ones_like(weights))
        return cls(float(model.C), model.loss, factors, weights)

    def priced(self, C: float) -> Penalty:
        """Return the same penalty at another price."""
        return replace(self, C=C)

    def program(self, task: TwoClassTask | TwoClassTasks) -> QuadraticProgram:
        """Return the program of a machine, or of several as if they were one."""
        if self.loss == "hard":
            return hard_margin_svc(task.signs)
        formulate = hinge_svc if self.loss == "hinge" else squared_hinge_svc
        return formulate(task.signs, (self.C * self.weights * self.factors)[task.rows])

    def programs(self, tasks: TwoClassTasks) -> Programs:
        """Return the programs of all machines."""
        return Programs.split(self.program(tasks), tasks.ends)


def class_factors(
    class_weight: Any, classes: Any, codes: NDArray[np.int64], weights: Floats
) -> Floats:
    """Return the factor of C that the class of each row has.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : ndarray
        Labels.
    codes : ndarray of int of shape (n,)
        Position of the label of each row.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> class_factors("balanced", np.array([3, 5]), np.array([0, 0, 0, 1]), np.ones(4)).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(codes.size)
    if class_weight == "balanced":  # as if each row were given as often as it weighs
        counts = np.bincount(codes, weights=weights)
        factors = weights.sum() / (counts.size * counts)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if (factors <= 0).any():
        raise ValueError("class_weight must be above 0 for every class.")
    return factors[codes]
