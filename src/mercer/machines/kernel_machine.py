"""What all kernel machines share as estimators: parameters, kernel, and the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import RememberedParameters
from mercer._sklearn import Interval, StrOptions
from mercer._threads import wanted_threads
from mercer.gram import Gram, finite, make_gram
from mercer.gram.devices import NAMES, names_device
from mercer.kernels import Kernel, Linear, as_kernel
from mercer.kernels.base import column_means
from mercer.kernels.blocks import submatrix
from mercer.machines.training import warn_if_indefinite
from mercer.solvers import MultiClassSolution, Options, Solution, Solutions
from mercer.solvers.solve import SOLVERS

Floats = NDArray[np.float64]


class DeviceNames(StrOptions):
    """What names a device, as a rule for a parameter."""

    def __init__(self) -> None:
        super().__init__({"cpu", "cuda", "auto"})

    def is_satisfied_by(self, val: Any) -> bool:
        """Say whether this is one of them, or one with a number."""
        return names_device(val)

    def __str__(self) -> str:
        return NAMES


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
    "device": [DeviceNames()],
}

MARGIN_CONSTRAINTS: dict[str, list[Any]] = {
    **KERNEL_CONSTRAINTS,
    **SOLVER_CONSTRAINTS,
    "C": [Interval(Real, 0.0, None, closed="right")],
}
"""Those of the machines with a margin."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that take part in a fit.

    Parameters
    ----------
    X : ndarray or sparse matrix
        All rows.
    kept : ndarray of int
        Rows with weight above zero; ``weights``, ``points`` and ``gram`` are of these only.
    weights : ndarray
    points : ndarray or sparse matrix
        Of a precomputed kernel the matrix.
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

    @classmethod
    def of(
        cls,
        X: Any,
        weights: Floats | None,
        kernel: Kernel,
        *,
        cache_bytes: float,
        translate: bool = False,
        device: str = "cpu",
    ) -> TrainingRows:
        """Choose the rows, resolve the kernel and make its matrix.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            Validated.
        weights : ndarray of shape (n,) or None
            Checked; None stands for 1 each.
        kernel : Kernel
            As the parameters describe it.
        cache_bytes : float
            Memory for kernel values.
        translate : bool, default=False
            Whether points of a linear kernel may be moved to the origin, where that changes
            nothing but rounding errors.
        device : str, default="cpu"
            As in `make_gram`.
        """
        is_pairwise = kernel.is_pairwise
        if is_pairwise:
            check_square(X)
        if weights is None:
            kept, own, points = np.arange(X.shape[0]), None, X
        else:
            kept = np.flatnonzero(weights)
            own, points = weights[kept], rows_of(X, kept, is_pairwise)
        kernel = kernel.resolve(points, own)
        moved = centred(kernel, points) if translate else points
        gram = make_gram(kernel, moved, memory=cache_bytes, device=device)
        warn_if_indefinite(kernel, gram)
        return cls(X, kept, np.ones(kept.size) if own is None else own, points, kernel, gram)


def check_square(matrix: Any) -> None:
    """Refuse a kernel matrix of training rows that is not square."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"A precomputed kernel matrix must be a square matrix; got {matrix.shape[0]} rows and "
            f"{matrix.shape[1]} columns."
        )


def rows_of(X: Any, kept: Any, is_pairwise: bool) -> Any:
    """Return the rows that take part, and of a kernel matrix only their columns."""
    if kept.size == X.shape[0]:
        return X
    return submatrix(X, kept, kept) if is_pairwise else X[kept]


def centred(kernel: Kernel, points: Any) -> Any:
    """Move the points to the origin where that changes no ball, only rounding errors.

    Equal points would all become zero, however large they are and will be when asked about.
    """
    if isinstance(kernel, Linear) and not sp.issparse(points):
        finite(kernel.diag(points))
        return points - column_means(points)
    return points


class KernelMachine(RememberedParameters, BaseEstimator):
    """Base of the estimators that have a kernel."""

    kernel: Any
    kernel_: Kernel
    gamma: Any
    degree: int
    coef0: float
    n_jobs: int | None
    # Of those that need a solver:
    solver: str
    tol: float
    max_iter: int
    time_limit: float | None
    cache_size: float
    shrinking: bool
    warm_start: bool
    device: str = "cpu"  # also of machines kept before there was a choice

    def _make_kernel(self) -> Kernel:
        """Return the kernel that the parameters describe."""
        return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _n_threads(self) -> int | None:
        """Return the threads that ``n_jobs`` asks for; None means all."""
        return None if self.n_jobs is None else wanted_threads(self.n_jobs)

    def _where(self) -> tuple[int | None, str]:
        """Return the threads and the device that kernel values come from."""
        return self._n_threads(), self.device

    def _options(self) -> Options:
        """Return what the parameters tell a solver."""
        return Options(
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            n_threads=self._n_threads(),
            cache_bytes=self.cache_size * 1e6,
            shrinking=bool(self.shrinking),
        )

    @staticmethod
    def _counted(solved: Solution | MultiClassSolution | Solutions) -> Any:
        """Return iterations as scikit-learn counts them: the look that finds it done is one."""
        if isinstance(solved, Solutions):
            return np.maximum(solved.n_iter, solved.converged)
        return max(solved.n_iter, int(solved.converged))

    def _check_linear(self) -> None:
        """Say so where ``coef_`` is asked for and the kernel has no weights of features."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel.")

    def _training_rows(
        self, X: Any, weights: Floats | None, *, translate: bool = False
    ) -> TrainingRows:
        """Return the rows of a fit with their kernel matrix; None stands for weights of 1."""
        return TrainingRows.of(
            X,
            weights,
            self._make_kernel(),
            cache_bytes=self.cache_size * 1e6,
            translate=translate,
            device=self.device,
        )

    def _last_solutions_of(self) -> Any:
        """Return the solutions of the last fit, if they are wanted."""
        return getattr(self, "_last_solutions", None) if self.warm_start else None

    def _is_pairwise(self) -> bool:
        if isinstance(self.kernel, str):
            return self.kernel == "precomputed"
        return bool(getattr(self.kernel, "is_pairwise", False))

    def _data_format(self) -> dict[str, Any]:
        sparse = False if self._is_pairwise() else "csr"
        return {"accept_sparse": sparse, "dtype": np.float64, "order": "C"}

    def _check_square(self, X: Any) -> None:
        if self._is_pairwise():
            check_square(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = not self._is_pairwise()
        return tags
