"""What all kernel machines share as estimators: kernel, tags, and what they tell solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer._parameters import RememberedParameters
from mercer._threads import wanted_threads
from mercer.kernels import Kernel, as_kernel
from mercer.machines import TrainingRows, check_square
from mercer.solvers import Options


class KernelMachine(RememberedParameters, BaseEstimator):
    """Base of the estimators that have a kernel."""

    kernel: Any
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

    def _make_kernel(self) -> Kernel:
        """Return the kernel that the parameters describe."""
        return as_kernel(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def _n_threads(self) -> int | None:
        """Return the threads that ``n_jobs`` asks for; None means all."""
        return wanted_threads(self.n_jobs)

    def _options(self) -> Options:
        """Return what the parameters tell a solver."""
        return Options(
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            n_threads=self._n_threads(),
            cache_bytes=self.cache_size * 1e6,
            shrinking=self.shrinking,
        )

    def _training_rows(
        self, X: Any, sample_weight: Any, *, translate: bool = False
    ) -> TrainingRows:
        """Return the rows of a fit with their kernel matrix."""
        return TrainingRows.of(
            X,
            sample_weight,
            self._make_kernel(),
            cache_bytes=self.cache_size * 1e6,
            translate=translate,
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
