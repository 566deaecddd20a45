"""Two-class machines: the price of slack, the programs that follow, solutions and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight

from mercer._warnings import warn
from mercer.gram import Gram
from mercer.kernels import Kernel, is_mercer
from mercer.machines.tasks import TwoClassTask, TwoClassTasks
from mercer.problems import (
    Programs,
    QuadraticProgram,
    hard_margin_svc,
    hinge_svc,
    squared_hinge_svc,
)
from mercer.solvers import Options, Solution, Solutions, solve_all

Floats = NDArray[np.float64]

CHECKED_ROWS = 300
"""Rows on which a kernel of unknown kind is tested; their eigenvalues take a few milliseconds."""

REASONS = {
    "max_iter": "max_iter was reached",
    "time_limit": "time_limit was reached",
    "interrupted": "the callback stopped it",
    "stalled": "the arithmetic allows no smaller gap",
}


@dataclass(frozen=True, eq=False)
class Penalty:
    """How the slack of a classifier is priced.

    Parameters
    ----------
    C : float
        The parameter of the classifier.
    loss : str
        "hinge", "squared_hinge", or "hard" where C is infinite.
    factors : ndarray of shape (n,)
        Class weights, for every row of the data.
    weights : ndarray of shape (n,)
        Sample weights: how often each row counts.
    """

    C: float
    loss: str
    factors: Floats
    weights: Floats

    @classmethod
    def of(cls, model: Any, factors: Floats, weights: Floats) -> Penalty:
        """Return how a classifier prices slack; a hard margin knows no weights."""
        if np.isinf(model.C):
            return cls(np.inf, "hard", factors, np.ones_like(weights))
        return cls(float(model.C), model.loss, factors, weights)

    def priced(self, C: float) -> Penalty:
        """Return the same penalty at another price."""
        return replace(self, C=C)

    def program(self, task: TwoClassTask | TwoClassTasks) -> QuadraticProgram:
        """Return the program of a machine, or of several as if they were one."""
        if self.loss == "hard":
            return hard_margin_svc(task.signs)
        formulate = hinge_svc if self.loss == "hinge" else squared_hinge_svc
        return formulate(task.signs, (self.C * self.weights * self.factors)[task.rows])

    def programs(self, tasks: TwoClassTasks) -> Programs:
        """Return the programs of all machines."""
        return Programs.split(self.program(tasks), tasks.ends)


def class_factors(
    class_weight: Any, classes: Any, codes: NDArray[np.int64], weights: Floats
) -> Floats:
    """Return the factor of C that the class of each row has.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
    classes : ndarray
        Labels.
    codes : ndarray of int of shape (n,)
        Position of the label of each row.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> class_factors("balanced", np.array([3, 5]), np.array([0, 0, 0, 1]), np.ones(4)).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(codes.size)
    if class_weight == "balanced":  # as if each row were given as often as it weighs
        counts = np.bincount(codes, weights=weights)
        factors = weights.sum() / (counts.size * counts)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if (factors <= 0).any():
        raise ValueError("class_weight must be above 0 for every class.")
    return factors[codes]


@dataclass(frozen=True, eq=False)
class Training:
    """Two-class machines on the rows of one kernel matrix, with their solutions.

    Parameters
    ----------
    gram : Gram
    tasks : TwoClassTasks
    programs : Programs
    solutions : Solutions
    """

    gram: Gram
    tasks: TwoClassTasks
    programs: Programs
    solutions: Solutions

    @classmethod
    def of(
        cls,
        gram: Gram,
        tasks: TwoClassTasks,
        penalty: Penalty,
        options: Options,
        starts: Sequence[Floats] | None = None,
        refusal: str | None = None,
    ) -> Training:
        """Train all machines, within the limits of the options together.

        Parameters
        ----------
        gram : Gram
            Kernel matrix of all rows.
        tasks : TwoClassTasks
        penalty : Penalty
        options : Options
        starts : sequence of ndarray, one for each machine, or None, default=None
            Where to start; left aside where the sizes do not fit.
        refusal : str or None, default=None
            What to say where there is no solution, if not the usual.

        Returns
        -------
        Training
        """
        programs = penalty.programs(tasks)
        fits = starts is not None and [len(s) for s in starts] == np.diff(tasks.ends).tolist()
        solutions = solve_all(
            programs,
            gram,
            options,
            rows=None if len(tasks) == 1 else tasks.rows,
            warm_start=np.concatenate(starts) if starts is not None and fits else None,
        )
        if "unbounded" in solutions.status:
            raise ValueError(refusal or no_minimum(penalty.loss))
        return cls(gram, tasks, programs, solutions)

    def part(self, task: TwoClassTask) -> Gram:
        """Return the kernel matrix of the rows of one machine."""
        return self.gram if task.rows.size == self.gram.n else self.gram.subset(task.rows)

    @cached_property
    def image(self) -> Floats:
        """K times the coefficients of each machine, one machine after the other."""
        return self.programs.image(self.solutions.beta, self.solutions.gradient)

    @property
    def decision(self) -> Floats:
        """f(x) of each row by each of its machines, one machine after the other."""
        return self.image + np.repeat(self.solutions.offset, np.diff(self.tasks.ends))

    @property
    def slack(self) -> Floats:
        """max(0, 1 - y f(x)), laid out in the same way."""
        return np.maximum(0.0, 1.0 - self.tasks.signs * self.decision)

    @property
    def margin(self) -> Floats:
        """1/|w| of each machine, where |w|^2 = b'Kb."""
        squared = np.add.reduceat(self.solutions.beta * self.image, self.programs.starts)
        with np.errstate(divide="ignore"):
            return 1.0 / np.sqrt(np.maximum(squared, 0.0))

    def warm_start(self) -> list[Any]:
        """Return the solutions from which another fit may go on."""
        return np.split(self.solutions.beta, self.tasks.ends[1:-1])


def no_minimum(loss: str) -> str:
    """Return why a classifier has no solution: ``loss`` as in `Penalty`."""
    if loss == "hard":
        return (
            "The classes cannot be separated with this kernel, so that C=inf (hard margin) has no "
            "solution; use a finite C or a richer kernel."
        )
    return (
        "The kernel is not positive semi-definite, or its values are so large that rounding makes "
        "it so, and the squared hinge loss has no solution; scale the features, use loss='hinge' "
        "or another kernel."
    )


def warn_if_indefinite(kernel: Kernel, gram: Gram) -> None:
    """Warn where the kernel matrix of some of the rows has a clearly negative eigenvalue."""
    if kernel.is_known_mercer:
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
