"""What the parameters that machines share may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from mercer._sklearn import Interval, StrOptions
from mercer.kernels import Kernel
from mercer.solvers.options import SOLVERS

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [str, Kernel, callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [
        StrOptions({"scale", "auto", "median"}),
        Interval(Real, 0.0, None, closed="neither"),
        "array-like",
    ],
    "coef0": [Interval(Real, None, None, closed="neither")],
}

SOLVER_CONSTRAINTS: dict[str, list[Any]] = {
    "solver": [StrOptions(set(SOLVERS))],
    "shrinking": ["boolean"],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "cache_size": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "time_limit": [Interval(Real, 0.0, None, closed="left"), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}

MARGIN_CONSTRAINTS: dict[str, list[Any]] = {
    **KERNEL_CONSTRAINTS,
    **SOLVER_CONSTRAINTS,
    "C": [Interval(Real, 0.0, None, closed="right")],
}
"""Those of the machines with a margin."""
