"""Finding the support vectors of a fitted classifier, and of which kind each is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.plotting._plane import FeaturePlane, as_table

KINDS = ("margin", "bound")


class SupportVectors(NamedTuple):
    """Where the support vectors lie in the picture, their class and kind, and words for each kind."""

    points: NDArray[np.float64]
    codes: NDArray[np.int64]
    kinds: NDArray[np.str_]
    labels: dict[str, str]


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
    kinds = np.where((machine.support_kind_ == "bound").any(axis=0), "bound", "margin")
    estimator = getattr(estimator, "best_estimator_", estimator)
    if estimator is machine:
        points = plane.project(machine.support_vectors_)
    elif _was_fitted_on(estimator[:-1], machine, X):
        points = plane.project(X)[machine.support_]
    else:
        return None
    codes = np.repeat(np.arange(len(machine.classes_)), machine.n_support_)
    return SupportVectors(points, codes, kinds, _labels(machine))


def _was_fitted_on(steps: Any, machine: Any, X: Any) -> bool:
    if machine.shape_fit_[0] != np.shape(X)[0]:
        return False
    vectors = as_table(steps.transform(X))[machine.support_]
    return vectors.shape == machine.support_vectors_.shape and np.allclose(
        vectors, as_table(machine.support_vectors_)
    )


def _labels(machine: Any) -> dict[str, str]:
    """Return the words for each kind: the squared hinge loss knows no bound, and slack inside it."""
    if getattr(machine, "loss", "hinge") == "squared_hinge" and np.isfinite(machine.C):
        return {"margin": "support vector", "bound": "support vector at the bound"}
    return {"margin": "support vector on the margin", "bound": "support vector at the bound C"}
