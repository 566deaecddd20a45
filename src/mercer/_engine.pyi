"""The compiled engine: kernel values and block SMO over plain arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32] | NDArray[np.float64]
Problem = tuple[Any, ...]
"""(p, lower, upper, ridge, diagonal, beta, gradient), the last two changed in place; and perhaps
the kernel row of each variable, where several variables share one."""
Options = dict[str, Any]
"""tol, max_iter, time_limit, block, cache_bytes, n_threads, unbounded_below, callback."""

def smo_computed(
    data: Floats,
    family: int,
    gamma: float,
    coef0: float,
    degree: int,
    factor: float,
    problem: Problem,
    options: Options,
) -> dict[str, Any]: ...
def smo_matrix(
    kernel: Floats, view: NDArray[np.int64] | None, problem: Problem, options: Options
) -> dict[str, Any]: ...
def smo_path(
    kernel: Floats,
    view: NDArray[np.int64] | None,
    machine: tuple[Any, ...],
    penalties: NDArray[np.float64],
    start: tuple[Any, ...],
    options: Options,
    report: tuple[Any, ...],
) -> int: ...
def smo_requested_f64(
    request: Callable[[Any, Any], None], n: int, problem: Problem, options: Options
) -> dict[str, Any]: ...
def fill_kernel_matrix(
    left: Floats,
    right: Floats,
    family: int,
    gamma: float,
    coef0: float,
    degree: int,
    factor: float,
    out: Floats,
    n_threads: int,
) -> None: ...
def fill_kernel_products(
    left: Floats,
    right: Floats,
    family: int,
    gamma: float,
    coef0: float,
    degree: int,
    factor: float,
    coefficients: Floats,
    ends: NDArray[np.int64],
    wide: bool,
    out: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def eliminate_features(
    columns: NDArray[np.float64],
    fixed: NDArray[np.uint8],
    counts: NDArray[np.int64],
    row_weights: NDArray[np.float64],
    kernel: NDArray[np.float64],
    problem: Problem,
    options: Options,
    report: tuple[Any, ...],
) -> dict[str, Any]: ...
def add_weighted_rows(
    kernel: Any, rows: Any, weights: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def kept_array_f32(n_rows: int, n_columns: int) -> Any: ...
def kept_array_f64(n_rows: int, n_columns: int) -> Any: ...
def release_kept_memory() -> int: ...
def instruction_set() -> str: ...
