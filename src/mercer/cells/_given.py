"""The rows of a fit, and machines of some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags


class OnlyClass:
    """What stands for a machine in a cell whose rows are all of one class.

    Parameters
    ----------
    label : object
    """

    def __init__(self, label: Any) -> None:
        self.classes_ = np.array([label])


class Given:
    """Rows with targets and weights, where there are any."""

    def __init__(self, X: Any, y: Any, weights: Any) -> None:
        self.X, self.y, self.weights = X, y, weights

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any) -> Given:
        """Return those that have weight; a cell may not be of others only."""
        if weights is None:
            return cls(X, y, None)
        kept = np.flatnonzero(weights)
        return cls(X[kept], None if y is None else y[kept], weights[kept])

    @property
    def n_rows(self) -> int:
        """Their number."""
        return int(self.X.shape[0])

    @property
    def count(self) -> float:
        """Their number, those of larger weight counted as often; small weights make no fewer."""
        return self.n_rows if self.weights is None else max(self.n_rows, self.weights.sum())

    def part(self, rows: Any) -> tuple[Any, Any, Any]:
        """Return some of them."""
        return (
            self.X[rows],
            None if self.y is None else self.y[rows],
            None if self.weights is None else self.weights[rows],
        )

    def fit(self, template: Any, rows: Any) -> Any:
        """Return a machine of some of them."""
        return fit_cell(template, *self.part(rows))


def fit_cell(template: Any, X: Any, y: Any, weights: Any) -> Any:
    """Return the machine of one cell."""
    if y is not None and get_tags(template).estimator_type == "classifier" and (y == y[0]).all():
        return OnlyClass(y[0])
    known = {} if weights is None else {"sample_weight": weights}
    return clone(template).fit(X, y, **known)
