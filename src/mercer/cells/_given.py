"""The rows of a fit, and machines of some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
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

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """The rows of each class, with their weights; ``y`` are codes then."""
        return np.asarray(np.bincount(self.y, weights=self.weights), dtype=np.float64)

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


class Drawn(Given):
    """Rows drawn at random that stand for all of them, wherever these are.

    Parameters
    ----------
    X, y, weights
        As of `Given`; none without weight.
    n_rows : int
        All rows with weight.
    total : float
        Their weights.
    class_counts : ndarray or None
        The rows of each class, with their weights.
    """

    def __init__(
        self, X: Any, y: Any, weights: Any, n_rows: int, total: float, class_counts: Any
    ) -> None:
        super().__init__(X, y, weights)
        self._n_rows, self._total, self._class_counts = n_rows, total, class_counts

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self._n_rows

    @property
    def count(self) -> float:
        """Their number, those of larger weight counted as often."""
        return max(self._n_rows, self._total)

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """The rows of each class, with their weights."""
        return np.asarray(self._class_counts)


def fit_cell(template: Any, X: Any, y: Any, weights: Any) -> Any:
    """Return the machine of one cell."""
    if y is not None and get_tags(template).estimator_type == "classifier" and (y == y[0]).all():
        return OnlyClass(y[0])
    known = {} if weights is None else {"sample_weight": weights}
    return clone(template).fit(X, y, **known)
