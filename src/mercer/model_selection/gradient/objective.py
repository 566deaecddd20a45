"""A criterion as a function of the parameters, with the solves warm-started."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer._folds import deal_folds, weighted_folds
from mercer.gram import StoredGram
from mercer.kernels import Kernel
from mercer.machines import (
    KernelData,
    Penalty,
    TwoClassMachine,
    TwoClassTasks,
    class_factors,
    decompose,
    no_minimum,
)
from mercer.machines.bordered_system import NoSolutionError
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Rated, mean_over
from mercer.model_selection.criteria.evidence import evidence_of
from mercer.model_selection.criteria.gacv import gacv_of
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.model_selection.criteria.validation_error import (
    Splits,
    judge,
    on_folds,
    posterior_rate,
    sigmoid_rate,
)
from mercer.model_selection.search_record import SearchRecord
from mercer.relevance import RVC, relevance_evidence
from mercer.solvers import Options, solve_all
from mercer.svm import SVC

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

Prices = dict[str, float]
"""C, and the epsilon of a regression."""

SMOOTH = {
    "evidence": evidence_of,
    "press": press_of,
    "radius_margin": radius_margin_of,
    "modified_radius_margin": modified_radius_margin_of,
    "span": span_of,
    "gacv": gacv_of,
}
"""Criteria with a gradient, as functions of one machine."""

ON_FOLDS = {"smoothed_validation_error": sigmoid_rate(5.0), "posterior_error": posterior_rate}
"""Criteria that need machines trained without a fold."""

N_FOLDS = 5
"""Folds by which the loss is chosen."""

NOTHING = 1e-9
"""Smaller shares of a weight are what rounding left of a row that is wholly in a fold."""

SOLVER_TOL = 1e-6
"""Gap to which machines are trained: a gradient must not feel where the solver stopped."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows on which parameters are chosen.

    Parameters
    ----------
    points, labels, weights : arrays of n rows
        Data for a machine; None for labels that it does not ask for.
    rows : ndarray of int
        Their places in the data.
    """

    points: Any
    labels: Any
    weights: Floats
    rows: Rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @property
    def count(self) -> float:
        """How many rows there are, each as often as it counts."""
        return float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation of a criterion: its value, its gradient and what it cost."""

    value: float
    gradient: Floats
    n_fits: int


class Evaluations:
    """All evaluations of a search, and the solutions from which the next one starts.

    The method of the search is deterministic, so that going through the known evaluations again
    leads to the point at which it was interrupted.

    Parameters
    ----------
    record : SearchRecord
        Holds the bytes of all numbers, so that none of them changes.

    Attributes
    ----------
    known : dict
        By the bytes of the parameters.
    solutions : dict
        Solutions of the machines, by the number of the machine and name.
    """

    def __init__(self, record: SearchRecord) -> None:
        self.record = record
        self.known: dict[bytes, Evaluation] = {}
        self.solutions: dict[int, dict[str, Floats]] = {}
        record.read(self._read)

    def _read(self, entry: dict[str, Any]) -> None:
        gradient = _numbers(entry["gradient"])
        found = Evaluation(float(entry["value"]), gradient, int(entry["n_fits"]))
        self.known[bytes.fromhex(entry["key"])] = found
        for machine, name, beta in entry["solutions"]:
            self.solutions.setdefault(machine, {})[name] = _numbers(beta)

    def add(self, key: bytes, found: Evaluation, solutions: dict[int, dict[str, Floats]]) -> None:
        """Keep an evaluation, with the solutions that it has led to."""
        changed = [
            [machine, name, beta.tobytes().hex()]
            for machine, named in solutions.items()
            for name, beta in named.items()
            if beta is not self.solutions.get(machine, {}).get(name)
        ]
        entry = {"key": key.hex(), "value": found.value, "n_fits": found.n_fits}
        self.record.add(entry | {"gradient": found.gradient.tobytes().hex(), "solutions": changed})
        self.known[key] = found
        self.solutions = solutions


def _numbers(text: str) -> Floats:
    return np.frombuffer(bytes.fromhex(text)).copy()


