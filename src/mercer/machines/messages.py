"""What users are told, in one place for all machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer._warnings import warn
from mercer.gram import Gram
from mercer.kernels import Kernel, is_known_mercer, is_mercer
from mercer.solvers import Solution, Solutions

CHECKED_ROWS = 300
"""Rows on which a kernel of unknown kind is tested; their eigenvalues take a few milliseconds."""

REASONS = {
    "max_iter": "max_iter was reached",
    "time_limit": "time_limit was reached",
    "interrupted": "the callback stopped it",
    "stalled": "the arithmetic allows no smaller gap",
}


def no_minimum(loss: str) -> str:
    """Return why a classifier has no solution: ``loss`` as in `Penalty`."""
    if loss == "hard":
        return (
            "The classes cannot be separated with this kernel, so that C=inf (hard margin) has no "
            "solution; use a finite C or a richer kernel."
        )
    return (
        "The kernel is not positive semi-definite, so that the squared hinge loss has no solution; "
        "use loss='hinge' or another kernel."
    )


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


def warn_unless_converged(solutions: Solutions | Sequence[Solution], tol: float) -> None:
    """Warn once about all solutions whose gap is above the tolerance."""
    if isinstance(solutions, Solutions) and solutions.converged.all():
        return
    failed = [solution for solution in solutions if not solution.converged]
    if failed:
        warn_about(failed, len(solutions), tol)


def warn_about(failed: Sequence[Solution], n_solved: int, tol: float) -> None:
    """Warn that some of the solvers did not reach the tolerance, naming gap and remedies."""
    worst = max(failed, key=lambda solution: solution.gap)
    which = "The solver" if n_solved == 1 else f"{len(failed)} of {n_solved} solvers"
    warn(
        f"{which} stopped at a gap of {worst.gap:.3g} instead of tol={tol:g}, because "
        f"{REASONS.get(worst.status, worst.status)} after {worst.n_iter} iterations. Scale the "
        "features (for instance with StandardScaler), lower C, or raise max_iter, time_limit or "
        "tol; with warm_start=True another fit goes on from here.",
        ConvergenceWarning,
    )
