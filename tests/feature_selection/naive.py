"""Eliminations done the slow way, against which the fast ones are tested."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.feature_selection import step_sizes


def importances(model: Any, X: np.ndarray, criterion: str) -> np.ndarray:
    """Return the importances by definition: every kernel matrix computed from the data."""
    kernel, beta, points = model.kernel_, model.dual_coef_[0], model.support_vectors_
    d = X.shape[1]
    if criterion == "weights":
        return (beta @ points) ** 2
    if criterion in ("objective", "decrease"):
        whole = beta @ kernel(points) @ beta
        without = (kernel(np.delete(points, k, axis=1)) for k in range(d))
        values = np.array([0.5 * (whole - beta @ K @ beta) for K in without])
        return np.abs(values) if criterion == "objective" else values

    def scaled(k: int, scale: float) -> float:
        stretched = points.copy()
        stretched[:, k] *= scale
        return beta @ kernel(stretched) @ beta

    step = 1e-5
    return np.array([abs(scaled(k, 1 + step) - scaled(k, 1 - step)) / (4 * step) for k in range(d)])


def eliminate(
    estimator: Any, X: np.ndarray, y: np.ndarray, step: Any, criterion: str, least: int = 1
) -> list[list[int]]:
    """Return the features dropped in each round, the least important first."""
    left = np.arange(X.shape[1])
    rounds = []
    for before, after in pairwise(step_sizes(step, left.size, least)):
        model = clone(estimator).fit(X[:, left], y)
        values = importances(model, X[:, left], criterion)
        weakest = np.argsort(values, kind="stable")[: before - after]
        rounds.append(left[weakest].tolist())
        left = np.delete(left, weakest)
    return rounds
