"""The way from a sample of the rows to a machine, wherever all of them are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from mercer._threads import blas_for, wanted_threads
from mercer._warnings import warn
from mercer.gram import KernelSums
from mercer.kernels import Kernel, as_kernel
from mercer.lowrank.descent import Found, Limits, Task, search
from mercer.lowrank.given import Sample
from mercer.lowrank.landmarks import choose_landmarks
from mercer.lowrank.low_rank_kernel import LowRankKernel
from mercer.lowrank.rows import HeldRows, Rows, answer, run
from mercer.lowrank.statistics import Answer, Request

Floats = NDArray[np.float64]

Ask = Callable[[list[Request]], list[Answer]]
"""From requests to the answers of all rows."""

Tell = Callable[[str], None]
"""Is given lines that say how far the work has come."""

ROWS_OF_SAMPLE = 20_000
"""Rows, at least, from which widths, landmarks and a first hyperplane are learned."""

ROWS_PER_FEATURE = 20
"""Rows of the sample for each feature."""

KINKS_PER_FEATURE, FEW_KINKS = 3, 200
"""Kinks near the hyperplane that are solved for exactly: no more than one for each feature is on
it."""

ROWS_OF_ERROR = 2000
"""Rows at which the error of the kernel is measured."""

CURVATURE_BYTES = 1 << 29
"""Second derivatives up to this size are worked on at a time: of a few of many machines."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sample of the rows has taught.

    Parameters
    ----------
    low_rank : LowRankKernel
    error : ndarray of shape (2,)
        Mean and maximum of what is missing of k(x, x).
    task : Task
        What is searched for, on features.
    starts : list of Found
        Where each machine begins.
    """

    low_rank: LowRankKernel
    error: Floats
    task: Task
    starts: list[Found]

    def on_columns(self) -> Task:
        """Return the task for sums over kernel values with the landmarks."""
        return replace(self.task, basis=self.low_rank.basis)


def needed_kernel(model: Any) -> Kernel:
    """Return the kernel of a machine, not resolved; those that have no points are refused."""
    kernel = as_kernel(model.kernel, gamma=model.gamma, degree=model.degree, coef0=model.coef0)
    if kernel.is_pairwise:
        raise ValueError(
            f"{type(model).__name__} needs points, not kernel values: it computes those with "
            "the landmarks itself."
        )
    return kernel


def rows_of_sample(model: Any) -> int:
    """Return how many rows a machine wants to plan with."""
    return max(ROWS_OF_SAMPLE, ROWS_PER_FEATURE * (model.rank + 1))


def limits_of(model: Any, spent: float = 0.0) -> Limits:
    """Return the limits of a machine for which some seconds are spent already."""
    end = None if model.time_limit is None else monotonic() + model.time_limit - spent
    return Limits(model.max_iter, lambda: end is not None and monotonic() >= end)


def planned(
    model: Any, sample: Sample, random: np.random.RandomState, limits: Limits, tell: Tell
) -> Plan:
    """Choose landmarks, and where many rows are left out, solve for those of the sample.

    Parameters
    ----------
    model : NystroemSVC or NystroemSVR
        Its parameters; nothing is changed.
    sample : Sample
    random : RandomState
    limits : Limits
    tell : callable

    Returns
    -------
    Plan
    """
    kernel, targets = needed_kernel(model).resolve(sample.X, sample.targets.weights), sample.targets
    landmarks = _landmarks(model, sample, kernel, random)
    with blas_for(landmarks.shape[0]):
        low_rank = LowRankKernel(kernel, landmarks)
    n_threads = wanted_threads(model.n_jobs)
    error = _error(low_rank, sample, n_threads)
    tell(
        f"rank {low_rank.rank:,}, of k(x, x) {error[0]:.2g} in the mean and {error[1]:.2g} at "
        "most are missing"
    )
    task = Task(
        machine=0,
        basis=None,
        size=low_rank.rank,
        squared=model.loss.startswith("squared"),
        tol=model.tol,
        price=float(targets.price().sum()) / sample.share,
        longest=float(np.sqrt(low_rank.kernel.diag(sample.X).max(initial=0.0))),
        few=KINKS_PER_FEATURE * (low_rank.rank + 1) + FEW_KINKS,
    )
    offset, width = targets.start()
    starts = [Found(np.append(np.zeros(task.size), offset), width)] * targets.n_machines
    if sample.share < 0.5:
        part = targets.times(1.0 / sample.share)
        rows = HeldRows([(low_rank.features(sample.X, n_threads), part)])
        rough = replace(task, is_sample=True)
        starts = searched(rough, starts, asking(rows, n_threads, tell), limits)
    return Plan(low_rank, error, task, starts)


def _error(low_rank: LowRankKernel, sample: Sample, n_threads: int | None) -> Floats:
    """Return mean and maximum of what is missing, at rows that k-means has not seen."""
    missing = low_rank.missing(sample.X[-ROWS_OF_ERROR:], n_threads)
    return np.array([missing.mean(), missing.max()])


def _landmarks(model: Any, sample: Sample, kernel: Kernel, random: Any) -> Any:
    if not isinstance(model.landmarks, str):
        return _given_landmarks(model.landmarks, sample.X.shape[1])
    X, weights = sample.different()
    return choose_landmarks(X, model.rank, model.landmarks, kernel, random, weights)


def _given_landmarks(landmarks: Any, n_features: int) -> Any:
    points = check_array(landmarks, accept_sparse="csr", dtype=np.float64, input_name="landmarks")
    if points.shape[1] != n_features:
        raise ValueError(
            f"landmarks must have as many columns as X, {n_features}; got {points.shape[1]}."
        )
    return points


def searched(
    task: Task,
    starts: list[Found],
    ask: Ask,
    limits: Limits,
    n_bytes: int = CURVATURE_BYTES,
) -> list[Found]:
    """Return the machines, a few at a time where there are many on many features.

    Parameters
    ----------
    task : Task
    starts : list of Found
        Of each machine.
    ask : callable
    limits : Limits
    n_bytes : int
        Of second derivatives at a time.
    """
    at_once = max(1, n_bytes // (8 * (task.size + 1) ** 2))
    found: list[Found] = []
    for first in range(0, len(starts), at_once):
        searches = {
            machine: search(replace(task, machine=machine), starts[machine], limits)
            for machine in range(first, min(first + at_once, len(starts)))
        }
        with blas_for(task.size):
            done = run(searches, ask)
        found += [done[machine] for machine in searches]
    return found


def asking(rows: Rows, n_threads: int | None, tell: Tell) -> Ask:
    """Return what asks rows that are here, and tells of each pass."""

    def ask(requests: list[Request]) -> list[Answer]:
        answers = answer(requests, rows, n_threads)
        tell(told_pass(requests, rows.kind))
        return answers

    return ask


def told_pass(requests: list[Request], kind: str) -> str:
    """Return a line about a pass over rows of some kind.

    Examples
    --------
    >>> from mercer.lowrank.statistics import Gather
    >>> told_pass([Gather(machine, np.zeros(3), 1.0) for machine in range(3)], "all")
    'gather at all rows for 3 machines'
    """
    name, some = type(requests[0]).__name__.lower(), len(requests)
    return f"{name} at {kind} rows" + (f" for {some} machines" if some > 1 else "")


def keep(model: Any, plan: Plan, found: list[Found]) -> None:
    """Give a machine what a fit leaves, and warn if it was stopped.

    Parameters
    ----------
    model : NystroemSVC or NystroemSVR
    plan : Plan
    found : list of Found
    """
    low_rank = plan.low_rank
    model.approximation_error_ = plan.error
    model.kernel_, model.landmarks_ = low_rank.kernel, low_rank.landmarks
    model.rank_ = low_rank.rank
    model.dual_coef_ = np.stack([low_rank.basis @ one.w[:-1] for one in found])
    model.intercept_ = np.array([one.w[-1] for one in found])
    model.objective_ = np.array([one.objective for one in found])
    model.gap_ = np.array([one.gap for one in found])
    model.n_iter_ = max(max(one.n_steps for one in found), 1)
    model.converged_ = all(one.converged for one in found)
    model._sums = KernelSums(model.kernel_, model.landmarks_, model.dual_coef_)
    if not model.converged_:
        worst = max(one.gap for one in found)
        known = f"at a gap of {worst:.3g}" if np.isfinite(worst) else "with an unknown gap"
        warn(
            f"{type(model).__name__} stopped {known}, above tol={model.tol:g}; scale the data, "
            "lower C, or raise max_iter or time_limit.",
            ConvergenceWarning,
        )
