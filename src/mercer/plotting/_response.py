"""What an estimator says on a grid of points of a plane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._labels import Codes, codes_of
from mercer.plotting._outlines import region_fields
from mercer.plotting._plane import Floats, Plane

METHODS = ("predict", "predict_proba")
Grid = tuple[Floats, Floats]


class Classes(NamedTuple):
    """The labels that an estimator predicts, their names, and which of two has f(x) > 0."""

    labels: Any
    names: Any
    positive: int


class Response(NamedTuple):
    """Predicted class at each node, functions whose zero lines are the boundary, probabilities.

    The number of classes stands for what is rejected.
    """

    regions: Codes
    fields: list[Floats]
    is_decision: bool
    probabilities: Floats | None


def classes_of(estimator: Any) -> Classes:
    """Return the classes of a classifier, or inlier and outlier for a one-class machine."""
    if is_outlier_detector(estimator):
        return Classes(np.array([1, -1]), np.array(["inlier", "outlier"]), 0)
    return Classes(estimator.classes_, estimator.classes_, 1)


def check_drawable(estimator: Any, response_method: str) -> None:
    """Refuse what has no boundary in a plane, in one sentence."""
    name = type(estimator).__name__
    if not (is_classifier(estimator) or is_outlier_detector(estimator)):
        raise ValueError(f"Only classifiers and one-class machines have a boundary; got {name}.")
    check_is_fitted(estimator)
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError("With a precomputed kernel there are no features to draw the boundary in.")
    if isinstance(getattr(estimator, "classes_", None), list):
        raise ValueError(f"Only one label a row can be drawn; {name} gives several.")
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{name} says nothing about new points: it has no predict.")
    if response_method not in METHODS:
        raise ValueError(f"response_method must be one of {METHODS}; got {response_method!r}.")
    if response_method == "predict_proba" and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{name} gives no probabilities to shade; put it into PlattClassifier, or use "
            "SVC(probability=True)."
        )


def make_grid(points: Floats, resolution: int, eps: float) -> Grid:
    """Return coordinates that cover the points, with some room around them."""
    if resolution < 2:
        raise ValueError(f"grid_resolution must be at least 2; got {resolution}.")
    if not (np.isfinite(eps) and eps >= 0):
        raise ValueError(f"eps must be a number from 0 upwards; got {eps}.")
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    span = high - low
    low, high = low - eps * span, high + eps * span
    flat = span == 0
    low[flat], high[flat] = low[flat] - 1.0, high[flat] + 1.0
    first, second = (np.linspace(a, b, resolution) for a, b in zip(low, high))
    return first, second


def evaluate(
    estimator: Any, classes: Classes, plane: Plane, grid: Grid, response_method: str
) -> Response:
    """Ask the estimator at every node of the grid."""

    n_classes = len(classes.labels)

    def predict(points: Floats) -> Codes:
        labels = np.asarray(estimator.predict(plane.rows(points)))
        known = np.isin(labels, classes.labels)
        codes = np.full(len(labels), n_classes)  # rejected: a label that is none of the classes
        own = labels[known].astype(np.asarray(classes.labels).dtype, copy=False)
        codes[known] = codes_of(own, classes.labels, len(own))
        return codes

    across, up = np.meshgrid(*grid)
    points = np.column_stack([across.ravel(), up.ravel()])
    rows = plane.rows(points)
    regions = predict(points).reshape(across.shape)
    probabilities = None
    if response_method == "predict_proba":
        probabilities = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
        probabilities = probabilities.reshape(*across.shape, n_classes)
    if n_classes == 2 and hasattr(estimator, "decision_function"):
        values = np.asarray(estimator.decision_function(rows), dtype=np.float64)
        values = values.reshape(across.shape)
        # A classifier with a threshold of its own does not change its mind at f = 0.
        if (((values > 0) == (regions == classes.positive)) | (values == 0)).all():
            return Response(regions, [values], True, probabilities)
    n_regions = n_classes + bool((regions == n_classes).any())
    fields = region_fields(grid, regions, predict, n_regions)[:n_classes]
    return Response(regions, fields, False, probabilities)
