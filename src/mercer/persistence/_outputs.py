"""Whether a classifier has as many outputs as classes.

A class that is missing shows only in rows of which it is the likeliest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

State = dict[str, Any]

BY_CLASS = {
    **dict.fromkeys(["coef_", "centroids_", "theta_", "class_log_prior_", "class_prior_"], 0),
    **dict.fromkeys(["feature_log_prob_", "means_"], 0),
    "label_distributions_": 1,
}
"""Arrays with a row, or a column, for each class, or with one for two of them."""


def arrays_of_classes(state: State) -> bool:
    """Compare all arrays that have something for each class; those of several outputs differ."""
    classes = state["classes_"]
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        return True
    counts = {classes.size, 1} if classes.size == 2 else {classes.size}
    arrays = ((state.get(name), axis) for name, axis in BY_CLASS.items())
    return all(
        value.shape[axis] in counts
        for value, axis in arrays
        if isinstance(value, np.ndarray) and value.ndim > axis
    )


def classes_of_tree(state: State) -> bool:
    """Compare the classes of a tree with its leaves."""
    counts = _counted(state)
    return counts is not None and state["tree_"].value.shape[2] == max(counts)


def classes_of_forest(state: State) -> bool:
    """Compare the classes of a forest with those of its trees."""
    counts = _counted(state)
    trees = np.ravel(np.array(state["estimators_"], dtype=object)).tolist()
    told = [vars(tree).get("n_classes_") for tree in trees if "tree_" in vars(tree)]
    known = [n for n in told if n is not None]
    return counts is not None and all([int(n) for n in np.atleast_1d(k)] == counts for k in known)


def _counted(state: State) -> list[int] | None:
    """Return how many classes each output has, or None if two places disagree."""
    classes = state["classes_"]
    found = [len(each) for each in (classes if isinstance(classes, list) else [classes])]
    told = [int(n) for n in np.atleast_1d(state["n_classes_"])]
    return found if found == told else None


def boosted_classes(state: State) -> bool:
    """Compare classes with the trees of one round."""
    trees, classes = state["estimators_"], state["classes_"]
    return trees.ndim == 2 and trees.shape[1] == (1 if classes.size == 2 else classes.size)


def rounds_of_classes(state: State) -> bool:
    """Compare classes with the trees of one round of boosting on histograms."""
    wanted = 1 if state["classes_"].size == 2 else state["classes_"].size
    return all(len(trees) == wanted for trees in state["_predictors"])


def one_for_each(state: State) -> bool:
    """Compare the machines of one class against the rest with the classes."""
    count, classes = len(state["estimators_"]), len(state["label_binarizer_"].classes_)
    return count == classes or (count == 1 and classes == 2)


def coded_classes(state: State) -> bool:
    """Compare the classes of an ensemble with those that its codes stand for."""
    return len(state["le_"].classes_) == len(state["classes_"])


def probabilities_of_categories(state: State) -> bool:
    """Compare probabilities of categories with how many there are, column by column."""
    k, counts = len(state["classes_"]), state["n_categories_"]
    return [each.shape for each in state["feature_log_prob_"]] == [(k, int(n)) for n in counts]


def spread_labels(state: State) -> bool:
    """Compare labels that spread between rows with these."""
    return bool(state["label_distributions_"].shape[0] == state["X_"].shape[0])