class RememberedObjective(ABC):
    """Evaluates a criterion at given parameters, unless it is known already.

    Parameters
    ----------
    sample : Sample
    evaluations : Evaluations
    """

    is_logarithmic = False
    """Whether the logarithm of the criterion is what should be minimised."""

    known_criteria: tuple[str, ...] = ()
    """Names of the criteria that there are for this kind of machine."""

    name = ""
    """Tells this criterion from others that are looked at in the same search."""

    def __init__(self, sample: Sample, evaluations: Evaluations) -> None:
        self.sample = sample
        self.evaluations = evaluations

    def __call__(self, prices: Prices, theta: Floats, kernel: Kernel) -> Evaluation:
        """Return the criterion with its gradient.

        It is that in the logarithms of the prices that move and in theta, the parameters of the
        kernel.
        """
        key = self.name.encode() + np.append(theta, list(prices.values())).tobytes()
        return self._remembered(key, lambda solutions: self._evaluate(prices, kernel, solutions))

    def _remembered(
        self, key: bytes, evaluate: Callable[[dict[int, dict[str, Floats]]], tuple[Rated, int]]
    ) -> Evaluation:
        if key in self.evaluations.known:
            return self.evaluations.known[key]
        # A copy: what an interruption leaves half done must not count.
        solutions = {k: dict(named) for k, named in self.evaluations.solutions.items()}
        (value, gradient), n_fits = evaluate(solutions)
        if gradient is None:
            raise ValueError(
                "The criterion of a gradient search must return a gradient; the built-in ones "
                f"that do are {', '.join(map(repr, self.known_criteria))}."
            )
        found = Evaluation(float(value), gradient, n_fits)
        self.evaluations.add(key, found, solutions)
        return found

    @abstractmethod
    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        """Return value and slope, and the number of machines trained; renew the solutions."""


class RelevanceObjective(RememberedObjective):
    """The negative log evidence of a relevance vector machine, for each row.

    Every evaluation is a fit; the slope is that with its vectors and precisions held fixed.

    Parameters
    ----------
    model : RVC
        The classifier whose kernel is searched; not changed.
    sample : Sample
    evaluations : Evaluations
    """

    def __init__(self, model: RVC, sample: Sample, evaluations: Evaluations) -> None:
        super().__init__(sample, evaluations)
        self.model = model

    def _evaluate(self, prices: Prices, kernel: Kernel, solutions: Any) -> tuple[Rated, int]:
        sample, count = self.sample, self.sample.count
        model = clone(self.model).set_params(kernel=kernel)
        data = (sample.points, sample.labels)
        model.fit(*data, sample_weight=sample.weights)
        found = relevance_evidence(model, *data, sample_weight=sample.weights)
        assert found.gradient is not None
        return (-found.value / count, -found.gradient / count), 1


