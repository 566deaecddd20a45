"""Any estimator that tells how much its features matter, fitted anew in every round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from mercer._importances import feature_importances
from mercer._sklearn import take_rows
from mercer.feature_selection._kernel_ranker import MEASURES, join, machine_for
from mercer.feature_selection.elimination import RoundResult, RowSampler
from mercer.inspection.expansion import kernel_expansion
from mercer.kernels import Linear
from mercer.machines import KernelMachine

Floats = NDArray[np.float64]
Features = NDArray[np.intp]

OF_EXPANSIONS = ("objective", "decrease", "gradient")
"""Criteria for any kernel machine."""


class EstimatorRanker:
    """Fits clones of an estimator round by round.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    sample_weight : ndarray or None
    criterion : str
        "auto", or for kernel machines of mercer also "objective", "decrease" and
        "gradient".
    joint : str
    power : float
    importance_getter : str or callable
        As in scikit-learn's ``RFE``.
    sampler : RowSampler
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        criterion: str,
        joint: str,
        power: float,
        importance_getter: Any,
        sampler: RowSampler,
    ) -> None:
        self.estimator, self.X, self.y, self.sample_weight = estimator, X, y, sample_weight
        self.criterion, self.joint, self.power = criterion, joint, power
        self.importance_getter, self.sampler = importance_getter, sampler
        self.n_fits = 0
        self.chance = 0.0
        if is_classifier(estimator):
            self.chance = float(np.unique(y, return_counts=True)[1].max() / len(y))
        suits = criterion in OF_EXPANSIONS and isinstance(estimator, KernelMachine)
        if criterion != "auto" and not suits:
            raise ValueError(
                f"criterion={criterion!r} needs mercer's SVC on dense data; got {estimator!r}, for "
                "which criterion='auto' uses coef_ or feature_importances_."
            )

    def look(self, features: Features) -> RoundResult:
        """Fit a clone on some of the features."""
        rows = self.sampler.rows(features.size)
        X, y, weights = self.X[:, features], self.y, self.sample_weight
        if rows is not None:
            X, y = X[rows], take_rows(y, rows)
            weights = None if weights is None else weights[rows]
        given = {} if weights is None else {"sample_weight": weights}
        model = machine_for(self.estimator, features, self.X.shape[1]).fit(X, y, **given)
        self.n_fits += 1
        accuracy = float(model.score(X, y, **given)) if hasattr(model, "score") else np.nan
        gap = float(np.max(model.gap_)) if hasattr(model, "gap_") else np.nan
        return RoundResult(self._importances(model), accuracy, gap, X.shape[0])

    def forget(self, features: Features) -> None:
        """Do nothing: every fit begins anew."""

    def _importances(self, model: Any) -> Floats:
        kernel = getattr(model, "kernel_", None)
        wants_expansion = self.criterion != "auto" or (
            kernel is not None and not isinstance(kernel, Linear)
        )
        if not (isinstance(model, KernelMachine) and wants_expansion):
            return feature_importances(model, self.importance_getter)
        expansion = kernel_expansion(model)
        measure = MEASURES["objective" if self.criterion == "auto" else self.criterion]
        values = []
        for coefficients in expansion.coefficients:
            used = np.flatnonzero(coefficients)
            values.append(measure(expansion.kernel, expansion.points[used], coefficients[used]))
        return join(values, self.joint, self.power)
