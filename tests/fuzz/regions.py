"""Where faults are known and not yet mended, and how large the numbers of a program are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import Normalized, as_kernel

from .program import Program

KNOWN: dict[str, Callable[[Program], bool]] = {}
"""From the name of a region to whether a program lies in it; none is left."""


def region_of(program: Program) -> str | None:
    """Return the known region in which a program lies, None where everything has to hold."""
    return next((name for name, holds in KNOWN.items() if holds(program)), None)


def is_large(program: Program) -> bool:
    """Say whether fourth powers of features, or squares of weights, leave the range of float64."""
    return bool(program.data.weights.max() > 1e100 or np.abs(program.plain).max() > 1e75)


def largest_kernel_value(program: Program, within: bool = False) -> float:
    """Return the largest k(x, x) of all candidates; NaN or infinity where it is beyond float64.

    Values of a normalized kernel are quotients: ``within`` asks for those that are divided.
    """
    model = getattr(program.estimator, "estimator", program.estimator)
    if model.kernel == "precomputed":
        return float(np.abs(program.plain).max())
    widths = program.drawn.get("grid", {}).get("gamma", [model.gamma])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return max(_size(model, width, program.plain, within) for width in widths)
        except ValueError:  # no width can be given to such data
            return np.inf


def largest_of_single_features(program: Program) -> float:
    """Return the same where a machine sees one feature only, which may be constant; else 0."""
    if "RFE" not in program.kind and "Sequential" not in program.kind:
        return 0.0
    model, columns = program.estimator.estimator, program.plain.T[:, :, None]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return max(_size(model, model.gamma, column, within=False) for column in columns)
        except ValueError:
            return np.inf


def _size(model: Any, gamma: Any, rows: np.ndarray, within: bool) -> float:
    kernel = as_kernel(model.kernel, gamma=gamma, degree=model.degree, coef0=model.coef0)
    if within and isinstance(kernel, Normalized):
        kernel = kernel.kernel
    return float(np.abs(kernel.resolve(rows).diag(rows)).max())
