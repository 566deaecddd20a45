"""Where faults are known and not yet mended. Take a line out of `KNOWN` when it is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.kernels import as_kernel

from .program import Program

KNOWN: dict[str, str] = {
    "objective": "objective_ is off by up to a millionth on some hundred rows of several classes",
}


def region_of(program: Program) -> str | None:
    """Return the known region in which a program lies, None where everything has to hold."""
    if "large numbers" in KNOWN and _is_large(program):
        return "large numbers"
    return None


def _is_large(program: Program) -> bool:
    if program.drawn["weight"] in ("huge", "unequal") or np.abs(program.plain).max() > 1e100:
        return True
    targets = program.y if program.kind in ("SVR", "RVR") else 0.0
    return not largest_kernel_value(program) <= 1e6 or bool(np.abs(targets).max() > 1e6)


def largest_kernel_value(program: Program) -> float:
    """Return the largest k(x, x) of all candidates; NaN or infinity where it is beyond float64."""
    model = getattr(program.estimator, "estimator", program.estimator)
    if model.kernel == "precomputed":
        return float(np.abs(program.plain).max())
    widths = program.drawn.get("grid", {}).get("gamma", [model.gamma])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return max(_size(model, width, program.plain) for width in widths)
        except ValueError:  # no width can be given to such data
            return np.inf


def _size(model: Any, gamma: Any, rows: np.ndarray) -> float:
    kernel = as_kernel(model.kernel, gamma=gamma, degree=model.degree, coef0=model.coef0)
    return float(np.abs(kernel.resolve(rows).diag(rows)).max())
