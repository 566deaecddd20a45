"""Smooth outlines of regions that are known only through predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer.plotting._plane import Floats

Codes = NDArray[np.int64]
HALVINGS = 7
LEAST_DISTANCE = 2.0**-HALVINGS


def region_fields(
    grid: tuple[Floats, Floats], regions: Codes, predict: Callable[[Floats], Codes], n_classes: int
) -> list[Floats]:
    """Return one function a class, above 0 in its region, whose zero line is the region's outline.

    Predictions alone would give lines in steps of the grid. So the place where the prediction
    changes is found by halving each edge of the grid on which it does, and the function's value
    at a node is the distance to the line through those places, in cells of the grid. For two
    classes one function says it all.

    Parameters
    ----------
    grid : pair of ndarray
        Coordinates along the horizontal and the vertical axis.
    regions : ndarray of int of shape (grid[1].size, grid[0].size)
        Predicted class at each node.
    predict : callable
        From points of shape (m, 2) to their predicted classes.
    n_classes : int

    Returns
    -------
    list of ndarray of the shape of `regions`
    """
    across = _changes(grid, regions, predict, axis=1)
    upward = _changes(grid, regions, predict, axis=0)
    fields = []
    for code in [1] if n_classes == 2 else range(n_classes):
        closeness = _closeness(regions, across, code) + _closeness(regions, upward, code)
        distance = 1 / np.sqrt(np.maximum(closeness, 1.0))
        fields.append(np.where(regions == code, distance, -distance))
    return fields


def _changes(
    grid: tuple[Floats, Floats], regions: Codes, predict: Callable[[Floats], Codes], axis: int
) -> tuple[tuple[Codes, ...], tuple[Codes, ...], Floats]:
    """Return the edges along an axis whose ends differ, and at what share of each it changes."""
    start = np.nonzero(np.diff(regions, axis=axis))
    end = tuple(index + (a == axis) for a, index in enumerate(start))
    low, high = np.zeros(start[0].size), np.ones(start[0].size)
    first = np.column_stack([grid[0][start[1]], grid[1][start[0]]])
    step = np.column_stack([grid[0][end[1]], grid[1][end[0]]]) - first
    for _ in range(HALVINGS if low.size else 0):
        middle = (low + high) / 2
        unchanged = predict(first + middle[:, None] * step) == regions[start]
        low, high = np.where(unchanged, middle, low), np.where(unchanged, high, middle)
    return start, end, (low + high) / 2


def _closeness(
    regions: Codes, changes: tuple[tuple[Codes, ...], tuple[Codes, ...], Floats], code: int
) -> Floats:
    """Return one over the squared distance along one axis to the outline of a class, 0 if far.

    These add up over the axes to one over the squared distance to a straight line.
    """
    start, end, share = changes
    closeness = np.zeros(regions.shape)
    concerned = (regions[start] == code) | (regions[end] == code)
    for node, distance in ((start, share), (end, 1 - share)):
        inverse = np.maximum(distance[concerned], LEAST_DISTANCE) ** -2
        np.maximum.at(closeness, tuple(index[concerned] for index in node), inverse)
    return closeness
