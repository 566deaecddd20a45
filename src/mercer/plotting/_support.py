"""Finding the machine in an estimator, its support vectors, and of which kind each is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.svm import SVC, NuSVC

from mercer.plotting._plane import Plane, as_table


class SupportVectors(NamedTuple):
    """Where the support vectors lie in the picture, what each is, and the class of each.

    The kinds are "margin" (between the bounds), "bound", "slack" (there is no bound), "relevance"
    and "" (not known). The classes are None where the machine does not sort its vectors by class.
    """

    points: NDArray[np.float64]
    kinds: NDArray[np.str_]
    codes: NDArray[np.int64] | None = None


def unwrap(estimator: Any) -> tuple[list[Any], Any]:
    """Return the machine inside pipelines, searches and the like, and the steps before it."""
    steps = []
    while True:
        if hasattr(estimator, "steps"):
            if len(estimator) > 1:
                steps.append(estimator[:-1])
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "estimator_"):
            if hasattr(estimator, "transform"):  # a selection of features is a step of its own
                steps.append(estimator)
            estimator = estimator.estimator_
        else:
            return steps, estimator


def transform(steps: list[Any], X: Any) -> Any:
    """Return the data as the machine behind the steps sees them."""
    for step in steps:
        X = step.transform(X)
    return X


def has_margin(estimator: Any) -> bool:
    """Return whether f is scaled so that the margin of two classes ends at f = 1 and f = -1."""
    machine = unwrap(estimator)[1]
    loss = getattr(machine, "loss", None)
    is_hinge = is_classifier(machine) and loss in ("hinge", "squared_hinge")
    return is_hinge or isinstance(machine, (SVC, NuSVC))


def find_support(estimator: Any, X: Any, plane: Plane) -> SupportVectors | None:
    """Return the support vectors as points of the plane, or None where there are none to show.

    Behind the steps of a pipeline they are known only in transformed features; they are then shown
    as the rows of `X`, provided that `X` is what the pipeline was fitted on.
    """
    steps, machine = unwrap(estimator)
    rows, vectors = _vectors_of(machine)
    if rows is None or not len(rows) or not len(vectors):
        return None
    if not steps:
        points = plane.project(vectors)
    elif _was_fitted_on(steps, rows, vectors, X):
        points = plane.project(X)[rows]
    else:
        return None
    if hasattr(machine, "relevance_"):
        return SupportVectors(points, np.full(len(rows), "relevance"))
    return SupportVectors(points, _kinds(machine), _codes(machine))


def _vectors_of(machine: Any) -> tuple[Any, Any]:
    """Return which rows are support or relevance vectors, and these rows."""
    for name in ("support", "relevance"):
        if hasattr(machine, f"{name}_vectors_"):
            return getattr(machine, f"{name}_"), getattr(machine, f"{name}_vectors_")
    return None, None


def _was_fitted_on(steps: list[Any], rows: Any, vectors: Any, X: Any) -> bool:
    if rows.max() >= np.shape(X)[0]:
        return False
    seen = as_table(transform(steps, X))[rows]
    return seen.shape == vectors.shape and np.allclose(seen, as_table(vectors))


def _kinds(machine: Any) -> NDArray[np.str_]:
    """Return the kind of each support vector; at the bound counts if it is so for any machine.

    With the squared hinge loss there is no bound, and every support vector has slack if any has.
    """
    n_vectors = len(machine.support_)
    if not hasattr(machine, "support_kind_"):
        return np.full(n_vectors, "")
    if getattr(machine, "loss", None) == "squared_hinge" and _has_slack(machine):
        return np.full(n_vectors, "slack")
    at_bound = (np.atleast_2d(machine.support_kind_) == "bound").any(axis=0)
    return np.where(at_bound, "bound", "margin")


def _has_slack(machine: Any) -> bool:
    """Return whether the machine allows slack; where nu sets its price, whether there is any."""
    return bool(machine.slack_.any() if machine.C is None else np.isfinite(machine.C))


def _codes(machine: Any) -> NDArray[np.int64] | None:
    """Return the class of each support vector, where they are sorted by class."""
    classes = getattr(machine, "classes_", ())
    counts = np.ravel(getattr(machine, "n_support_", ()))
    if len(classes) < 2 or len(counts) != len(classes):
        return None
    return np.repeat(np.arange(len(classes)), counts)
