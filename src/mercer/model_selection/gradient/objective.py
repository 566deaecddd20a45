"""A criterion as a function of the parameters, with the solves warm-started."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
from mercer.model_selection.gradient.fold_machines import FoldMachines
from mercer.model_selection.known_values import KnownValues
from mercer.model_selection.search_record import SearchRecord
from mercer.relevance import RVC, relevance_evidence
from mercer.solvers import Options, Solutions, solve_all
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

    def accuracy(self, model: Any, kernel: Kernel) -> float:
        """Return the share of the rows, by weight, that a classifier without their fold gets right.

        Parameters
        ----------
        model : SVC or RVC
            With the parameters that were chosen.
        kernel : Kernel
            Its kernel, without "scale" and the like.
        """
        sample, right, model = self.sample, 0.0, clone(model)
        if "probability" in model.get_params():  # which labels do not depend on
            model.set_params(probability=False)
        classes, codes = np.unique(sample.labels, return_inverse=True)
        fold = deal_folds(sample.points, codes, N_FOLDS)
        for number in np.unique(fold):
            seen, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            known = np.unique(codes[seen])
            if known.size == 1:  # there is nothing to learn, and one answer
                answers = classes[known]
            else:
                columns = seen if kernel.is_pairwise else slice(None)
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

    def hand_over(self, model: Any, kernel: Kernel) -> bool:
        """Make a classifier the one that was fitted with a kernel, if one was; say whether."""
        return False


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
        self._fitted: list[RVC] = []

    def _evaluate(self, prices: Prices, kernel: Kernel, solutions: Any) -> tuple[Rated, int]:
        sample, count = self.sample, self.sample.count
        model = clone(self.model).set_params(kernel=kernel)
        data = (sample.points, sample.labels)
        model.fit(*data, sample_weight=sample.weights)
        found = relevance_evidence(model, *data, sample_weight=sample.weights)
        assert found.gradient is not None
        self._fitted.append(model)
        return (-found.value / count, -found.gradient / count), 1

    def hand_over(self, model: Any, kernel: Kernel) -> bool:
        """Spare the last fit: where nothing was interrupted, an evaluation has been just that."""
        found = [fitted for fitted in self._fitted if fitted.kernel is kernel]
        for fitted in found:
            vars(model).update(vars(fitted) | model.get_params(deep=False))
        return bool(found)


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
        self._classes, self._codes = classes, codes
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
        self._use(kernel)
        data, penalty = self._data, self._penalty.priced(prices["C"])
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
        penalty = Penalty(C, loss, self._factors[folds.rows], folds.left)
        options = Options("smo", self.model.tol, n_threads=self.n_threads)
        found = self._without_folds(folds, kernel, penalty, options, memory.get(loss))
        memory[loss] = found.beta
        errors = np.zeros(len(self._tasks))
        for k, (task, _, out, signs, held) in enumerate(folds.held_out):
            wrong = (self._values(folds, found, k, out) > 0) != (signs > 0)
            errors[task] += float((held * self._factors[out]) @ wrong)
        counts = self.sample.weights * self._factors
        totals = [float(counts[task.rows].sum()) for task in self._tasks]
        return (float(np.mean(errors / totals)), np.empty(0)), len(folds.held_out)

    def _without_folds(
        self, folds: FoldMachines, kernel: Kernel, penalty: Penalty, options: Options, start: Any
    ) -> Solutions:
        """Train machines without folds, whose entries the penalty has; leave the matrix behind."""
        self._use(kernel)
        gram, programs = StoredGram(self._data.matrix), penalty.programs(folds.tasks)
        found = solve_all(programs, gram, options, rows=folds.rows, warm_start=start)
        if "unbounded" in found.status:
            raise NoSolutionError(no_minimum(penalty.loss))
        return found

    def _values(self, folds: FoldMachines, found: Solutions, k: int, out: Rows) -> Floats:
        """Return what one of these machines says of some rows."""
        part = slice(folds.tasks.ends[k], folds.tasks.ends[k + 1])
        beta = found.beta[part]
        used = np.flatnonzero(beta)
        values: Floats = self._data.matrix[np.ix_(out, folds.rows[part][used])] @ beta[used]
        return values + found.offset[k]

    def _use(self, kernel: Kernel) -> None:
        """Take a kernel; the matrix of the last one stays as long as it is asked for again."""
        if self._data.kernel is not kernel:
            self._data = self._data.with_kernel(kernel)

    @cached_property
    def _folds(self) -> FoldMachines:
        sample = self.sample
        shares = weighted_folds(sample.points, self._codes, sample.weights, N_FOLDS)
        return FoldMachines.of(self._tasks, sample.weights, shares)

    # ---- the accuracy -----------------------------------------------------------------------

    def accuracy(self, model: SVC, kernel: Kernel) -> float:
        """Train the machines without each fold, all at once, on the kernel matrix of the search."""
        if callable(self.criterion):  # such a search has no matrix, and need not have room for one
            return super().accuracy(model, kernel)
        sample = self.sample
        fold = deal_folds(sample.points, self._codes, N_FOLDS)
        shares = np.where(fold[:, None] == np.arange(N_FOLDS), sample.weights[:, None], 0.0)
        folds = FoldMachines.of(self._tasks, sample.weights, shares)
        penalty = Penalty.of(model, self._factors[folds.rows], folds.left)
        options = replace(model._options(), solver="smo", n_threads=self.n_threads)
        found = self._without_folds(folds, kernel, penalty, options, None)
        values = np.zeros((fold.size, len(self._tasks)))
        out = [np.flatnonzero(fold == number) for number in range(N_FOLDS)]
        for k, machine in enumerate(folds.held_out):
            held = out[machine.fold]  # votes of machines of other classes count too
            values[held, machine.task] = self._values(folds, found, k, held)
        answers = KnownValues.of(model, self._classes, values).predict(None)
        return float(sample.weights @ (answers == sample.labels)) / sample.count


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