class Objective(RememberedObjective):
    """A criterion of a support vector classifier.

    Parameters
    ----------
    criterion : str or callable
        A name, or a function of a fitted classifier, X and y that returns a `Criterion`.
    model : SVC
        The classifier whose parameters are searched; not changed.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    splits : list of pairs of arrays
        Folds, for the criteria that need them.
    evaluations : Evaluations
    n_threads : int or None
    weighs_classes : bool
        Whether the criterion knows the weights of classes; errors on folds always do.
    """

    known_criteria = (*SMOOTH, *ON_FOLDS)

    def __init__(
        self,
        criterion: Any,
        model: SVC,
        kernel: Kernel,
        sample: Sample,
        splits: Splits,
        evaluations: Evaluations,
        n_threads: int | None,
        weighs_classes: bool = True,
    ) -> None:
        super().__init__(sample, evaluations)
        self.criterion = criterion
        self.is_logarithmic = isinstance(criterion, str) and criterion != "evidence"
        self.model = model
        self.splits = splits
        self.n_threads = n_threads
        self._data = KernelData(kernel, sample.points)
        classes, codes = np.unique(sample.labels, return_inverse=True)
        self._codes = codes
        self._tasks = list(decompose(codes, classes.size, model.multi_class))
        self._factors = class_factors(model.class_weight, classes, codes, sample.weights)
        factors = self._factors if weighs_classes else np.ones_like(self._factors)
        self._penalty = Penalty.of(model, factors, sample.weights)

    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        if callable(self.criterion):
            found = judged_by_user(self.criterion, self.model, self.sample, prices, kernel)
            return found, 1
        data, penalty = self._data.with_kernel(kernel), self._penalty.priced(prices["C"])
        tol, machines = min(self.model.tol, SOLVER_TOL), []
        for k, task in enumerate(self._tasks):
            memory = solutions.setdefault(k, {})
            options: dict[str, Any] = {"memory": memory, "tol": tol, "n_threads": self.n_threads}
            machines.append(TwoClassMachine(data, task.rows, task.signs, penalty, **options))
        found = mean_over(SMOOTH.get(self.criterion, self._judged_on_folds), machines)
        return found, sum([machine.n_fits for machine in machines])

    def _judged_on_folds(self, machine: TwoClassMachine) -> Rated:
        refuse_weights([machine], self.criterion)
        return judge(on_folds(machine, self.splits), ON_FOLDS[self.criterion], True)

    # ---- the choice of the loss -------------------------------------------------------------

    def fold_error(self, loss: str, C: float, theta: Floats, kernel: Kernel) -> Evaluation:
        """Return the error on folds with another loss; it has no gradient."""
        key = loss.encode() + np.append(theta, C).tobytes()
        return self._remembered(key, lambda found: self._fold_error(loss, C, kernel, found))

    def _fold_error(
        self, loss: str, C: float, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        """Train all machines without each fold in turn, all of them at once."""
        folds, memory = self._folds, solutions.setdefault(-1, {})
        rows, ends = folds.rows, folds.tasks.ends
        penalty = Penalty(C, loss, self._factors[rows], folds.left)
        if self._data.kernel is not kernel:  # all losses are tried with one kernel
            self._data = self._data.with_kernel(kernel)
        matrix, programs = self._data.matrix, penalty.programs(folds.tasks)
        found = solve_all(
            programs,
            StoredGram(matrix),
            self._fold_options,
            rows=rows,
            warm_start=memory.get(loss),
        )
        if "unbounded" in found.status:
            raise NoSolutionError(no_minimum(loss))
        memory[loss] = found.beta
        errors = np.zeros(len(self._tasks))
        for k, (task, out, signs, held) in enumerate(folds.held_out):
            part = slice(ends[k], ends[k + 1])
            beta = found.beta[part]
            used = np.flatnonzero(beta)
            values = matrix[np.ix_(out, rows[part][used])] @ beta[used] + found.offset[k]
            errors[task] += float((held * self._factors[out]) @ ((values > 0) != (signs > 0)))
        counts = self.sample.weights * self._factors
        totals = [float(counts[task.rows].sum()) for task in self._tasks]
        return (float(np.mean(errors / totals)), np.empty(0)), len(folds.held_out)

    @cached_property
    def _fold_options(self) -> Options:
        return Options("smo", self.model.tol, n_threads=self.n_threads)

    @cached_property
    def _folds(self) -> _FoldMachines:
        sample = self.sample
        shares = weighted_folds(sample.points, self._codes, sample.weights, N_FOLDS)
        return _FoldMachines.of(self._tasks, sample.weights, shares)


class _FoldMachines(NamedTuple):
    """All machines without each fold in turn, laid end to end.

    ``rows`` are those of the sample and ``left`` their weights without the fold; ``tasks`` counts
    the entries of both. ``held_out`` has for each machine the number of its task, and the rows
    left out with their signs and weights.
    """

    rows: Rows
    left: Floats
    tasks: TwoClassTasks
    held_out: list[tuple[int, Rows, Floats, Floats]]

    @classmethod
    def of(cls, tasks: Any, weights: Floats, shares: Floats) -> _FoldMachines:
        """Lay out the machines of some tasks; ``shares`` says how much of a row is in each fold."""
        rows, left, signs, held_out = [], [], [], []
        for k, task in enumerate(tasks):
            own = weights[task.rows]
            for held in shares[task.rows].T:
                kept = np.flatnonzero(own - held > NOTHING * own)
                out = np.flatnonzero(held > NOTHING * own)
                rows.append(task.rows[kept])
                left.append((own - held)[kept])
                signs.append(task.signs[kept])
                held_out.append((k, task.rows[out], task.signs[out], held[out]))
        ends = np.concatenate([[0], np.cumsum([part.size for part in rows])])
        laid = TwoClassTasks(np.arange(ends[-1]), np.concatenate(signs), ends)
        return cls(np.concatenate(rows), np.concatenate(left), laid, held_out)


def judged_by_user(
    criterion: Any, model: Any, sample: Sample, prices: Prices, kernel: Kernel
) -> Rated:
    """Fit a machine and ask a function of the user about it."""
    model = clone(model).set_params(kernel=kernel, **prices)
    weights = None if (sample.weights == 1.0).all() else sample.weights
    data = (sample.points,) if sample.labels is None else (sample.points, sample.labels)
    model.fit(*data, sample_weight=weights)
    found = criterion(model, *data, **({} if weights is None else {"sample_weight": weights}))
    return found.value, found.gradient


def fold_accuracy(model: Any, sample: Sample, is_pairwise: bool) -> float:
    """Return the share of the rows that a classifier gets right which has not seen their fold."""
    classes, codes = np.unique(sample.labels, return_inverse=True)
    fold = deal_folds(sample.points, codes, N_FOLDS)
    model = clone(model)
    if "probability" in model.get_params():  # which labels do not depend on
        model.set_params(probability=False)
    right = 0.0
    for number in np.unique(fold):
        seen, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        known = np.unique(codes[seen])
        if known.size == 1:  # there is nothing to learn, and one answer
            answers = np.full(held.size, classes[known[0]])
        else:
            columns = seen if is_pairwise else slice(None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last fit says it
                machine = clone(model).fit(
                    sample.points[seen][:, columns],
                    sample.labels[seen],
                    sample_weight=sample.weights[seen],
                )
            answers = machine.predict(sample.points[held][:, columns])
        right += float(sample.weights[held] @ (answers == sample.labels[held]))
    return right / sample.count
