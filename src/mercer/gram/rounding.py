"""Where sums of kernel values may be computed with fewer digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mercer.gram.base import Floats

if TYPE_CHECKING:
    from mercer.gram.pairwise import EnginePoints

ROUNDING = 1e-6
"""Error, relative to the range of the sums, up to which they may be rounded."""

WORTHWHILE = 1 << 27
"""Operations below which float64 takes no noticeable time."""

FEW_FEATURES = 32
"""Up to so many, what follows the products takes most of the time."""

NEAR = 16.0
"""Largest exponent of a centre of the sums for which float32 may do; ordinary ones are below 5."""

PROBED = 32
"""Rows far from the centre, and as many of all, on which the error is measured."""

Rough = Literal["values", "products"]
"""What may be float32: kernel values, or the products only that they follow from."""


def rough_way(
    points: EnginePoints,
    left: Floats,
    coefficients: Floats,
    n_threads: int | None,
    sums: Callable[..., Floats],
) -> Rough | None:
    """Return what may be float32 since it changes the sums little enough; None where nothing may.

    The error of a kernel value that is not tiny grows with the distance of both points from the
    centre, so that there must be no centre of the sums far out. Beyond that, bounds for the worst
    case grow with the sum of all absolute coefficients and are hundreds of times too large, since
    roundings of thousands of kernel values cancel. So some rows, those farthest out among them,
    are computed both ways, by ``sums``. The errors of a row are a sum of many independent ones:
    five times their root mean square is exceeded once in two million rows.
    """
    (n, d), form, right = left.shape, points.form, points.double
    if n < 2 * PROBED or n * d * right.shape[0] < WORTHWHILE:
        return None
    if not form.is_stationary or points.exponent > NEAR:
        return None
    evenly = np.linspace(0, n - 1, PROBED).astype(np.int64)
    farthest = np.argpartition(np.einsum("ij,ij->i", left, left), n - PROBED)[n - PROBED :]
    rows = left[np.concatenate([evenly, farthest])]
    ends = np.array([0, right.shape[0]])
    exact = sums(form, rows, right, coefficients, ends, n_threads)[:, 0]
    size = 0.5 * np.ptp(exact[:PROBED], axis=0)
    if not (size > 0).all():
        return None
    size = np.maximum(size, np.abs(exact - np.median(exact[:PROBED], axis=0)))
    # With few features, what follows the products takes most of the time.
    ways: tuple[Rough, ...] = ("values", "products") if d > FEW_FEATURES else ("values",)
    for way in ways:
        rough: Any = rows.astype(np.float32)
        found = sums(form, rough, points.single, coefficients, ends, n_threads, way == "products")
        relative = (found[:, 0] - exact) / size
        likely = 5.0 * float(np.sqrt((relative**2).mean(axis=0)).max())
        if max(likely, float(np.abs(relative).max())) < ROUNDING:
            return way
    return None
