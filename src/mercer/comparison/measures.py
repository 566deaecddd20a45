"""What is measured of the predictions for rows that were left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

CLASSIFICATION = ("error", "balanced_error", "roc_auc", "log_loss", "brier", "f1")
REGRESSION = ("rmse", "mae", "r2")

UNBALANCED = 0.3
"""Classes are unbalanced where the rarest has less than this share of its equal part."""

LEAST_PROBABILITY = 1e-6
"""What a probability of zero counts as in the log loss: no model is infinitely wrong."""


def is_unbalanced(counts: dict[str, int]) -> bool:
    """Say whether the error of the largest class alone would look good.

    Examples
    --------
    >>> is_unbalanced({"no": 1959, "yes": 41}), is_unbalanced({"a": 357, "b": 212})
    (True, False)
    """
    return min(counts.values()) * len(counts) < UNBALANCED * sum(counts.values())


def measure_classes(
    truth: Any,
    said: Any,
    probabilities: NDArray[np.float64] | None,
    n_classes: int,
    positive: int,
) -> dict[str, float]:
    """Return the measures of a classifier, NaN for those that need probabilities it has not.

    Parameters
    ----------
    truth, said : ndarray of int of shape (n,)
        Positions among all classes.
    probabilities : ndarray of shape (n, n_classes) or None
    n_classes : int
        Of the whole table; these rows may lack some.
    positive : int
        The class that F1 speaks of where there are two.

    Examples
    --------
    >>> truth, said = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> found = measure_classes(truth, said, None, n_classes=2, positive=1)
    >>> found["error"], found["balanced_error"], round(found["f1"], 2)
    (0.25, 0.25, 0.8)
    """
    present = np.unique(truth)
    recalls = [float(np.mean(said[truth == k] == k)) for k in present]
    found = dict.fromkeys(CLASSIFICATION, float("nan"))
    found["error"] = float(np.mean(truth != said))
    found["balanced_error"] = 1.0 - float(np.mean(recalls))
    found["f1"] = _f1(truth, said, n_classes, positive)
    if probabilities is not None:
        found |= _of_probabilities(truth, probabilities, present, positive)
    return found


def _f1(truth: Any, said: Any, n_classes: int, positive: int) -> float:
    if n_classes == 2:
        return float(metrics.f1_score(truth == positive, said == positive, zero_division=0.0))
    return float(metrics.f1_score(truth, said, average="macro", zero_division=0.0))


def _of_probabilities(
    truth: Any, probabilities: NDArray[np.float64], present: Any, positive: int
) -> dict[str, float]:
    rows, n_classes = np.arange(truth.size), probabilities.shape[1]
    clipped = np.clip(probabilities[rows, truth], LEAST_PROBABILITY, 1.0)
    target = np.eye(n_classes)[truth]
    brier = float(np.mean(((probabilities - target) ** 2).sum(axis=1)))
    found = {"log_loss": float(-np.mean(np.log(clipped))), "roc_auc": float("nan")}
    found["brier"] = brier / 2 if n_classes == 2 else brier
    if n_classes == 2 and present.size == 2:
        ranked = probabilities[:, positive]
        found["roc_auc"] = float(metrics.roc_auc_score(truth == positive, ranked))
    elif present.size == n_classes:  # each class against the rest
        areas = [metrics.roc_auc_score(truth == k, probabilities[:, k]) for k in range(n_classes)]
        found["roc_auc"] = float(np.mean(areas))
    return found


def measure_numbers(truth: Any, said: Any) -> dict[str, float]:
    """Return the measures of a regression.

    Examples
    --------
    >>> measure_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.5]))["mae"]
    0.5
    """
    off = np.asarray(said, dtype=np.float64) - truth
    variance = float(np.mean((truth - truth.mean()) ** 2))
    return {
        "rmse": float(np.sqrt(np.mean(off**2))),
        "mae": float(np.mean(np.abs(off))),
        "r2": 1.0 - float(np.mean(off**2)) / variance if variance > 0 else float("nan"),
    }
