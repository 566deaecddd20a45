"""Finding the support vectors of a fitted classifier, and of which kind each is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.plotting._plane import FeaturePlane, as_table

LABELS = {
    "margin": "support vector on the margin",
    "bound": "support vector at the bound C",
    "slack": "support vector, with slack",
}


class SupportVectors(NamedTuple):
    """Where the support vectors lie in the picture, their class and kind (a key of `LABELS`)."""

    points: NDArray[np.float64]
    codes: NDArray[np.int64]
    kinds: NDArray[np.str_]


def margin_machine(estimator: Any) -> Any | None:
    """Return the machine with support vectors in an estimator, a search or a pipeline, or None."""
    machine = getattr(estimator, "best_estimator_", estimator)
    machine = machine[-1] if hasattr(machine, "steps") else machine
    return machine if hasattr(machine, "support_kind_") else None


def find_support(estimator: Any, X: Any, plane: FeaturePlane) -> SupportVectors | None:
    """Return the support vectors as points of the plane, or None where there are none to show.

    Behind the steps of a pipeline they are known only in transformed features; they are then shown
    as the rows of `X`, provided that `X` is what the pipeline was fitted on.
    """
    machine = margin_machine(estimator)
    if machine is None or not machine.support_.size:
        return None
    estimator = getattr(estimator, "best_estimator_", estimator)
    if estimator is machine:
        points = plane.project(machine.support_vectors_)
    elif _was_fitted_on(estimator[:-1], machine, X):
        points = plane.project(X)[machine.support_]
    else:
        return None
    codes = np.repeat(np.arange(len(machine.classes_)), machine.n_support_)
    return SupportVectors(points, codes, _kinds(machine))


def _was_fitted_on(steps: Any, machine: Any, X: Any) -> bool:
    if machine.shape_fit_[0] != np.shape(X)[0]:
        return False
    vectors = as_table(steps.transform(X))[machine.support_]
    return vectors.shape == machine.support_vectors_.shape and np.allclose(
        vectors, as_table(machine.support_vectors_)
    )


def _kinds(machine: Any) -> NDArray[np.str_]:
    """Return the kind of each support vector; at the bound counts if it is so for any machine.

    With the squared hinge loss there is no bound, and every support vector has slack.
    """
    if machine.loss == "squared_hinge" and np.isfinite(machine.C):
        return np.full(machine.support_.size, "slack")
    return np.where((machine.support_kind_ == "bound").any(axis=0), "bound", "margin")
