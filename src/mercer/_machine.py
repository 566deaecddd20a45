"""What all kernel machines share: their kernel, its tags, and how bad convergence is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from mercer._sklearn import check_sample_weight
from mercer._threads import wanted_threads
from mercer._warnings import warn
from mercer.gram import Gram
from mercer.kernels import Kernel, as_kernel, is_known_mercer, is_mercer
from mercer.solvers import Solution
from mercer.solvers.several import Job, solve_all


class KernelMachine(BaseEstimator):
    """Base of the estimators that have a kernel."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_jobs: int | None
    # Of those that need a solver:
    solver: str
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

    def _solver_options(self) -> dict[str, Any]:
        """Return what the parameters tell a solver, but for the tolerance."""
        return {
            "solver": self.solver,
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "n_threads": self._n_threads(),
            "cache_bytes": self.cache_size * 1e6,
            "shrinking": self.shrinking,
        }

    def _solve_all(self, jobs: Sequence[Job], tol: float | Sequence[float]) -> list[Solution]:
        """Solve problems of this machine as its parameters say."""
        return solve_all(jobs, tol=tol, **self._solver_options())

    def _starting_points(self, sizes: list[int]) -> list[Any]:
        """Return where problems start: at their last solutions, if those have the same sizes."""
        last = getattr(self, "_last_solutions", None) if self.warm_start else None
        if last is None or [beta.size for beta in last] != sizes:
            return [None] * len(sizes)
        return list(last)

    def _is_pairwise(self) -> bool:
        if isinstance(self.kernel, str):
            return self.kernel == "precomputed"
        return bool(getattr(self.kernel, "is_pairwise", False))

    def _data_format(self) -> dict[str, Any]:
        sparse = False if self._is_pairwise() else "csr"
        return {"accept_sparse": sparse, "dtype": np.float64, "order": "C"}

    def _check_square(self, X: Any) -> None:
        if self._is_pairwise() and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be a square matrix; got {X.shape[0]} rows and "
                f"{X.shape[1]} columns."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = not self._is_pairwise()
        return tags


def checked_weights(sample_weight: Any, X: Any) -> Any:
    """Return one weight for each row: none negative, not all 0."""
    weights = check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("sample_weight must not be negative.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row.")
    return weights


def rows_of(X: Any, kept: Any, is_pairwise: bool) -> Any:
    """Return the rows that take part, and of a kernel matrix only their columns."""
    if kept.size == X.shape[0]:
        return X
    return X[np.ix_(kept, kept)] if is_pairwise else X[kept]


CHECKED_ROWS = 300
"""Rows on which a kernel of unknown kind is tested; their eigenvalues take a few milliseconds."""


def warn_if_indefinite(kernel: Kernel, gram: Gram) -> None:
    """Warn where the kernel matrix of some of the rows has a clearly negative eigenvalue."""
    if is_known_mercer(kernel):
        return
    rows = np.unique(np.linspace(0, gram.n - 1, CHECKED_ROWS).astype(np.int64))
    report = is_mercer(gram.block(rows, rows), tolerance=1e-6)
    if not report:
        warn(
            f"The kernel is {report}. The machine has no geometric meaning then, and the solution "
            "need not be the best one.",
        )


def warn_unless_converged(solutions: Sequence[Solution], tol: float) -> None:
    """Warn once about all solutions whose gap is above the tolerance, naming gap and remedies."""
    failed = [solution for solution in solutions if not solution.converged]
    if not failed:
        return
    worst = max(failed, key=lambda solution: solution.gap)
    reasons = {
        "max_iter": "max_iter was reached",
        "time_limit": "time_limit was reached",
        "interrupted": "the callback stopped it",
        "stalled": "the arithmetic allows no smaller gap",
    }
    which = "The solver" if len(solutions) == 1 else f"{len(failed)} of {len(solutions)} solvers"
    warn(
        f"{which} stopped at a gap of {worst.gap:.3g} instead of tol={tol:g}, because "
        f"{reasons.get(worst.status, worst.status)} after {worst.n_iter} iterations. Scale the "
        "features (for instance with StandardScaler), lower C, or raise max_iter, time_limit or "
        "tol; with warm_start=True another fit goes on from here.",
        ConvergenceWarning,
    )
