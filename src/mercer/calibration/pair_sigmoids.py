"""Probabilities of any number of classes from decision values of each pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.calibration.coupling import couple_pairs
from mercer.calibration.sigmoid import PlattSigmoid, fit_sigmoid

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairSigmoids:
    """A sigmoid for each pair of classes, put together by `couple_pairs`.

    Parameters
    ----------
    A, B : ndarray of shape (n_pairs,)
        The sigmoids of the pairs (0, 1), (0, 2), ..., (1, 2), ... for the probability of the second
        class.
    n_classes : int

    See Also
    --------
    mercer.PlattClassifier : The classifier that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[-1.0], [-0.2], [0.1], [0.8]])
    >>> PairSigmoids.fit(values, np.array([0, 0, 1, 1])).probabilities(values).round(2)
    array([[0.79, 0.21],
           [0.55, 0.45],
           [0.44, 0.56],
           [0.22, 0.78]])
    """

    A: Floats
    B: Floats
    n_classes: int

    @classmethod
    def fit(cls, values: Floats, codes: Any, sample_weight: Any = None) -> PairSigmoids:
        """Fit the sigmoids to decision values of rows that their machines have not seen.

        Parameters
        ----------
        values : ndarray of shape (n, n_pairs)
            Positive for the second class of the pair; rows with NaN are left out.
        codes : ndarray of int of shape (n,)
            Classes, 0, 1, ...
        sample_weight : ndarray of shape (n,) or None

        Returns
        -------
        PairSigmoids
        """
        n_classes = int(codes.max()) + 1
        sigmoids = []
        for pair, both in enumerate(combinations(range(n_classes), 2)):
            rows = np.flatnonzero(np.isin(codes, both))
            rows = rows[np.isfinite(values[rows, pair])]
            if rows.size == 0:
                raise ValueError("cv leaves out no row of some pair of classes.")
            weight = None if sample_weight is None else sample_weight[rows]
            # A class takes part in several pairs, which together hold it back as much as one would.
            prior = 1.0 / (n_classes - 1)
            is_second = codes[rows] == both[1]
            sigmoids.append(fit_sigmoid(values[rows, pair], is_second, weight, prior=prior))
        A, B = np.array([[each.A, each.B] for each in sigmoids]).T
        return cls(A, B, n_classes)

    def probabilities(self, values: Floats) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        values : ndarray of shape (n, n_pairs)

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        sigmoids = [PlattSigmoid(A, B) for A, B in zip(self.A, self.B)]
        second = [each.probability(values[:, pair]) for pair, each in enumerate(sigmoids)]
        return couple_pairs(np.stack(second, axis=1), self.n_classes)
