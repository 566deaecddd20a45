"""The compiled engine: kernel values and block SMO over plain arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32] | NDArray[np.float64]
Indices = NDArray[np.int64]
Problem = tuple[Any, ...]
"""(p, lower, upper, ridge, diagonal) of programs laid end to end."""

class Rows:
    """Kernel rows, with whatever they are computed from."""

class PackedPoints:
    """Points packed once for kernel values with others."""

def point_rows(
    points: NDArray[np.float64], family: int, gamma: float, coef0: float, degree: int, factor: float
) -> Rows: ...
def matrix_rows(kernel: Floats) -> Rows: ...
def stacked_rows(kernels: Floats, n_each: int) -> Rows: ...
def requested_rows(request: Callable[[Any, Any], None], n: int) -> Rows: ...
def solve_programs(
    rows: Rows,
    problem: Problem,
    row: Indices | None,
    ends: Indices,
    tol: NDArray[np.float64],
    start: tuple[Any, Any] | None,
    rough: bool,
    options: Any,
    n_threads: int,
    report: tuple[Any, Any, Any, Any, Any],
) -> None: ...
def judge_programs(
    p: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    beta: NDArray[np.float64],
    gradient: NDArray[np.float64],
    ends: Indices,
    verdict: NDArray[np.float64],
) -> None: ...
def solve_class_rows(
    matrix: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    upper: NDArray[np.float64],
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    goal: float,
    most: int,
) -> int: ...
def solve_path(
    rows: Rows,
    problem: Problem,
    row: Indices | None,
    prices: NDArray[np.float64],
    start: tuple[Any, Any, float],
    options: Any,
    n_threads: int,
    report: tuple[Any, Any, Any, Any, Any, Any],
) -> int: ...
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
def pack_points(
    points: Any,
    family: int,
    gamma: float,
    coef0: float,
    degree: int,
    factor: float,
    n_threads: int,
) -> PackedPoints: ...
def fill_kernel_products(
    left: Floats,
    right: PackedPoints,
    coefficients: NDArray[np.float64],
    ends: Indices,
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
    point: tuple[Any, Any, Any],
    options: Any,
    n_threads: int,
    report: tuple[Any, ...],
) -> dict[str, Any]: ...
def add_weighted_rows(
    kernel: Any, rows: Any, weights: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def release_excess(
    kernel: Any, most: int, beta: NDArray[np.float64], image: NDArray[np.float64]
) -> bool: ...
def mark_rows_that_reach(
    kernel: Any, rows: Indices, columns: Indices, least: float, out: NDArray[np.uint8]
) -> None: ...
def kept_array_f32(n_rows: int, n_columns: int) -> Any: ...
def kept_array_f64(n_rows: int, n_columns: int) -> Any: ...
def release_kept_memory() -> int: ...
def instruction_set() -> str: ...

ROW_PADDING: int
"""Rows of a matrix in memory have a multiple of so many entries."""
FEW_VARIABLES: int
"""Programs of so few are solved with float64 rows, far beyond the tolerance."""
FEW_ROWS: int
"""Below this a second thread takes longer to start than to help."""
SINGLE_MARGIN: float
"""Share of the tolerance to which float32 rows are solved."""
SINGLE_ROUNDING: float
"""Relative error of a float32 kernel value; those of a sum add up like independent ones."""
