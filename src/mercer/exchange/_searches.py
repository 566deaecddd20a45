"""Models that a search has found."""

from __future__ import annotations

from typing import Any


def found_by(model: Any) -> Any:
    """Return the model itself, or the best one of a fitted search, which predicts alike."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model
