"""What happened in an elimination of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection.stop_condition import best_size, estimated_accuracy

Floats = NDArray[np.float64]
Features = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class EliminationTrace:
    """The rounds of an elimination, one entry each; the last one drops nothing.

    Parameters
    ----------
    sizes : ndarray of int
        Number of features of the machine.
    removed : tuple of ndarray of int
        The features that were dropped after it, the least important first.
    importances : tuple of ndarray
        Their importances then.
    train_accuracy : ndarray
        Accuracy (or score) of the machine on the rows that it was trained on.
    gap : ndarray
        KKT gap of its solution; NaN where the estimator tells none.
    n_rows : ndarray of int
        Rows that it was trained on.
    seconds : ndarray
        Time since the start when it was done.
    selected : ndarray of int
        The features that are left in the end, the most important first.
    selected_importances : ndarray
        Their importances in the last machine.
    chance : float
        Accuracy without features: the share of the largest class.
    n_fits : int
        Machines that were trained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.feature_selection import KernelRFE
    >>> X, y = load_iris(return_X_y=True)
    >>> trace = KernelRFE(SVC(kernel="linear"), n_features_to_select=1).fit(X, y).trace_
    >>> trace.sizes, [features.tolist() for features in trace.removed]
    (array([4, 3, 2, 1]), [[0], [1], [3], []])
    >>> trace.order
    array([2, 3, 1, 0])
    """

    sizes: NDArray[np.intp]
    removed: tuple[Features, ...]
    importances: tuple[Floats, ...]
    train_accuracy: Floats
    gap: Floats
    n_rows: NDArray[np.intp]
    seconds: Floats
    selected: Features
    selected_importances: Floats
    chance: float
    n_fits: int

    @property
    def order(self) -> Features:
        """All features, the best first."""
        return np.concatenate([self.selected, np.concatenate(self.removed)[::-1]])

    @property
    def round_of(self) -> NDArray[np.intp]:
        """The round after which each feature was dropped; the number of rounds if it was not."""
        rounds = np.full(int(self.sizes[0]), len(self.removed), dtype=np.intp)
        counts = np.append(-np.diff(self.sizes), 0)
        rounds[np.concatenate(self.removed)] = np.repeat(np.arange(counts.size), counts)
        return rounds

    def estimated_accuracy(self) -> Floats:
        """Return the accuracy with 0, 1, ..., all features as far as the rounds tell.

        Between the sizes of two rounds the importances of the features dropped say how the loss of
        accuracy is shared among them; below the last round the chance level is the lower end. See
        `mercer.feature_selection.estimated_accuracy`.

        Returns
        -------
        ndarray of shape (n_features + 1,)
        """
        lower = [*self.train_accuracy[1:], self.chance]
        dropped = [*self.importances[:-1], self.selected_importances[::-1]]
        accuracy = np.empty(int(self.sizes[0]) + 1)
        for size, high, low, values in zip(self.sizes, self.train_accuracy, lower, dropped):
            segment = estimated_accuracy(values[::-1], low, high)
            accuracy[size - values.size : size + 1] = segment
        return accuracy

    def optimal_size(self, trade_off: tuple[float, float] = (0.8, 0.2)) -> int:
        """Return the size with the least cost, w1 (1 - estimated accuracy) + w2 size / all.

        Parameters
        ----------
        trade_off : tuple of two floats, default=(0.8, 0.2)
            w1 and w2.
        """
        accuracy = self.estimated_accuracy()
        return best_size(np.arange(accuracy.size), accuracy, trade_off, int(self.sizes[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return one list for each column of a table of the rounds."""
        return {
            "size": self.sizes.tolist(),
            "removed": [gone.tolist() for gone in self.removed],
            "train_accuracy": self.train_accuracy.tolist(),
            "estimated_accuracy": self.estimated_accuracy()[self.sizes].tolist(),
            "gap": self.gap.tolist(),
            "n_rows": self.n_rows.tolist(),
            "seconds": self.seconds.tolist(),
        }
