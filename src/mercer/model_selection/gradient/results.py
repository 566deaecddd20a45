"""What a gradient search has to say in the words of scikit-learn's searches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer._folds import deal_folds
from mercer.model_selection.gradient.objective import N_FOLDS, Sample


def results_table(
    history: list[dict[str, Any]], params: list[dict[str, Any]], best: int
) -> dict[str, Any]:
    """Return the evaluations as a dictionary of columns.

    Parameters
    ----------
    history : list of dict
        As ``GradientSearch.history_``.
    params : list of dict
        The parameters of the estimator at each evaluation.
    best : int
        Which of them was chosen.

    Returns
    -------
    dict
        As ``GradientSearch.cv_results_``.
    """
    columns: dict[str, Any] = {"params": params}
    for name in dict.fromkeys(name for row in params for name in row):
        column = np.empty(len(params), dtype=object)  # of numbers, vectors and kernels
        column[:] = [row.get(name) for row in params]
        columns[f"param_{name}"] = column
    for name in ("stage", "start"):
        columns[name] = np.array([step[name] for step in history])
    columns["mean_test_score"] = -np.array([step["criterion"] for step in history])
    # Errors on folds, where there are any, have had the last word; within a stage it is the score.
    is_last = np.array(["hinge" in step["stage"] for step in history])
    is_best = np.arange(len(history)) == best
    order = np.lexsort([-columns["mean_test_score"], ~is_last, ~is_best])
    columns["rank_test_score"] = np.empty(len(history), dtype=np.int32)
    columns["rank_test_score"][order] = np.arange(1, len(history) + 1)
    return columns


def fold_accuracy(model: Any, sample: Sample, is_pairwise: bool) -> float:
    """Return the share of the rows that a classifier gets right which has not seen their fold."""
    classes, codes = np.unique(sample.labels, return_inverse=True)
    fold = deal_folds(sample.points, codes, N_FOLDS)
    model = clone(model)
    if "probability" in model.get_params():  # which labels do not depend on
        model.set_params(probability=False)
    right = 0.0
    for number in np.unique(fold):
        seen, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        known = np.unique(codes[seen])
        if known.size == 1:  # there is nothing to learn, and one answer
            answers = np.full(held.size, classes[known[0]])
        else:
            columns = seen if is_pairwise else slice(None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last fit says it
                machine = clone(model).fit(
                    sample.points[seen][:, columns],
                    sample.labels[seen],
                    sample_weight=sample.weights[seen],
                )
            answers = machine.predict(sample.points[held][:, columns])
        right += float(sample.weights[held] @ (answers == sample.labels[held]))
    return right / sample.count
