"""What the estimators of one class share: checked data, a kernel matrix, a solved program."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import validate_data

from mercer._machine import KernelMachine, checked_weights, rows_of, warn_if_indefinite
from mercer._sklearn import Interval, StrOptions
from mercer.gram import Gram, make_gram
from mercer.kernels import Kernel, Linear
from mercer.problems import QuadraticProgram
from mercer.solvers import Solution, solve
from mercer.spheres._start import coarse_start

Floats = NDArray[np.float64]

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
    "solver": [StrOptions({"auto", "smo", "exact", "linear"})],
    "shrinking": ["boolean"],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "cache_size": [Interval(Real, 0.0, None, closed="neither")],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
    "time_limit": [Interval(Real, 0.0, None, closed="left"), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Checked rows and their kernel matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        All rows.
    kept : ndarray of int
        Rows with weight above zero; ``weights``, ``points`` and ``gram`` are of these only.
    weights : ndarray
    points : ndarray or sparse matrix
    kernel : Kernel
        With numbers in place of "scale".
    gram : Gram
    """

    X: Any
    kept: NDArray[np.int64]
    weights: Floats
    points: Any
    kernel: Kernel
    gram: Gram


def centred(kernel: Kernel, points: Any) -> Any:
    """Move the points to the origin where that changes no ball, only rounding errors."""
    if isinstance(kernel, Linear) and not sp.issparse(points):
        return points - points.mean(axis=0)
    return points


class OneClassMachine(OutlierMixin, KernelMachine):
    """Base of the estimators of one class."""

    solver: str
    shrinking: bool
    tol: float
    cache_size: float
    max_iter: int
    time_limit: float | None
    warm_start: bool
    verbose: bool

    def _training_data(self, X: Any, sample_weight: Any, *, translate: bool) -> TrainingData:
        """Check the data and make the kernel matrix; ``translate`` lets linear data be centred."""
        X = validate_data(self, X, **self._data_format())
        self._check_square(X)
        weights = checked_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        kernel = self._make_kernel()
        points = rows_of(X, kept, kernel.is_pairwise)
        kernel = kernel.resolve(points, weights[kept])
        moved = centred(kernel, points) if translate else points
        gram = make_gram(kernel, moved, memory=self.cache_size * 1e6)
        warn_if_indefinite(kernel, gram)
        return TrainingData(X, kept, weights[kept], points, kernel, gram)

    def _solve(
        self, problem: QuadraticProgram, gram: Gram, tol: float, unit: float = 1.0
    ) -> Solution:
        start: Any = self._last_multipliers(problem.n)
        if start is not None:
            start = unit * start
        elif self.solver in ("auto", "smo") and gram.features() is None:
            start = coarse_start(problem, gram, tol)
        return solve(problem, gram, tol=tol, warm_start=start, **self._solver_options())

    def _last_multipliers(self, n: int) -> Floats | None:
        """Return the solution of the last fit, if it is wanted and has as many rows."""
        last = getattr(self, "_last_solution", None) if self.warm_start else None
        return last if last is not None and last.size == n else None

    def _say(self, n_rows: int, n_support: int, solution: Solution, gap: float) -> None:
        if self.verbose:
            print(
                f"{type(self).__name__}: {n_support} support vectors of {n_rows} rows, "
                f"{solution.n_iter} iterations, gap {gap:.2g}"
            )
