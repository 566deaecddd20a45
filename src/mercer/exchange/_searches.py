"""Models that a search has found."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.pipeline import Pipeline


def found_by(model: Any) -> Any:
    """Return the model itself, or the best one of a fitted search, which predicts alike."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model


def without_searches(model: Any) -> Any:
    """Return the model with what its searches have found in their places, in pipelines too."""
    model = found_by(model)
    if not isinstance(model, Pipeline):
        return model
    pipeline = copy(model)
    pipeline.steps = [(name, without_searches(step)) for name, step in model.steps]
    return pipeline
