"""Classes as two-class machines: tasks, the price of slack, training, one model of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight

from mercer._warnings import warn
from mercer.gram import Gram, finite
from mercer.kernels import Kernel, is_mercer
from mercer.problems import (
    Programs,
    QuadraticProgram,
    hard_margin_svc,
    hinge_svc,
    squared_hinge_svc,
)
from mercer.solvers import MultiClassSolution, Options, Solution, Solutions, solve_all

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CHECKED_ROWS = 300
"""Rows on which a kernel of unknown kind is tested; their eigenvalues take a few milliseconds."""

AT_BOUND = 1.0 - 1e-9
"""Share of its bound from which on a multiplier counts as being there, as for the offset."""

KINDS = np.array(["", "margin", "bound"])
"""Kinds of support vector: none, strictly between the bounds, at the upper one."""

REASONS = {
    "max_iter": "max_iter was reached",
    "time_limit": "time_limit was reached",
    "interrupted": "the callback stopped it",
    "stalled": "the arithmetic allows no smaller gap",
}


@dataclass(frozen=True, eq=False)
class TwoClassTask:
    """One machine: which rows take part, and on which side each stands.

    Parameters
    ----------
    rows : ndarray of int
        Training rows.
    signs : ndarray of float
        +1 or -1 for each of them.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoClassTasks:
    """The machines of one classifier, laid end to end.

    Parameters
    ----------
    rows, signs : ndarray
        Of one machine after the other.
    ends : ndarray of int of shape (m + 1,)
        Machine k has the entries from ``ends[k]`` to ``ends[k + 1]``.
    """

    rows: NDArray[np.int64]
    signs: NDArray[np.float64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return self.ends.size - 1

    def __getitem__(self, k: int) -> TwoClassTask:
        part = slice(self.ends[k], self.ends[k + 1])
        return TwoClassTask(self.rows[part], self.signs[part])

    def __iter__(self) -> Iterator[TwoClassTask]:
        return (self[k] for k in range(len(self)))

    @property
    def machine(self) -> NDArray[np.int64]:
        """The machine of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.ends))


@lru_cache(maxsize=64)
def pairs_of(n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the second class of all pairs: (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.array(list(combinations(range(n_classes), 2)), dtype=np.int64).T
    return first, second


def decompose(codes: NDArray[np.int64], n_classes: int, multi_class: str) -> TwoClassTasks:
    """Return the machines for class codes 0 ... n_classes - 1.

    Two classes make one machine in which class 1 is positive. One against one has the smaller
    class positive, in the order (0, 1), (0, 2), ..., (1, 2), ... as LIBSVM; one against the rest
    has one machine for each class. The rows of a machine rise.

    Examples
    --------
    >>> import numpy as np
    >>> [task.rows.tolist() for task in decompose(np.array([0, 1, 2, 1]), 3, "ovo")]
    [[0, 1, 3], [0, 2], [1, 2, 3]]
    """
    n = codes.size
    if n_classes == 2:
        return TwoClassTasks(np.arange(n), np.where(codes == 1, 1.0, -1.0), np.array([0, n]))
    if multi_class == "ovr":
        signs = np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0).ravel()
        return TwoClassTasks(np.tile(np.arange(n), n_classes), signs, np.arange(n_classes + 1) * n)
    first, second = pairs_of(n_classes)
    counts = np.bincount(codes, minlength=n_classes)
    classes = np.stack([first, second], axis=1).ravel()  # the two of each machine
    sizes = counts[classes]
    behind = np.cumsum(sizes)
    ends = np.concatenate([[0], behind[1::2]])
    # The rows of a class stand together in this order, from which each machine takes two runs.
    order, begins = np.argsort(codes, kind="stable"), np.cumsum(counts) - counts
    rows = order[np.arange(behind[-1]) + np.repeat(begins[classes] - behind + sizes, sizes)]
    # Sorted within each machine, all at once.
    places = np.repeat(np.arange(first.size), np.diff(ends)) * n
    rows = np.sort(rows + places) - places
    own = codes[rows] == np.repeat(first, np.diff(ends))
    return TwoClassTasks(rows, np.where(own, 1.0, -1.0), ends)


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


def start_of(starts: Sequence[Floats] | None, tasks: TwoClassTasks) -> Floats | None:
    """Return where all machines start; None where there is nothing or the sizes do not fit."""
    if starts is None or [len(one) for one in starts] != np.diff(tasks.ends).tolist():
        return None
    return np.concatenate(starts)


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
        rows = None if len(tasks) == 1 else tasks.rows
        programs = penalty.programs(tasks)
        start = start_of(starts, tasks)
        solutions = solve_all(programs, gram, options, rows=rows, warm_start=start)
        return cls.solved(gram, tasks, programs, penalty, solutions, refusal)

    @classmethod
    def solved(
        cls,
        gram: Gram,
        tasks: TwoClassTasks,
        programs: Programs,
        penalty: Penalty,
        solutions: Solutions,
        refusal: str | None = None,
    ) -> Training:
        """Return what has been solved, or refuse where there is no solution."""
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


@dataclass(frozen=True, eq=False)
class Begun:
    """A fit that lacks nothing but solutions.

    Parameters
    ----------
    programs : Programs
    rows : ndarray of int or None
        Which row, of those of the fit, each variable of the programs has; None where they are the
        same.
    tol : float
        Gap at which to stop.
    store : callable
        Keeps what the solutions mean.
    start : ndarray or None, default=None
        Where to start.
    """

    programs: Programs
    rows: Indices | None
    tol: float
    store: Callable[[Solutions], Any]
    start: Any = None

    def finish(self, gram: Gram, options: Options) -> Any:
        """Solve the programs and store the solutions."""
        options = replace(options, tol=self.tol)
        return self.store(
            solve_all(self.programs, gram, options, rows=self.rows, warm_start=self.start)
        )


@dataclass(frozen=True, eq=False)
class DualModel:
    """Support vectors sorted by class, and their coefficients in scikit-learn's layout.

    One against one with more than two classes has k - 1 rows of coefficients: for a support vector
    of class i the machine against class j stands in row j - 1 if j > i, else in row j. Otherwise
    each machine has a row of its own.
    """

    support: Indices
    n_support: NDArray[np.int32]
    dual_coef: Floats
    kind: NDArray[np.str_]


def build_dual_model(
    training: Training, codes: Indices, n_classes: int, one_vs_one: bool
) -> DualModel:
    """Collect the solutions of all machines."""
    tasks, programs, solutions = training.tasks, training.programs, training.solutions
    mine = np.flatnonzero(solutions.beta)
    rows, machine = tasks.rows[mine], tasks.machine[mine]
    used = np.zeros(codes.size, dtype=bool)
    used[rows] = True
    support = np.flatnonzero(used)
    # Sorting short integers is a radix sort, five times as fast.
    keys = codes[support].astype(np.int16 if n_classes < 2**15 else codes.dtype)
    support = support[np.argsort(keys, kind="stable")]
    position = np.full(codes.size, -1)
    position[support] = np.arange(support.size)
    if one_vs_one:
        first, second = pairs_of(n_classes)
        lines = np.where(codes[rows] == first[machine], second[machine] - 1, first[machine])
    else:
        lines = machine
    dual_coef = np.zeros((n_classes - 1 if one_vs_one else len(tasks), support.size))
    kind = np.zeros(dual_coef.shape, dtype=np.int8)
    beta = solutions.beta[mine]
    bound = np.where(beta > 0, programs.upper[mine], -programs.lower[mine])
    dual_coef[lines, position[rows]] = beta
    kind[lines, position[rows]] = np.where(np.abs(beta) < AT_BOUND * bound, 1, 2)
    counts = np.bincount(codes[support], minlength=n_classes).astype(np.int32)
    return DualModel(support, counts, dual_coef, KINDS.take(kind))


def combine_pairs(sums: Floats, one_vs_one: bool) -> Floats:
    """Add up the two halves of each one-against-one machine.

    Parameters
    ----------
    sums : ndarray of shape (m, n_segments, n_rows)
        Sums over the support vectors of each class with each row of ``dual_coef_``; a single
        segment where every machine has a row of its own.
    one_vs_one : bool
        Whether ``dual_coef_`` has the layout of one against one with many classes.

    Returns
    -------
    ndarray of shape (m, n_machines)
    """
    if not one_vs_one:
        return sums[:, 0, :]
    first, second = pairs_of(sums.shape[1])
    return sums[:, first, second - 1] + sums[:, second, first]


def machine_coefficients(dual_coef: Floats, n_support: Any, one_vs_one: bool) -> tuple[Floats, ...]:
    """Return the coefficients of each machine at all support vectors, from the layout above."""
    if not one_vs_one:
        return tuple(dual_coef)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    found = []
    for first, second in zip(*pairs_of(len(n_support))):
        beta = np.zeros(dual_coef.shape[1])
        for own, other in ((first, second - 1), (second, first)):
            part = slice(ends[own], ends[own + 1])
            beta[part] = dual_coef[other, part]
        found.append(beta)
    return tuple(found)


def slacks(training: Training, kept: Indices, n_samples: int) -> Any:
    """Return max(0, 1 - y f(x)) of each row: a vector, or a sparse column for each machine.

    Parameters
    ----------
    training : Training
    kept : ndarray of int
        The place of each row of the training among all.
    n_samples : int
        The number of all rows; those that took no part have none.
    """
    tasks, slack = training.tasks, training.slack
    rows = kept[tasks.rows]
    if len(tasks) == 1:
        values = np.zeros(n_samples)
        values[rows] = slack
        return values
    positive = np.flatnonzero(slack)
    ends = np.searchsorted(positive, tasks.ends)
    shape = (n_samples, len(tasks))
    return sp.csc_array((slack[positive], rows[positive], ends), shape=shape)


def class_votes(values: Floats, n_classes: int) -> tuple[Indices, Floats]:
    """Return the duels that each class wins, and the sum of its decision values in all of them.

    Parameters
    ----------
    values : ndarray of shape (m, n_pairs)
        Positive for the first class of the pair, which wins at 0 too.
    n_classes : int

    Returns
    -------
    votes : ndarray of int of shape (m, n_classes)
    sums : ndarray of shape (m, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> class_votes(np.array([[0.5, -1.0, 2.0]]), 3)
    (array([[1, 1, 1]]), array([[-0.5,  1.5, -1. ]]))
    """
    column, is_first = _duels(n_classes)
    own = values[:, column]
    won = np.where(is_first, own >= 0, own < 0)
    return won.sum(axis=2), np.where(is_first, own, -own).sum(axis=2)


@lru_cache(maxsize=64)
def _duels(n_classes: int) -> tuple[Indices, NDArray[np.bool_]]:
    """Return for each class the columns of its duels, and in which of them it is the first."""
    column = np.zeros((n_classes, n_classes), dtype=np.int64)
    first, second = pairs_of(n_classes)
    column[first, second] = column[second, first] = np.arange(first.size)
    is_first = np.arange(n_classes)[:, None] < np.arange(n_classes)
    others = ~np.eye(n_classes, dtype=bool)
    return column[others].reshape(n_classes, -1), is_first[others].reshape(n_classes, -1)


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
    report = is_mercer(finite(gram.block(rows, rows)), tolerance=1e-6)
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


def warn_about(failed: Sequence[Solution | MultiClassSolution], n_solved: int, tol: float) -> None:
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
